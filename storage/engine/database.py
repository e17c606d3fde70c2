"""Database engine and transactions. All code that depends on the dialect is here.

Python's sqlite3 module opens transactions by itself, late and never IMMEDIATE. This is turned off
(``storage.engine.sqlite_files``), and the engine's "begin" event issues BEGIN instead.
PostgreSQL needs timeouts: without them a single locked row would block threads, and finally the server, forever.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import orjson
from sqlalchemy import Connection, Engine, Table, create_engine, event, exc
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url

from cir_core.errors import StorageError
from storage.engine.errors import explained, where
from storage.engine.file_watch import FileWatch
from storage.engine.revisions import SchemaWatch
from storage.engine.sqlite_files import FairWriteLock, prepare_file, set_up, take_write_lock

_IDLE_MS = 120_000          # in a transaction: a process stopped half-way holds its locks this long
_STATEMENT_MS = 300_000     # longer than any page or report takes
_HOURS_MS = 6 * 3_600_000   # for migrations, backups and checks
_LIBPQ = ("psycopg", "psycopg2")
_CONNECTING: dict[str, Any] = {
    "connect_timeout": 5,   # seconds
    # A silently dead connection is noticed within half a minute instead of hours.
    "keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
BUSY_TIMEOUT_MS = 10_000
MIGRATION_TIMEOUT_MS = 120_000  # the other process may be copying a large database
_MIGRATION_LOCK = 0x63697271    # "cirq"; any number that no other program uses

_compact_json = partial(json.dumps, separators=(",", ":"), ensure_ascii=False)
_LONG_NUMBER = re.compile(r"\d{19}")


def read_json(stored: str | bytes) -> Any:
    """As ``json.loads``, in a fifth of the time. orjson reads whole numbers of more than 64 bits as floats, and refuses
    what JSON does not have, such as NaN."""
    text = stored if isinstance(stored, str) else stored.decode()
    if _LONG_NUMBER.search(text):
        return json.loads(text)
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def open_database(url: str) -> Engine:
    """Create an engine with configured connections, and check that the database answers. Raises StorageError."""
    parsed = parse(url)
    # Driver errors are logged, and must not contain user data.
    options: dict[str, Any] = {"json_serializer": _compact_json, "json_deserializer": read_json,
                               "hide_parameters": True}
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
            FileWatch(path).attach(engine)
    try:
        with reading(engine):
            pass
    except StorageError:
        engine.dispose()
        raise
    return engine


@contextmanager
def reading(engine: Engine, *, all_of_it: bool = False) -> Iterator[Connection]:
    """Read-only transaction on one snapshot of the database. ``all_of_it``: with the long timeouts of a backup."""
    with explained(engine.url), engine.connect() as connection:
        if engine.dialect.name == "postgresql":  # SQLite's are snapshots anyway
            connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            if all_of_it:
                raise_timeouts(connection, MIGRATION_TIMEOUT_MS)
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Write transaction: on disk when the block has ended, rolled back if it raises.

    On SQLite it takes the write lock at once: a transaction that reads first and writes later can fail
    half-way, without waiting, when another one wrote in between. The threads of this process queue for
    the lock; so a nested transaction would deadlock, and is refused.
    """
    on_wait: Callable[[float], None] | None = engine.get_execution_options().get("cirque_waited")
    schema: SchemaWatch | None = engine.get_execution_options().get("cirque_schema")
    file = file_watch(engine)
    started = time.perf_counter()
    with explained(engine.url), hold_write_lock(engine, BUSY_TIMEOUT_MS / 1000), engine.connect() as connection:
        connection = connection.execution_options(cirque_writes=True)
        if file is not None:
            file.check(connection)
        with connection.begin():
            if on_wait is not None:
                on_wait(time.perf_counter() - started)
            if schema is not None:
                schema.before_writing(connection)
            yield connection
            if file is not None:   # waiting for the lock may have taken a while
                file.check()
        if file is not None:       # do not acknowledge a write to a file that has been moved or deleted
            file.check()


def observe_waits(engine: Engine, on_wait: Callable[[float], None]) -> None:
    """Call ``on_wait`` with the seconds that each write transaction waited for its lock."""
    engine.update_execution_options(cirque_waited=on_wait)


def file_watch(engine: Engine) -> FileWatch | None:
    """The engine's file watch; None unless it is a SQLite file opened with ``open_database``."""
    return engine.get_execution_options().get("cirque_file")


def waits_for_rows(connection: Connection | Engine) -> bool:
    """Whether writers run concurrently, so that a row must be locked before what depends on it is read.

    False on SQLite, where a writer locks the whole file. Elsewhere the lock must be a statement of its own: after a
    wait, a statement sees the current state of the locked row, but the old state of joined rows.
    """
    return connection.dialect.name != "sqlite"


def upserting(connection: Connection) -> Callable[[Table], Any]:
    """The dialect's ``insert``, which has ``on_conflict_do_update``."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert
    return sqlite.insert


@contextmanager
def changing_schema(engine: Engine) -> Iterator[Connection]:
    """Write transaction for migrations: one process at a time, foreign keys checked at its end. SQLite changes most of
    a table's definition by copying the table, which enforced foreign keys prevent."""
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
                        raise StorageError(f"{where(engine.url)} could not be updated: it would have "
                                           "rows without their parents. Nothing was changed. Please report this.")
            finally:
                connection.detach()  # its pragmas differ from the pool's
        else:
            with connection.begin():
                raise_timeouts(connection, MIGRATION_TIMEOUT_MS)
                if engine.dialect.name == "postgresql":
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
                yield connection


@contextmanager
def hold_write_lock(engine: Engine, seconds: float) -> Iterator[None]:
    """Hold the process's write lock of a SQLite database; no-op elsewhere. Raises SQLAlchemy's TimeoutError."""
    lock: FairWriteLock | None = engine.get_execution_options().get("cirque_turns")
    if lock is None:
        yield
        return
    with lock.turn(seconds) as acquired:
        if not acquired:
            raise exc.TimeoutError("other threads kept writing")
        yield


def sqlite_path(url: URL) -> Path | None:
    """The file of a SQLite URL; None for servers and ``file:`` URIs."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database.startswith("file:"):
        return None
    return Path(url.database)


def parse(url: str) -> URL:
    """Parse a database URL. Raises StorageError for a malformed URL or a database in memory."""
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
    if connection.get_execution_options().get("cirque_writes", False):
        take_write_lock(cast(sqlite3.Connection, connection.connection.dbapi_connection),
                        lambda: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    else:
        connection.exec_driver_sql("BEGIN")


def postgres_options(url: URL, lock_ms: int) -> dict[str, Any]:
    """Options for ``create_engine``. Parameters of the URL take precedence. The pool timeout is that of locks, so that
    a page gets an error before it times out itself."""
    options: dict[str, Any] = {
        "pool_pre_ping": True,   # a server may have closed idle connections
        "pool_size": 10, "max_overflow": 10, "pool_timeout": lock_ms / 1000,
    }
    if url.get_driver_name() in _LIBPQ:
        from_url = url.query.get("options", "")
        given = " ".join([_settings(lock_ms), *((from_url,) if isinstance(from_url, str) else from_url)]).strip()
        connecting = {name: value for name, value in _CONNECTING.items() if name not in url.query}
        options["connect_args"] = connecting | {"options": given}
    return options


def raise_timeouts(connection: Connection, lock_ms: int) -> None:
    """Raise the limits for this transaction: migrations, backups and checks may take hours, and wait longer for
    locks."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("".join(f"SET LOCAL {name} = {value};" for name, value in (
            ("lock_timeout", lock_ms), ("statement_timeout", _HOURS_MS),
            ("idle_in_transaction_session_timeout", _HOURS_MS))))


def _settings(lock_ms: int) -> str:
    return (f"-c lock_timeout={lock_ms} -c statement_timeout={_STATEMENT_MS} "
            f"-c idle_in_transaction_session_timeout={_IDLE_MS}")
