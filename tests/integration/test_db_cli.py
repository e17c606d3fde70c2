"""``cirque db``, as somebody meets it who looks after a server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from cir_core.errors import StorageError
from cir_core.settings import get_settings
from cli import console
from cli.main import app
from storage.database import open_database, writing
from storage.revisions import latest_revision
from storage.tables import metadata
from tests.fakes.databases import ON_SQLITE, database_of, environment_of, use_home
from tests.integration.crowd import Server, add_people, stores_of

LATEST, TABLES = latest_revision(), len(metadata.tables)


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    use_home(monkeypatch, home)
    monkeypatch.setattr(console.out, "width", 200)
    get_settings.cache_clear()
    yield home
    get_settings.cache_clear()


@pytest.fixture
def server(home):
    server = Server(home)
    yield server
    server.stop()


def db(*arguments):
    """What ``cirque db`` prints; raises what it raises."""
    return CliRunner().invoke(app, ["db", *map(str, arguments)], catch_exceptions=False).output


def with_people(home, *names):
    stores = stores_of(home)
    add_people(stores, list(names))
    stores.close()


def test_a_backup_of_a_running_cirque_is_restored_once_it_has_stopped(home, server):
    with_people(home, "Bo")
    server.start()
    said = db("backup")
    [made] = (home / "backups").iterdir()
    # Ada and Bo, and that each was added.
    assert f"{made}: schema {LATEST}, 4 rows in {TABLES} tables." in said and str(home / "studies") in said
    with pytest.raises(StorageError, match="Stop cirque"):
        db("restore", made, "--force")
    server.stop()

    subprocess.run([sys.executable, "-m", "cli.main", "user", "add", "Cleo", "--role", "annotator", "--password-stdin"],
                   cwd=Path(__file__).parents[2], env=environment_of(home), input="sixteen at once", text=True,
                   check=True, capture_output=True)
    with pytest.raises(StorageError, match=r"holds 7 rows.*--force"):
        db("restore", made)
    said = db("restore", made, "--force")
    assert f"Restored {made}: schema {LATEST}, 4 rows in {TABLES} tables." in said
    before = Path(re.search(r"What was there is in (.+)\.\n", said)[1])
    assert before.parent == home / "backups" and before.is_file()

    noted = CliRunner().invoke(app, ["log", "--kind", "database"], catch_exceptions=False).output
    assert "database.restored" in noted and made.name in noted and "backed-up" not in noted   # that was after it

    server.start()   # and it goes on with what was restored
    said = db("check")
    server.stop()
    assert re.search(r"^ +people +2$", said, re.MULTILINE) and "Nothing is wrong with it." in said


def test_where_to(home, tmp_path):
    with_people(home, "Bo")
    assert f"{tmp_path / 'mine'}: schema {LATEST}" in db("backup", "--out", tmp_path / "mine")
    with pytest.raises(StorageError, match="is there already"):
        db("backup", "--out", tmp_path / "mine")


def test_what_is_wrong_is_listed_and_ends_with_an_error(home):
    with_people(home, "Bo")
    engine = open_database(database_of(home))
    with writing(engine) as connection:
        connection.execute(text(
            "INSERT INTO studies (study_id, name_key, name, kind, protocol, plan, accepting, settings, source, "
            "created_by, created_at) VALUES ('s', 'n', 'N', 'validity', 'p', '{}', TRUE, '{}', '{}', "
            "'Ada', '2026-01-02 03:04:05')"))
        connection.execute(text(
            "INSERT INTO study_seats (study_id, number, released, total, done, unsure) "
            "VALUES ('s', 1, FALSE, 5, 0, 0)"))
    engine.dispose()
    done = subprocess.run([sys.executable, "-m", "cli.main", "db", "check"], cwd=Path(__file__).parents[2],
                          env=environment_of(home, COLUMNS="200"), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "- study_seats: the counts of seat 1 of study s are not those of its assignments" in done.stderr
    assert "earlier backup" in done.stderr and "Nothing is wrong" not in done.stdout


def test_none_is_made_by_looking(tmp_path, monkeypatch):
    monkeypatch.setenv("CIRQUE_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("CIRQUE_DATABASE_URL", "")
    get_settings.cache_clear()
    for command in ("check", "backup"):
        with pytest.raises(StorageError, match=r"There is no database at .* yet"):
            db(command)
    get_settings.cache_clear()
    assert not (tmp_path / "nowhere").exists()


def test_a_restore_makes_a_database(home, tmp_path, monkeypatch):
    with_people(home, "Bo")
    db("backup", "--out", tmp_path / "mine")
    new = tmp_path / "new"
    database_of(new, empty=True)
    use_home(monkeypatch, new)
    get_settings.cache_clear()
    assert f"4 rows in {TABLES} tables" in db("restore", tmp_path / "mine")
    assert "Nothing is wrong with it." in db("check")
    if ON_SQLITE:
        assert (new / "cirque.db").stat().st_mode & 0o777 == 0o600
