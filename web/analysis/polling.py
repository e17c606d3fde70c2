"""Adaptive polling interval for live reports: the more a report costs, the less often it is refreshed."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Literal

OFTEN, RARELY = 2.0, 60.0   # seconds between two looks: never less, never more
_TIMES = 5                  # what was spent on the last news, before news are looked for again
Work = Literal["reading", "making"]


@dataclass
class _Spent:
    """Costs in seconds. ``since`` the last change: reading the study plus its slowest report; ``before``: the same for
    the change before."""

    since: dict[Work, float] = field(default_factory=dict)
    before: float = 0.0
    under_way: dict[object, float] = field(default_factory=dict)   # when it began

    def together(self) -> float:
        return sum(self.since.values())


class PollingInterval:
    """Thread-safe polling interval per study.

    While people answer, every poll finds changes, so the study is read and its reports are computed again. Spacing
    polls at several times this cost leaves capacity for other requests.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._spent: defaultdict[str, _Spent] = defaultdict(_Spent)
        self._lock = threading.Lock()

    def seconds(self, study_id: str) -> float:
        """Validity of a poll in seconds, from its start."""
        with self._lock:
            spent, now = self._spent[study_id], self._clock()
            longest = max((now - began for began in spent.under_way.values()), default=0.0)
            cost = max(spent.before, spent.together(), longest)
        return min(max(OFTEN, _TIMES * cost), RARELY)

    def news(self, study_id: str) -> None:
        """Record that a poll found changes and start a new cost record."""
        with self._lock:
            spent = self._spent[study_id]
            spent.before, spent.since = spent.together(), {}

    @contextmanager
    def spending(self, study_id: str, work: Work) -> Iterator[None]:
        me, began = object(), self._clock()
        with self._lock:
            spent = self._spent[study_id]
            spent.under_way[me] = began
        try:
            yield
        finally:
            with self._lock:
                del spent.under_way[me]
                spent.since[work] = max(spent.since.get(work, 0.0), self._clock() - began)
