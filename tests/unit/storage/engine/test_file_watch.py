"""A database file that is moved, replaced or deleted while it is open: nothing is acknowledged that nobody could find
again, and no second file is made in its place."""

from __future__ import annotations

import logging
import os
import random
import shutil
import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from sqlalchemy import event, exc, text
from starlette.testclient import TestClient

from cir_core.errors import StorageError
from storage.engine import file_watch
from storage.engine.database import open_database, reading, writing
from storage.engine.errors import DamageWatch, explain, is_damage
from storage.engine.readiness import Readiness
from storage.mapping import tables
from storage.migrations.run import migrate
from tests.fakes.databases import open_migrated, settings_of, sqlite_of
from web.http.meter import Meter
from web.http.public_errors import public_message, status_of
from web.middleware.shutdown import ShutdownState
from web.ops.health import health_routes

pytestmark = pytest.mark.sqlite


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def engine(home):
    engine = open_migrated(sqlite_of(home))
    yield engine
    engine.dispose()


def save(engine, key):
    with writing(engine) as connection:
        connection.execute(text("INSERT INTO wrong_tries (key, tries, last_at) VALUES (:key, 1, '2026-01-01')"),
                           {"key": key})


def kept(path):
    with closing(sqlite3.connect(path)) as connection:
        return {key for key, in connection.execute("SELECT key FROM wrong_tries")}


def files(home):
    return sorted(path.name for path in home.iterdir())


def ask_ready(engine, home):
    app = FastAPI()
    settings = settings_of(home / "none", min_free_mb=0).model_copy(update={"home": home})   # which makes no database
    app.include_router(health_routes(settings, Readiness(engine), ShutdownState(), Meter()))
    return TestClient(app).get("/readyz")


def move(home, away):
    (home / "cirque.db").rename(away)


def delete(home, away):
    (home / "cirque.db").unlink()


def replace(home, away):
    shutil.copy(home / "cirque.db", away)
    away.replace(home / "cirque.db")


def rename_the_home(home, away):
    home.rename(away)


@pytest.mark.parametrize("happens", [move, delete, replace, rename_the_home])
def test_nothing_is_acknowledged_any_more(engine, home, tmp_path, caplog, happens):
    save(engine, "before")
    assert ask_ready(engine, home).status_code == 200
    happens(home, tmp_path / "away")
    with caplog.at_level(logging.WARNING, "cirque.storage"):
        for _ in range(3):
            with pytest.raises(StorageError, match=r"cirque.db is not the file .* Put the same file back") as refused:
                save(engine, "after")
    assert caplog.text.count("Nothing is saved any more") == 1, "said once"
    assert status_of(refused.value, 400) == 503
    shown = public_message(refused.value)
    assert "moved, replaced or deleted" in shown and str(tmp_path) not in shown
    home.mkdir(exist_ok=True)   # the check of the home folder is another one
    answer = ask_ready(engine, home)
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == {
        "ok": False, "reason": "the database file was moved, replaced or deleted"}
    if happens is not replace:
        assert "cirque.db" not in files(home), "no connection makes a new file"


def test_all_is_as_before_once_the_same_file_is_back(engine, home, tmp_path, caplog):
    save(engine, "before")
    move(home, tmp_path / "away.db")
    with pytest.raises(StorageError):
        save(engine, "refused")
    (tmp_path / "away.db").rename(home / "cirque.db")
    with caplog.at_level(logging.WARNING, "cirque.storage"):
        save(engine, "after")
    assert "is back in its place" in caplog.text
    assert ask_ready(engine, home).status_code == 200
    engine.dispose()
    assert kept(home / "cirque.db") == {"before", "after"}


def test_a_home_folder_that_was_renamed_and_came_back(engine, home, tmp_path):
    save(engine, "before")
    home.rename(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        save(engine, "refused")
    (tmp_path / "elsewhere").rename(home)
    save(engine, "after")


@pytest.mark.parametrize("at", ["within the transaction", "while it is committed"])
def test_there_is_no_moment_in_which_a_save_is_lost_and_acknowledged(engine, home, tmp_path, at):
    """The path is looked at once more after the commit: what happens before that is noticed."""
    away = tmp_path / "away.db"
    if at == "within the transaction":
        with pytest.raises(StorageError), writing(engine) as connection:
            connection.execute(text("INSERT INTO wrong_tries (key, tries, last_at) VALUES ('k', 1, '2026-01-01')"))
            move(home, away)
        away.rename(home / "cirque.db")
        engine.dispose()
        assert kept(home / "cirque.db") == set(), "undone"
        return

    def committed(_connection):
        move(home, away)

    event.listen(engine, "commit", committed)
    with pytest.raises(StorageError, match="not the file"):
        save(engine, "k")


def test_reading_goes_on_by_the_connections_that_are_open(engine, home, tmp_path):
    save(engine, "before")
    move(home, tmp_path / "away.db")
    with reading(engine) as connection:
        assert connection.execute(text("SELECT key FROM wrong_tries")).scalars().all() == ["before"]
    with (engine.connect(), pytest.raises(StorageError), engine.connect()):   # a second one would have to be opened
        raise AssertionError("nobody gets here")


def test_a_deleted_log_is_noticed_and_what_it_held_is_not_lost(engine, home, caplog):
    save(engine, "in the log alone")
    (home / "cirque.db-wal").unlink()
    with caplog.at_level(logging.WARNING, "cirque.storage"), pytest.raises(StorageError, match=r"cirque\.db-wal"):
        save(engine, "refused")
    assert "All of what it held was written into the database." in caplog.text
    assert ask_ready(engine, home).status_code == 503
    assert not (home / "cirque.db-wal").exists(), "nobody begins another log beside the index of this one"
    shutil.copy(home / "cirque.db", home / "copy.db")   # as after kill -9
    assert kept(home / "copy.db") == {"in the log alone"}


def test_a_log_that_another_one_took_the_place_of_is_left_alone(engine, home):
    save(engine, "in the log alone")
    (home / "cirque.db-wal").rename(home / "kept-wal")
    (home / "cirque.db-wal").write_bytes(b"")
    before = (home / "cirque.db").read_bytes()
    with pytest.raises(StorageError, match=r"cirque\.db-wal"):
        save(engine, "refused")
    assert (home / "cirque.db").read_bytes() == before, "a checkpoint would mix the two logs"
    (home / "kept-wal").replace(home / "cirque.db-wal")
    save(engine, "after")


def test_a_deleted_index_is_noticed(engine, home):
    """Another process would make one of its own, and both would write as if they were alone."""
    save(engine, "before")
    (home / "cirque.db-shm").unlink()
    with pytest.raises(StorageError, match=r"cirque\.db-shm"):
        save(engine, "refused")


def test_connections_that_come_and_go_are_no_alarm(engine, home):
    """With the last one SQLite removes the log and its index; the next one makes others."""
    for number in range(5):
        save(engine, f"save {number}")
        engine.dispose()
        assert files(home) == ["cirque.db"]
    assert ask_ready(engine, home).status_code == 200


def test_a_database_behind_a_link(home, tmp_path):
    home.mkdir()
    (home / "cirque.db").symlink_to(tmp_path / "real.db")
    (tmp_path / "real.db").touch()
    engine = open_migrated(sqlite_of(home))
    save(engine, "before")
    (tmp_path / "real.db-wal").unlink()
    with pytest.raises(StorageError, match=r"real\.db-wal"):
        save(engine, "refused")
    engine.dispose()


def test_a_look_costs_next_to_nothing(engine, monkeypatch):
    """Three paths before, within and after a transaction, and no file is opened: closing one would drop SQLite's
    locks."""
    looks = []
    look = file_watch._identity
    monkeypatch.setattr(file_watch, "_identity", lambda path: looks.append(path) or look(path))
    opened = []
    monkeypatch.setattr(os, "open", lambda *given, real=os.open: opened.append(given) or real(*given))
    with engine.connect():
        pass
    looks.clear()
    save(engine, "counted")
    assert len(looks) == 9 and not opened


@pytest.mark.parametrize("left", ["cirque.db-wal", "cirque.db-shm", "cirque.db-journal"])
@pytest.mark.parametrize("emptied", [False, True])
def test_no_new_database_is_made_beside_what_is_left_of_an_old_one(home, monkeypatch, left, emptied):
    monkeypatch.setattr("storage.engine.sqlite_files._FIRST_PAGE_SECONDS", 0.1)
    home.mkdir()
    (home / left).write_bytes(b"what was saved last" * 1000)
    if emptied:
        (home / "cirque.db").touch()
    with pytest.raises(StorageError, match=rf"no database at .*cirque.db, but there is {left}.*cirque db restore FILE"):
        open_migrated(sqlite_of(home))
    assert (home / left).read_bytes() == b"what was saved last" * 1000
    assert files(home) == sorted([left, *(["cirque.db"] if emptied else [])])
    if emptied:
        assert (home / "cirque.db").stat().st_size == 0


def test_a_connection_that_was_opened_while_the_file_was_away_is_not_used(engine, home, monkeypatch):
    """Also where the file is back at the next look."""
    save(engine, "before")
    engine.dispose()
    looks = iter([None, home / "cirque.db"])
    with monkeypatch.context() as patched:
        patched.setattr(file_watch.FileWatch, "_lost", lambda self: next(looks, None))
        with pytest.raises(StorageError, match="is not the file that this process has open"):
            engine.connect()
    save(engine, "after")
    assert kept(home / "cirque.db") == {"before", "after"}


# --- pages that are damaged ------------------------------------------------------------------

ANSWERS = 400


@pytest.fixture
def path(tmp_path):
    """A database of some hundred pages, in one file."""
    path = tmp_path / "cirque.db"
    damaged_engine = open_database(f"sqlite:///{path}")
    migrate(damaged_engine)
    with writing(damaged_engine) as connection:
        connection.exec_driver_sql("CREATE TABLE filled (number INTEGER PRIMARY KEY, words TEXT)")
        for number in range(ANSWERS):
            connection.exec_driver_sql("INSERT INTO filled VALUES (?, ?)", (number, f"{number:05d}" * 200))
    damaged_engine.dispose()
    return path


@pytest.fixture
def damaged_engine(path):
    damaged_engine = open_database(f"sqlite:///{path}")
    yield damaged_engine
    damaged_engine.dispose()


@pytest.fixture
def ready(tmp_path, damaged_engine):
    now = [0.0]
    readiness = Readiness(damaged_engine, lambda: now[0])

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


def read_all(damaged_engine):
    with reading(damaged_engine) as connection:
        return connection.exec_driver_sql("SELECT count(*), sum(length(words)) FROM filled").one()


def test_a_damaged_database_is_not_ready_after_the_first_error(path, damaged_engine, ready):
    assert ready() == (200, "")
    assert read_all(damaged_engine) == (ANSWERS, ANSWERS * 1000)
    damaged_engine.dispose()
    whole = overwrite(path)
    with pytest.raises(StorageError, match=r"is damaged\. Stop cirque, keep a copy .* restore a backup") as told:
        read_all(damaged_engine)
    assert "damaged" in told.value.told and str(path) not in told.value.told
    assert ready() == (503, "the database is damaged")
    assert ready(later=30) == (503, "the database is damaged")
    path.write_bytes(whole)     # mended in its place
    assert ready(later=31) == (200, "")
    assert read_all(damaged_engine)[0] == ANSWERS


def test_it_is_looked_through_at_the_start(path, damaged_engine, ready):
    overwrite(path)
    assert ready() == (503, "the database is damaged")


@pytest.mark.parametrize("seed", range(4))
def test_any_damage_that_a_search_meets_is_said(path, damaged_engine, ready, seed):
    assert ready()[0] == 200
    damaged_engine.dispose()
    overwrite(path, share=0.1, seed=seed)
    try:
        found = read_all(damaged_engine)
    except StorageError:
        assert ready() == (503, "the database is damaged")
    else:       # what was overwritten is not of this table, or not what was counted
        assert found[0] == ANSWERS


def test_text_that_is_none_is_damage(damaged_engine, ready):
    with writing(damaged_engine) as connection:
        connection.exec_driver_sql("UPDATE filled SET words = CAST(x'FF00FE' AS TEXT) WHERE number = 3")
    with pytest.raises(StorageError, match="is damaged"), reading(damaged_engine) as connection:
        connection.exec_driver_sql("SELECT words FROM filled").all()


def test_json_that_is_none_is_damage(damaged_engine):
    with writing(damaged_engine) as connection:
        connection.execute(sa.insert(tables.audit_runs).values(
            digest="d", card={"a": 1}, total=1, begun_at=sa.func.current_timestamp()))
        connection.exec_driver_sql("UPDATE audit_runs SET card = '{\"a\": 1'")
    with pytest.raises(StorageError, match="is damaged"), reading(damaged_engine) as connection:
        connection.execute(sa.select(tables.audit_runs.c.card)).all()


def test_a_look_that_ends_well_is_not_made_again(damaged_engine):
    watch, looks = DamageWatch(lambda: 0.0), []
    with damaged_engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        driver.set_trace_callback(lambda said: looks.append(said) if "quick_check" in said else None)
        assert watch.check(connection) == watch.check(connection) == "" and len(looks) == 1
        watch.note(sqlite3.OperationalError("database is locked"))
        assert watch.check(connection) == "" and len(looks) == 1
        watch.note(_coded(sqlite3.SQLITE_CORRUPT))
        assert watch.check(connection) == watch.check(connection) == "" and len(looks) == 2


@pytest.mark.parametrize("fails", [False, True])
def test_an_error_that_is_noted_during_a_look_is_looked_for_afterwards(damaged_engine, monkeypatch, fails):
    watch, looks = DamageWatch(lambda: 0.0), []

    def check(connection, until, clock):
        looks.append(until)
        if len(looks) == 1:
            watch.note(_coded(sqlite3.SQLITE_CORRUPT))      # of a page that was read already
            if fails:
                raise sqlite3.OperationalError("interrupted")
        return ""

    monkeypatch.setattr("storage.engine.errors._quick_check", check)
    with damaged_engine.connect() as connection:
        if fails:
            with pytest.raises(sqlite3.OperationalError):
                watch.check(connection)
        else:
            assert watch.check(connection) == ""
        assert watch.check(connection) == watch.check(connection) == ""
    assert len(looks) == 2 and looks[1] is None     # all of it, however long


def test_a_look_that_could_not_be_made_is_made_again(damaged_engine, monkeypatch):
    watch, looks = DamageWatch(lambda: 0.0), []
    answers = iter(["", sqlite3.OperationalError("database is locked"), "page 7"])

    def check(connection, until, clock):
        looks.append(until)
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("storage.engine.errors._quick_check", check)
    with damaged_engine.connect() as connection:
        assert watch.check(connection) == ""
        watch.note(_coded(sqlite3.SQLITE_CORRUPT))
        with pytest.raises(sqlite3.OperationalError):
            watch.check(connection)
        assert watch.check(connection) == "page 7" and len(looks) == 3


def test_a_large_database_does_not_keep_a_start_waiting(path, damaged_engine):
    times = iter([0.0, *[1000.0] * 1000])
    with damaged_engine.connect() as connection, reading(damaged_engine) as other:
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


def test_a_server_that_reported_damage_is_believed_until_a_restart(damaged_engine):
    watch = DamageWatch(lambda: 0.0)

    class Dialect:
        name = "postgresql"

    class Connection:
        dialect = Dialect()

    assert watch.check(Connection()) == ""
    watch.note(_Server("XX001"))
    assert watch.check(Connection()) == watch.check(Connection()) != ""
    said = explain(exc.DBAPIError("SELECT", {}, _Server("XX001")), damaged_engine.url)
    assert "is damaged" in str(said) and "damaged" in said.told
