"""``cirque db``, as somebody meets it who looks after a server."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from annotation.records import AuditFilter
from cir_core.errors import StorageError
from cir_core.settings import get_settings
from cli.main import app
from storage.backups.backup import back_up_to
from storage.engine.database import open_database, writing
from storage.engine.revisions import latest_revision
from storage.mapping.tables import metadata
from tests.fakes.databases import ON_SQLITE, database_of, environment_of, use_home
from tests.fakes.forked import run
from tests.integration.crowd import Server, add_people, stores_of
from tests.integration.disks import MountedDisk, small_disk
from tests.integration.homes import command_home  # noqa: F401
from tests.unit.storage.engine.test_earlier_schemas import make_as_of

LATEST, TABLES = latest_revision(), len(metadata.tables)


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

    added = CliRunner().invoke(app, ["user", "add", "Cleo", "--role", "annotator", "--password-stdin"],
                               input="sixteen at once")
    assert added.exit_code == 0, added.output
    with pytest.raises(StorageError, match=r"contains 7 rows.*--force"):
        db("restore", made)
    said = db("restore", made, "--force")
    assert f"Restored {made}: schema {LATEST}, 4 rows in {TABLES} tables." in said
    before = Path(re.search(r"The previous content is in (.+)\.\n", said)[1])
    assert before.parent == home / "backups" and before.is_file()

    # Of the log only what the backup has is there, and the restore. By hand: there were Ada, Bo, the backup and Cleo.
    out = home / "log.jsonl"
    CliRunner().invoke(app, ["log", "--out", str(out)], catch_exceptions=False)
    kept = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(one["number"], one["kind"]) for one in reversed(kept)] == [
        (1, "account.made"), (2, "account.made"), (3, "database.restored")]
    assert kept[0]["details"] == {"file": made.name, "ended_sign_ins": 0, "replaced_is_in": before.name,
                                  "replaced_acts": 4, "replaced_last_number": 4}

    server.start()   # and it goes on with what was restored
    said = db("check")
    server.stop()
    assert re.search(r"^ +people +2$", said, re.MULTILINE) and "No problems found." in said


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_what_a_kill_left_hinders_nothing_and_goes(home, tmp_path):
    """In the middle of a backup under a name of one's own, and of the one that a restore makes first."""
    with_people(home, "Bo")
    db("backup", "--out", tmp_path / "good")
    killed("backup", "--out", str(tmp_path / "to" / "nightly"), home=home)
    [left] = (tmp_path / "to").iterdir()
    assert left.is_dir() and left.name.startswith("cirque-unfinished-")
    db("backup", "--out", tmp_path / "to" / "nightly")
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["nightly"]

    killed("restore", str(tmp_path / "good"), "--force", home=home)
    assert [path.name[:18] for path in (home / "backups").iterdir()] == ["cirque-unfinished-"]
    db("restore", tmp_path / "good", "--force")
    assert [path.name[:21] for path in (home / "backups").iterdir()] == ["cirque-before-restore"]


# Dies as by kill -9 when the copy is written and about to be read again.
DYING = """
import os, signal, sys
from storage.backups import postgres_dumps, sqlite_copies
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
write = postgres_dumps._run
def dump(command, *more):
    write(command, *more)
    if "pg_dump" in command[0]: die()
postgres_dumps._run = dump
check = sqlite_copies._check_whole
sqlite_copies._check_whole = lambda connection, what: die() if what == "The database" else check(connection, what)
from cli.main import app
app(["db", *sys.argv[1:]])
"""


def killed(*arguments, home):
    done = run("-c", DYING, *arguments, environment=environment_of(home))
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no such disks")
def test_no_room_where_the_backup_goes(home, tmp_path):
    with_people(home, "Bo")
    with small_disk(tmp_path / "full", megabytes=1) as disk:
        if not isinstance(disk, MountedDisk):
            pytest.skip("no disk of one's own can be mounted here")
        disk.fill(0)
        with pytest.raises(StorageError) as caught:
            db("backup", "--out", disk.folder / "mine")
        assert "No space left on device" in str(caught.value) and "The database" not in str(caught.value)
        assert [path.name for path in disk.folder.iterdir()] == ["ballast"]
        with pytest.raises(StorageError, match="already exists"):
            db("backup", "--out", disk.folder / "ballast")


@pytest.mark.parametrize(("revision", "kinds"), [("0006", ["database.restored"]), ("0005", [])])
def test_an_earlier_log_takes_the_note_and_where_there_is_none_it_is_said(home, tmp_path, revision, kinds):
    old = open_database(database_of(tmp_path / "old", empty=True))
    make_as_of(old, revision, tmp_path)
    path = back_up_to(old, tmp_path / "a.backup").path
    old.dispose()
    said = db("restore", path, "--force")
    assert ("This is not in the audit log: a database of this schema has none." in said) == (not kinds)
    stores = stores_of(home)   # brings it up to date
    assert [one.act.kind for one in stores.log.acts(AuditFilter(kind="database.all"))] == kinds
    stores.close()


def test_where_to(home, tmp_path):
    with_people(home, "Bo")
    assert f"{tmp_path / 'mine'}: schema {LATEST}" in db("backup", "--out", tmp_path / "mine")
    with pytest.raises(StorageError, match="already exists"):
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
    done = run("-m", "cli.main", "db", "check", environment=environment_of(home, COLUMNS="200"))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "- study_seats: the counts of seat 1 of study s do not match its assignments" in done.stderr
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
    assert "No problems found." in db("check")
    if ON_SQLITE:
        assert (new / "cirque.db").stat().st_mode & 0o777 == 0o600
