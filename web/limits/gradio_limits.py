"""Limits of Gradio sessions, per person and in all.

Own code: a cache of cachetools lets go of what was used longest ago, also while it is busy or open.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from time import monotonic

from cir_core.errors import TryLater

_WINDOW = 60.0   # seconds


@dataclass(frozen=True)
class Limits:
    """``begun``: new sessions per person and minute. ``each`` and ``in_all``: sessions kept per person and in total.
    Every page load is a session: reloading twenty tabs starts twenty."""

    begun: int = 300
    each: int = 300
    in_all: int = 3000


class TooManyRequests(TryLater):
    """Too many new sessions, unfinished calls or concurrent downloads. Answered with 429."""


class ConnectionTable:
    """Sessions by person in LRU order. For one event loop."""

    def __init__(self, limits: Limits = Limits(), clock: Callable[[], float] = monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._all: OrderedDict[str, str] = OrderedDict()                      # session to person
        self._own: defaultdict[str, OrderedDict[str, None]] = defaultdict(OrderedDict)
        self._begun: defaultdict[str, deque[float]] = defaultdict(deque)      # when, in the last minute
        self._open: Counter[str] = Counter()                                  # streams that follow a session

    def __len__(self) -> int:
        return len(self._all)

    def use(self, person: str, session: str) -> None:
        """Mark ``session`` as used, or register it. Raises ``TooManyRequests``."""
        if session not in self._all:
            self._begin(person)
        for kept in (self._all, self._own[person]):
            kept.pop(session, None)
        self._all[session], self._own[person][session] = person, None

    def surplus(self, busy: Callable[[str], bool]) -> Iterator[str]:
        """Evict and return surplus sessions that are not ``busy``: those without an open page first, each in LRU order.
        The most recent one stays."""
        if not self._all:
            return
        latest, person = next(reversed(self._all.items()))
        for most, kept in ((self._limits.each, self._own[person]), (self._limits.in_all, self._all)):
            while len(kept) > most:
                closed = (one for one in kept if one != latest and not self._open[one] and not busy(one))
                opened = (one for one in kept if one != latest and self._open[one] and not busy(one))
                session = next(chain(closed, opened), None)
                if session is None:
                    break
                self._forget(session)
                yield session

    @contextmanager
    def opened(self, session: str) -> Iterator[None]:
        """Context of an open stream of ``session``."""
        self._open[session] += 1
        try:
            yield
        finally:
            self._open[session] -= 1
            if not self._open[session]:
                del self._open[session]

    def _begin(self, person: str) -> None:
        now, begun = self._clock(), self._begun[person]
        while begun and now - begun[0] >= _WINDOW:
            begun.popleft()
        if len(begun) >= self._limits.begun:
            wait = math.ceil(begun[0] + _WINDOW - now)
            raise TooManyRequests(
                f"You started {self._limits.begun} sessions within a minute. Use one session_hash for all your calls, "
                f"or leave it out; a new one can be started in {wait} s.", wait)
        begun.append(now)

    def _forget(self, session: str) -> None:
        person = self._all.pop(session)
        own = self._own[person]
        own.pop(session, None)
        if not own:
            del self._own[person]
