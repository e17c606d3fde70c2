"""SQLite files: how one is made, what belongs to it, and how a connection to it is set up."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from cir_core.errors import StorageError

BESIDE = ("-wal", "-shm")
"""Of the files that belong to an open database. As long as a connection is open, SQLite removes neither."""
_FIRST_PAGE_SECONDS = 2.0   # within which another process that has made the file writes into it


def prepare_file(path: Path) -> None:
    """Make the folder and an empty file that only its owner may read, or say why not."""
    _check_leftovers(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):  # SQLite gives its -wal and -shm files the mode of this one
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except OSError as error:
        raise StorageError(f"The database {path} cannot be created: {error.strerror}. Point CIRQUE_HOME or "
                           "CIRQUE_DATABASE_URL at a folder that you may write in.") from error
    if path.is_dir():
        raise StorageError(f"The database {path} is a folder. Point CIRQUE_DATABASE_URL at a file.")
    # Asked now, because a file that can only be read would open well and fail at the first save.
    if not (_may_write(path) and _may_write(path.parent)):
        raise StorageError(f"The database {path} cannot be written. Make the file and its folder writable, or point "
                           "CIRQUE_HOME or CIRQUE_DATABASE_URL somewhere that is.")


def is_missing(path: Path) -> bool:
    """Whether no database has been made at ``path``, or nothing is left in its file. What cannot be looked at is not
    missing: :func:`prepare_file` says what is wrong with it."""
    try:
        return path.stat().st_size == 0
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def leftovers_of(path: Path) -> list[Path]:
    """What belongs to a database at ``path`` and lies beside it."""
    real = path.resolve()
    beside = (real.with_name(real.name + suffix) for suffix in (*BESIDE, "-journal"))
    return [one for one in beside if _is_there(one)]


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _check_leftovers(path: Path) -> None:
    """No new database is made beside what belongs to an old one: SQLite would throw that away."""
    until = time.monotonic() + _FIRST_PAGE_SECONDS
    while is_missing(path) and (left := leftovers_of(path)):
        if path.exists() and time.monotonic() < until:   # another process may be making it just now
            time.sleep(0.05)
            continue
        raise StorageError(
            f"There is no database at {path}, but there is {' and '.join(one.name for one in left)}, which belongs to "
            "one and may hold what was saved last. Nothing was changed, and no new database was made. Put the "
            "database file back in its place; or move what is left of it to another folder, and restore a backup: "
            "cirque db restore FILE.")


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def set_up(connection: sqlite3.Connection, _record: object = None, *, timeout_ms: int) -> None:
    """A new connection: no transactions of the driver's own, locks that are waited for, and a write-ahead log."""
    if hasattr(sqlite3, "LEGACY_TRANSACTION_CONTROL"):  # Python 3.12; the default is to change one day
        connection.autocommit = sqlite3.LEGACY_TRANSACTION_CONTROL  # type: ignore[attr-defined]
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {timeout_ms}")
    connection.execute("PRAGMA foreign_keys = ON")
    _use_write_ahead_log(connection, timeout_ms / 1000)
    # NORMAL, common with WAL, may lose the last saves when the power fails. On macOS so does
    # fsync alone, which stops at the drive's cache.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")


def _use_write_ahead_log(connection: sqlite3.Connection, patience: float) -> None:
    """SQLite does not wait for a lock when two processes switch a new file at once, so we do."""
    give_up = time.monotonic() + patience
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return  # a file system without shared memory keeps its own mode, which is as durable
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.02)
