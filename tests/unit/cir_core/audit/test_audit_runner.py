"""Retrievers that fail, queries that fail, runs that go on."""

from __future__ import annotations

import logging

import pytest

from cir_core.audit.records import VARIANTS, Ranking
from cir_core.audit.runner import IN_A_ROW, AuditProgress, run_audit
from cir_core.errors import (
    EncoderUnavailable,
    ImageUnreadable,
    LanguageModelUnavailable,
    SearchError,
    StorageError,
)
from cir_core.evaluation.query_steps import Problem
from tests.fakes.audits import InMemoryAuditStore, ScriptedRetriever, a_benchmark, a_query

PLACES = {variant: place for place, variant in enumerate(VARIANTS)}


def numbered(n):
    return a_benchmark([a_query(f"q{i}", "r", "red", "t") for i in range(n)], {"": ("r", "t")})


def ranking_of(query_id, variant):
    """Rank and image tell query and variant."""
    return Ranking((10 * int(query_id[1:]) + PLACES[variant] + 1,), (f"{query_id} {variant}",))


def failing(at, error, variants=VARIANTS):
    """Raises ``error`` whenever query ``at`` is in the batch."""
    def outcome(query_id, variant):
        if query_id == at and variant in variants:
            raise error
        return ranking_of(query_id, variant)
    return outcome


@pytest.fixture
def store():
    return InMemoryAuditStore()


def ranks(run):
    return [{variant: ranking.ranks[0] for variant, ranking in query.rankings.items()} for query in run.queries]


def test_every_query_is_ranked_three_times_and_progress_follows_the_store(store):
    benchmark = numbered(5)
    seen: list[tuple[AuditProgress, int]] = []
    retriever = ScriptedRetriever("one", benchmark, ranking_of)
    outcome = run_audit(benchmark, [retriever], store, chunk=2,
                        progress=lambda p: seen.append((p, sum(map(len, store.queries.values())))))
    [run] = outcome.runs
    assert [query.query_id for query in run.queries] == ["q0", "q1", "q2", "q3", "q4"]
    assert ranks(run)[3] == {"multimodal": 31, "text_only": 32, "image_only": 33}
    assert retriever.asked == [*[("q0", "q1")] * 3, *[("q2", "q3")] * 3, *[("q4",)] * 3]
    assert all(progress.done <= stored for progress, stored in seen)
    assert seen[-1][0].done == seen[-1][0].total == 5
    assert outcome.failed == {} and outcome.reused == {"one": 0} and retriever.closed == 1
    assert store.runs()[0].finished_at is not None


def test_what_is_stored_is_not_ranked_again(store):
    benchmark = numbered(5)
    first = run_audit(benchmark, [ScriptedRetriever("one", benchmark, ranking_of)], store, chunk=2)
    again = ScriptedRetriever("one", benchmark, failing("q0", AssertionError()))
    second = run_audit(benchmark, [again, ScriptedRetriever("two", benchmark, ranking_of)], store, chunk=2)
    assert again.asked == [] and second.reused == {"one": 5, "two": 0}
    assert second.runs[0] == first.runs[0]


def test_only_missing_chunks_are_ranked_and_their_bounds_stay(store):
    benchmark = numbered(7)
    broken = ScriptedRetriever("one", benchmark, failing("q4", LanguageModelUnavailable("away")))
    outcome = run_audit(benchmark, [broken], store, chunk=2)
    assert outcome.runs == () and outcome.failed == {"one": "away"}
    again = ScriptedRetriever("one", benchmark, ranking_of)
    run_audit(benchmark, [again], store, chunk=2)
    assert again.asked == [*[("q4", "q5")] * 3, *[("q6",)] * 3]


def test_half_a_chunk_counts_for_nothing(store):
    benchmark = numbered(4)
    [run] = run_audit(benchmark, [ScriptedRetriever("one", benchmark, ranking_of)], store, chunk=4).runs
    del store.queries[run.card.digest][3]
    again = ScriptedRetriever("one", benchmark, ranking_of)
    assert run_audit(benchmark, [again], store, chunk=4).reused == {"one": 0}
    assert again.asked == [("q0", "q1", "q2", "q3")] * 3


@pytest.mark.parametrize("error", [
    ImageUnreadable("q1 is cut off."), RuntimeError("out of memory\ntrace"), ValueError(),
])
def test_a_batch_that_fails_is_tried_query_by_query(store, error, caplog):
    benchmark = numbered(3)
    retriever = ScriptedRetriever("one", benchmark, failing("q1", error, ("text_only",)))
    with caplog.at_level(logging.CRITICAL, logger="cirque.audit"):
        [run] = run_audit(benchmark, [retriever], store).runs
    said = {ImageUnreadable: "q1 is cut off.", RuntimeError: "RuntimeError: out of memory", ValueError: "ValueError"}
    assert [query.problem for query in run.queries] == ["", f"with the text alone: {said[type(error)]}", ""]
    assert run.queries[1].rankings == {} and ranks(run)[2]["text_only"] == 22
    assert retriever.asked[1:5] == [("q0", "q1", "q2"), ("q0",), ("q1",), ("q2",)]


def test_a_problem_of_one_query_is_stored_and_retried_only_if_asked(store):
    benchmark = numbered(4)

    def outcome(query_id, variant):
        return Problem("the target is missing", of_query=True) if query_id == "q1" else ranking_of(query_id, variant)

    [run] = run_audit(benchmark, [ScriptedRetriever("one", benchmark, outcome)], store, chunk=2).runs
    assert [query.problem for query in run.queries] == ["", "the target is missing", "", ""]
    again = ScriptedRetriever("one", benchmark, ranking_of)
    assert run_audit(benchmark, [again], store, chunk=2).runs[0] == run and again.asked == []
    retried = ScriptedRetriever("one", benchmark, ranking_of)
    outcome = run_audit(benchmark, [retried], store, chunk=2, retry=True)
    assert retried.asked == [("q0", "q1")] * 3  # the chunk as a whole: as it would have been
    assert outcome.reused == {"one": 2} and not any(query.problem for query in outcome.runs[0].queries)
    assert not any(query.problem for query in store.stored(run.card).values())


@pytest.mark.parametrize("error", [LanguageModelUnavailable("the server is away"), EncoderUnavailable("no weights")])
def test_a_retriever_that_cannot_go_on_is_left_and_the_next_one_runs(store, error):
    benchmark = numbered(6)
    bad = ScriptedRetriever("bad", benchmark, failing("q3", error))
    good = ScriptedRetriever("good", benchmark, ranking_of)
    outcome = run_audit(benchmark, [bad, good], store, chunk=2)
    assert [run.card.retriever for run in outcome.runs] == ["good"]
    assert outcome.failed == {"bad": str(error)}
    assert sorted(store.stored(bad.card())) == [0, 1] and bad.closed == 1
    assert bad.asked == [*[("q0", "q1")] * 3, ("q2", "q3")]  # not tried one by one


def test_one_that_cannot_even_begin_is_left_too(store):
    class Broken(ScriptedRetriever):
        def card(self):
            raise EncoderUnavailable("no weights")

    benchmark = numbered(1)
    outcome = run_audit(benchmark, [Broken("bad", benchmark, ranking_of)], store)
    assert outcome.failed == {"bad": "no weights"} and outcome.runs == ()


def test_twenty_failures_in_a_row_end_it_before_they_are_stored(store):
    benchmark = numbered(100)

    def outcome(query_id, variant):
        number = int(query_id[1:])
        return Problem(f"photo {number} is not there") if number >= 40 else ranking_of(query_id, variant)

    result = run_audit(benchmark, [ScriptedRetriever("one", benchmark, outcome)], store, chunk=32)
    assert f"{IN_A_ROW} queries in a row failed" in result.failed["one"] and "photo 59" in result.failed["one"]
    [run] = store.runs()
    assert (run.done, run.problems) == (32, 0)


def test_faults_of_the_data_set_do_not_count_against_the_retriever(store):
    benchmark = numbered(60)
    retriever = ScriptedRetriever("one", benchmark, lambda *_: Problem("no target", of_query=True))
    [run] = run_audit(benchmark, [retriever], store, chunk=16).runs
    assert all(query.problem == "no target" for query in run.queries)


def test_two_of_one_name_are_refused(store):
    benchmark = numbered(1)
    two = [ScriptedRetriever("one", benchmark, ranking_of) for _ in range(2)]
    with pytest.raises(SearchError, match="Two retrievers are called 'one'"):
        run_audit(benchmark, two, store)


def test_a_full_disk_ends_the_audit_with_its_own_sentence(store, monkeypatch):
    def full(*_):
        raise StorageError("no room left")

    monkeypatch.setattr(store, "put", full)
    benchmark = numbered(1)
    with pytest.raises(StorageError, match="no room"):
        run_audit(benchmark, [ScriptedRetriever("one", benchmark, ranking_of)], store)
