"""Threads of one process that write to a SQLite file: one after the other, in the order they came.

SQLite itself lets a writer that finds the file locked sleep, longer each time, and try again. Among
many writers some are passed over for seconds. Here each waits for its turn and is woken for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident


class FairWriteLock:
    """A lock that is handed on in order of arrival."""

    def __init__(self) -> None:
        self._state = Lock()             # held for a few steps only
        self._waiting: deque[Lock] = deque()
        self._taken = False
        self._holder: int | None = None  # the thread whose turn it is

    @contextmanager
    def turn(self, seconds: float) -> Iterator[bool]:
        """Wait for one's turn; True while it lasts, False where it did not come within ``seconds``."""
        if self._holder == get_ident():
            raise AssertionError("a writing transaction inside another one of the same thread would wait for itself")
        if not self._begin(seconds):
            yield False
            return
        try:
            self._holder = get_ident()
            yield True
        finally:
            self._hand_on()

    def _begin(self, seconds: float) -> bool:
        with self._state:
            if not self._taken:
                self._taken = True
                return True
            gate = Lock()
            gate.acquire()
            self._waiting.append(gate)
        try:
            return gate.acquire(timeout=seconds) or self._give_up(gate)
        except BaseException:  # Ctrl-C; the turn may have come with it
            if self._give_up(gate):
                self._hand_on()
            raise

    def _give_up(self, gate: Lock) -> bool:
        """Leave the queue; True if it is too late for that, because the turn has come."""
        with self._state:
            if gate in self._waiting:
                self._waiting.remove(gate)
                return False
        return True

    def _hand_on(self) -> None:
        with self._state:
            self._holder = None
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
