"""A soak takes an empty database alone, says which it was, and looks whether it is whole."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from benchmarks.soak import main
from benchmarks.soak_database import described, refuse_unless_empty
from benchmarks.soak_home import make_home
from benchmarks.soak_ledger import stored_in
from cir_core.errors import StorageError
from storage.engine.database import open_database, writing
from storage.mapping import tables
from storage.stores import open_stores
from tests.fakes.databases import ON_SQLITE, database_of, engine_of, settings_of
from tests.fakes.studies import make_study


def test_a_database_with_something_in_it_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    stores = open_stores(settings_of(tmp_path / "in-use"))
    make_study(stores.studies, tmp_path / "in-use", name="Spring", items=2, seats=1, overlap=1)
    stores.close()
    url = database_of(tmp_path / "in-use")
    with pytest.raises(StorageError, match=r"is not empty: there is something in .*studies.* It was not changed"):
        make_home(tmp_path / "soak", annotators=2, searchers=1, each=2, database=url)
    assert not (tmp_path / "soak").exists()
    assert main(["--database", url, "--keep", str(tmp_path / "soak")]) == 2
    assert "is not empty" in capsys.readouterr().err and not (tmp_path / "soak").exists()


def test_tables_of_another_program_are_refused_also_without_rows(tmp_path: Path) -> None:
    engine = open_database(database_of(tmp_path, empty=True))
    with writing(engine) as connection:
        connection.execute(text("CREATE TABLE invoices (number INTEGER)"))
    engine.dispose()
    with pytest.raises(StorageError, match="there is something in invoices"):
        refuse_unless_empty(database_of(tmp_path))


def test_an_empty_one_is_taken_with_or_without_tables(tmp_path: Path) -> None:
    refuse_unless_empty(database_of(tmp_path / "none", empty=True))
    engine_of(tmp_path / "migrated").dispose()
    refuse_unless_empty(database_of(tmp_path / "migrated"))
    if ON_SQLITE:
        assert not (tmp_path / "none").exists(), "a file that is not there is not made by looking"


def test_it_says_which_database_it_was(tmp_path: Path) -> None:
    engine = engine_of(tmp_path)
    if ON_SQLITE:
        assert described(engine) == f"SQLite {sqlite3.sqlite_version}"
    else:
        with engine.connect() as connection:
            number = int(connection.execute(text("SHOW server_version_num")).scalar_one())
            off = [name for name in ("fsync", "synchronous_commit", "full_page_writes")
                   if connection.execute(text(f"SHOW {name}")).scalar_one() == "off"]
        said = described(engine)
        assert said.partition(" without ")[0] == f"PostgreSQL {number // 10_000}.{number % 10_000}"
        assert said.partition(" without ")[2] == ", ".join(off)
    engine.dispose()


def test_counts_that_are_wrong_are_faults_of_the_database(tmp_path: Path) -> None:
    stores = open_stores(settings_of(tmp_path))
    study = make_study(stores.studies, tmp_path, name="Spring", items=2, seats=1, overlap=1)
    stores.close()
    assert stored_in(tmp_path, database_of(tmp_path)).faults == ()
    engine = engine_of(tmp_path)
    with writing(engine) as connection:
        connection.execute(update(tables.study_seats).values(total=tables.study_seats.c.total + 1))
        seat = connection.execute(select(tables.study_seats.c.number)).scalar_one()
    engine.dispose()
    stored = stored_in(tmp_path, database_of(tmp_path))
    assert list(stored.faults) == [f"study_seats: the counts of seat {seat} of study {study.study_id} do not match "
                                   "its assignments"]
    assert stored.database.startswith("SQLite" if ON_SQLITE else "PostgreSQL")
