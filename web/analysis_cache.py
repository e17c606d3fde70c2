"""What many ask for at once is made once, and kept for a while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class _Made(Generic[V]):
    future: Future[V]
    began: float


class Shared(Generic[K, V]):
    """The ``limit`` values that were used last, for many threads.

    Who asks for a value that is being made waits for it. A failure goes to all who wait, and is not kept: the next
    one to ask tries again. ``lasts``: seconds from when the making of a value began until it is made anew; None: as
    long as there is room.
    """

    def __init__(self, limit: int, *, lasts: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._limit, self._lasts, self._clock = limit, lasts, clock
        self._made: OrderedDict[K, _Made[V]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of ``key``; ``make`` is called where it is not there. Raises what making it raises."""
        with self._lock:
            made = self._made.get(key)
            mine = made is None or self._is_over(made)
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
            return made is not None and made.future.done() and not self._is_over(made)

    def forget(self, key: K) -> None:
        """Who asks from now on gets a value that is made from now on."""
        with self._lock:
            self._made.pop(key, None)

    def _fill(self, key: K, made: _Made[V], make: Callable[[], V]) -> None:
        try:
            made.future.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._made.get(key) is made:
                    del self._made[key]
            made.future.set_exception(error)

    def _is_over(self, made: _Made[V]) -> bool:
        return self._lasts is not None and made.future.done() and self._clock() - made.began >= self._lasts

    def _make_room(self) -> None:
        # What is being made stays: others would begin it again.
        done = [key for key, made in self._made.items() if made.future.done()]
        for key in done[:max(len(self._made) - self._limit, 0)]:
            del self._made[key]
