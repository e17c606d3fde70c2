"""Threads that write at once share a transaction on SQLite."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, contextmanager

import pytest
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError

from cir_core.errors import SearchError, StorageError
from storage.engine.database import open_database, writing
from storage.engine.shared_writes import SharedWrites
from tests.fakes.databases import sqlite_of
from tests.fakes.patience import wait_for


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cirque.db"


@pytest.fixture
def engine(path):
    engine = open_database(sqlite_of(path.parent))
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE t (x TEXT UNIQUE)")
    yield engine
    engine.dispose()


@pytest.fixture
def commits(engine):
    found = []
    event.listen(engine, "commit", found.append)
    return found


@contextmanager
def locked(path):
    """Another process writes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def on_disk(path):
    with closing(sqlite3.connect(path)) as other:
        return [x for x, in other.execute("SELECT x FROM t ORDER BY rowid")]


def at_once(path, engine, works):
    """Run ``works`` in threads, which begin while another process writes; the results and errors, in order, with what
    was on disk when each returned."""
    writes, outcomes = SharedWrites(engine), [None] * len(works)

    def run(number, work):
        try:
            outcomes[number] = writes.run(work), on_disk(path)
        except Exception as error:
            outcomes[number] = error, on_disk(path)

    threads = [threading.Thread(target=run, args=one) for one in enumerate(works)]
    with locked(path):
        for number, thread in enumerate(threads, start=1):
            thread.start()
            wait_for(lambda number=number: waiting(writes) == number)
    for thread in threads:
        thread.join()
    return outcomes


def waiting(writes):
    return len(writes._open.writes) if writes._open else 0


def adding(x, error=None, *, tries=None):
    def work(connection):
        if tries is not None:
            tries.append(x)
        connection.exec_driver_sql("INSERT INTO t VALUES (?)", (x,))
        if error is not None:
            raise error
        return x.upper()

    return work


def test_those_who_wait_share_a_transaction_in_order_and_each_gets_its_result(path, engine, commits):
    outcomes = at_once(path, engine, [adding(x) for x in "abcdef"])
    assert outcomes == [(x.upper(), list("abcdef")) for x in "abcdef"]
    assert len(commits) == 1


def test_who_fails_is_told_and_the_others_are_written_once_and_in_order(path, engine, commits):
    wrong, tries = SearchError("no"), []
    works = [adding("a", tries=tries), adding("b", wrong, tries=tries), adding("c", tries=tries)]
    assert at_once(path, engine, works) == [("A", ["a", "c"]), (wrong, ["a", "c"]), ("C", ["a", "c"])]
    assert tries == ["a", "b", "c"] and len(commits) == 1


def test_a_row_that_the_database_refuses_is_no_fault_of_the_others(path, engine):
    (one, _), (other, _), (third, _) = at_once(path, engine, [adding("a"), adding("a"), adding("c")])
    assert (one, third) == ("A", "C") and on_disk(path) == ["a", "c"]
    assert isinstance(other, StorageError) and isinstance(other.__cause__, IntegrityError)


def test_nobody_is_told_that_all_is_well_where_the_transaction_is_gone(path, engine):
    def ended(connection):
        connection.exec_driver_sql("ROLLBACK")   # as SQLite does itself on a full disk
        raise OSError("full")

    outcomes = at_once(path, engine, [adding("a"), ended, adding("c")])
    assert all(isinstance(found, Exception) for found, _ in outcomes)
    assert on_disk(path) == []


def test_a_single_write_that_fails_is_tried_once(path, engine, commits):
    tries = []
    writes = SharedWrites(engine)
    with pytest.raises(KeyError):
        writes.run(adding("a", KeyError("a"), tries=tries))
    assert tries == ["a"] and on_disk(path) == [] and not commits
    assert writes.run(adding("b")) == "B" and on_disk(path) == ["b"]


@pytest.mark.parametrize(("refusals", "written"), [(1, 2), (2, 0)])
def test_the_end_of_one_threads_patience_is_not_that_of_all(path, engine, monkeypatch, refusals, written):
    """The first is told that it did not get the lock; the others wait once more."""
    writes, tries, outcomes, whole = SharedWrites(engine), [], {}, writing

    @contextmanager
    def busy(of):
        tries.append(1)
        wait_for(lambda: waiting(writes) == 4 - len(tries))
        if len(tries) <= refusals:
            raise StorageError("other threads kept writing", "try again")
        with whole(of) as connection:
            yield connection

    def run(x):
        try:
            outcomes[x] = writes.run(adding(x))
        except StorageError as error:
            outcomes[x] = error.told

    monkeypatch.setattr("storage.engine.shared_writes.writing", busy)
    threads = [threading.Thread(target=run, args=(x,)) for x in "abc"]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        wait_for(lambda number=number: waiting(writes) == number or len(tries) > 1)
    for thread in threads:
        thread.join()
    assert sorted(on_disk(path)) == sorted(x for x in "abc" if outcomes[x] == x.upper())
    assert len(on_disk(path)) == written and outcomes["a"] == "try again"
    monkeypatch.undo()
    assert writes.run(adding("z")) == "Z"    # nothing is left behind
