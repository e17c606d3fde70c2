"""Threads for what may take minutes, and which nobody waits for when the server stops.

So what is done in them only reads, or is kept in one transaction at its end: given up on the way it leaves nothing
behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundPool:
    """``workers`` threads; what they have no time for waits its turn."""

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._futures: set[Future[Any]] = set()
        self._lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether what is submitted now has to wait."""
        with self._lock:
            return sum(not future.done() for future in self._futures) >= self._workers

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Raises ``RuntimeError`` where no thread can be had, or once :meth:`leave` was called."""
        future = self._pool.submit(work)
        with self._lock:
            self._futures.add(future)
        future.add_done_callback(self._over)
        return future

    def leave(self) -> bool:
        """Let nothing more begin. Whether something is under way, which would keep the process until it ends."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            return any(future.running() for future in self._futures)

    def _over(self, future: Future[Any]) -> None:
        with self._lock:
            self._futures.discard(future)


REPORTS = BackgroundPool(2, "cirque-analysis")
SCORES = BackgroundPool(1, "cirque-scores")


def leave() -> bool:
    """All of them, even where the first has something under way."""
    left = [threads.leave() for threads in (REPORTS, SCORES)]
    return any(left)
