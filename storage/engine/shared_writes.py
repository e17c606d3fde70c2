"""Group commit: on SQLite, threads that write at once share a transaction.

SQLite's transactions run one after another, and each waits for the disk. A process that searches much, above all one
of low priority, would hold the file most of the time, and annotators in another process would wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from cir_core.errors import StorageError
from storage.engine.database import waits_for_rows, writing

T = TypeVar("T")


@dataclass(eq=False)
class _Write:
    work: Callable[[Connection], Any]
    settled: Event = field(default_factory=Event)   # committed, rolled back, or never begun
    committed: bool = False
    result: Any = None
    refused: StorageError | None = None             # no transaction could begin


class SharedWrites:
    """Write transactions of one engine, shared by the threads that wait for the lock. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._waiting: list[_Write] = []   # the first one's thread takes the database's lock for all

    def run(self, work: Callable[[Connection], T]) -> T:
        """As ``work`` in a transaction of its own (``writing``): on disk on return, or an error and nothing written.

        If anything fails in a shared transaction, it is rolled back, and each ``work`` of it is called once more, in
        one of its own; so ``work`` changes nothing but the database.
        """
        if waits_for_rows(self._engine):
            with writing(self._engine) as connection:
                return work(connection)
        mine = _Write(work)
        with self._lock:
            self._waiting.append(mine)
            leads = len(self._waiting) == 1
        if leads:
            self._write_all(mine)
        else:
            mine.settled.wait()
        if mine.refused is not None:
            raise StorageError(str(mine.refused), mine.refused.told) from mine.refused
        if not mine.committed:
            with writing(self._engine) as connection:
                mine.result = work(connection)
        result: T = mine.result
        return result

    def _write_all(self, mine: _Write) -> None:
        """Raises what ``mine`` raised if it was alone, and what no transaction could begin for."""
        taken: list[_Write] = []
        committed, refused = False, None
        try:
            with writing(self._engine) as connection:
                taken = self._take()
                for one in taken:
                    one.result = one.work(connection)
            committed = True
        except BaseException as error:
            if not taken and isinstance(error, StorageError):
                refused = error
            if len(taken) < 2 or not isinstance(error, Exception):
                raise
        finally:
            for one in taken or self._take():
                one.committed, one.refused = committed, refused
                one.settled.set()

    def _take(self) -> list[_Write]:
        with self._lock:
            taken, self._waiting = self._waiting, []
        return taken
