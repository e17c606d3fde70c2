"""Messages by SQLSTATE or SQLite error code: one for the administrator, one for browsers."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from cir_core.errors import nothing_saved

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
        "somewhere that is.", _UNWRITABLE),
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
        "is damaged. Stop cirque, keep a copy of the file, and restore a backup (see docs/storage.md).",
        "The database is damaged, so nothing can be saved. Tell whoever runs this cirque."),
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
_DAMAGED = Cause("is damaged. Stop cirque, keep a copy, and restore a backup (see docs/storage.md).",
                 "The database is damaged, so nothing can be saved. Tell whoever runs this cirque.")

# By SQLSTATE (PostgreSQL's appendix A), or its class, the first two characters.
POSTGRESQL: Mapping[str, Cause] = {
    "08": Cause("cannot be reached. Check that it is running, and that CIRQUE_DATABASE_URL is correct.", _UNAVAILABLE),
    "0A000": _READ_ONLY, "25006": _READ_ONLY,   # the first: from a standby
    "25P03": _DISCONNECTED, "25P04": _TOO_LONG,
    "28": _SIGN_IN,
    "3D": Cause("does not exist on its server. Create it (createdb, see docs/storage.md), or correct its name in "
                "CIRQUE_DATABASE_URL.", _UNAVAILABLE),
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
