"""Backups hold what the database held, restoring brings all of it back, and neither loses anything."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing

import pytest
from sqlalchemy import text

from annotation.accounts.service import Passwords, PeopleService
from annotation.records import AuditEvent
from cir_core.errors import StorageError
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.backups import backup as restoring
from storage.backups import sqlite_copies
from storage.backups.backup import back_up_to, backup_name, restore
from storage.backups.integrity import LogExtent, contents_of, inspect_database
from storage.engine.database import open_database, reading, writing
from storage.engine.revisions import known_revisions, latest_revision
from storage.migrations.run import migrate
from storage.sessions.store import SqlSessionStore
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import ON_SQLITE, database_of, engine_of
from tests.fakes.patience import PATIENCE
from tests.fakes.people import LIGHT, PASSWORD
from tests.fakes.study_records import IMAGES, ITEMS, PLACES, START, STUDY, a_judgement, take_nothing
from tests.fakes.turns import a_session, a_turn
from tests.unit.storage.engine.test_earlier_schemas import make_as_of


@pytest.fixture
def engine(tmp_path):
    engine = engine_of(tmp_path / "home")
    yield engine
    engine.dispose()


@pytest.fixture
def filled(engine):
    with_a_session(engine, "First; with 'quotes'\\ and \t tabs")
    studies = SqlStudyStore(engine)
    studies.create(STUDY, ITEMS, IMAGES, PLACES)
    studies.join("s1", "Ann", START, take_nothing)
    studies.save(a_judgement("i0", "Ann", "token"), unsure=False)
    return engine


def with_a_session(engine, title):
    store = SqlSessionStore(engine)
    session = store.create_session(a_session(title=title))
    in_three_lines = "in red\n\\.\nlonger"   # none of which must look like a row, or the end of them
    store.add_turn(a_turn(session.session_id, None, modification_text=in_three_lines))
    return session.session_id


def contents(engine):
    with reading(engine) as connection:
        return contents_of(connection)


def titles(engine):
    return {session.title for session in SqlSessionStore(engine).sessions()}


def test_a_backup_holds_all_rows(filled, tmp_path):
    made = back_up_to(filled, tmp_path / "to" / "here.backup")
    assert made.contents == contents(filled)
    # By hand: a session, its branch and turn; a study, its 4 items, 9 pictures, 2 seats and 5 places; an answer;
    # and that the study was made.
    assert {name: rows for name, rows in made.contents.rows.items() if rows} == {
        "sessions": 1, "branches": 1, "turns": 1, "studies": 1, "study_items": 4, "study_images": 9, "study_seats": 2,
        "assignments": 5, "judgements": 1, "audit_log": 1}
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert [path.name for path in made.path.parent.iterdir()] == ["here.backup"]


def test_it_comes_back_in_an_empty_database(filled, tmp_path):
    path = back_up_to(filled, tmp_path / "a.backup").path
    other = open_database(database_of(tmp_path / "other", empty=True))
    done = restore(other, path, force=False, safe=tmp_path / "safe")
    assert (done.contents, done.before, done.faults) == (contents(filled), None, ())
    assert SqlStudyStore(other).judgements("s1") == SqlStudyStore(filled).judgements("s1")
    one = SqlSessionStore(filled).sessions()[0].session_id
    assert SqlSessionStore(other).session(one) == SqlSessionStore(filled).session(one)
    assert migrate(other).applied == ()
    with_a_session(other, "and it goes on")
    log = SqlAuditLog(other)
    log.note(AuditEvent("sign-in", "Ada"))     # numbers are given where those of the backup end
    assert [it.number for it in log.acts()] == [2, 1]
    other.dispose()


def test_a_backup_while_people_write_is_one_state(filled, tmp_path):
    stop, wrote = threading.Event(), threading.Event()

    def write():
        while not stop.is_set():
            with_a_session(filled, "while the backup was made")
            wrote.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert wrote.wait(PATIENCE)
        before = contents(filled)
        wrote.clear()
        rows = back_up_to(filled, tmp_path / "a.backup").contents.rows
        assert wrote.wait(PATIENCE)   # it may not have had its turn yet
        after = contents(filled)
    finally:
        stop.set()
        writer.join()
    assert before.rows["turns"] <= rows["turns"] <= after.rows["turns"] and after.rows["turns"] > before.rows["turns"]
    # Each session is added with its branch and turn in two transactions; between them there is one session more.
    assert rows["turns"] == rows["branches"] and rows["sessions"] - rows["turns"] in (0, 1)
    other = open_database(database_of(tmp_path / "other", empty=True))
    assert restore(other, tmp_path / "a.backup", force=False, safe=tmp_path / "safe").faults == ()
    assert contents(other).rows == rows
    other.dispose()


def test_no_file_is_overwritten(filled, tmp_path):
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(StorageError, match="already exists"):
        back_up_to(filled, tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "kept"


def test_a_folder_that_cannot_be_written(filled, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError, match=r"No backup of .*Nothing was backed up"):
        back_up_to(filled, tmp_path / "file" / "a.backup")


@pytest.mark.sqlite
def test_a_copy_without_room_is_what_had_no_room(filled, tmp_path, monkeypatch):
    """Not the database, which may lie on another disk and is only read."""
    connect = sqlite3.connect

    def on_a_full_disk(path, **options):
        connection = connect(path, **options)
        if "cirque-unfinished-" in str(path):
            connection.execute("PRAGMA max_page_count = 2")
        return connection

    monkeypatch.setattr(sqlite_copies.sqlite3, "connect", on_a_full_disk)
    with pytest.raises(StorageError) as caught:
        back_up_to(filled, tmp_path / "to" / "a.backup")
    assert str(caught.value) == (
        f"No backup of {tmp_path / 'to' / 'a.backup'} could be made: No space left on device. Nothing was backed up. "
        "Make its folder writable and free some space on its disk.")
    monkeypatch.undo()
    path = back_up_to(filled, tmp_path / "a.backup").path
    filled.dispose()
    monkeypatch.setattr(sqlite_copies.sqlite3, "connect", on_a_full_disk)
    with pytest.raises(StorageError, match=r"safe.* could be made: No space left on device\. Nothing was restored"):
        restore(filled, path, force=True, safe=tmp_path / "safe")
    assert list((tmp_path / "to").iterdir()) == list((tmp_path / "safe").iterdir()) == []


def test_what_is_there_only_goes_with_force_and_is_backed_up(filled, tmp_path):
    path = back_up_to(filled, tmp_path / "a.backup").path
    with_a_session(filled, "later")
    before = contents(filled)
    with pytest.raises(StorageError, match=rf"contains {before.total} rows.*--force"):
        restore(filled, path, force=False, safe=tmp_path / "safe")
    assert contents(filled) == before and not (tmp_path / "safe").exists()

    done = restore(filled, path, force=True, safe=tmp_path / "safe")
    assert titles(filled) == {"First; with 'quotes'\\ and tabs"}
    assert done.before.parent == tmp_path / "safe" and done.before.name.startswith("cirque-before-restore-")
    restore(filled, done.before, force=True, safe=tmp_path / "safe")   # and back again
    assert contents(filled) == before and "later" in titles(filled)


def test_nothing_is_restored_under_a_running_cirque(filled, tmp_path):
    path = back_up_to(filled, tmp_path / "a.backup").path
    before = contents(filled)
    other = open_database(filled.url.render_as_string(hide_password=False))   # of another process, so to speak
    with reading(other):
        pass
    with pytest.raises(StorageError, match=r"is in use.*Stop cirque"):   # though it is idle
        restore(filled, path, force=True, safe=tmp_path / "safe")
    other.dispose()
    assert contents(filled) == before
    assert restore(filled, path, force=True, safe=tmp_path / "safe").contents == before


def test_a_restore_signs_nobody_in(engine, tmp_path):
    """Who was signed out, deactivated or given another password after the backup would be in again."""
    people = PeopleService(SqlPeopleStore(engine), passwords=Passwords(LIGHT))
    people.add("Ada", PASSWORD, "admin")
    people.add("Bob", PASSWORD, "annotator")
    secrets = [people.sign_in(name, PASSWORD) for name in ("Ada", "Bob", "Bob")]
    link = people.invite("analyst", 7, 2, "Ada")
    path = back_up_to(engine, tmp_path / "a.backup").path
    people.sign_out(secrets[1])
    people.deactivate("Bob")
    people.withdraw(people.invitations()[0].handle)
    acts = SqlAuditLog(engine).acts()
    engine.dispose()
    done = restore(engine, path, force=True, safe=tmp_path / "safe")
    assert (done.sign_ins, done.contents.rows["sign_ins"], contents(engine).rows["sign_ins"]) == (3, 3, 0)
    # By hand: 2 accounts, 3 sign-ins, the invitation, a sign-out, the deactivation, the withdrawal.
    assert done.log == LogExtent(9, 9) and (len(acts), acts[0].number) == (9, 9)
    then = PeopleService(SqlPeopleStore(engine), passwords=Passwords(LIGHT))
    assert [then.visitor(secret) for secret in secrets] == [None] * 3
    assert then.invitation(link).uses_left == 2   # it was withdrawn after that, and is listed again
    assert then.visitor(then.sign_in("Bob", PASSWORD)).name == "Bob"
    engine.dispose()
    assert restore(engine, done.before, force=True, safe=tmp_path / "safe").sign_ins == 1   # Ada's; Bob's had ended


def test_what_somebody_writes_meanwhile_is_not_replaced(filled, tmp_path, monkeypatch):
    path = back_up_to(filled, tmp_path / "a.backup").path

    def while_it_is_begun(*asked):
        with_a_session(filled, "in between")
        return backup_name(*asked)

    monkeypatch.setattr(restoring, "backup_name", while_it_is_begun)
    with pytest.raises(StorageError, match=r"wrote to the database in the meantime.*Nothing was changed"):
        restore(filled, path, force=True, safe=tmp_path / "safe")
    assert "in between" in titles(filled)


def test_an_earlier_schema_takes_the_place_of_a_later_one(filled, tmp_path):
    old = open_database(database_of(tmp_path / "old", empty=True))
    make_as_of(old, "0003", tmp_path)
    path = back_up_to(old, tmp_path / "old.backup").path
    done = restore(filled, path, force=True, safe=tmp_path / "safe")
    assert (done.contents.revision, done.latest) == ("0003", latest_revision())
    assert contents(filled) == contents(old) and "studies" not in done.contents.rows
    assert migrate(filled).applied == tuple(sorted(known_revisions() - {"0001", "0002", "0003"}))
    assert titles(filled) == {"Chairs 🪑"}
    old.dispose()


def test_what_is_no_backup_is_refused(filled, tmp_path):
    before = contents(filled)

    def refused(path, sentence):
        with pytest.raises(StorageError, match=sentence):
            restore(filled, path, force=True, safe=tmp_path / "safe")
        assert contents(filled) == before

    refused(tmp_path / "nowhere", "cannot be read: No such file")
    (tmp_path / "words").write_text("just words")
    refused(tmp_path / "words", "is not a backup")
    (tmp_path / "other kind").write_bytes(b"PGDMP\1\2" if ON_SQLITE else b"SQLite format 3\0")
    refused(tmp_path / "other kind", "Point it at a database of the backup's kind")
    whole = back_up_to(filled, tmp_path / "a.backup").path.read_bytes()
    for share in (0.3, 0.6, 0.9):
        (tmp_path / "cut").write_bytes(whole[:int(len(whole) * share)])
        refused(tmp_path / "cut", "damaged|cut off|cannot be read|failed")
    assert not (tmp_path / "safe").exists()


def test_a_newer_schema_is_refused(filled, tmp_path):
    newer = engine_of(tmp_path / "newer")
    path = back_up_to(newer, tmp_path / "same.backup").path
    newer.dispose()
    with writing(filled) as connection:   # the same, as seen from an older cirque
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StorageError, match="newer version of cirque"):
        restore(filled, path, force=True, safe=tmp_path / "safe")
    with pytest.raises(StorageError, match="newer version of cirque"):
        inspect_database(filled)


def test_names_sort_by_time(engine):
    first, second = backup_name(engine), backup_name(engine)
    assert first < second and first.startswith("cirque-") and first.endswith(".db" if ON_SQLITE else ".dump")


# --- checks ---------------------------------------------------------------------------------------


def damaged(engine, statement):
    """Faults after a change that cirque never makes; the foreign keys look away meanwhile."""
    with engine.connect() as connection:
        off, on = (("PRAGMA foreign_keys = OFF", "PRAGMA foreign_keys = ON") if ON_SQLITE else
                   ("SET session_replication_role = replica", "SET session_replication_role = DEFAULT"))
        connection.connection.cursor().execute(off)
        connection.connection.cursor().execute(statement)
        connection.connection.cursor().execute(on)
        connection.connection.commit()
    return inspect_database(engine).faults


def test_nothing_is_wrong_with_what_the_stores_write(filled):
    assert inspect_database(filled).faults == ()


@pytest.mark.parametrize(("statement", "fault"), [
    ("DELETE FROM sessions", "branches: 1 row with a reference to a missing row of sessions"),
    ("DELETE FROM study_items WHERE item_id = 'i0'", "judgements: 1 row with a reference to a missing row of study"),
    ("DELETE FROM study_seats WHERE number = 2", "assignments: 2 rows with a reference to a missing row of study_s"),
    ("UPDATE study_seats SET done = 0 WHERE number = 1", "counts of seat 1 of study s1"),
    ("UPDATE study_seats SET unsure = 2 WHERE number = 2", "counts of seat 2 of study s1"),
    ("UPDATE assignments SET state = 'handed_on' WHERE item_id = 'i2'", "counts of seat 1 of study s1"),
    ("UPDATE judgements SET current = FALSE", "1 answer without exactly the latest revision marked as current"),
    ("DELETE FROM judgements", "assignments: 1 assignment whose state does not match the answer"),
])
def test_what_is_wrong_is_named(filled, statement, fault):
    found = damaged(filled, statement)
    assert any(fault in one for one in found), found


def test_a_damaged_file_is_named_and_not_backed_up(tmp_path):
    engine = open_database(f"sqlite:///{tmp_path / 'cirque.db'}")
    migrate(engine)
    for number in range(40):
        with_a_session(engine, f"number {number}")
    engine.dispose()
    with closing(sqlite3.connect(tmp_path / "cirque.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,), = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_turns_parent_id'")
        (size,), = connection.execute("PRAGMA page_size")
    with (tmp_path / "cirque.db").open("r+b") as file:
        file.seek((page - 1) * size + 8)
        file.write(b"\xff" * (size - 8))
    found = inspect_database(engine)
    assert found.faults and all(fault.startswith("SQLite: ") for fault in found.faults) and not found.contents.rows
    with pytest.raises(StorageError, match="damaged"):
        back_up_to(engine, tmp_path / "a.backup")
    assert not list(tmp_path.glob("a.backup*"))
    engine.dispose()
