"""Waiting times after wrong passwords, kept in memory: a restart forgets them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from cir_core.errors import TooManyTries

_FORGET_SECONDS = 3600.0
_MOST_KEYS = 10_000


@dataclass(frozen=True)
class _Wrong:
    count: int
    at: float


class Throttle:
    """Counts failures by key. The first ``free`` cost nothing; then the wait doubles from one second
    up to ``longest``. Thread-safe."""

    def __init__(
        self, free: int = 5, longest: float = 300.0, clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free, self._longest, self._clock = free, longest, clock
        self._wrong: dict[Hashable, _Wrong] = {}
        self._lock = threading.Lock()

    def check(self, key: Hashable) -> None:
        """Raises ``TooManyTries`` while ``key`` has to wait."""
        with self._lock:
            wrong = self._wrong.get(key)
        if wrong is None or wrong.count < self._free:
            return
        left = wrong.at + self._wait(wrong.count) - self._clock()
        if left > 0:
            seconds = math.ceil(left)
            raise TooManyTries(f"Too many wrong passwords. Wait {_said(seconds)} and try again.", seconds)

    def failed(self, key: Hashable) -> None:
        now = self._clock()
        with self._lock:
            before = self._wrong.pop(key, None)
            count = before.count if before and now - before.at < _FORGET_SECONDS else 0
            self._wrong[key] = _Wrong(count + 1, now)   # at the end: the first is always the oldest
            while len(self._wrong) > _MOST_KEYS:
                del self._wrong[next(iter(self._wrong))]

    def succeeded(self, key: Hashable) -> None:
        with self._lock:
            self._wrong.pop(key, None)

    def _wait(self, count: int) -> float:
        return min(self._longest, 2.0 ** min(count - self._free, 60))


def _said(seconds: int) -> str:
    if seconds < 90:
        return "a second" if seconds == 1 else f"{seconds} seconds"
    return f"{math.ceil(seconds / 60)} minutes"
