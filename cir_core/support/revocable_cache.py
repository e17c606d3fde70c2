"""Thread-safe cache whose values can be revoked, also those that are just being read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cachetools import TLRUCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RevocableCache(Generic[K, V]):
    """The ``limit`` values that were used last, each for ``seconds``. Own code: cachetools keeps what a slow reader
    stores after the cache was cleared."""

    def __init__(self, limit: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._values: TLRUCache[K, tuple[V, float], float] = TLRUCache(
            limit, lambda key, value, now: now + min(seconds, value[1]), clock)
        self._changes = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            found = self._values.get(key)
        return None if found is None else found[0]

    @property
    def changes(self) -> int:
        """To be read before the store is: see ``put``."""
        return self._changes

    def put(self, key: K, value: V, changes: int, *, seconds: float = float("inf")) -> None:
        """Keep for at most ``seconds``; not if the cache was cleared since ``changes`` was read,
        for then the store may have said this before it knew better."""
        with self._lock:
            if changes == self._changes:
                self._values[key] = value, seconds

    def clear(self) -> None:
        with self._lock:
            self._changes += 1
            self._values.clear()
