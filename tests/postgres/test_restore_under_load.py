"""A backup is put back while people save: it is refused and nothing changes, or it replaces what it has backed up."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

import httpx
import pytest

from annotation.records import AuditEvent
from cir_core.errors import StorageError
from storage.accounts.audit_log import SqlAuditLog
from storage.backups import postgres_dumps
from storage.backups.backup import back_up_to
from storage.backups.restore import restore
from storage.engine.database import open_database
from tests.fakes.databases import database_of, engine_of, environment_of
from tests.fakes.forked import run
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_study, valid
from tests.integration.crowd import Judge, Server, add_entered, stores_of

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
            assert "Nothing was changed" in str(refused) or "does not hold what" in str(refused), refused
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
