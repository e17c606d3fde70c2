"""A database file that is moved, replaced or deleted while it is open: nothing is acknowledged that nobody could find
again, and no second file is made in its place."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from fastapi import FastAPI
from sqlalchemy import event, text
from starlette.testclient import TestClient

from cir_core.errors import StorageError
from storage.engine import file_watch
from storage.engine.database import reading, writing
from storage.engine.readiness import Readiness
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
