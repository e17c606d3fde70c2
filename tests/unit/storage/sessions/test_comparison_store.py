"""What any store of comparisons does, and how SQL keeps them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from sqlalchemy import delete, func, select

from cir_core.errors import SearchError, StorageError, UnknownSession
from cir_core.sessions.comparisons import MethodColumn
from cir_core.types.records import Hit
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.sessions.comparisons import SqlComparisonStore
from storage.sessions.store import SqlSessionStore
from storage.stores import open_stores
from tests.fakes.comparison_store import InMemoryComparisonStore
from tests.fakes.comparisons import METHODS, a_column, a_comparison, a_vote
from tests.fakes.databases import engine as engine
from tests.fakes.databases import refuse_position_2, settings_of
from tests.fakes.turns import a_composition, a_session, same_composition, turn_maker


@pytest.fixture
def sql(engine):
    return SqlComparisonStore(engine)


@pytest.fixture(params=["dict", "sql"])
def store(request):
    return InMemoryComparisonStore() if request.param == "dict" else request.getfixturevalue("sql")


def test_a_comparison_comes_back_exactly(store):
    comparison = a_comparison(
        modification_text="rouge 👩🏽‍🎨\n«très» 赤い\t\"'; DROP TABLE comparisons; --",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=-9))))
    assert store.add_comparison(comparison) is comparison
    loaded = store.comparison(comparison.comparison_id)
    assert loaded == comparison
    for column, before in zip(loaded.columns, comparison.columns, strict=True):
        assert same_composition(column.composition, before.composition)
        assert column.settings == before.settings
    assert [column.method for column in loaded.columns] == list(METHODS)
    assert loaded.columns[1].settings.reflection.rounds == 3 and loaded.columns[1].protocol.captions == "ab" * 8


def test_the_order_of_columns_is_kept(store):
    names = ("z", "a", "m", "a2", "0", "z2")
    comparison = store.add_comparison(a_comparison(columns=tuple(map(a_column, names))))
    assert tuple(column.method for column in store.comparison(comparison.comparison_id).columns) == names


def test_one_that_starts_afresh_and_columns_with_nothing(store):
    bare = MethodColumn("none", a_session().protocol)
    comparison = a_comparison(session_id=None, parent_id=None, blind=False, seed=0, columns=(bare,))
    store.add_comparison(comparison)
    assert store.comparison(comparison.comparison_id) == comparison
    assert store.comparison(comparison.comparison_id).columns[0].composition is None


def test_unknown_ids_say_what_to_do(store):
    store.add_comparison(a_comparison())
    with pytest.raises(UnknownSession, match="No comparison 'nowhere'"):
        store.comparison("nowhere")


def test_scores_are_kept_bit_for_bit(sql):
    hits = tuple(Hit(f"{rank}", 1 / (rank + 2), rank, (("text", 0.1 + 0.2), ("rest", -1e-300))) for rank in (1, 2, 3))
    comparison = sql.add_comparison(a_comparison(columns=(a_column(hits=hits),)))
    assert sql.comparison(comparison.comparison_id).columns[0].hits == hits


def test_a_comparison_is_stored_once_and_whole(sql):
    comparison = sql.add_comparison(a_comparison())
    with pytest.raises(StorageError):
        sql.add_comparison(replace(comparison, modification_text="again", columns=()))
    assert sql.comparison(comparison.comparison_id) == comparison
    broken = a_comparison(columns=(*comparison.columns, a_column(problem="half \ud83d")))
    with pytest.raises(SearchError, match="cannot be stored"):
        sql.add_comparison(broken)
    with pytest.raises(UnknownSession):
        sql.comparison(broken.comparison_id)


def test_a_failure_half_way_leaves_nothing(sql):
    refuse_position_2(sql.engine, "comparison_columns")
    with pytest.raises(StorageError):
        sql.add_comparison(a_comparison())
    with reading(sql.engine) as connection:
        for table in (tables.comparisons, tables.comparison_columns):
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0


def test_a_naive_time_is_a_defect(sql):
    with pytest.raises(ValueError, match="time zone"):
        sql.add_comparison(a_comparison(created_at=datetime(2026, 1, 1)))


def test_what_was_judged_outlives_its_session(sql):
    """The session goes with its turns; the comparison keeps both ids."""
    sessions = SqlSessionStore(sql.engine)
    session = sessions.create_session(a_session())
    turn = sessions.add_turn(session.session_id, None, turn_maker(session.session_id, None))
    comparison = sql.add_comparison(a_comparison(session_id=session.session_id, parent_id=turn.turn_id))
    with writing(sql.engine) as connection:
        connection.execute(delete(tables.sessions))
    with pytest.raises(UnknownSession):
        sessions.session(session.session_id)
    assert sql.comparison(comparison.comparison_id) == comparison


def test_a_column_takes_little_more_than_its_numbers(sql):
    """60 hits with 5 parts: 60 x (1 + 5) float64 = 2880 bytes; six vectors of 512 float32 =
    12288 bytes. Ids of 11 characters and the rest as text stay below 4000."""
    parts = tuple((f"part {i}", 0.1) for i in range(5))
    hits = tuple(Hit(f"image-{i:05}", 0.5, i + 1, parts) for i in range(60))
    composition = a_composition(dim=512)
    sql.add_comparison(a_comparison(columns=(a_column(hits=hits, composition=composition),)))
    with reading(sql.engine) as connection:
        texts = " + ".join(f"length(CAST({name} AS TEXT))"
                           for name in ("protocol", "hits", "composition", "notes", "timings_ms"))
        row = connection.exec_driver_sql(
            f"SELECT length(hit_numbers) + length(composition_vectors), {texts} FROM comparison_columns").one()
    assert row[0] == 2880 + 6 * 512 * 4
    assert row[1] < 4000


def test_all_stores_share_one_database(tmp_path):
    settings = settings_of(tmp_path / "deep" / "home")
    stores = open_stores(settings)
    session = stores.sessions.create_session(a_session())
    comparison = stores.comparisons.add_comparison(a_comparison(session_id=session.session_id))
    vote = stores.votes.put_vote(a_vote(comparison.comparison_id))
    stores.answers.put("0" * 64, "{}", model="m", role="r", prompt_version="1", prompt_tokens=1, completion_tokens=1)
    assert len({id(store.engine) for store in (stores.sessions, stores.answers, stores.comparisons,
                                               stores.votes)}) == 1
    stores.close()
    again = open_stores(settings)
    assert again.sessions.session(session.session_id) == session
    assert again.comparisons.comparison(comparison.comparison_id) == comparison
    assert again.votes.votes() == (vote,) and again.answers.get("0" * 64) == "{}"
    again.close()
