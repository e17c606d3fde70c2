"""A bounded memory of what was used last, for many threads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """Keeps values until they are larger than ``limit`` together; what was not used for longest goes first."""

    def __init__(self, limit: int, size: Callable[[V], int] = lambda value: 1) -> None:
        self._limit, self._size, self._held = limit, size, 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> V:
        """Keep ``value``, unless it is too large by itself; given back either way."""
        with self._lock:
            if key in self._values:
                self._held -= self._size(self._values.pop(key))
            if self._size(value) > self._limit:
                return value
            self._values[key] = value
            self._held += self._size(value)
            while self._held > self._limit:
                self._held -= self._size(self._values.popitem(last=False)[1])
        return value
