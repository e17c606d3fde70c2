"""Turn database errors into messages: for the log and the command line, and for browsers, by SQLSTATE or SQLite error
code; and note damage of a database, for the readiness check.

The driver's own error stays chained to the :class:`StorageError`.
"""

from __future__ import annotations

import json
import logging
import re
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from sqlalchemy import Connection, Engine, event, exc
from sqlalchemy.engine import URL, ExceptionContext

from cir_core.errors import StorageError, nothing_saved

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
                           "recover what is left (docs/how-to/operate/storage.md, A damaged database).", found)
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


NOTHING_LOST = "Nothing that was saved before is lost."
BUSY = "The database is busy at the moment, so this was not done. Try again in a moment."
_UNAVAILABLE = nothing_saved("the database does not answer")
_UNWRITABLE = nothing_saved("the database cannot be written")


@dataclass(frozen=True)
class Cause:
    """Explanation of a database error. ``explanation`` follows the database's name and ends with the remedy; ``public``
    is for browsers, as in ``StorageError``."""

    explanation: str
    public: str


UNKNOWN = Cause("did not answer as it should. Check that it is running and reachable, and that its URL is right.",
                _UNAVAILABLE)
CROWDED = Cause("is busy with other requests. Try again in a moment.", BUSY)

_IN_USE = Cause("is locked by another program. Close other programs that have it open, then try again.", BUSY)

# Primary result codes; an extended code carries them in its low byte.
SQLITE: Mapping[int, Cause] = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_READONLY: Cause(
        "cannot be written. Make the file and its folder writable, or point CIRQUE_HOME or CIRQUE_DATABASE_URL "
        "at a writable place.", _UNWRITABLE),
    sqlite3.SQLITE_PERM: Cause("may not be opened. Check who owns the file and its folder.", _UNAVAILABLE),
    sqlite3.SQLITE_FULL: Cause(
        f"has no room left on its disk. Free some space, then try again. {NOTHING_LOST}",
        nothing_saved("the disk is full")),
    sqlite3.SQLITE_CANTOPEN: Cause(
        "cannot be opened. Check that its folder exists and is writable, or point CIRQUE_HOME or "
        "CIRQUE_DATABASE_URL somewhere else.", _UNAVAILABLE),
    sqlite3.SQLITE_NOTADB: Cause(
        "is not a database. Move the file away, restore a backup in its place, or point CIRQUE_DATABASE_URL at "
        "another file.", _UNAVAILABLE),
    sqlite3.SQLITE_CORRUPT: Cause(
        "is damaged. Stop cirque, keep a copy of the file, and restore a backup (see docs/how-to/operate/storage.md).",
        "The database is damaged, so nothing can be saved. Tell the administrator of this cirque."),
    sqlite3.SQLITE_IOERR: Cause(
        "could not be read or written: the disk reported an error. Check the disk and the room on it, then try again. "
        f"{NOTHING_LOST}", nothing_saved("the disk reported an error")),
}

_SIGN_IN = Cause("does not let cirque sign in. Check the name and password in CIRQUE_DATABASE_URL, and the server's "
                 "pg_hba.conf.", _UNAVAILABLE)
_READ_ONLY = Cause("is read-only: it is a standby, or configured so. Point CIRQUE_DATABASE_URL at the one that can be "
                   "written.", _UNWRITABLE)
_RESTARTING = Cause("is being stopped or started. Wait until its server is up, then try again.", _UNAVAILABLE)
_OTHER_SCHEMA = Cause("does not have the tables of this version of cirque. A newer version may have migrated it. "
                      "Start the version that fits it.", _UNAVAILABLE)
_TOO_LONG = Cause("took too long, and the request was cancelled. Look at what else its server is doing, then try "
                  "again.", BUSY)
_CONFLICT = Cause("cancelled this because of a concurrent change to the same rows. Try again.", BUSY)
_DISCONNECTED = Cause("closed the connection. Look at its server's log, then try again.", _UNAVAILABLE)
_DAMAGED = Cause("is damaged. Stop cirque, keep a copy, and restore a backup (see docs/how-to/operate/storage.md).",
                 "The database is damaged, so nothing can be saved. Tell the administrator of this cirque.")

# By SQLSTATE (PostgreSQL's appendix A), or its class, the first two characters.
POSTGRESQL: Mapping[str, Cause] = {
    "08": Cause("cannot be reached. Check that it is running, and that CIRQUE_DATABASE_URL is correct.", _UNAVAILABLE),
    "0A000": _READ_ONLY, "25006": _READ_ONLY,   # the first: from a standby
    "25P03": _DISCONNECTED, "25P04": _TOO_LONG,
    "28": _SIGN_IN,
    "3D": Cause("does not exist on its server. Create it (createdb, see docs/how-to/operate/storage.md), or correct "
                "its name in CIRQUE_DATABASE_URL.", _UNAVAILABLE),
    "3F": _OTHER_SCHEMA, "42P01": _OTHER_SCHEMA, "42703": _OTHER_SCHEMA,
    "40": _CONFLICT,
    "42501": Cause("does not give cirque's role the rights it needs. Make it the owner of the database and of its "
                   "tables.", _UNWRITABLE),
    "53100": Cause(f"has no room left on its server's disk. Free some space there, then try again. {NOTHING_LOST}",
                   nothing_saved("the disk is full")),
    "53200": Cause("has too little memory on its server for this. Look at what else runs there, then try again.",
                   _UNAVAILABLE),
    "53300": Cause("has no free connection. Raise max_connections on its server, or run fewer programs and processes "
                   "of cirque.", nothing_saved("too many use the database")),
    "55P03": Cause("is in use: another connection holds a lock. Look for a transaction that does not end "
                   "(pg_stat_activity), then try again.", BUSY),
    "57014": _TOO_LONG,
    "57": _RESTARTING,
    "58": Cause("could not be read or written: its server's disk reported an error. Check that disk and the room on "
                f"it, then try again. {NOTHING_LOST}", nothing_saved("the disk reported an error")),
    "XX001": _DAMAGED, "XX002": _DAMAGED,
}

# When connecting fails, libpq gives no SQLSTATE, only the server's message, usually in English.
_BY_MESSAGE = tuple((re.compile(pattern, re.I), state) for pattern, state in (
    (r"password authentication failed|no password supplied|no pg_hba\.conf entry|authentication failed", "28P01"),
    (r"role .{1,300} (does not exist|is not permitted to log in)", "28000"),
    (r"database .{1,300} does not exist", "3D000"),
    (r"permission denied for database", "42501"),
    (r"too many (clients|connections)|remaining connection slots", "53300"),
    (r"system is (starting up|shutting down|not yet accepting|not accepting)|in recovery mode", "57P03")))


def postgresql_cause(state: str | None, message: str) -> Cause | None:
    """Cause of an SQLSTATE, None for an unknown one. Without SQLSTATE the message is matched; no match means that the
    server was not reached."""
    if state is None:
        state = next((code for pattern, code in _BY_MESSAGE if pattern.search(message)), "08")
    return POSTGRESQL.get(state) or POSTGRESQL.get(state[:2])


_CONTRADICTS = "This was not saved, because it contradicts what is already stored. Reload the page and try again."


def where(url: URL) -> str:
    """The database's location, to display: a path for SQLite, otherwise driver, host, port and name. Without user name
    and URL query, which may contain a password too."""
    if url.get_backend_name() == "sqlite" and url.database:
        return f"The database {url.database}"
    host = (url.host or "").rpartition("@")[2]   # the rest belongs to a password with an unescaped @
    host = f"[{host}]" if ":" in host else host
    port = f":{url.port}" if url.port else ""
    return f"The database {url.drivername}://{host}{port}/{url.database or ''}"


def explain(error: Exception, url: URL) -> StorageError:
    """The :class:`StorageError` for an error of SQLAlchemy or of the driver below it."""
    driver = getattr(error, "orig", None) or error
    if isinstance(error, exc.IntegrityError):
        return StorageError(f"{_CONTRADICTS} ({_named(driver)})", _CONTRADICTS)
    cause, quoted = _cause(error, driver)
    line = f": {_first_line(driver, url)}" if quoted else ""
    return StorageError(f"{where(url)} {cause.explanation} ({_named(driver)}{line})", cause.public)


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turn database errors into :class:`StorageError`. Malformed statements and parameters are programming errors, and
    propagate unchanged."""
    try:
        yield
    except (exc.DBAPIError, exc.TimeoutError, sqlite3.Error) as error:
        ours = isinstance(error, (exc.ProgrammingError, exc.InterfaceError, sqlite3.ProgrammingError))
        if ours and url.get_backend_name() == "sqlite":
            raise
        raise explain(error, url) from error
    except (json.JSONDecodeError, zlib.error) as error:     # a driver gave out what is not what was stored
        cause = SQLITE[sqlite3.SQLITE_CORRUPT]
        raise StorageError(f"{where(url)} {cause.explanation} ({type(error).__name__})", cause.public) from error


def _cause(error: Exception, driver: BaseException) -> tuple[Cause, bool]:
    """The cause, and whether the driver's message may be quoted: only if it contains no user data."""
    if isinstance(error, exc.TimeoutError):
        return CROWDED, True
    code = getattr(driver, "sqlite_errorcode", None)
    if code is None and is_damage(driver):
        code = sqlite3.SQLITE_CORRUPT
    if code is not None:
        return SQLITE.get(code & 0xFF, UNKNOWN), False
    if not hasattr(driver, "sqlstate") or isinstance(error, exc.DataError):
        return UNKNOWN, False
    cause = postgresql_cause(driver.sqlstate, str(driver))
    return cause or UNKNOWN, cause is not None


def _named(driver: BaseException) -> str:
    """Exception class and error code, as in the driver's documentation."""
    state = getattr(driver, "sqlstate", None)
    code = f"SQLSTATE {state}" if state else getattr(driver, "sqlite_errorname", "")
    return ", ".join(filter(None, (type(driver).__name__, code)))


def _first_line(driver: BaseException, url: URL) -> str:
    message = next(iter(str(driver).strip().splitlines()), "")
    for secret in sorted(_secrets(url), key=len, reverse=True):
        message = message.replace(secret, "***")
    return message


def _secrets(url: URL) -> set[str]:
    found = {str(url.password or ""), (url.host or "").rpartition("@")[0]}
    for name, value in url.query.items():
        if "pass" in name.casefold():
            found |= {value} if isinstance(value, str) else set(value)
    return found - {""}
