"""What many ask for at once is made once, and kept for a while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

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
    """

    def __init__(
        self, limit: int, *, lasts: Callable[[K], float] | None = None, clock: Callable[[], float] = monotonic,
    ) -> None:
        self._limit, self._lasts, self._clock = limit, lasts, clock
        self._made: OrderedDict[K, _Made[V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of ``key``; ``make`` is called where it is not there. Raises what making it raises."""
        with self._lock:
            made = self._made.get(key)
            mine = made is None or self._is_over(key, made)
            if made is None or mine:
                made = self._made[key] = _Made(Future(), self._clock())
            self._made.move_to_end(key)
            self._make_room()
        if mine:
            self._fill(key, made, make)
        return made.future.result()

    def has(self, key: K) -> bool:
        """Whether the value of ``key`` is there, so that nobody has to wait for it."""
        with self._lock:
            made = self._made.get(key)
            return made is not None and made.future.done() and not self._is_over(key, made)

    def forget(self, key: K) -> None:
        """Who asks from now on gets a value that is made from now on."""
        with self._lock:
            self._made.pop(key, None)

    def drop(self, of: Callable[[K], bool]) -> None:
        """Forget all keys that ``of`` says yes to. Who waits for one of them gets it."""
        with self._lock:
            for key in [key for key in self._made if of(key)]:
                del self._made[key]

    def _fill(self, key: K, made: _Made[V], make: Callable[[], V]) -> None:
        try:
            made.future.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._made.get(key) is made:
                    del self._made[key]
            made.future.set_exception(error)

    def _is_over(self, key: K, made: _Made[V]) -> bool:
        return (self._lasts is not None and made.future.done()
                and self._clock() - made.began >= self._lasts(key))

    def _make_room(self) -> None:
        # What is being made stays: others would begin it again.
        done = [key for key, made in self._made.items() if made.future.done()]
        for key in done[:max(len(self._made) - self._limit, 0)]:
            del self._made[key]


@dataclass
class _Held(Generic[V]):
    lock: threading.Lock = field(default_factory=threading.Lock)
    number: int = -1               # of the value; below all numbers where there is none
    value: V | None = None


class LatestVersionCache(Generic[K, V]):
    """One large value for each of the ``limit`` keys that were used last: the newest, for many threads.

    Values are numbered, each newer than all before. One value of a key is made at a time, and the old one is let go
    first, so that there are never two of them.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[K, _Held[V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, number: int, make: Callable[[], V]) -> V:
        """The value with ``number``, or a newer one. Raises what making it raises; the next one to ask tries again."""
        with self._lock:
            held = self._held.setdefault(key, _Held())
            self._held.move_to_end(key)
            # What is being made stays: others would begin it again.
            idle = [one for one, other in self._held.items() if one != key and not other.lock.locked()]
            for one in idle[:max(len(self._held) - self._limit, 0)]:
                del self._held[one]
        with held.lock:
            if held.value is None or held.number < number:
                held.value = None
                held.value, held.number = make(), number
            return held.value

    def has(self, key: K, number: int) -> bool:
        """Whether :meth:`get` need not make anything."""
        with self._lock:
            held = self._held.get(key)
        return held is not None and held.value is not None and held.number >= number
