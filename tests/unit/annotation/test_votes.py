"""Votes: how they are made, counted and kept."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete

from annotation.votes import Agreement, Tally, agreement, make_vote, tally
from cir_core.errors import SearchError, StorageError, UnknownSession
from storage.engine.database import writing
from storage.mapping import tables
from storage.sessions.comparisons import SqlComparisonStore, SqlVoteStore
from tests.fakes.comparison_store import InMemoryVoteStore
from tests.fakes.comparisons import METHODS, a_comparison, a_vote
from tests.fakes.databases import engine_of

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def sql(tmp_path):
    engine = engine_of(tmp_path)
    comparisons = SqlComparisonStore(engine)
    for comparison_id in ("one", "two"):
        comparisons.add_comparison(a_comparison(comparison_id=comparison_id))
    yield SqlVoteStore(engine)
    engine.dispose()


@pytest.fixture(params=["dict", "sql"])
def store(request):
    return InMemoryVoteStore() if request.param == "dict" else request.getfixturevalue("sql")


def test_make_vote():
    vote = make_vote("one", "ann", ["a", "b"], "b", blind=True, seconds=2.5)
    assert (vote.comparison_id, vote.annotator, vote.shown, vote.chosen) == ("one", "ann", ("a", "b"), "b")
    assert vote.blind and vote.seconds == 2.5
    assert timedelta() <= datetime.now(UTC) - vote.created_at < timedelta(minutes=1)
    assert make_vote("one", "ann", ["a", "b"], "b", blind=True, seconds=2.5).vote_id != vote.vote_id
    assert make_vote("one", "ann", ["a", "b"], None, blind=False, seconds=-3).seconds == 0.0  # a clock was set back


def test_only_what_was_shown_can_be_chosen():
    with pytest.raises(SearchError, match="'c' is not one of the methods"):
        make_vote("one", "ann", ["a", "b"], "c", blind=True, seconds=1)


def test_tally():
    """a: chosen over b and over c, tied once with b: 2 wins, 0 losses, 1 tie; b: 0, 1, 1; c: 0, 1, 0."""
    votes = [a_vote("1", shown=("a", "b"), chosen="a"), a_vote("2", shown=("c", "a"), chosen="a"),
             a_vote("3", shown=("b", "a"), chosen=None)]
    assert tally(votes) == [Tally("a", 2, 0, 1), Tally("b", 0, 1, 1), Tally("c", 0, 1, 0)]
    assert tally([]) == []


def test_every_vote_counts_once_for_each_method_it_showed():
    votes = [a_vote(str(i), shown=("a", "b", "c")[:2 + i % 2], chosen=(None, "a", "b")[i % 3]) for i in range(12)]
    for row in tally(votes):
        assert row.wins + row.losses + row.ties == sum(row.method in vote.shown for vote in votes)


def test_agreement_counts_the_pairs_that_a_vote_orders():
    """Chosen a over b and c: 0.5 > 0.2 agrees, 0.5 < 0.7 does not. Chosen b over a: 0.3 = 0.3 is a tie. "No
    difference", a choice without a score and a method without one order nothing."""
    a, b, c = "abc"
    judged = [
        (a_vote("one", shown=(a, b, c), chosen=a), {a: 0.5, b: 0.2, c: 0.7}),
        (a_vote("two", shown=(a, b), chosen=b), {a: 0.3, b: 0.3}),
        (a_vote("three", shown=(a, b), chosen=None), {a: 0.1, b: 0.9}),
        (a_vote("four", shown=(a, b), chosen=a), {b: 0.9}),
        (a_vote("five", shown=(a, b, c), chosen=c), {a: 0.0, c: 1.0}),
    ]
    assert agreement(judged) == Agreement(agreed=2, disagreed=1, tied=1) and agreement(judged).n == 3
    assert agreement([]) == Agreement()


def test_votes_of_one_person(store):
    made = [a_vote("one", annotator="ann", created_at=NOON), a_vote("one", annotator="bob", created_at=NOON),
            a_vote("two", annotator="ann", created_at=NOON + timedelta(seconds=1))]
    for vote in made:
        store.put_vote(vote)
    assert list(store.votes(annotator="ann")) == [made[0], made[2]]
    assert list(store.votes("one", "ann")) == [made[0]] and list(store.votes(annotator="nobody")) == []


def test_votes_come_back_as_they_were_put(store):
    made = [a_vote("one", annotator="ann", created_at=NOON), a_vote("two", chosen=None, created_at=NOON +
            timedelta(seconds=1)), a_vote("one", annotator="Ödön 🎈", blind=False, shown=("b", "a", "ü"), chosen="ü",
                                          seconds=1e-300, created_at=NOON + timedelta(seconds=2))]
    for vote in made:
        assert store.put_vote(vote) == vote
    assert list(store.votes()) == made
    assert list(store.votes("one")) == [made[0], made[2]]
    assert list(store.votes("nowhere")) == []


def test_voting_again_revises(store):
    first = store.put_vote(a_vote("one", annotator="ann", chosen="plain"))
    others = [store.put_vote(a_vote("one", annotator="bob")), store.put_vote(a_vote("two", annotator="ann"))]
    second = store.put_vote(a_vote("one", annotator="ann", chosen=None))
    assert second.vote_id != first.vote_id
    assert sorted(store.votes(), key=lambda vote: vote.vote_id) == sorted(
        [second, *others], key=lambda vote: vote.vote_id)
    assert store.put_vote(second) == second  # a request that was sent twice
    assert len(store.votes()) == 3


def test_oldest_first_whatever_the_order_they_came_in(sql):
    late, early = (sql.put_vote(a_vote("one", annotator=name, created_at=NOON + timedelta(hours=hours)))
                   for name, hours in (("late", 2), ("early", 1)))
    assert sql.votes() == (early, late)
    revised = sql.put_vote(a_vote("one", annotator="early", created_at=NOON + timedelta(hours=3)))
    assert sql.votes() == (late, revised)


def test_an_unknown_comparison_says_what_to_do(sql):
    with pytest.raises(UnknownSession, match="No comparison 'nowhere'"):
        sql.put_vote(a_vote("nowhere"))
    assert sql.votes() == ()


def test_a_vote_that_fails_leaves_the_earlier_one(sql):
    first = sql.put_vote(a_vote("one", annotator="ann"))
    other = sql.put_vote(a_vote("one", annotator="bob"))
    with pytest.raises(StorageError):  # the id is another's, found out after ann's vote was taken away
        sql.put_vote(replace(first, vote_id=other.vote_id))
    with pytest.raises(SearchError, match="cannot be stored"):
        sql.put_vote(replace(first, annotator="half \ud83d"))
    with pytest.raises(ValueError, match="time zone"):
        sql.put_vote(replace(first, created_at=datetime(2026, 1, 1)))
    assert set(sql.votes()) == {first, other}


def test_a_judged_comparison_cannot_be_deleted(sql):
    vote = sql.put_vote(a_vote("one"))
    with pytest.raises(StorageError), writing(sql.engine) as connection:
        connection.execute(delete(tables.comparisons))
    assert sql.votes() == (vote,)


def test_threads_that_vote_for_the_same_person(sql):
    start = threading.Barrier(8)

    def work(thread):
        start.wait()
        for number in range(10):
            sql.put_vote(a_vote(("one", "two")[number % 2], annotator=("ann", "bob")[number % 3 == 0],
                                chosen=METHODS[thread % 3]))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    # number % 2 and number % 3 == 0 take all four combinations in 0 … 9
    assert sorted((vote.comparison_id, vote.annotator) for vote in sql.votes()) == [
        ("one", "ann"), ("one", "bob"), ("two", "ann"), ("two", "bob")]
