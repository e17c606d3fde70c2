"""PostgreSQL's own programs: missing, of another version, failing; and what a backup does not contain."""

from __future__ import annotations

import shutil
import stat
import subprocess

import pytest
from sqlalchemy import URL, text

from cir_core.errors import StorageError
from storage import postgres_dumps
from storage.backup import back_up_to
from storage.contents import contents_of
from storage.database import open_database, reading, writing
from storage.restore import restore
from tests.fakes.databases import database_of, engine_of


@pytest.fixture
def engine(tmp_path):
    engine = engine_of(tmp_path / "home")
    yield engine
    engine.dispose()


def major_of(engine):
    with reading(engine) as connection:
        return int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000


def only_found(monkeypatch, path):
    monkeypatch.setattr(postgres_dumps.shutil, "which", lambda name, path=None, found=path: found)


def test_without_the_programs_it_is_said_what_to_install(engine, tmp_path, monkeypatch):
    only_found(monkeypatch, None)
    install = f"apt-get install postgresql-client-{major_of(engine)}"
    with pytest.raises(StorageError, match=rf"pg_dump is not installed.*{install}"):
        back_up_to(engine, tmp_path / "a.dump")
    assert [path.name for path in tmp_path.iterdir()] == []


@pytest.mark.parametrize(("said", "sentence"), [
    ("echo 'pg_dump (PostgreSQL) 9.6.24'", "is of PostgreSQL 9, and the server is of"),
    ("exit 1", "is of an unknown version of PostgreSQL"),
])
def test_programs_of_another_version_are_refused(engine, tmp_path, monkeypatch, said, sentence):
    program = tmp_path / "pg_dump"
    program.write_text(f"#!/bin/sh\n{said}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    only_found(monkeypatch, str(program))
    with pytest.raises(StorageError, match=sentence):
        back_up_to(engine, tmp_path / "a.dump")
    assert not (tmp_path / "a.dump").exists()


def test_a_dump_that_fails_leaves_no_file(engine, tmp_path, monkeypatch):
    found = shutil.which("pg_dump")
    program = tmp_path / "pg_dump"
    program.write_text(f"#!/bin/sh\ncase $1 in --version) exec {found} --version;; esac\n"
                       "echo 'pg_dump: error: no more room' >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    only_found(monkeypatch, str(program))
    with pytest.raises(StorageError, match="pg_dump failed: pg_dump: error: no more room"):
        back_up_to(engine, tmp_path / "a.dump")
    assert [path.name for path in tmp_path.iterdir()] == ["pg_dump"]


def test_a_restore_that_fails_half_way_changes_nothing(engine, tmp_path):
    path = back_up_to(engine, tmp_path / "a.dump").path
    other = open_database(database_of(tmp_path / "other", empty=True))
    with writing(other) as connection:   # the name of a table, taken by what is none
        connection.execute(text("CREATE VIEW studies AS SELECT 1 AS one"))
    with pytest.raises(StorageError, match=r"psql failed: .*studies"):
        restore(other, path, force=True, safe=tmp_path / "safe")
    with reading(other) as connection:
        assert contents_of(connection).rows == {}
        assert connection.execute(text("SELECT one FROM studies")).scalar_one() == 1
    other.dispose()


def test_neither_password_nor_name_needs_care():
    url = URL.create("postgresql+psycopg", "o'wner", "a:b\\c'd e", "127.0.0.1", 1, "my 'db'")
    with postgres_dumps._reached(url) as reached:
        values = dict(part.split("=", 1) for part in reached.replace("\\'", "§").replace("' ", "'\n").split("\n"))
        assert values["user"] == "'o§wner'" and values["dbname"] == "'my §db§'" and "password" not in values
        with open(values["passfile"].strip("'")) as file:
            assert file.read() == "*:*:*:*:a\\:b\\\\c'd e\n"
        assert "a:b" not in reached
        # libpq itself reads it so: it fails for want of a server, not of sense.
        said = subprocess.run(["psql", "--dbname", reached, "--command", "SELECT 1"], capture_output=True, text=True,
                              check=False).stderr
    assert "127.0.0.1" in said and "port 1 failed" in said
