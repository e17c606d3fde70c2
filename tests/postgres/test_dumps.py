"""PostgreSQL's own programs: missing, of another version, failing; and what a backup does not contain."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
from pathlib import Path

import httpx
import pytest
from sqlalchemy import URL, text

from annotation.records import AuditEvent
from cir_core.errors import StorageError
from storage.accounts.audit_log import SqlAuditLog
from storage.backups import postgres_dumps
from storage.backups.backup import back_up_to, restore
from storage.backups.integrity import contents_of
from storage.engine.database import open_database, reading, writing
from tests.fakes.databases import database_of, engine_of, environment_of
from tests.fakes.forked import run
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_study, valid
from tests.integration.crowd import Judge, Server, add_entered, stores_of


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
              "from storage.engine.database import open_database; from storage.backups.backup import restore\n"
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


# --- put back while people save --------------------------------------------------------------

STUDY, NAME, MANY = "Loaded", "Judge 01", 600


def test_what_is_saved_at_the_last_moment_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the last look at the database and the transaction that replaces everything."""
    engine = engine_of(tmp_path)
    backup = back_up_to(engine, tmp_path / "a.dump").path
    SqlAuditLog(engine).note(AuditEvent("sign-in", "Ada"))
    engine.dispose()
    reached = postgres_dumps._libpq_connection
    late: list[str] = []

    def save_then_reach(url):  # type: ignore[no-untyped-def]
        if len(late) == 1:     # the first one is of the backup of what is there
            other = open_database(database_of(tmp_path))
            SqlAuditLog(other).note(AuditEvent("sign-in", "Bo"))
            other.dispose()
        late.append("asked")
        return reached(url)

    monkeypatch.setattr(postgres_dumps, "_libpq_connection", save_then_reach)
    with pytest.raises(StorageError, match="Another program wrote to the database in the meantime"):
        restore(engine, backup, force=True, safe=tmp_path / "safe")
    assert len(late) == 2
    assert [one.act.by for one in SqlAuditLog(engine).acts()] == ["Bo", "Ada"]
    monkeypatch.undo()
    engine.dispose()
    done = restore(engine, backup, force=True, safe=tmp_path / "safe")
    assert not SqlAuditLog(engine).acts() and done.before is not None
    engine.dispose()


def test_who_saves_meanwhile_waits_or_is_told_and_nothing_gets_mixed(tmp_path: Path) -> None:
    """Programs that come and go, each with a connection of its own for a moment, as commands do. Every act that was
    noted is in the backup of what was replaced, or in the database now."""
    engine = engine_of(tmp_path)
    backup = back_up_to(engine, tmp_path / "a.dump").path
    noted: list[str] = []
    stop = threading.Event()

    def come_and_go(who: str) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            other = open_database(database_of(tmp_path))
            try:
                SqlAuditLog(other).note(AuditEvent("sign-in", f"{who} {number}"))
                noted.append(f"{who} {number}")
            except StorageError:
                pass
            finally:
                other.dispose()
            stop.wait(0.02)

    threads = [threading.Thread(target=come_and_go, args=(who,)) for who in ("Ann", "Ben")]
    for thread in threads:
        thread.start()
    wait_for(lambda: noted)
    somewhere: set[str] = set()
    outcomes: list[str] = []
    for number in range(8):
        engine.dispose()
        try:
            done = restore(engine, backup, force=True, safe=tmp_path / f"safe {number}")
        except StorageError as refused:
            assert "Nothing was changed" in str(refused) or "differs from" in str(refused), refused
            outcomes.append("refused")
            continue
        outcomes.append("restored")
        if done.before is not None:
            somewhere |= acts_in(done.before, tmp_path, number)
    stop.set()
    for thread in threads:
        thread.join()
    somewhere |= {one.act.by for one in SqlAuditLog(engine).acts(limit=100_000)}
    for number, safe in enumerate(tmp_path.glob("safe */*.dump")):   # also of restores that ended otherwise
        somewhere |= acts_in(safe, tmp_path, 100 + number)
    engine.dispose()
    assert noted and not set(noted) - somewhere, outcomes


def acts_in(dump: Path, tmp_path: Path, number: int) -> set[str]:
    other = open_database(database_of(tmp_path / f"read {number}", empty=True))
    try:
        restore(other, dump, force=True, safe=tmp_path / "never")
        return {one.act.by for one in SqlAuditLog(other).acts(limit=100_000)}
    finally:
        other.dispose()


def test_a_restore_under_a_server_that_works(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = stores_of(home)
    secrets = add_entered(stores, [NAME])
    study = make_study(stores.studies, home, name=STUDY, items=MANY, seats=1, panel=4, edge=16)
    items = [one.item_id for one in stores.studies.items(study.study_id)]
    backup = back_up_to(stores.people.engine, tmp_path / "a.dump").path
    stores.close()
    server = Server(home)
    server.start()
    judge = Judge(NAME, server.url, STUDY)
    acknowledged: list[int] = []
    trouble: list[str] = []
    stop = threading.Event()

    def work() -> None:
        with httpx.Client(base_url=server.url, cookies=dict(judge.cookies), timeout=PATIENCE) as client:
            for number in range(MANY):
                if stop.is_set():
                    return
                answer = client.post("/study/save", json={
                    "study": STUDY, "item": items[number], "answer": valid(), "token": f"under-load-{number:04d}"})
                if answer.status_code == 200:
                    acknowledged.append(number)
                else:
                    trouble.append(answer.text)

    try:
        judge.enter(secrets[NAME])
        judge.call("next_item", STUDY, "")
        worker = threading.Thread(target=work)
        worker.start()
        wait_for(lambda: acknowledged, going=worker.is_alive)
        for _ in range(2):
            done = command(home, "db", "restore", str(backup), "--force")
            assert done.returncode == 1 and "in use" in done.stderr and "Nothing was changed" in done.stderr
        stop.set()
        worker.join()
    finally:
        judge.close()
        server.kill()
    assert acknowledged and not trouble
    stores = stores_of(home)
    kept = {one.token for one in stores.studies.judgements(study.study_id)}
    stores.close()
    assert kept == {f"under-load-{number:04d}" for number in acknowledged}
    done = command(home, "db", "restore", str(backup), "--force")
    assert done.returncode == 0, done.stderr
    stores = stores_of(home)
    assert not stores.studies.judgements(study.study_id) and stores.people.any()
    stores.close()


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "cli.main", *words, environment=environment_of(home))
