"""Whether a database has shown damage, for the readiness check."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from time import monotonic

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext

_SQLITE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR})
_POSTGRESQL = frozenset({"XX001", "XX002", "58030"})    # data corrupted, index corrupted, I/O error
_NOT_TEXT = "Could not decode to UTF-8"                 # of sqlite3, without a code
_AGAIN = 60.0       # seconds until a database that was found damaged is looked through again
_FIRST = 2.0        # seconds that the look at a start may take: a large database that works is not kept waiting
_STEPS = 10_000     # of SQLite's virtual machine between two looks at the clock
_log = logging.getLogger("cirque.storage")


class DamageWatch:
    """Notes errors that come of damage, and looks through the database when one was seen. Thread-safe.

    SQLite is asked for a quick check of all pages: seconds for a gigabyte, and nothing waits for it but the readiness
    check. What it does not find was mended meanwhile, or is damage of an index. A server of PostgreSQL cannot be asked:
    an error is believed until cirque is started again."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen, self._is_new = False, True      # by an error; not looked through since the start
        self._found, self._at = "", 0.0             # by the last look, and when

    def attach(self, engine: Engine) -> None:
        event.listen(engine, "handle_error", self._on_error)

    def note(self, error: BaseException) -> None:
        if is_damage(error):
            with self._lock:
                self._seen = True

    def check(self, connection: Connection) -> str:
        """Description of the damage, for the log; "" if none is known."""
        with self._lock:
            seen, is_new = self._seen, self._is_new
            if self._found and self._clock() - self._at < _AGAIN:
                return self._found
            if not (seen or is_new or self._found):
                return ""
            self._seen = False      # what is noted from here on is looked for the next time
        is_file = connection.dialect.name == "sqlite"
        found = "" if is_file or not seen else "its server reported damaged data"
        if is_file:
            try:
                found = _quick_check(connection, None if seen or not is_new else self._clock() + _FIRST, self._clock)
            except BaseException:
                with self._lock:
                    self._seen |= seen
                raise
        with self._lock:
            if found and found != self._found:
                _log.error("The database is damaged (%s). Stop cirque, keep a copy of it, and restore a backup or "
                           "recover what is left (docs/storage.md, A damaged database).", found)
            self._found, self._at, self._is_new = found, self._clock(), False
            self._seen |= bool(found) and not is_file
        return found

    def _on_error(self, context: ExceptionContext) -> None:
        self.note(context.original_exception)


def is_damage(error: BaseException) -> bool:
    """Whether an error of a driver, or one of SQLAlchemy for it, says that what is stored is damaged."""
    error = getattr(error, "orig", None) or error
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _SQLITE:
        return True
    return getattr(error, "sqlstate", None) in _POSTGRESQL or (
        isinstance(error, sqlite3.OperationalError) and str(error).startswith(_NOT_TEXT))


def _quick_check(connection: Connection, until: float | None, clock: Callable[[], float]) -> str:
    """SQLite's first finding; "" if there is none, or not before ``until``."""
    driver = connection.connection.dbapi_connection
    assert isinstance(driver, sqlite3.Connection)
    if until is not None:
        driver.set_progress_handler(lambda: int(clock() > until), _STEPS)
    try:
        driver.execute("PRAGMA shrink_memory")      # pages that are in memory would hide those of the file
        rows = driver.execute("PRAGMA quick_check(1)").fetchall()
        return "" if [row[0] for row in rows] == ["ok"] else str(rows[0][0] if rows else "no answer")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_INTERRUPT:
            return ""
        if is_damage(error):
            return str(error)
        raise
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return str(error)
        raise
    finally:
        driver.set_progress_handler(None, 0)
