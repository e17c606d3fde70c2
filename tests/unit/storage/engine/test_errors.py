"""What is said of a database that cannot be used: where it is without any secret, why, and what to do."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import exc, make_url

from cir_core.errors import StorageError
from storage.engine.database import open_database
from storage.engine.errors import explain, where
from tests.fakes.databases import sqlite_of
from web.http.public_errors import public_message

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
