"""Single-flight cache."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

from cachetools import LRUCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class _Made(Generic[V]):
    future: Future[V]
    began: float


class SingleFlightCache(Generic[K, V]):
    """The ``limit`` values that were used last, for many threads.

    Who asks for a value that is being made waits for it. A failure goes to all who wait, and is not kept: the next
    one to ask tries again. ``lasts``: seconds from when the making of a key's value began until it is made anew; None:
    as long as there is room.

    Own code around the cache: ``cachetools.cached(condition=...)`` lets all who wait try a failure again in turn,
    cannot drop what is being made, and sets how long a value lasts when it is stored, not when it is asked for.
    """

    def __init__(
        self, limit: int, *, lasts: Callable[[K], float] | None = None, clock: Callable[[], float] = monotonic,
    ) -> None:
        self._lasts, self._clock = lasts, clock
        self._made: LRUCache[K, _Made[V]] = LRUCache(limit)
        self._pending: dict[K, _Made[V]] = {}
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of ``key``; ``make`` is called where it is not there. Raises what making it raises."""
        with self._lock:
            made = self._pending.get(key) or self._fresh(key)
            if mine := made is None:
                made = self._pending[key] = _Made(Future(), self._clock())
        if mine:
            self._fill(key, made, make)
        return made.future.result()

    def has(self, key: K) -> bool:
        """Whether the value of ``key`` is there, so that nobody has to wait for it."""
        with self._lock:
            return key not in self._pending and self._fresh(key) is not None

    def drop(self, of: Callable[[K], bool]) -> None:
        """Who asks for a key that ``of`` says yes to gets a value that is made from now on. Who waits for one of them
        gets it."""
        with self._lock:
            for kept in (self._made, self._pending):
                for key in [key for key in kept if of(key)]:
                    del kept[key]

    def _fill(self, key: K, made: _Made[V], make: Callable[[], V]) -> None:
        try:
            made.future.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._pending.get(key) is made:
                    del self._pending[key]
            made.future.set_exception(error)
        else:
            with self._lock:
                if self._pending.get(key) is made:
                    self._made[key] = self._pending.pop(key)

    def _fresh(self, key: K) -> _Made[V] | None:
        made = self._made.get(key)
        if made is not None and self._lasts is not None and self._clock() - made.began >= self._lasts(key):
            return None
        return made


@dataclass
class _Held(Generic[V]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    number: int = -1               # of the value; below all numbers where there is none
    value: V | None = None


class LatestVersionCache(Generic[K, V]):
    """One large value for each of the ``limit`` keys that were used last: the newest, for many threads.

    Values are numbered, each newer than all before. One value of a key is made at a time, and the old one is let go
    first, so that there are never two of them, which no cache of cachetools promises.
    """

    def __init__(self, limit: int) -> None:
        self._last: LRUCache[K, _Held[V]] = LRUCache(limit)
        self._held: WeakValueDictionary[K, _Held[V]] = WeakValueDictionary()   # also what is being made
        self._lock = threading.Lock()

    def get(self, key: K, number: int, make: Callable[[], V]) -> V:
        """The value with ``number``, or a newer one. Raises what making it raises; the next one to ask tries again."""
        with self._lock:
            held = self._held.setdefault(key, _Held())
        with held.lock:
            if held.value is None or held.number < number:
                held.value = None
                held.value, held.number = make(), number
            value = held.value
        with self._lock:
            self._last[key] = held
        return value

    def has(self, key: K, number: int) -> bool:
        """Whether :meth:`get` need not make anything."""
        with self._lock:
            held = self._held.get(key)
        return held is not None and held.value is not None and held.number >= number
