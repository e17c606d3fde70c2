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
from storage.engine.errors import explained

T = TypeVar("T")


@dataclass(eq=False)
class _Write:
    work: Callable[[Connection], Any]
    result: Any = None
    error: Exception | None = None   # of this work alone


@dataclass(eq=False)
class _Batch:
    """Writes of one transaction, in the order in which their threads came."""

    writes: list[_Write] = field(default_factory=list)
    begun: bool = False
    error: BaseException | None = None   # nothing of it was committed, or it is not known
    ended: Event = field(default_factory=Event)


class SharedWrites:
    """Write transactions of one engine, shared by the threads that wait for the lock. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._open: _Batch | None = None   # can be joined; its first thread takes the lock for all

    def run(self, work: Callable[[Connection], T]) -> T:
        """As ``work`` in a transaction of its own (``writing``): on disk on return, or an error and nothing written.

        Works run once, in the order of the calls that wait at the same time; each has a savepoint, so that one that
        fails does not concern the others.
        """
        if waits_for_rows(self._engine):
            with writing(self._engine) as connection:
                return work(connection)
        mine = _Write(work)
        batch = self._wrote(mine)
        if isinstance(batch.error, StorageError) and not batch.begun and batch.writes[0] is not mine:
            batch = self._wrote(mine)   # another thread's patience for the lock ended, not this one's
        if batch.error is not None:
            if batch.writes[0] is mine:
                raise batch.error
            told = batch.error.told if isinstance(batch.error, StorageError) else ""
            raise StorageError(str(batch.error), told) from batch.error
        if mine.error is not None:
            raise mine.error
        result: T = mine.result
        return result

    def _wrote(self, mine: _Write) -> _Batch:
        """The batch that ``mine`` was written in, when it has ended."""
        with self._lock:
            batch = self._open = self._open or _Batch()
            batch.writes.append(mine)
        if batch.writes[0] is mine:
            self._write(batch)
        else:
            batch.ended.wait()
        return batch

    def _write(self, batch: _Batch) -> None:
        try:
            with writing(self._engine) as connection:
                self._close(batch)
                batch.begun = True
                if len(batch.writes) == 1:
                    batch.writes[0].result = batch.writes[0].work(connection)
                else:
                    for one in batch.writes:
                        self._do(one, connection)
        except BaseException as error:
            batch.error = error
        finally:
            self._close(batch)
            batch.ended.set()

    def _do(self, one: _Write, connection: Connection) -> None:
        try:
            with explained(self._engine.url), connection.begin_nested():
                one.result = one.work(connection)
        except Exception as error:
            if not connection.connection.dbapi_connection.in_transaction:   # type: ignore[union-attr]
                raise   # a full disk ends the whole transaction
            one.error = error

    def _close(self, batch: _Batch) -> None:
        with self._lock:
            if self._open is batch:
                self._open = None
