"""Open a database, and read or write it in transactions. All that depends on the dialect is here.

Python's sqlite3 module opens transactions on its own, late and never IMMEDIATE. It is told
not to (``storage.engine.sqlite_files``), and the engine's "begin" event says BEGIN instead.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, exc
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url

from cir_core.errors import StorageError
from storage.engine.errors import explained, where
from storage.engine.file_watch import FileWatch
from storage.engine.postgres_timeouts import postgres_options, without_hurry
from storage.engine.schema_watch import SchemaWatch
from storage.engine.sqlite_files import prepare_file, set_up
from storage.engine.write_lock import FairWriteLock

BUSY_TIMEOUT_MS = 10_000
MIGRATION_TIMEOUT_MS = 120_000  # the other process may be copying a large database
_MIGRATION_LOCK = 0x63697271    # "cirq"; any number does that no other program uses

_compact_json = partial(json.dumps, separators=(",", ":"), ensure_ascii=False)


def open_database(url: str) -> Engine:
    """An engine whose connections are set up and whose database answers. Raises StorageError."""
    parsed = parse(url)
    # Errors of the driver end up in logs, and what people wrote must not.
    options: dict[str, Any] = {"json_serializer": _compact_json, "hide_parameters": True}
    is_file = parsed.get_backend_name() == "sqlite"
    if is_file:
        if (path := sqlite_path(parsed)) is not None:
            prepare_file(path)
        options |= {"pool_size": 8, "max_overflow": 56}  # web callbacks run on up to 40 threads
        options |= {"execution_options": {"cirque_turns": FairWriteLock()}}
    else:
        options |= postgres_options(parsed, BUSY_TIMEOUT_MS) if parsed.get_backend_name() == "postgresql" else {
            "pool_pre_ping": True}
    try:
        engine = create_engine(parsed, **options)
    except (exc.NoSuchModuleError, ModuleNotFoundError) as error:
        raise StorageError(f"No driver for {parsed.drivername} databases is installed. Install one, for PostgreSQL "
                           "from the checkout with .venv/bin/pip install -e '.[postgres]', or leave "
                           "CIRQUE_DATABASE_URL empty to use a SQLite file.") from error
    if is_file:
        event.listen(engine, "connect", partial(set_up, timeout_ms=BUSY_TIMEOUT_MS))
        event.listen(engine, "begin", _begin_sqlite)
        if path is not None:
            FileWatch(path).attend(engine)
    try:
        with reading(engine):
            pass
    except StorageError:
        engine.dispose()
        raise
    return engine


@contextmanager
def reading(engine: Engine, *, all_of_it: bool = False) -> Iterator[Connection]:
    """A transaction that only reads, and sees one state of the database throughout: in a backup ``all_of_it``, which
    may take hours."""
    with explained(engine.url), engine.connect() as connection:
        if engine.dialect.name == "postgresql":  # SQLite's are snapshots anyway
            connection = connection.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True)
            if all_of_it:
                without_hurry(connection, MIGRATION_TIMEOUT_MS)
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes: on disk when the block has ended, undone if it raises.

    On SQLite it takes the write lock at once. A transaction that reads first and writes
    later can fail half-way, without waiting, when another one wrote in between. The threads of
    this process take turns; so one transaction inside another would wait for itself, and is refused.
    """
    waited: Callable[[float], None] | None = engine.get_execution_options().get("cirque_waited")
    schema: SchemaWatch | None = engine.get_execution_options().get("cirque_schema")
    file = file_watch(engine)
    asked = time.perf_counter()
    with explained(engine.url), turn_to_write(engine, BUSY_TIMEOUT_MS / 1000), engine.connect() as connection:
        connection = connection.execution_options(cirque_writes=True)
        if file is not None:
            file.check(connection)
        with connection.begin():
            if waited is not None:
                waited(time.perf_counter() - asked)
            if schema is not None:
                schema.before_writing(connection)
            yield connection
            if file is not None:   # it may have been waited for the lock
                file.check()
        if file is not None:       # what is in a file that nobody finds again is not acknowledged
            file.check()


def tell_waits(engine: Engine, waited: Callable[[float], None]) -> None:
    """From now on ``waited`` gets the seconds that each writing transaction waited before it could write."""
    engine.update_execution_options(cirque_waited=waited)


def file_watch(engine: Engine) -> FileWatch | None:
    """None where the database is no SQLite file of ``open_database``."""
    return engine.get_execution_options().get("cirque_file")


def waits_for_rows(connection: Connection) -> bool:
    """Whether writers run side by side, so that a row must be locked before what depends on it is read.

    Not on SQLite, whose writer has the whole file. Elsewhere the lock is a statement of its own: one that has
    waited sees the locked row as it is now, but all that it joins as it was before.
    """
    return connection.dialect.name != "sqlite"


def upserting(connection: Connection) -> Callable[[Table], Any]:
    """The dialect's ``insert``, which knows ``on_conflict_do_update``: the count of one is the count of all."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert
    return sqlite.insert


@contextmanager
def changing_schema(engine: Engine) -> Iterator[Connection]:
    """A writing transaction for migrations: one process at a time, foreign keys checked at its end.

    SQLite changes most of a table's definition by copying it, which foreign keys forbid.
    """
    with explained(engine.url), engine.connect() as connection:
        connection = connection.execution_options(cirque_writes=True)
        if engine.dialect.name == "sqlite":
            pragma = connection.connection.dbapi_connection.execute  # type: ignore[union-attr]
            pragma(f"PRAGMA busy_timeout = {MIGRATION_TIMEOUT_MS}")
            pragma("PRAGMA foreign_keys = OFF")  # has no effect inside a transaction
            try:
                with connection.begin():
                    yield connection
                    if connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                        raise StorageError(f"{where(engine.url)} could not be updated: rows would have "
                                           "pointed nowhere. It was left as it was. Please report this.")
            finally:
                connection.detach()  # its pragmas are not those of the pool
        else:
            with connection.begin():
                without_hurry(connection, MIGRATION_TIMEOUT_MS)
                if engine.dialect.name == "postgresql":
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
                yield connection


@contextmanager
def turn_to_write(engine: Engine, seconds: float) -> Iterator[None]:
    """While it lasts no other thread of this process writes, where only one can. Raises SQLAlchemy's TimeoutError."""
    turns: FairWriteLock | None = engine.get_execution_options().get("cirque_turns")
    if turns is None:
        yield
        return
    with turns.turn(seconds) as came:
        if not came:
            raise exc.TimeoutError("other threads have been writing all the time")
        yield


def sqlite_path(url: URL) -> Path | None:
    """The file of a SQLite URL; None for servers and ``file:`` URIs."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database.startswith("file:"):
        return None
    return Path(url.database)


def parse(url: str) -> URL:
    """Raises StorageError for what is no URL of a database that lasts."""
    try:
        parsed = make_url(url)
    except exc.ArgumentError as error:
        raise StorageError("CIRQUE_DATABASE_URL is not a database URL. Write for example "
                           "sqlite:////home/me/cirque.db or postgresql+psycopg://name:password@host/cirque."
                           ) from error
    if parsed.get_backend_name() == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise StorageError("A SQLite database in memory would be lost, and each thread would see another. "
                           "Name a file: sqlite:////home/me/cirque.db.")
    return parsed


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("cirque_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
