"""The databases of tests: a SQLite file in its home, or one of its own on the server that CIRQUE_TEST_DATABASE_URL
names, for example ``postgresql+psycopg://cirque@/cirque_test?host=/run/postgresql``.

A home gets the same database however often it is asked for, until the fixture or test that asked first is over: then
it is dropped (``tests/conftest.py``). All are copies of a migrated one, so that making one costs little. Names on a
server begin with the one in the URL, which must hold "test"; what an earlier run left is dropped first, so two runs at
once need two names. A test that is about SQLite itself asks for ``sqlite_of`` instead.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.pool import NullPool, Pool

from cir_core.settings import Settings
from storage.backups.integrity import inspect_database
from storage.engine.database import open_database, writing
from storage.migrations.run import migrate
from storage.studies.store import SqlStudyStore

SERVER = os.environ.get("CIRQUE_TEST_DATABASE_URL", "")
ON_SQLITE = not SERVER

_made: dict[Path, str] = {}                                  # the database's name on the server, by its home
_owners: list[Callable[[Callable[[], Any]], None]] = []      # addfinalizer of the fixtures and the test under way
_connected: dict[str, list[Any]] = defaultdict(list)         # this process's connections, by the database's name
_numbers = iter(range(1_000_000))


def sqlite_of(home: Path) -> str:
    """The URL of the SQLite file that cirque makes in ``home``."""
    return f"sqlite:///{home / 'cirque.db'}"


def database_of(home: Path, *, empty: bool = False) -> str:
    """The URL of this home's database, which is made at the first time. ``empty`` is without tables; a SQLite file is
    not there yet then."""
    if ON_SQLITE:
        if not empty:
            home.mkdir(parents=True, exist_ok=True)
            _copy_migrated(home)
        return sqlite_of(home)
    home = home.resolve()
    if home not in _made:
        name = _make(template=_empty() if empty else _migrated())
        _made[home] = name
        _owners[-1](lambda: _forget(home))
    return _url(_made[home])


def open_migrated(url: str) -> Engine:
    """An engine over the database at ``url``, brought up to date. Raises StorageError."""
    engine = open_database(url)
    try:
        migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def engine_of(home: Path) -> Engine:
    """An engine over the migrated database of this home, in which there is nothing yet."""
    return open_migrated(database_of(home))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """For the tests of a file that imports it."""
    engine = engine_of(tmp_path)
    yield engine
    engine.dispose()


@pytest.fixture(name="store")
def study_store(tmp_path: Path) -> Iterator[SqlStudyStore]:
    """For the tests of a file that imports it."""
    engine = engine_of(tmp_path)
    yield SqlStudyStore(engine)
    engine.dispose()


def settings_of(home: Path, **values: Any) -> Settings:
    return Settings(**{"home": home, "database_url": _named(home), **values})


def environment_of(home: Path, **variables: str) -> dict[str, str]:
    """For a command or server of its own: this process's variables, the home, its database, and ``variables``."""
    return {**os.environ, "CIRQUE_HOME": str(home), "CIRQUE_DATABASE_URL": _named(home), **variables}


def use_home(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Commands that run in this process find this home and its database."""
    for name in ("CIRQUE_HOME", "CIRQUE_DATABASE_URL"):
        monkeypatch.setenv(name, environment_of(home)[name])


def refuse_position_2(engine: Engine, table: str) -> None:
    """From now on this table takes no row whose ``position`` is 2: what is being written fails half-way."""
    with writing(engine) as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql(f"CREATE TRIGGER stop BEFORE INSERT ON {table} WHEN new.position = 2 "
                                       "BEGIN SELECT RAISE(ABORT, 'stopped'); END")
        else:
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT stop CHECK (position <> 2)")


def check_sound(url: str) -> None:
    """Nothing in it is damaged, points nowhere or is counted wrongly."""
    engine = open_database(url)
    try:
        assert inspect_database(engine).faults == ()
    finally:
        engine.dispose()


@contextmanager
def owned_by(add_finalizer: Callable[[Callable[[], Any]], None]) -> Iterator[None]:
    """Databases that are made within are dropped when what ``add_finalizer`` belongs to is over."""
    _owners.append(add_finalizer)
    try:
        yield
    finally:
        _owners.pop()


def close() -> None:
    """Drop what is left, at the end of all tests."""
    if not ON_SQLITE and _server.cache_info().currsize:
        _drop_all()
        _server().close()


def _named(home: Path) -> str:
    if not ON_SQLITE:
        return database_of(home)
    if home.is_dir():                # a home that is not there is for a first start, which finds no database either
        _copy_migrated(home)
    return ""                        # a SQLite home finds its file by itself


_SIGNS = ("database.json", "studies", "uploads")


def _copy_migrated(home: Path) -> None:
    """A database for a SQLite home in which there never was one. A home that has lost its database stays without."""
    if not any((home / name).exists() for name in _SIGNS) and not any(home.glob("cirque.db*")):
        shutil.copyfile(_migrated_file(), home / "cirque.db")


@lru_cache(maxsize=1)
def _migrated_file() -> Path:
    """Made once by each process, and removed with it. A whole file: the last one who closes it empties the log."""
    home = Path(tempfile.mkdtemp(prefix="cirque-template-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    open_migrated(sqlite_of(home)).dispose()
    (file,) = home.iterdir()
    return file


def _forget(home: Path) -> None:
    name = _made.pop(home)
    for connection in _connected.pop(name, ()):   # of engines that nobody closed
        connection.close()
    _drop(name)


@event.listens_for(Pool, "connect")
def _note(connection: Any, _record: object) -> None:
    if not ON_SQLITE and hasattr(connection, "info"):
        _connected[connection.info.dbname].append(connection)


def _prefix() -> str:
    name = make_url(SERVER).database or ""
    assert "test" in name, f"the name of the database for tests must hold 'test', and {name!r} does not"
    return f"{name}_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}_"


def _url(name: str) -> str:
    return make_url(SERVER).set(database=name).render_as_string(hide_password=False)


@lru_cache(maxsize=1)
def _server() -> Connection:
    """Connected to the server's own database, to make and drop others."""
    engine = create_engine(_url("postgres"), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    connection = engine.connect()
    _connected.pop("postgres", None)
    return connection


@lru_cache(maxsize=1)
def _empty() -> str:
    _drop_all()
    return "template0"


@lru_cache(maxsize=1)
def _migrated() -> str:
    name = _make(template=_empty())
    open_migrated(_url(name)).dispose()   # nobody may be connected to a database that is copied
    _connected.pop(name, None)
    return name


def _make(template: str) -> str:
    name, server = f"{_prefix()}{next(_numbers)}", _server()
    # As files: a copy through the write-ahead log, the default from 15 on, takes more than twice the CPU seconds.
    how = " STRATEGY FILE_COPY" if (server.dialect.server_version_info or (0,)) >= (15,) else ""
    server.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{template}"{how}'))
    return name


def _drop(name: str) -> None:
    _server().execute(text(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))


def _drop_all() -> None:
    names = text("SELECT datname FROM pg_database WHERE starts_with(datname, :prefix)")
    for name in _server().execute(names, {"prefix": _prefix()}).scalars().all():
        _drop(name)
