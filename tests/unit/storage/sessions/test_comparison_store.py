"""What any store of comparisons does, and how SQL keeps them."""

from __future__ import annotations

import zlib
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from sqlalchemy import delete, func, select, update

from cir_core.audit.records import QueryAudit, Ranking
from cir_core.errors import SearchError, StorageError, UnknownSession
from cir_core.sessions.store import MethodColumn
from cir_core.types.records import Hit
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.sessions.audits import SqlAuditStore, pack_rankings, unpack_rankings
from storage.sessions.comparisons import SqlComparisonStore
from storage.sessions.store import SqlSessionStore
from storage.stores import open_stores
from tests.fakes.audits import InMemoryAuditStore, a_card
from tests.fakes.comparison_store import InMemoryComparisonStore
from tests.fakes.comparisons import METHODS, a_column, a_comparison, a_vote
from tests.fakes.databases import engine as engine
from tests.fakes.databases import refuse_position_2, settings_of
from tests.fakes.turns import a_composition, a_session, a_turn, same_composition


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
    turn = sessions.add_turn(a_turn(session.session_id, None))
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


# --- audits ----------------------------------------------------------------------------------

RANKINGS = {
    "multimodal": Ranking((3, 1), ("ä/1.jpg", "b \"2\"")), "text_only": Ranking((40_000, 7)),
    "image_only": Ranking((2, 5), ("c",)),
}


def an_audit(number, problem=""):
    return QueryAudit(f"q{number}", {} if problem else RANKINGS, problem)


@pytest.fixture
def sql_audits(engine):
    return SqlAuditStore(engine)


@pytest.fixture(params=["dict", "sql"])
def audits(request):
    return InMemoryAuditStore() if request.param == "dict" else request.getfixturevalue("sql_audits")


def test_what_was_put_comes_back_by_position(audits):
    card = a_card(identity={"kind": "method", "weights": [0.1, 1e-300], "none": None, "naïve": "ü"}, instruction="a\nb")
    assert audits.stored(card) == {}
    audits.begin(card, 5)
    audits.put(card, 0, [an_audit(0), an_audit(1, "the target is missing")])
    audits.put(card, 4, [an_audit(4)])
    assert audits.stored(card) == {0: an_audit(0), 1: an_audit(1, "the target is missing"), 4: an_audit(4)}
    [run] = audits.runs()
    assert run.card == card and run.card.digest == card.digest
    assert (run.total, run.done, run.problems, run.finished_at) == (5, 3, 1, None)


def test_a_chunk_takes_the_place_of_the_one_before(audits):
    card = a_card()
    audits.begin(card, 4)
    audits.put(card, 0, [an_audit(0, "away"), an_audit(1)])
    audits.put(card, 2, [an_audit(2), an_audit(3)])
    audits.put(card, 0, [an_audit(0), an_audit(1)])
    assert [audits.stored(card)[place].problem for place in range(4)] == [""] * 4


def test_runs_are_by_card(audits):
    one, other = a_card("one"), a_card("one", instruction="Find it")
    for card in (one, other):
        audits.begin(card, 1)
    audits.put(one, 0, [an_audit(0)])
    audits.finish(one)
    assert audits.stored(other) == {}
    listed = [(run.card, run.done, run.finished_at is None) for run in audits.runs()]
    assert listed == [(other, 0, True), (one, 1, False)]


def test_beginning_and_finishing_twice_changes_nothing(audits):
    card = a_card()
    audits.begin(card, 1)
    audits.put(card, 0, [an_audit(0)])
    audits.finish(card)
    [before] = audits.runs()
    audits.begin(card, 1)
    audits.finish(card)
    assert audits.runs() == (before,) or audits.runs() == [before]
    assert audits.stored(card) == {0: an_audit(0)}


def test_a_chunk_is_stored_whole_or_not_at_all(sql_audits):
    card = a_card()
    sql_audits.begin(card, 3)
    sql_audits.put(card, 0, [an_audit(0)])
    refuse_position_2(sql_audits.engine, "audit_queries")
    with pytest.raises(StorageError):
        sql_audits.put(card, 0, [an_audit(0, "again"), an_audit(1), an_audit(2)])
    assert sql_audits.stored(card) == {0: an_audit(0)}


def test_rows_without_a_run_are_refused(sql_audits):
    with pytest.raises(StorageError):
        sql_audits.put(a_card(), 0, [an_audit(0)])


def test_a_problem_with_odd_characters_is_kept_as_far_as_it_can_be(sql_audits):
    card = a_card()
    sql_audits.begin(card, 1)
    sql_audits.put(card, 0, [QueryAudit("q0", {}, "half \ud83d and nul \0")])
    assert sql_audits.stored(card)[0].problem == "half \\ud83d and nul  "


def test_twenty_images_under_three_inputs_take_little_room(sql_audits):
    """60 ids of 12 characters and their quotes are 900 bytes as they are."""
    top = tuple(f"B00{number:07}XY" for number in range(20))
    rankings = {variant: Ranking((1234,), top) for variant in RANKINGS}
    assert unpack_rankings(pack_rankings(rankings)) == rankings
    assert len(pack_rankings(rankings)) < 450


def test_what_many_queries_name_is_in_memory_once(sql_audits):
    """Eleven retrievers name the same images for the same queries: 60 strings of a query, and its id."""
    top = tuple(f"img_{number}" for number in range(20))
    for name in ("one", "two"):
        sql_audits.begin(a_card(name), 1)
        sql_audits.put(a_card(name), 0, [QueryAudit("query 1", {v: Ranking((1,), top) for v in RANKINGS})])
    one, two = (sql_audits.stored(a_card(name))[0] for name in ("one", "two"))
    strings = [{id(text) for ranking in of.rankings.values() for text in ranking.top} for of in (one, two)]
    assert one == two and one.query_id is two.query_id and strings[0] == strings[1] and len(strings[0]) == 20


def test_audits_share_the_database(tmp_path):
    settings = settings_of(tmp_path / "home")
    stores = open_stores(settings)
    stores.audits.begin(a_card(), 1)
    stores.close()
    again = open_stores(settings)
    with reading(again.audits.engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM audit_runs").scalar_one() == 1
    again.close()


@pytest.mark.parametrize("packed", [b"", b"not zlib", "flip", "cut", "json"])
def test_damaged_ranks_are_missing_and_computed_again(sql_audits, packed, caplog):
    card, good = a_card(), pack_rankings(RANKINGS)
    sql_audits.begin(card, 3)
    sql_audits.put(card, 0, [an_audit(0), an_audit(1), an_audit(2)])
    if packed == "flip":
        packed = good[:20] + bytes([good[20] ^ 8]) + good[21:]
    elif packed == "cut":
        packed = good[:-3]
    elif packed == "json":
        packed = zlib.compress(b'{"multimodal": 3}')
    with writing(sql_audits.engine) as connection:
        connection.execute(update(tables.audit_queries).where(tables.audit_queries.c.position == 1).values(
            rankings=packed))
    assert sql_audits.stored(card) == {0: an_audit(0), 2: an_audit(2)}
    assert "query q1" in caplog.text and card.digest in caplog.text
    sql_audits.put(card, 1, [an_audit(1)])
    assert len(sql_audits.stored(card)) == 3
