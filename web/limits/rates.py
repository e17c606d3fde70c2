"""Rate limit per key and minute. Per-person and per-study concurrency limits.

Own code, of forty lines: the library ``limits`` counts for many servers in a store of its own; here one process counts.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from weakref import WeakValueDictionary

from cir_core.errors import StorageError
from web.limits.gradio_limits import TooManyRequests

_WINDOW = 60.0   # seconds


class RateLimit:
    """At most ``most`` of something per key and minute. For one event loop. What is remembered of a key is forgotten
    with its minute."""

    def __init__(self, most: int, what: str, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._what, self._clock = most, what, clock
        self._taken: dict[str, deque[float]] = {}
        self._tidied = clock()

    def take(self, key: str, count: int = 1) -> None:
        """Raises ``TooManyRequests``; then nothing is counted."""
        now = self._clock()
        self._tidy(now)
        taken = self._taken.setdefault(key, deque())
        _drop_old(taken, now)
        count = min(count, self._most)   # else it could never be done
        if len(taken) + count > self._most:
            wait = max(1, math.ceil(taken[len(taken) + count - self._most - 1] + _WINDOW - now))
            raise TooManyRequests(f"This demo limits {self._what} to {self._most} a minute per visitor. Wait {wait} s, "
                                  "then try again.", wait)
        taken.extend([now] * count)

    def _tidy(self, now: float) -> None:
        if now - self._tidied < _WINDOW:
            return
        self._tidied = now
        for key, taken in list(self._taken.items()):
            _drop_old(taken, now)
            if not taken:
                del self._taken[key]


def _drop_old(taken: deque[float], now: float) -> None:
    while taken and now - taken[0] >= _WINDOW:
        taken.popleft()


_PATIENCE = 15.0   # seconds; with what the call itself waits for a lock, less than pages wait
_CROWDED = "Too many requests of this kind are waiting. Nothing was done; try again in a moment."


@dataclass(frozen=True)
class ConcurrencyLimit:
    """At most ``most`` concurrent threads for calls of one ``kind`` and ``name``."""

    kind: str
    name: str
    most: int


class ConcurrencyLimits:
    """Calls above their limit wait in order, without a thread."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        # Only what is in use is kept: by the calls that hold it or wait for it.
        self._gates: WeakValueDictionary[ConcurrencyLimit, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def within(self, *shares: ConcurrencyLimit) -> AsyncIterator[None]:
        """Raises ``StorageError`` on timeout."""
        gates = [self._gates.setdefault(share, asyncio.Semaphore(share.most)) for share in shares]
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._patience):
                    for gate in gates:
                        await held.enter_async_context(gate)
            except TimeoutError:
                raise StorageError(_CROWDED, _CROWDED) from None
            yield
