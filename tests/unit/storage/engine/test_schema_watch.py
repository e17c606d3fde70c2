"""A process that was left running while another one brought the database up to date writes nothing more."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy import text

from cir_core.errors import StorageError
from storage.engine.database import reading, writing
from storage.engine.readiness import Readiness
from storage.engine.revisions import latest_revision
from tests.fakes.databases import engine as engine
from web.http.public_errors import public_message


def set_schema(engine, revision):
    with engine.connect() as connection, connection.begin():   # as another process does it
        connection.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})


def write(engine):
    with writing(engine) as connection:
        connection.execute(text("DELETE FROM answers"))


def test_a_write_finds_it_out_within_ten_seconds_though_nobody_asks(engine, caplog):
    now = [0.0]
    readiness = Readiness(engine, lambda: now[0])
    set_schema(engine, "9999")
    now[0] = 9.9
    write(engine)   # what one may find out too late
    assert not readiness.is_other
    now[0] = 10.0
    with caplog.at_level(logging.ERROR, "cirque.storage"):
        for _ in range(3):
            with pytest.raises(StorageError, match="schema of another version") as refused:
                write(engine)
    assert readiness.is_other and "not been restarted" in public_message(refused.value)
    assert caplog.text.count("has schema 9999, and this process knows") == 1

    set_schema(engine, latest_revision())
    write(engine)   # a backup was restored
    assert not readiness.is_other


def test_what_was_begun_is_undone(engine):
    Readiness(engine)._schema._checked_at = float("-inf")
    set_schema(engine, "9999")
    with pytest.raises(StorageError), writing(engine):
        raise AssertionError("nobody gets here")
    with reading(engine) as connection:   # reading goes on, as far as it can
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == "9999"


def test_asking_whether_it_is_ready_finds_it_out_at_once(engine):
    readiness = Readiness(engine)
    assert readiness.is_current() and not readiness.is_other
    set_schema(engine, "9999")
    assert not readiness.is_current() and readiness.is_other
    with pytest.raises(StorageError):
        write(engine)


def test_it_costs_one_look_in_ten_seconds(engine, monkeypatch):
    now, looks = [0.0], []
    readiness = Readiness(engine, lambda: now[0])
    check = readiness._schema.check
    monkeypatch.setattr(readiness._schema, "check", lambda connection: looks.append(now[0]) or check(connection))
    for second in range(25):
        now[0] = float(second)
        write(engine)
    assert looks == [10.0, 20.0]
