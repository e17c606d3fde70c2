"""PostgreSQL's own programs: missing, of another version, failing; and what a backup does not contain."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile

import pytest
from sqlalchemy import URL, text

from annotation.records import AuditEvent
from cir_core.errors import StorageError
from storage.accounts.audit_log import SqlAuditLog
from storage.backups import postgres_dumps
from storage.backups.backup import back_up_to
from storage.backups.contents import contents_of
from storage.backups.restore import restore
from storage.engine.database import open_database, reading, writing
from tests.fakes.databases import database_of, engine_of
from tests.fakes.forked import run


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
    ("echo 'pg_dump (PostgreSQL) 9.6.24'", "is of PostgreSQL 9, but the server is of"),
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


def in_place_of(monkeypatch, folder, name, script):
    """``script`` runs when the program ``name`` is asked for more than its version; ``$real`` is the program."""
    which = shutil.which
    program = folder / name
    program.write_text(f"#!/bin/bash\nreal={which(name, path=postgres_dumps_path())}\n"
                       f'[ "$1" = --version ] && exec "$real" --version\n{script}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(postgres_dumps.shutil, "which", lambda asked, path=None: (
        str(program) if asked == name else which(asked, path=path)))


def postgres_dumps_path():
    return ":".join(["/usr/lib/postgresql/" + str(found) + "/bin" for found in range(99, 9, -1)] + [os.environ["PATH"]])


@pytest.mark.parametrize("end", ["exit 1", "kill -9 $$"])
@pytest.mark.parametrize("share", ["head --lines=-20", "head --lines=60", "cat"])
def test_a_dump_that_ends_early_changes_nothing(engine, tmp_path, monkeypatch, end, share):
    """What psql got until then is whole as SQL, and must not be kept."""
    path = back_up_to(engine, tmp_path / "a.dump").path
    SqlAuditLog(engine).note(AuditEvent("sign-out", "Ada"))
    engine.dispose()
    in_place_of(monkeypatch, tmp_path, "pg_restore",
                f'case "$*" in *--data-only*|*--list*) exec "$real" "$@";; esac\n"$real" "$@" | {share}\n{end}')
    with pytest.raises(StorageError, match=r"pg_restore failed: it gave no reason"):
        restore(engine, path, force=True, safe=tmp_path / "safe")
    assert [one.act.kind for one in SqlAuditLog(engine).acts()] == ["sign-out"]


def test_cirque_killed_half_way_changes_nothing(engine, tmp_path, monkeypatch):
    path = back_up_to(engine, tmp_path / "a.dump").path
    SqlAuditLog(engine).note(AuditEvent("sign-out", "Ada"))
    engine.dispose()
    script = ("import os, signal, shutil, sys; from pathlib import Path; from storage.backups import postgres_dumps\n"
              "from storage.engine.database import open_database; from storage.backups.restore import restore\n"
              "def some(source, target):\n"
              "    target.write(source.read(20_000)); target.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
              "shutil.copyfileobj = some\n"
              "restore(open_database(sys.argv[1]), Path(sys.argv[2]), force=True, safe=Path(sys.argv[3]))")
    done = run("-c", script, engine.url.render_as_string(hide_password=False), str(path), str(tmp_path / "safe"),
               environment=os.environ)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with engine.connect() as connection:
        assert postgres_dumps.others_connected(connection) == 0   # its psql has ended
    assert [one.act.kind for one in SqlAuditLog(engine).acts()] == ["sign-out"]


def test_neither_the_password_nor_the_database_is_in_a_file_or_on_a_command_line(engine, tmp_path, monkeypatch):
    """A kill would leave the file, and everybody can read a command line."""
    password, folder = "marker: 'secret'\\\\", tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    with_password = open_database(engine.url.set(password=password).render_as_string(hide_password=False))
    seen = tmp_path / "seen"
    look = (f"ls -A {folder} >> {seen}.files; printf '%s\\n' \"$@\" >> {seen}.arguments; "
            f"printf '%s' \"$PGPASSWORD\" > {seen}.password\n")
    in_place_of(monkeypatch, tmp_path, "pg_dump", look + 'exec "$real" "$@"')
    path = back_up_to(with_password, tmp_path / "a.dump").path
    assert (tmp_path / "seen.password").read_text() == password
    (tmp_path / "seen.password").unlink()
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    in_place_of(monkeypatch, tmp_path, "psql", look + f'"$real" "$@"; code=$?; ls -A {folder} >> {seen}.files; '
                                                      "exit $code")
    engine.dispose()
    restore(with_password, path, force=True, safe=tmp_path / "safe")
    with_password.dispose()
    assert (tmp_path / "seen.password").read_text() == password
    assert "marker" not in (tmp_path / "seen.arguments").read_text()
    assert (tmp_path / "seen.files").read_text() == ""


def test_no_name_needs_care(monkeypatch):
    url = URL.create("postgresql+psycopg", "o'wner", "a:b\\c'd e", "127.0.0.1", 1, "my 'db'")
    reached = postgres_dumps._libpq_connection(url)
    values = dict(part.split("=", 1) for part in reached.dsn.replace("\\'", "§").replace("' ", "'\n").split("\n"))
    assert values["user"] == "'o§wner'" and values["dbname"] == "'my §db§'" and "password" not in values
    assert reached.environment["PGPASSWORD"] == "a:b\\c'd e" and "a:b" not in reached.dsn + repr(reached)
    # libpq itself reads it so: it fails for want of a server, not of sense.
    said = subprocess.run(["psql", "--dbname", reached.dsn, "--command", "SELECT 1"], capture_output=True, text=True,
                          check=False, env=reached.environment).stderr
    assert "127.0.0.1" in said and "port 1 failed" in said
    monkeypatch.setenv("PGPASSWORD", "as for any program of PostgreSQL's")
    assert postgres_dumps._libpq_connection(URL.create("postgresql+psycopg", "me")).environment == dict(os.environ)
