"""Database errors as sentences for the person at the screen.

The driver's own error stays chained to the :class:`StorageError`, for the log.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc
from sqlalchemy.engine import URL

from cir_core.errors import StorageError

_NOTHING_LOST = "Nothing that was saved before is lost."

# Primary result codes of SQLite; an extended code carries them in its low byte.
_SQLITE_REMEDIES = {
    sqlite3.SQLITE_BUSY: "is in use by another program that does not let go of it. Close other programs "
                         "that have it open, then try again.",
    sqlite3.SQLITE_LOCKED: "is in use by another program that does not let go of it. Close other programs "
                           "that have it open, then try again.",
    sqlite3.SQLITE_READONLY: "cannot be written. Make the file and its folder writable, or point CIRQUE_HOME "
                             "or CIRQUE_DATABASE_URL somewhere that is.",
    sqlite3.SQLITE_PERM: "may not be opened. Check who owns the file and its folder.",
    sqlite3.SQLITE_FULL: f"has no room left on its disk. Free some space, then try again. {_NOTHING_LOST}",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check that its folder exists and is writable, or point "
                             "CIRQUE_HOME or CIRQUE_DATABASE_URL somewhere else.",
    sqlite3.SQLITE_NOTADB: "is not a database. Move the file away, restore a backup in its place, or point "
                           "CIRQUE_DATABASE_URL at another file.",
    sqlite3.SQLITE_CORRUPT: "is damaged. Stop cirque, keep a copy of the file, and restore a backup "
                            "(see docs/storage.md).",
    sqlite3.SQLITE_IOERR: "could not be read or written: the disk reported an error. Check the disk and "
                          f"the room on it, then try again. {_NOTHING_LOST}",
}


def where(url: URL) -> str:
    """The database in words: a path for SQLite, otherwise the URL without its password."""
    if url.get_backend_name() == "sqlite" and url.database:
        return f"The database {url.database}"
    return f"The database {url.render_as_string(hide_password=True)}"


def explain(error: Exception, url: URL) -> StorageError:
    """The :class:`StorageError` for an error of SQLAlchemy or of the driver below it."""
    if isinstance(error, exc.IntegrityError):
        return StorageError("This was not saved, because it contradicts what is already stored. "
                            "Reload the page and try again.")
    if isinstance(error, exc.TimeoutError):
        return StorageError(f"{where(url)} is busy with other requests. Try again in a moment.")
    code = getattr(getattr(error, "orig", error), "sqlite_errorcode", None)
    remedy = _SQLITE_REMEDIES.get(code & 0xFF) if code is not None else None
    if remedy is None:
        remedy = ("did not answer as it should. Check that it is running and reachable, and that its URL is "
                  "right; the log has the details.")
    return StorageError(f"{where(url)} {remedy}")


@contextmanager
def explained(url: URL) -> Iterator[None]:
    """Turn what the database could not do into :class:`StorageError`.

    A malformed statement or parameter is a defect of ours and passes through unchanged.
    """
    try:
        yield
    except (exc.DBAPIError, exc.TimeoutError, sqlite3.Error) as error:
        ours = isinstance(error, (exc.ProgrammingError, exc.InterfaceError, sqlite3.ProgrammingError))
        if ours and url.get_backend_name() == "sqlite":
            raise
        raise explain(error, url) from error
