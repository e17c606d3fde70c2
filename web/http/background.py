"""Background thread pools, abandoned at shutdown.

Jobs are made for that: they only read (and note it in the action log), store their result in one transaction at the
end, or keep a journal that they can be resumed from.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundPool:
    """Pool of ``workers`` threads with a queue."""

    def __init__(self, workers: int, name: str) -> None:
        self._workers = workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._futures: set[Future[Any]] = set()
        self._lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether a submitted job would have to wait."""
        with self._lock:
            return sum(not future.done() for future in self._futures) >= self._workers

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Queue ``work``. Raises ``RuntimeError`` if no thread can be started, or after :meth:`leave`."""
        future = self._pool.submit(work)
        with self._lock:
            self._futures.add(future)
        future.add_done_callback(self._over)
        return future

    def leave(self) -> bool:
        """Stop accepting jobs. Returns whether a job is running, which would keep the process alive."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            return any(future.running() for future in self._futures)

    def _over(self, future: Future[Any]) -> None:
        with self._lock:
            self._futures.discard(future)


REPORTS = BackgroundPool(2, "cirque-analysis")
BENCHMARKS = BackgroundPool(2, "cirque-benchmarks")   # reading constructions, whose files others made
SCORES = BackgroundPool(1, "cirque-scores")
CONSTRUCTIONS = BackgroundPool(1, "cirque-construct")   # whose journal survives a killed process


def leave() -> bool:
    """All of them, even where the first has something under way."""
    left = [threads.leave() for threads in (REPORTS, BENCHMARKS, SCORES, CONSTRUCTIONS)]
    return any(left)
