"""Detect that an open SQLite file was moved, replaced or deleted.

Writes to a file that was moved or deleted succeed, and are lost. Paths are compared with ``stat`` alone: opening and
closing a database file would drop the POSIX locks that SQLite holds on it. SQLite too identifies files by device and
inode when it shares locks among connections.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, event

from cir_core.errors import StorageError
from storage.engine.sqlite_files import BESIDE

MOVED = ("The database file was moved, replaced or deleted while cirque was running, so nothing can be saved at the "
         "moment. Tell the administrator of this cirque.")
_log = logging.getLogger("cirque.storage")

_Identity = tuple[int, int]   # device and inode


class FileWatch:
    """Compare the database file, its write-ahead log and the log's index with the opened ones. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        real = self._path.resolve()   # for a symbolic link, SQLite puts -wal and -shm beside the target
        self._log_file, self._index = (real.with_name(real.name + suffix) for suffix in BESIDE)
        self._lock = Lock()
        self._opened: _Identity | None = None
        self._beside: Mapping[Path, _Identity] = {}   # while connections are open
        self._connections = 0
        self._logged_problem = self._saved = ""

    def attach(self, engine: Engine) -> None:
        """Check before each ``storage.engine.database.writing`` and on every new connection. Call this after all other
        connection set-up has been registered."""
        engine.update_execution_options(cirque_file=self)
        event.listen(engine, "do_connect", self._before_connecting)
        event.listen(engine, "connect", self._connected)
        event.listen(engine, "close", self._closing)
        event.listen(engine, "close_detached", self._closing)

    @property
    def is_in_place(self) -> bool:
        """Whether every file is the one that is open."""
        return self._lost() is None

    def check(self, connection: Connection | None = None) -> None:
        """Raises ``StorageError`` if a file is not the opened one; takes six microseconds otherwise.

        ``connection`` checkpoints a deleted write-ahead log into the database, unless it is in a transaction. Once the
        same files are back, writing works again."""
        lost = self._lost()
        if lost is None:
            if self._logged_problem:
                self._saved = ""
                self._note("", f"The database {self._path} is back in its place. cirque saves again.")
            return
        raise self._refusal(lost, connection)

    def _refusal(self, lost: Path, connection: Connection | None = None) -> StorageError:
        """The error for ``lost``, which is also logged."""
        message = f"{lost} is not the file that this process has open: it was moved, replaced or deleted."
        if lost != self._path:
            self._rescue(lost, connection)
            message += f" {self._saved or 'What was saved since the last checkpoint may be in it alone.'}"
        problem = (f"{message} Nothing is saved any more. Put the same file back in its place, and cirque resumes; or "
                   "stop cirque, put the right database there (see docs/how-to/operate/storage.md), and start it "
                   "again.")
        self._note(problem, problem)
        return StorageError(problem, MOVED)

    def _lost(self) -> Path | None:
        """The first file that is not in its place."""
        if self._opened is not None and _identity(self._path) != self._opened:
            return self._path
        beside = self._beside
        for path, identity in beside.items():
            if _identity(path) != identity and self._beside is beside:   # else the last connection was just closed
                return path
        return None

    def _rescue(self, lost: Path, connection: Connection | None) -> None:
        """Checkpoint a deleted write-ahead log, which is still open here and would be lost with this process. Not if
        there is a new log at its path: that shares the index, and a checkpoint would mix the two."""
        if connection is None or lost != self._log_file or _identity(lost) is not None:
            return
        try:
            busy, pages, written = _driver(connection).execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            self._saved = f"What it held could not be written into the database ({error})."
        else:
            whole = not busy and pages == written
            self._saved = f"{'All' if whole else 'A part'} of what it held was written into the database."

    def _note(self, state: str, message: str) -> None:
        with self._lock:
            changed, self._logged_problem = state != self._logged_problem, state
        if changed:
            (_log.error if state else _log.warning)("%s", message)

    def _before_connecting(self, _dialect: Any, _record: Any, where: list[Any], options: dict[str, Any]) -> None:
        """Connect with ``mode=rw``, because SQLite would create a missing file."""
        self.check()
        where[0], options["uri"] = f"{self._path.as_uri()}?mode=rw", True

    def _connected(self, connection: sqlite3.Connection, _record: Any) -> None:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()   # opens the log
        with self._lock:
            if self._opened is None:
                self._opened = _identity(self._path)
            if self._connections == 0:
                found = {path: _identity(path) for path in (self._log_file, self._index)}
                self._beside = {path: identity for path, identity in found.items() if identity is not None}
            self._connections += 1
        lost = self._lost()
        if lost is not None:   # moved between the check and the opening
            self._closing()
            connection.close()
            raise self._refusal(lost)   # even if it is back by now

    def _closing(self, *_: Any) -> None:
        with self._lock:
            self._connections -= 1
            if self._connections == 0:   # SQLite removes both with the last connection
                self._beside = {}


def _driver(connection: Connection) -> sqlite3.Connection:
    return connection.connection.dbapi_connection  # type: ignore[return-value]


def _identity(path: Path) -> _Identity | None:
    """None for a missing or unreadable file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
