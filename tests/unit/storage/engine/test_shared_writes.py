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
            wait_for(lambda number=number: len(writes._waiting) == number)
    for thread in threads:
        thread.join()
    return outcomes


def adding(x, error=None):
    def work(connection):
        connection.exec_driver_sql("INSERT INTO t VALUES (?)", (x,))
        if error is not None:
            raise error
        return x.upper()

    return work


def test_those_who_wait_share_a_transaction_in_order_and_each_gets_its_result(path, engine, commits):
    outcomes = at_once(path, engine, [adding(x) for x in "abcdef"])
    assert outcomes == [(x.upper(), list("abcdef")) for x in "abcdef"]
    assert len(commits) == 1


def test_who_fails_is_told_and_the_others_are_written(path, engine, commits):
    wrong = SearchError("no")
    outcomes = at_once(path, engine, [adding("a"), adding("b", wrong), adding("c")])
    assert [found for found, _ in outcomes] == ["A", wrong, "C"]
    assert "a" in outcomes[0][1] and "c" in outcomes[2][1] and sorted(on_disk(path)) == ["a", "c"]
    assert len(commits) == 2    # in transactions of their own


def test_a_row_that_the_database_refuses_is_no_fault_of_the_others(path, engine):
    (one, _), (other, _), (third, _) = at_once(path, engine, [adding("a"), adding("a"), adding("c")])
    assert third == "C" and sorted(on_disk(path)) == ["a", "c"]
    refused = one if other == "A" else other
    assert {one, other} == {"A", refused} and isinstance(refused.__cause__, IntegrityError)


def test_a_single_write_that_fails_is_tried_once(path, engine, commits):
    tries = []

    def work(connection):
        adding("a")(connection)
        tries.append(1)
        raise KeyError("a")

    writes = SharedWrites(engine)
    with pytest.raises(KeyError):
        writes.run(work)
    assert len(tries) == 1 and on_disk(path) == [] and not commits
    assert writes.run(adding("b")) == "B" and on_disk(path) == ["b"]


def test_all_who_wait_are_told_at_once_that_the_lock_was_not_got(engine, monkeypatch):
    writes, tries, refused = SharedWrites(engine), [], []

    @contextmanager
    def busy(_engine):
        tries.append(1)
        wait_for(lambda: len(writes._waiting) == 3)
        raise StorageError("other threads kept writing", "try again")
        yield

    def run():
        with pytest.raises(StorageError, match="kept writing") as found:
            writes.run(adding("a"))
        refused.append(found.value.told)

    monkeypatch.setattr("storage.engine.shared_writes.writing", busy)
    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tries == [1] and refused == ["try again"] * 3
    monkeypatch.undo()
    assert writes.run(adding("b")) == "B"    # nothing is left behind
