"""Fair (FIFO) write lock for the threads that write to a SQLite file.

SQLite itself retries a locked file with increasing sleeps, so that among many writers some starve for
seconds. Here each waits in a queue and is woken when the lock is its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident


class FairWriteLock:
    """Lock that is granted in order of arrival."""

    def __init__(self) -> None:
        self._state = Lock()             # held briefly
        self._waiting: deque[Lock] = deque()
        self._held = False
        self._holder: int | None = None  # thread that holds the lock

    @contextmanager
    def turn(self, seconds: float) -> Iterator[bool]:
        """Acquire the lock: yields True while it is held, False on timeout after ``seconds``."""
        if self._holder == get_ident():
            raise AssertionError("a nested write transaction of the same thread would deadlock")
        if not self._acquire(seconds):
            yield False
            return
        try:
            self._holder = get_ident()
            yield True
        finally:
            self._release()

    def _acquire(self, seconds: float) -> bool:
        with self._state:
            if not self._held:
                self._held = True
                return True
            waiter = Lock()
            waiter.acquire()
            self._waiting.append(waiter)
        try:
            return waiter.acquire(timeout=seconds) or self._give_up(waiter)
        except BaseException:  # Ctrl-C; the lock may have been granted meanwhile
            if self._give_up(waiter):
                self._release()
            raise

    def _give_up(self, waiter: Lock) -> bool:
        """Leave the queue; True if the lock was granted meanwhile."""
        with self._state:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
                return False
        return True

    def _release(self) -> None:
        with self._state:
            self._holder = None
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False
