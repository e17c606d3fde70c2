"""Readiness checks of the database, for load balancers."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

from sqlalchemy import Connection, Engine, exc

from cir_core.errors import StorageError
from storage.engine.database import BUSY_TIMEOUT_MS, file_watch, hold_write_lock, reading, sqlite_path
from storage.engine.errors import DamageWatch, explained, is_damage
from storage.engine.revisions import SchemaWatch

_PATIENCE = 1.0   # seconds; a database locked for longer is busy, not broken
_log = logging.getLogger("cirque.storage")
_STUCK = 60.0     # seconds; mere load does not lock others out for so long


class Readiness:
    """Checks the database of ``engine``, and refuses writes to the schema of another version."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = monotonic) -> None:
        self._engine, self._clock = engine, clock
        self._schema = SchemaWatch(clock)
        self._schema.attach(engine)
        self._damage = DamageWatch(clock)
        self._damage.attach(engine)
        self._wrote = clock()

    @property
    def is_other(self) -> bool:
        """Whether the schema was another version's at the last check; runs no query."""
        return self._schema.is_other

    def is_current(self) -> bool:
        """Whether the schema is this version's. Raises ``StorageError`` if the database does not answer."""
        with reading(self._engine) as connection:
            return self._schema.check(connection)

    def is_sound(self) -> bool:
        """Whether nothing is known of damage: since the start, and since the last error that damage causes. Then it is
        looked through, which takes seconds for each gigabyte of a SQLite file. Raises ``StorageError``."""
        try:
            with explained(self._engine.url), self._engine.connect() as connection:
                return not self._damage.check(connection)
        except StorageError as error:
            if error.__cause__ is None or not is_damage(error.__cause__):
                raise
            self._damage.note(error.__cause__)      # so damaged that it cannot be looked through
            _log.warning("Not ready: %s", error)
            return False

    def is_in_place(self) -> bool:
        """Whether the SQLite file at its path is the opened one; if not, the log says what to do."""
        file = file_watch(self._engine)
        if file is None:
            return True
        with suppress(StorageError), explained(self._engine.url), self._engine.connect() as connection:
            file.check(connection)
        return file.is_in_place

    def can_be_written(self) -> bool:
        """Try a write and roll it back. False once other writers have held the lock for a minute. Raises
        ``StorageError`` if the database is read-only."""
        with explained(self._engine.url):
            if _tries_to_write(self._engine):
                self._wrote = self._clock()
        return self._clock() - self._wrote < _STUCK

    def close(self) -> None:
        """Close idle connections. With the last connection of all processes SQLite checkpoints its log, so that the
        database is a single file."""
        self._engine.dispose()

    @property
    def folder(self) -> Path | None:
        """Folder of a SQLite file, else None."""
        path = sqlite_path(self._engine.url)
        return path.parent if path is not None else None


def _tries_to_write(engine: Engine) -> bool:
    """False if the lock was not free in time."""
    try:
        with hold_write_lock(engine, _PATIENCE), engine.connect() as connection:
            connection = connection.execution_options(cirque_writes=True)
            if engine.dialect.name == "sqlite":
                _rewrite(connection)
            else:   # locking a row is a write, leaves no dead row behind, and does not wait for other checks
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
