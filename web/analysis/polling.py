"""How often a running study is looked at: the more its reports cost, the less often."""

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
    """Seconds. ``since`` the last news: on reading the study, and on the report of it that took longest; ``before``:
    both together, on the news before those."""

    since: dict[Work, float] = field(default_factory=dict)
    before: float = 0.0
    under_way: dict[object, float] = field(default_factory=dict)   # when it began

    def together(self) -> float:
        return sum(self.since.values())


class PollingInterval:
    """For each study how long a look at it counts, for many threads.

    While people answer there is news at every look, and news means that the study is read and its reports are made
    anew. Looks that are several times as far apart as that takes leave the server to others.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._spent: defaultdict[str, _Spent] = defaultdict(_Spent)
        self._lock = threading.Lock()

    def seconds(self, study_id: str) -> float:
        """How long a look counts, from when it began."""
        with self._lock:
            spent, now = self._spent[study_id], self._clock()
            longest = max((now - began for began in spent.under_way.values()), default=0.0)
            cost = max(spent.before, spent.together(), longest)
        return min(max(OFTEN, _TIMES * cost), RARELY)

    def news(self, study_id: str) -> None:
        """A look has found something new: what is spent from here on is spent on that."""
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
