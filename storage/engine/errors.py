"""Turn database errors into messages: for the log and the command line, and for browsers.

The driver's own error stays chained to the :class:`StorageError`.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc
from sqlalchemy.engine import URL

from cir_core.errors import StorageError
from storage.engine.damage_watch import is_damage
from storage.engine.error_codes import CROWDED, SQLITE, UNKNOWN, Cause, postgresql_cause

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
