"""SQLite files: creation, companion files, and connection set-up. Fair (FIFO) write lock for the threads that write
to a SQLite file.

SQLite itself retries a locked file with increasing sleeps, so that among many writers some starve for
seconds. Here each thread waits in a queue and is woken when the lock is its own; for other processes it looks often.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, get_ident

from cir_core.errors import StorageError

BESIDE = ("-wal", "-shm")
"""Suffixes of the companion files of an open database. SQLite removes them with the last connection."""
_LOOK_AGAIN_SECONDS = 0.001   # whether another process has stopped writing
_FIRST_PAGE_SECONDS = 2.0   # time for another process that has created the file to write to it


def prepare_file(path: Path) -> None:
    """Create the folder and an empty file that only its owner may read. Raises ``StorageError``."""
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
    # Checked now, because a read-only file could be opened and would fail at the first save.
    if not (_may_write(path) and _may_write(path.parent)):
        raise StorageError(f"The database {path} cannot be written. Make the file and its folder writable, or point "
                           "CIRQUE_HOME or CIRQUE_DATABASE_URL at a writable place.")


def is_missing(path: Path) -> bool:
    """Whether there is no file at ``path``, or an empty one. An inaccessible file is not missing:
    :func:`prepare_file` reports it."""
    try:
        return path.stat().st_size == 0
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def leftovers_of(path: Path) -> list[Path]:
    """Companion files of a database at ``path``."""
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
    """Refuse to create a database beside the companion files of an old one, which SQLite would delete."""
    until = time.monotonic() + _FIRST_PAGE_SECONDS
    while is_missing(path) and (left := leftovers_of(path)):
        if path.exists() and time.monotonic() < until:   # another process may be creating it
            time.sleep(0.05)
            continue
        raise StorageError(
            f"There is no database at {path}, but there is {' and '.join(one.name for one in left)}, which belongs to "
            "one and may contain what was saved last. Nothing was changed, and no new database was made. Put the "
            "database file back in its place; or move what is left of it to another folder, and restore a backup: "
            "cirque db restore FILE.")


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def set_up(connection: sqlite3.Connection, _record: object = None, *, timeout_ms: int) -> None:
    """Configure a new connection: no implicit transactions, a lock timeout, foreign keys and a write-ahead log."""
    if hasattr(sqlite3, "LEGACY_TRANSACTION_CONTROL"):  # Python 3.12; the default will change
        connection.autocommit = sqlite3.LEGACY_TRANSACTION_CONTROL  # type: ignore[attr-defined]
    connection.isolation_level = None
    connection.execute(f"PRAGMA busy_timeout = {timeout_ms}")
    connection.execute("PRAGMA foreign_keys = ON")
    _use_write_ahead_log(connection, timeout_ms / 1000)
    # NORMAL, common with WAL, may lose the last commits in a power failure; so may fsync on macOS, which stops at
    # the drive's cache.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")


def _use_write_ahead_log(connection: sqlite3.Connection, patience: float) -> None:
    """Switch to WAL, with retries: SQLite does not wait when two processes switch a new file at once."""
    give_up = time.monotonic() + patience
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return  # a file system without shared memory keeps the rollback journal, which is as durable
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.02)


def take_write_lock(connection: sqlite3.Connection, begin: Callable[[], object]) -> None:
    """Begin a write transaction, or wait for other processes, at most for the connection's busy timeout. Whatever then
    keeps it from beginning is raised by ``begin``. SQLite itself would look again after 1, 2, 5, 10, 15 and at last
    100 ms, far longer than a transaction of another process takes."""
    [milliseconds] = connection.execute("PRAGMA busy_timeout").fetchone()
    give_up = time.monotonic() + milliseconds / 1000
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while time.monotonic() < give_up:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    break
            time.sleep(_LOOK_AGAIN_SECONDS)
        begin()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {milliseconds}")


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
