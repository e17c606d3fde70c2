"""Whether the database can be worked with, for whoever sends people here."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from sqlalchemy import Connection, Engine, exc

from cir_core.errors import StorageError
from storage.engine.database import BUSY_TIMEOUT_MS, file_watch, reading, sqlite_path, turn_to_write
from storage.engine.errors import explained
from storage.engine.schema_watch import SchemaWatch

_PATIENCE = 1.0   # seconds; who writes for longer is busy, not broken
_STUCK = 60.0     # nobody who only writes a lot keeps others off for so long


class Readiness:
    """Asks the database behind ``engine``, and keeps this process's writers off the tables of another version."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = monotonic) -> None:
        self._engine, self._clock = engine, clock
        self._schema = SchemaWatch(clock)
        self._schema.attend(engine)
        self._wrote = clock()

    @property
    def is_other(self) -> bool:
        """Whether its schema was another version's when somebody last looked; asks nothing."""
        return self._schema.is_other

    def is_current(self) -> bool:
        """Whether its schema is this version's. Raises ``StorageError`` where it does not answer."""
        with reading(self._engine) as connection:
            return self._schema.look(connection)

    def is_in_place(self) -> bool:
        """Whether the file at its path is the one that is open; where it is not, the log says what to do."""
        file = file_watch(self._engine)
        if file is None:
            return True
        with suppress(StorageError), explained(self._engine.url), self._engine.connect() as connection:
            file.check(connection)
        return file.is_in_place

    def can_be_written(self) -> bool:
        """Tries it, and undoes it. That others are writing just now is no reason to say no; that they have been for a
        minute is. Raises ``StorageError`` where it can only be read."""
        with explained(self._engine.url):
            if _tries_to_write(self._engine):
                self._wrote = self._clock()
        return self._clock() - self._wrote < _STUCK

    def close(self) -> None:
        """Close the connections that nobody uses. With the last one of all processes SQLite writes its log into the
        database, which then is one file."""
        self._engine.dispose()

    @property
    def folder(self) -> Path | None:
        """Where its file is, if it is one."""
        path = sqlite_path(self._engine.url)
        return path.parent if path is not None else None


def _tries_to_write(engine: Engine) -> bool:
    """False where others were writing all the time."""
    try:
        with turn_to_write(engine, _PATIENCE), engine.connect() as connection:
            connection = connection.execution_options(cirque_writes=True)
            if engine.dialect.name == "sqlite":
                _rewrite(connection)
            else:   # to lock a row is to write; it leaves no dead row behind, and waits for nobody who does the same
                connection.exec_driver_sql("SELECT version_num FROM alembic_version FOR UPDATE SKIP LOCKED")
    except exc.TimeoutError:
        return False
    except exc.OperationalError as error:
        if getattr(error.orig, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True


def _rewrite(connection: Connection) -> None:
    pragma = connection.connection.dbapi_connection.execute  # type: ignore[union-attr]
    pragma(f"PRAGMA busy_timeout = {round(_PATIENCE * 1000)}")
    try:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
    finally:
        connection.rollback()
        pragma(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
