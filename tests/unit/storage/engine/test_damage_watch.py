"""A database whose pages are damaged is said to be by searches and by the readiness check, until it is mended."""

from __future__ import annotations

import random
import sqlite3

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from sqlalchemy import exc
from starlette.testclient import TestClient

from cir_core.errors import StorageError
from storage.engine.damage_watch import DamageWatch, is_damage
from storage.engine.database import open_database, reading, writing
from storage.engine.errors import explain
from storage.engine.readiness import Readiness
from storage.mapping import tables
from storage.migrations.run import migrate
from tests.fakes.databases import settings_of
from web.http.meter import Meter
from web.middleware.shutdown import ShutdownState
from web.ops.health import health_routes

pytestmark = pytest.mark.sqlite
ANSWERS = 400


@pytest.fixture
def path(tmp_path):
    """A database of some hundred pages, in one file."""
    path = tmp_path / "cirque.db"
    engine = open_database(f"sqlite:///{path}")
    migrate(engine)
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE filled (number INTEGER PRIMARY KEY, words TEXT)")
        for number in range(ANSWERS):
            connection.exec_driver_sql("INSERT INTO filled VALUES (?, ?)", (number, f"{number:05d}" * 200))
    engine.dispose()
    return path


@pytest.fixture
def engine(path):
    engine = open_database(f"sqlite:///{path}")
    yield engine
    engine.dispose()


@pytest.fixture
def ready(tmp_path, engine):
    now = [0.0]
    readiness = Readiness(engine, lambda: now[0])

    def look(later: float = 0.0) -> tuple[int, str]:
        now[0] += later
        app = FastAPI()     # a new one, for an answer counts for a second
        app.include_router(health_routes(settings_of(tmp_path, min_free_mb=0), readiness, ShutdownState(), Meter()))
        answer = TestClient(app).get("/readyz")
        return answer.status_code, answer.json()["checks"]["database"].get("reason", "")

    return look


def overwrite(path, share=0.5, seed=1):
    """Half of all pages behind the first tenth."""
    page, draw = 4096, random.Random(seed)
    whole = path.read_bytes()
    with path.open("r+b") as file:
        for number in range(len(whole) // page // 10, len(whole) // page):
            if draw.random() < share:
                file.seek(number * page)
                file.write(draw.randbytes(page))
    return whole


def read_all(engine):
    with reading(engine) as connection:
        return connection.exec_driver_sql("SELECT count(*), sum(length(words)) FROM filled").one()


def test_a_damaged_database_is_not_ready_after_the_first_error(path, engine, ready):
    assert ready() == (200, "")
    assert read_all(engine) == (ANSWERS, ANSWERS * 1000)
    engine.dispose()
    whole = overwrite(path)
    with pytest.raises(StorageError, match=r"is damaged\. Stop cirque, keep a copy .* restore a backup") as told:
        read_all(engine)
    assert "damaged" in told.value.told and str(path) not in told.value.told
    assert ready() == (503, "the database is damaged")
    assert ready(later=30) == (503, "the database is damaged")
    path.write_bytes(whole)     # mended in its place
    assert ready(later=31) == (200, "")
    assert read_all(engine)[0] == ANSWERS


def test_it_is_looked_through_at_the_start(path, engine, ready):
    overwrite(path)
    assert ready() == (503, "the database is damaged")


@pytest.mark.parametrize("seed", range(4))
def test_any_damage_that_a_search_meets_is_said(path, engine, ready, seed):
    assert ready()[0] == 200
    engine.dispose()
    overwrite(path, share=0.1, seed=seed)
    try:
        found = read_all(engine)
    except StorageError:
        assert ready() == (503, "the database is damaged")
    else:       # what was overwritten is not of this table, or not what was counted
        assert found[0] == ANSWERS


def test_text_that_is_none_is_damage(engine, ready):
    with writing(engine) as connection:
        connection.exec_driver_sql("UPDATE filled SET words = CAST(x'FF00FE' AS TEXT) WHERE number = 3")
    with pytest.raises(StorageError, match="is damaged"), reading(engine) as connection:
        connection.exec_driver_sql("SELECT words FROM filled").all()


def test_json_that_is_none_is_damage(engine):
    with writing(engine) as connection:
        connection.execute(sa.insert(tables.audit_runs).values(
            digest="d", card={"a": 1}, total=1, begun_at=sa.func.current_timestamp()))
        connection.exec_driver_sql("UPDATE audit_runs SET card = '{\"a\": 1'")
    with pytest.raises(StorageError, match="is damaged"), reading(engine) as connection:
        connection.execute(sa.select(tables.audit_runs.c.card)).all()


def test_a_look_that_ends_well_is_not_made_again(engine):
    watch, looks = DamageWatch(lambda: 0.0), []
    with engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        driver.set_trace_callback(lambda said: looks.append(said) if "quick_check" in said else None)
        assert watch.check(connection) == watch.check(connection) == "" and len(looks) == 1
        watch.note(sqlite3.OperationalError("database is locked"))
        assert watch.check(connection) == "" and len(looks) == 1
        watch.note(_coded(sqlite3.SQLITE_CORRUPT))
        assert watch.check(connection) == watch.check(connection) == "" and len(looks) == 2


@pytest.mark.parametrize("fails", [False, True])
def test_an_error_that_is_noted_during_a_look_is_looked_for_afterwards(engine, monkeypatch, fails):
    watch, looks = DamageWatch(lambda: 0.0), []

    def check(connection, until, clock):
        looks.append(until)
        if len(looks) == 1:
            watch.note(_coded(sqlite3.SQLITE_CORRUPT))      # of a page that was read already
            if fails:
                raise sqlite3.OperationalError("interrupted")
        return ""

    monkeypatch.setattr("storage.engine.damage_watch._quick_check", check)
    with engine.connect() as connection:
        if fails:
            with pytest.raises(sqlite3.OperationalError):
                watch.check(connection)
        else:
            assert watch.check(connection) == ""
        assert watch.check(connection) == watch.check(connection) == ""
    assert len(looks) == 2 and looks[1] is None     # all of it, however long


def test_a_look_that_could_not_be_made_is_made_again(engine, monkeypatch):
    watch, looks = DamageWatch(lambda: 0.0), []
    answers = iter(["", sqlite3.OperationalError("database is locked"), "page 7"])

    def check(connection, until, clock):
        looks.append(until)
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("storage.engine.damage_watch._quick_check", check)
    with engine.connect() as connection:
        assert watch.check(connection) == ""
        watch.note(_coded(sqlite3.SQLITE_CORRUPT))
        with pytest.raises(sqlite3.OperationalError):
            watch.check(connection)
        assert watch.check(connection) == "page 7" and len(looks) == 3


def test_a_large_database_does_not_keep_a_start_waiting(path, engine):
    times = iter([0.0, *[1000.0] * 1000])
    with engine.connect() as connection, reading(engine) as other:
        assert other.exec_driver_sql("SELECT 1").scalar() == 1
        watch = DamageWatch(lambda: next(times))
        assert watch.check(connection) == ""


class _Server(Exception):
    def __init__(self, sqlstate):
        super().__init__("invalid page in block 7 of relation base/1/2")
        self.sqlstate = sqlstate


def _coded(code):
    error = sqlite3.DatabaseError("it")
    error.sqlite_errorcode, error.sqlite_errorname = code, "IT"
    return error


@pytest.mark.parametrize("error, damage", [
    (_coded(sqlite3.SQLITE_CORRUPT), True), (_coded(sqlite3.SQLITE_NOTADB), True), (_coded(267), True),
    (_coded(sqlite3.SQLITE_IOERR | (1 << 8)), True), (_coded(sqlite3.SQLITE_BUSY), False),
    (_coded(sqlite3.SQLITE_FULL), False), (sqlite3.OperationalError("Could not decode to UTF-8 column"), True),
    (_Server("XX001"), True), (_Server("XX002"), True), (_Server("58030"), True), (_Server("53100"), False),
    (_Server(None), False), (ValueError("x"), False)])
def test_which_errors_say_so(error, damage):
    assert is_damage(error) is damage


def test_a_server_that_reported_damage_is_believed_until_a_restart(engine):
    watch = DamageWatch(lambda: 0.0)

    class Dialect:
        name = "postgresql"

    class Connection:
        dialect = Dialect()

    assert watch.check(Connection()) == ""
    watch.note(_Server("XX001"))
    assert watch.check(Connection()) == watch.check(Connection()) != ""
    said = explain(exc.DBAPIError("SELECT", {}, _Server("XX001")), engine.url)
    assert "is damaged" in str(said) and "damaged" in said.told
