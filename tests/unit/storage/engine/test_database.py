"""How a database is opened, its transactions, and what is said when it cannot be used."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from sqlalchemy import event, exc, func, make_url, select

from cir_core.errors import StorageError
from cir_core.settings import Settings
from storage.engine import database
from storage.engine.database import BUSY_TIMEOUT_MS, open_database, read_json, reading, writing
from storage.engine.errors import explain, where
from storage.engine.sqlite_files import FairWriteLock
from storage.mapping import tables
from storage.migrations.run import migrate
from storage.opening import open_home_database
from storage.sessions.llm_cache import SqlAnswerCache
from storage.sessions.store import SqlSessionStore
from tests.fakes.databases import open_migrated, sqlite_of
from tests.fakes.patience import wait_for
from tests.fakes.turns import a_session, a_turn
from web.http.public_errors import public_message


@pytest.fixture
def path(tmp_path):
    return tmp_path / "home" / "cirque.db"


@pytest.fixture
def engine(path):
    engine = open_database(f"sqlite:///{path}")
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT)")
    yield engine
    engine.dispose()


def insert(connection, y="y"):
    connection.exec_driver_sql("INSERT INTO t (y) VALUES (?)", (y,))


def count(engine):
    with reading(engine) as connection:
        return connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one()


def test_every_pooled_connection_is_set_up(engine):
    expected = {"journal_mode": "wal", "foreign_keys": 1, "synchronous": 2, "busy_timeout": 10_000}
    with ExitStack() as stack:
        for connection in [stack.enter_context(reading(engine)) for _ in range(12)]:
            found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in expected}
            assert found == expected


def test_the_folder_is_made_and_the_files_are_the_owners_alone(engine, path):
    with writing(engine) as connection:
        insert(connection)
        names = {file.name for file in path.parent.iterdir()}
        assert "cirque.db-wal" in names
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_writers_begin_immediate_and_readers_do_not(engine):
    said = []
    with reading(engine) as connection:
        connection.connection.dbapi_connection.set_trace_callback(said.append)
    with reading(engine) as connection:
        connection.exec_driver_sql("SELECT 1")
    with writing(engine) as connection:
        insert(connection)
    with reading(engine) as connection:  # on the same pooled connection: the option does not stick
        connection.exec_driver_sql("SELECT 2")
    assert [s.strip() for s in said if s.startswith("BEGIN")] == ["BEGIN", "BEGIN IMMEDIATE", "BEGIN"]


def test_a_writer_looks_often_whether_another_process_still_writes(engine, path, monkeypatch):
    """SQLite would wait 1, 2, 5, 10 and more milliseconds."""
    other, waits = sqlite3.connect(path, timeout=0, isolation_level=None), []
    other.execute("BEGIN IMMEDIATE")

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 12:
            other.execute("COMMIT")

    monkeypatch.setattr("storage.engine.sqlite_files.time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    with writing(engine) as connection:
        insert(connection)
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one() == BUSY_TIMEOUT_MS
    assert waits == [0.001] * 12 and count(engine) == 1
    other.close()


def test_the_write_lock_is_held_from_the_start(engine, path):
    with writing(engine):  # nothing has been written yet
        other = sqlite3.connect(path, timeout=0)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("INSERT INTO t (y) VALUES ('other')")
        other.close()
        assert count(engine) == 0  # readers go on


def test_a_second_writer_waits_for_the_first(engine):
    order, first_is_in = [], threading.Event()
    turns = engine.get_execution_options()["cirque_turns"]

    def first():
        with writing(engine) as connection:
            first_is_in.set()
            wait_for(lambda: turns._waiting)
            insert(connection)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    first_is_in.wait()
    with writing(engine) as connection:
        order.append("second")
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == 1
    thread.join()
    assert order == ["first", "second"]


def test_a_reader_sees_one_state(engine):
    with reading(engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == 0
        with writing(engine) as writer:
            insert(writer)
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar_one() == 0
    assert count(engine) == 1


def test_what_raises_is_undone(engine):
    with pytest.raises(KeyError), writing(engine) as connection:
        insert(connection)
        raise KeyError
    assert count(engine) == 0
    with writing(engine) as connection:  # and the lock is free
        insert(connection)
    assert count(engine) == 1


def test_locked_for_too_long(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 50)
    engine = open_database(f"sqlite:///{path}")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked by another program"), writing(engine):
            pass
        other.execute("ROLLBACK")
    with writing(engine):  # and nothing is left behind
        pass
    engine.dispose()


def test_another_thread_writes_for_too_long(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 50)
    engine = open_database(f"sqlite:///{path}")
    said = []

    def wait():
        with pytest.raises(StorageError) as refused, writing(engine):
            pass
        said.append(str(refused.value))

    with writing(engine):
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join()
    assert len(said) == 1 and "is busy with other requests. Try again in a moment" in said[0]
    with writing(engine):  # the one that gave up is not waited for
        pass
    engine.dispose()


def test_one_writing_transaction_inside_another_is_refused_at_once(engine):
    with pytest.raises(AssertionError, match="would deadlock"), writing(engine), writing(engine):
        pass
    with writing(engine) as connection:
        insert(connection)
    assert count(engine) == 1


def test_writers_take_turns_in_the_order_they_came():
    turns, order, threads = FairWriteLock(), [], []

    def write(number):
        with turns.turn(10) as came:
            order.append((number, came))

    with turns.turn(10):
        for number in range(8):
            threads.append(threading.Thread(target=write, args=(number,)))
            threads[-1].start()
            wait_for(lambda number=number: len(turns._waiting) > number)
    for thread in threads:
        thread.join()
    assert order == [(number, True) for number in range(8)]


def test_a_turn_is_handed_on_whatever_happens():
    turns = FairWriteLock()
    for _ in range(2):
        with pytest.raises(KeyError), turns.turn(0.01) as came:
            assert came
            raise KeyError


def test_not_a_database(tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader, " * 500)
    before = letter.read_bytes()
    with pytest.raises(StorageError, match=r"is not a database. Move the file away") as refused:
        open_database(f"sqlite:///{letter}")
    assert isinstance(refused.value.__cause__, Exception) and "sqlite3" not in str(refused.value)
    assert letter.read_bytes() == before


def test_a_folder_and_a_file_in_the_way(tmp_path):
    with pytest.raises(StorageError, match="is a folder"):
        open_database(f"sqlite:///{tmp_path}")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"cannot be created.*CIRQUE_HOME"):
        open_database(f"sqlite:///{tmp_path}/file/cirque.db")


@contextmanager
def as_nobody():
    """File permissions do not hold root back."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_file_or_folder_that_cannot_be_written():
    folder = Path(tempfile.mkdtemp())  # not tmp_path: nobody else may look into that
    try:
        folder.chmod(0o777)
        with as_nobody():
            database_url = f"sqlite:///{folder}/cirque.db"
            engine = open_database(database_url)
            migrate(engine)
            engine.dispose()
            (folder / "cirque.db").chmod(0o400)
            with pytest.raises(StorageError, match=r"cannot be written. Make the file and its folder"):
                open_database(database_url)
            with pytest.raises(StorageError, match="cannot be written"), writing(engine) as connection:
                connection.exec_driver_sql("DELETE FROM sessions")
            with pytest.raises(StorageError, match="cannot be written"):
                SqlAnswerCache(engine).put("0" * 64, "{}", model="m", role="r", prompt_version="1",
                                           prompt_tokens=1, completion_tokens=1)
            assert SqlAnswerCache(engine).get("0" * 64) is None
            engine.dispose()
        folder.chmod(0o555)
        with as_nobody(), pytest.raises(StorageError, match="cannot be created"):
            open_database(f"sqlite:///{folder}/new.db")
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_a_folder_that_may_not_be_entered():
    folder = Path(tempfile.mkdtemp())
    try:
        (folder / "home").mkdir()
        (folder / "home").chmod(0o777)
        (folder / "closed").mkdir(mode=0o700)
        folder.chmod(0o755)
        if os.geteuid() != 0:
            (folder / "closed").chmod(0)
        settings = Settings(home=folder / "home", database_url=f"sqlite:///{folder}/closed/cirque.db")
        with as_nobody(), pytest.raises(StorageError, match=r"cannot be created: Permission denied\."):
            open_home_database(settings)
    finally:
        shutil.rmtree(folder)


def test_a_full_disk_loses_nothing_and_recovers(path):
    """A limit on the file's pages fails as a full disk does."""
    engine = open_database(f"sqlite:///{path}")
    migrate(engine)
    store = SqlSessionStore(engine)
    session = store.create_session(a_session())
    with reading(engine) as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    limit = f"PRAGMA max_page_count = {pages + 10}"
    engine.dispose()
    event.listen(engine, "connect", lambda connection, record: connection.execute(limit))
    made = []
    with pytest.raises(StorageError, match=r"no room left on its disk. Free some space"):
        for _ in range(100):
            made.append(store.add_turn(a_turn(session.session_id, None, n_hits=60)))
    assert made and store.session(session.session_id).turns == tuple(made)
    store.close()
    roomy = SqlSessionStore(open_database(f"sqlite:///{path}"))
    roomy.add_turn(a_turn(session.session_id, None, n_hits=60))
    assert len(roomy.session(session.session_id).turns) == len(made) + 1
    roomy.close()


def test_uploads_on_a_full_disk(path):
    store = SqlSessionStore(open_migrated(f"sqlite:///{path}"))
    with reading(store.engine) as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    store.engine.dispose()
    limit = f"PRAGMA max_page_count = {pages + 2}"
    event.listen(store.engine, "connect", lambda connection, record: connection.execute(limit))
    made = 0
    with pytest.raises(StorageError, match=r"no room left on its disk. Free some space"):
        for made in range(1000):
            store.add_upload(f"upload:{made:032x}", 640, 480, "x" * 80)
    with reading(store.engine) as connection:
        assert connection.execute(select(func.count()).select_from(tables.uploads)).scalar_one() == made > 0
    store.close()


def test_a_damaged_database(path):
    engine = open_database(f"sqlite:///{path}")
    migrate(engine)
    engine.dispose()
    with closing(sqlite3.connect(path)) as connection:
        pages = connection.execute("SELECT rootpage FROM sqlite_master WHERE tbl_name = 'sessions'").fetchall()
    sound = path.read_bytes()
    content = bytearray(sound)
    for page, in pages:  # the table and its indexes; pages are numbered from 1
        content[(page - 1) * 4096:page * 4096] = os.urandom(4096)
    path.write_bytes(content)
    engine = open_database(f"sqlite:///{path}")
    with pytest.raises(StorageError, match=r"damaged.*restore a backup"):
        SqlSessionStore(engine).sessions()
    engine.dispose()
    path.write_bytes(sound[:4096] + os.urandom(len(sound) - 4096))  # the list of tables is hit as well
    with pytest.raises(StorageError, match=r"damaged.*restore a backup"):
        open_database(f"sqlite:///{path}")


@pytest.mark.parametrize(("url", "says"), [
    ("no url", "not a database URL"),
    ("sqlite://", "in memory"),
    ("sqlite:///:memory:", "in memory"),
    ("nosuch://host/name", "No driver"),
])
def test_urls_that_cannot_be_used(url, says):
    with pytest.raises(StorageError, match=says):
        open_database(url)


def test_a_wrong_statement_is_a_defect_not_a_storage_error(engine):
    with pytest.raises(Exception, match="binding") as raised, writing(engine) as connection:
        insert(connection, y=object())
    assert not isinstance(raised.value, StorageError)


# --- what is said of a database that cannot be used ------------------------------------------

SERVER = make_url("postgresql+psycopg://ann:hush@db.lab:5432/cirque")


def error_of(state, says="something of the server", kind=psycopg.OperationalError):
    """As SQLAlchemy raises the driver's error of this SQLSTATE."""
    known = {} if state is None else {"sqlstate": state}
    driver = type("AnError", (kind,), known)(says)
    return exc.DBAPIError.instance("SELECT 1", {}, driver, psycopg.Error)


@pytest.mark.parametrize(("url", "shown"), [
    (f"{sqlite_of(Path('/srv'))}?timeout=3", "The database /srv/cirque.db"),
    ("postgresql+psycopg://ann:hush@db.lab:5433/cirque", "The database postgresql+psycopg://db.lab:5433/cirque"),
    ("postgresql+psycopg://ann@db.lab/cirque?password=hush", "The database postgresql+psycopg://db.lab/cirque"),
    ("postgresql+psycopg://ann@/cirque?host=/run/pg&password=hush", "The database postgresql+psycopg:///cirque"),
    ("postgresql+psycopg://ann:p@hush@db.lab/cirque", "The database postgresql+psycopg://db.lab/cirque"),
    ("postgresql+psycopg://[::1]:5432/cirque", "The database postgresql+psycopg://[::1]:5432/cirque"),
])
def test_a_database_is_named_without_who_signs_in_and_what_the_query_says(url, shown):
    assert where(make_url(url)) == shown


@pytest.mark.parametrize("query", ["password=hush", "sslpassword=hush&connect_timeout=1"])
def test_a_server_that_is_away(query):
    """Port 1: nobody listens there."""
    with pytest.raises(StorageError) as away:
        open_database(f"postgresql+psycopg://ann:secret@127.0.0.1:1/cirque?{query}")
    text = str(away.value)
    assert text.startswith("The database postgresql+psycopg://127.0.0.1:1/cirque cannot be reached. Check that it ")
    assert "(OperationalError: connection failed" in text and "port 1 failed" in text and "\n" not in text
    told = public_message(away.value)
    assert told.startswith("Nothing can be saved at the moment: the database does not answer.")
    for secret in ("hush", "secret"):
        assert secret not in text and secret not in told
    for detail in ("127.0.0.1", "psycopg", "CIRQUE_", "ann"):
        assert detail not in told


@pytest.mark.parametrize(("state", "says", "why", "told"), [
    ("53100", "could not extend file", "no room left", "the disk is full"),
    ("53300", "sorry, too many clients already", "max_connections", "too many use"),
    ("28P01", "password authentication failed", "name and password in CIRQUE_DATABASE_URL", "does not answer"),
    ("28000", "no pg_hba.conf entry", "pg_hba.conf", "does not answer"),
    ("3D000", 'database "cirque" does not exist', "does not exist on its server", "does not answer"),
    ("25006", "cannot execute INSERT in a read-only transaction", "is read-only", "cannot be written"),
    ("0A000", "cannot set transaction read-write mode during recovery", "standby", "cannot be written"),
    ("55P03", "canceling statement due to lock timeout", "pg_stat_activity", "is busy"),
    ("57P01", "terminating connection", "stopped or started", "does not answer"),
    ("57P03", "the database system is starting up", "stopped or started", "does not answer"),
    ("57014", "canceling statement due to statement timeout", "took too long", "is busy"),
    ("42501", "permission denied for table judgements", "rights", "cannot be written"),
    ("42P01", 'relation "judgements" does not exist', "this version of cirque", "does not answer"),
    ("40P01", "deadlock detected", "Try again", "is busy"),
    ("08006", "server closed the connection unexpectedly", "cannot be reached", "does not answer"),
])
def test_what_the_server_says_is_understood(state, says, why, told):
    error = explain(error_of(state, says), SERVER)
    assert why in str(error) and str(error).endswith(f"(AnError, SQLSTATE {state}: {says})")
    assert told in error.told and says not in error.told and state not in error.told


@pytest.mark.parametrize(("says", "like"), [
    ('FATAL:  password authentication failed for user "ann"', "28P01"),
    ('FATAL:  role "ann" does not exist', "28000"),
    ('FATAL:  database "cirque" does not exist', "3D000"),
    ("FATAL:  sorry, too many clients already", "53300"),
    ("FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute", "53300"),
    ("FATAL:  the database system is starting up", "57P03"),
    ("Connection refused", "08001"),
])
def test_without_a_connection_there_is_no_code_and_the_sentence_tells(says, like):
    line = f'connection failed: connection to server at "10.0.0.7", port 5432 failed: {says}'
    found = explain(error_of(None, f"{line}\nIs it running?"), SERVER)
    as_with_the_code = explain(error_of(like, line), SERVER)
    assert str(found) == str(as_with_the_code).replace(f", SQLSTATE {like}", "") and line in str(found)
    assert found.told == as_with_the_code.told


def test_a_password_in_what_the_driver_says_is_hidden():
    url = make_url("postgresql+psycopg://ann:hu@sh@db.lab/cirque?password=se/cret")
    text = str(explain(error_of(None, "failed to resolve host 'sh@db.lab', or 'hu', or 'se/cret'"), url))
    assert "'***@db.lab', or '***', or '***'" in text


def test_what_people_wrote_is_not_quoted():
    for state, kind in (("22P02", psycopg.DataError), ("23505", psycopg.IntegrityError),
                        ("P0001", psycopg.OperationalError), ("42601", psycopg.ProgrammingError)):
        text = str(explain(error_of(state, "Key (note)=(my note) is there", kind), SERVER))
        assert "my note" not in text and f"(AnError, SQLSTATE {state})" in text


def test_sqlite_is_named_by_its_own_name_of_the_error(tmp_path):
    try:
        sqlite3.connect(tmp_path / "no" / "where").execute("SELECT 1")
    except sqlite3.OperationalError as error:
        found = explain(error, make_url(sqlite_of(Path('/srv'))))
    assert re.fullmatch(r"The database /srv/cirque\.db cannot be opened\. .* \(OperationalError, SQLITE_CANTOPEN\)",
                        str(found))


@pytest.mark.parametrize("value", [
    {"a": [1, 1.0, -0.0, None, True, "ä😀"]}, 2**64, -2**63 - 1, [10**40], 0.1 + 0.2, {}, "", 1e308, float("inf"),
])
def test_stored_json_is_read_as_python_reads_it(value):
    for stored in (json.dumps(value), json.dumps(value).encode()):
        read, expected = read_json(stored), json.loads(stored)
        assert read == expected and repr(read) == repr(expected), stored   # 1 is not 1.0, nor 0.0 -0.0


@pytest.mark.parametrize("stored", ['"\\ud800"', "NaN", "[1e999]"])
def test_what_only_python_calls_json_is_read_too(stored):
    assert repr(read_json(stored)) == repr(json.loads(stored))
