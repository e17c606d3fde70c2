"""What any store of audits does, and how SQL keeps them."""

from __future__ import annotations

import zlib

import pytest
from sqlalchemy import update

from cir_core.audit.records import QueryAudit, Ranking
from cir_core.errors import StorageError
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.sessions.audits import SqlAuditStore, pack_rankings, unpack_rankings
from storage.stores import open_stores
from tests.fakes.audits import InMemoryAuditStore, a_card
from tests.fakes.databases import engine as engine
from tests.fakes.databases import refuse_position_2, settings_of

RANKINGS = {
    "multimodal": Ranking((3, 1), ("ä/1.jpg", "b \"2\"")), "text_only": Ranking((40_000, 7)),
    "image_only": Ranking((2, 5), ("c",)),
}


def an_audit(number, problem=""):
    return QueryAudit(f"q{number}", {} if problem else RANKINGS, problem)


@pytest.fixture
def sql(engine):
    return SqlAuditStore(engine)


@pytest.fixture(params=["dict", "sql"])
def store(request):
    return InMemoryAuditStore() if request.param == "dict" else request.getfixturevalue("sql")


def test_what_was_put_comes_back_by_position(store):
    card = a_card(identity={"kind": "method", "weights": [0.1, 1e-300], "none": None, "naïve": "ü"}, instruction="a\nb")
    assert store.stored(card) == {}
    store.begin(card, 5)
    store.put(card, 0, [an_audit(0), an_audit(1, "the target is missing")])
    store.put(card, 4, [an_audit(4)])
    assert store.stored(card) == {0: an_audit(0), 1: an_audit(1, "the target is missing"), 4: an_audit(4)}
    [run] = store.runs()
    assert run.card == card and run.card.digest == card.digest
    assert (run.total, run.done, run.problems, run.finished_at) == (5, 3, 1, None)


def test_a_chunk_takes_the_place_of_the_one_before(store):
    card = a_card()
    store.begin(card, 4)
    store.put(card, 0, [an_audit(0, "away"), an_audit(1)])
    store.put(card, 2, [an_audit(2), an_audit(3)])
    store.put(card, 0, [an_audit(0), an_audit(1)])
    assert [store.stored(card)[place].problem for place in range(4)] == [""] * 4


def test_runs_are_by_card(store):
    one, other = a_card("one"), a_card("one", instruction="Find it")
    for card in (one, other):
        store.begin(card, 1)
    store.put(one, 0, [an_audit(0)])
    store.finish(one)
    assert store.stored(other) == {}
    listed = [(run.card, run.done, run.finished_at is None) for run in store.runs()]
    assert listed == [(other, 0, True), (one, 1, False)]


def test_beginning_and_finishing_twice_changes_nothing(store):
    card = a_card()
    store.begin(card, 1)
    store.put(card, 0, [an_audit(0)])
    store.finish(card)
    [before] = store.runs()
    store.begin(card, 1)
    store.finish(card)
    assert store.runs() == (before,) or store.runs() == [before]
    assert store.stored(card) == {0: an_audit(0)}


def test_a_chunk_is_stored_whole_or_not_at_all(sql):
    card = a_card()
    sql.begin(card, 3)
    sql.put(card, 0, [an_audit(0)])
    refuse_position_2(sql.engine, "audit_queries")
    with pytest.raises(StorageError):
        sql.put(card, 0, [an_audit(0, "again"), an_audit(1), an_audit(2)])
    assert sql.stored(card) == {0: an_audit(0)}


def test_rows_without_a_run_are_refused(sql):
    with pytest.raises(StorageError):
        sql.put(a_card(), 0, [an_audit(0)])


def test_a_problem_with_odd_characters_is_kept_as_far_as_it_can_be(sql):
    card = a_card()
    sql.begin(card, 1)
    sql.put(card, 0, [QueryAudit("q0", {}, "half \ud83d and nul \0")])
    assert sql.stored(card)[0].problem == "half \\ud83d and nul  "


def test_twenty_images_under_three_inputs_take_little_room(sql):
    """60 ids of 12 characters and their quotes are 900 bytes as they are."""
    top = tuple(f"B00{number:07}XY" for number in range(20))
    rankings = {variant: Ranking((1234,), top) for variant in RANKINGS}
    assert unpack_rankings(pack_rankings(rankings)) == rankings
    assert len(pack_rankings(rankings)) < 450


def test_what_many_queries_name_is_in_memory_once(sql):
    """Eleven retrievers name the same images for the same queries: 60 strings of a query, and its id."""
    top = tuple(f"img_{number}" for number in range(20))
    for name in ("one", "two"):
        sql.begin(a_card(name), 1)
        sql.put(a_card(name), 0, [QueryAudit("query 1", {v: Ranking((1,), top) for v in RANKINGS})])
    one, two = (sql.stored(a_card(name))[0] for name in ("one", "two"))
    strings = [{id(text) for ranking in of.rankings.values() for text in ranking.top} for of in (one, two)]
    assert one == two and one.query_id is two.query_id and strings[0] == strings[1] and len(strings[0]) == 20


def test_all_stores_share_one_database(tmp_path):
    settings = settings_of(tmp_path / "home")
    stores = open_stores(settings)
    stores.audits.begin(a_card(), 1)
    stores.close()
    again = open_stores(settings)
    with reading(again.audits.engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM audit_runs").scalar_one() == 1
    again.close()


@pytest.mark.parametrize("packed", [b"", b"not zlib", "flip", "cut", "json"])
def test_damaged_ranks_are_missing_and_computed_again(sql, packed, caplog):
    card, good = a_card(), pack_rankings(RANKINGS)
    sql.begin(card, 3)
    sql.put(card, 0, [an_audit(0), an_audit(1), an_audit(2)])
    if packed == "flip":
        packed = good[:20] + bytes([good[20] ^ 8]) + good[21:]
    elif packed == "cut":
        packed = good[:-3]
    elif packed == "json":
        packed = zlib.compress(b'{"multimodal": 3}')
    with writing(sql.engine) as connection:
        connection.execute(update(tables.audit_queries).where(tables.audit_queries.c.position == 1).values(
            rankings=packed))
    assert sql.stored(card) == {0: an_audit(0), 2: an_audit(2)}
    assert "query q1" in caplog.text and card.digest in caplog.text
    sql.put(card, 1, [an_audit(1)])
    assert len(sql.stored(card)) == 3
