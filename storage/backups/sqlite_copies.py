"""Verified copies of SQLite databases, and restoring one."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cir_core.errors import StorageError
from storage.backups.atomic_files import in_the_making
from storage.backups.integrity import Contents

_PATIENCE = 5.0   # seconds; a running app keeps its connections for longer
_NOT_WRITTEN = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC,
                sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_DELETE}


def copy_sqlite(source: sqlite3.Connection, copy: Path) -> Contents:
    """Copy the last committed state of the open database ``source`` to the new file ``copy``, and check the copy's
    integrity and the row count of each table. Other connections may write meanwhile.

    Raises OSError where the copy cannot be written, sqlite3.Error where the database cannot be read, and StorageError
    where the copy fails the check.
    """
    with in_the_making(copy) as unfinished:
        os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with _blaming(copy), closing(sqlite3.connect(unfinished, isolation_level=None)) as target:
            source.execute("BEGIN")   # one snapshot for counting and copying
            try:
                expected = _contents(source)
                source.backup(target)
            finally:
                source.execute("ROLLBACK")
            target.execute("PRAGMA journal_mode = DELETE")   # a single file
            _check_whole(target, "The database")
            if _contents(target) != expected:
                raise StorageError("The copy differs from the database. Try again; if it happens twice, check "
                                   "the disk.")
    return expected


def read_sqlite(path: Path) -> Contents:
    """Contents of a backup, after an integrity check. Read-only. Raises StorageError."""
    try:
        with closing(open_to_read(path)) as backup:
            _check_whole(backup, f"The backup {path}")
            return _contents(backup)
    except sqlite3.Error as error:
        raise StorageError(f"{path} cannot be read as a SQLite database ({error}). Choose another backup.") from error


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open for reading, without creating a missing file. Not immutable: the database may be in use, and needs its
    write-ahead log."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)


@contextmanager
def alone(database: Path) -> Iterator[sqlite3.Connection]:
    """An exclusive connection. Raises StorageError while another one is open, in this process or another: cirque runs,
    or another command."""
    with closing(sqlite3.connect(database, isolation_level=None, timeout=_PATIENCE)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = DELETE")   # only a sole connection can leave WAL mode
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")                         # in this mode the lock stays until the end
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise StorageError(f"The database {database} is in use. Stop cirque, and other programs that have the "
                               "file open; then restore again. Nothing was changed.") from error
        yield connection


def replace_content(database: sqlite3.Connection, backup: Path, emptied: Collection[str]) -> None:
    """Replace the content atomically: SQLite's rollback journal undoes an interrupted restore. The tables ``emptied``
    are emptied before another connection can read them."""
    with closing(open_to_read(backup)) as source:
        source.backup(database)
    for name in emptied:
        database.execute(f"DELETE FROM {_quoted(name)}")
    _check_whole(database, "The restored database")


def _contents(connection: sqlite3.Connection) -> Contents:
    names = [name for name, in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")]
    rows = {name: connection.execute(f"SELECT count(*) FROM {_quoted(name)}").fetchone()[0]
            for name in sorted(names) if name != "alembic_version"}
    revision = None
    if "alembic_version" in names:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        revision = found[0] if found else None
    return Contents(revision, rows)


def _check_whole(connection: sqlite3.Connection, what: str) -> None:
    try:
        verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.DatabaseError as error:   # so damaged that the check itself fails
        verdict = str(error)
    if verdict != "ok":
        raise StorageError(f"{what} is damaged ({verdict}). Restore an earlier backup (see "
                           "docs/how-to/operate/storage.md).")


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


@contextmanager
def _blaming(copy: Path) -> Iterator[None]:
    """Attribute write errors to ``copy``: the database is only read, and may be on another disk."""
    try:
        yield
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode
        if code & 0xFF == sqlite3.SQLITE_FULL or code in _NOT_WRITTEN:
            number = errno.ENOSPC if code & 0xFF == sqlite3.SQLITE_FULL else errno.EIO
            raise OSError(number, os.strerror(number), str(copy)) from error
        raise
