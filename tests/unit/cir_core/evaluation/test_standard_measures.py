"""ir-measures, fed as cirque feeds it, against plain definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.average_precision import average_precision_at, soft_average_precision_at
from cir_core.evaluation.metrics.ndcg import ndcg, reciprocal_rank
from cir_core.evaluation.metrics.standard import standard_values

NAMES = ("R@1", "R@3", "Success@3", "RR", "nDCG@3", "AP@3", "P@3")


def test_by_hand():
    # Targets c and z, list a b c: one of two found, at rank 3.
    # R@3 1/2, Success@3 1, RR 1/3, AP@3 (1/3)/2 (trec_eval divides by all targets), P@3 1/3,
    # nDCG@3 (1/log2 4) / (1 + 1/log2 3) = 0.5 / 1.63093 = 0.30657
    values = standard_values({"q": ("a", "b", "c")}, {"q": {"c": 1, "z": 1}}, NAMES)
    assert values[0] == pytest.approx([0, 1 / 2, 1, 1 / 3, 0.30657, 1 / 6, 1 / 3], abs=1e-5)


def test_the_order_of_the_run_decides_whatever_the_ids_are():
    """trec_eval breaks ties by id, the greater first: with equal scores "z" would lead."""
    for ranking in (("a", "z"), ("z", "a")):
        values = standard_values({"q": ranking}, {"q": {"a": 1}}, ["R@1"])
        assert values[0, 0] == (ranking[0] == "a")


def test_a_list_of_two_hundred_thousand_keeps_its_order():
    """Scores are 32-bit floats in trec_eval; whole numbers stay apart up to 2 ** 24."""
    ranking = tuple(f"{(7919 * number) % 200_003:06d}" for number in range(200_000))
    values = standard_values({"q": ranking}, {"q": {ranking[-2]: 1}}, ["RR", "R@199998", "R@199999"])
    assert values[0] == pytest.approx([1 / 199_999, 0, 1])


def test_queries_without_a_ranking_are_zero_and_rows_keep_their_order():
    values = standard_values({"c": ("x",), "b": ()}, {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}, ["RR", "R@1"])
    assert values.tolist() == [[0, 0], [0, 0], [1, 1]]
    assert standard_values({}, {"a": {"x": 1}}, ["RR"]).tolist() == [[0]]


def test_more_queries_than_are_measured_at_a_time():
    count = 5_000
    rankings = {str(number): ("x", "y") if number % 2 else ("y", "x") for number in range(count) if number != 4_500}
    values = standard_values(rankings, {str(number): {"x": 1} for number in range(count)}, ["RR"])
    expected = [1 if number % 2 else 0.5 for number in range(count)]
    expected[4_500] = 0
    assert values[:, 0].tolist() == expected


def test_graded_relevance_and_two_spellings_of_one_measure():
    # Gains 1 then 3 where 3 then 1 is ideal: (1 + 3/log2 3) / (3 + 1/log2 3) = 2.89279 / 3.63093 = 0.79671
    values = standard_values({"q": ("one", "three")}, {"q": {"one": 1, "three": 3}},
                             ["nDCG@2", "NDCG@2", "RR(rel=2)", "P(rel=2)@2"])
    assert values[0] == pytest.approx([0.79671, 0.79671, 0.5, 0.5], abs=1e-5)


def test_junk_is_not_relevant():
    """A relevance of -2, as web tracks have it, would end the whole process inside trec_eval."""
    values = standard_values({"q": ("junk", "x")}, {"q": {"junk": -2, "x": 1}, "all junk": {"y": -2}}, ["RR", "nDCG@1"])
    assert values.tolist() == [[0.5, 0], [0, 0]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.permutations("abcdefgh").map(tuple), min_size=1, max_size=4),
    st.sets(st.sampled_from("abcdefghz"), min_size=1), st.integers(1, 9), st.integers(0, 8),
)
def test_equal_to_plain_definitions(lists, targets, k, length):
    names = [f"R@{k}", f"Success@{k}", f"P@{k}", f"AP@{k}", f"nDCG@{k}", "RR"]
    rankings = {str(number): ranking[:length] for number, ranking in enumerate(lists)}
    values = standard_values(rankings, {query: dict.fromkeys(targets, 1) for query in rankings}, names)
    for row, ranking in enumerate(rankings.values()):
        ranks = [rank for rank, one in enumerate(ranking, 1) if one in targets]
        hits = [rank for rank in ranks if rank <= k]
        ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(k, len(targets)) + 1))
        expected = [
            len(hits) / len(targets), bool(hits), len(hits) / k,
            sum(number / rank for number, rank in enumerate(hits, 1)) / len(targets),
            sum(1 / math.log2(1 + rank) for rank in hits) / ideal, 1 / ranks[0] if ranks else 0,
        ]
        assert np.allclose(values[row], expected, atol=1e-9)


@pytest.mark.parametrize(("name", "sentence"), [
    ("Recall at ten", "No measure"), ("foo@3", "No measure"), ("R", "lacks its cutoff"), ("R@0", "start at 1"),
    ("nDCG@0", "start at 1"), ("NumRel", "not a mean"), ("P(2)@10", "options have names"), ("P(rel='x')@10", "options"),
    ("ERR@10", "not among those computed here"), ("P(rel=)@10", "cannot be used"),
])
def test_measures_that_cannot_be_used(name, sentence):
    """A cutoff of 0 would end the whole process inside trec_eval."""
    with pytest.raises(DatasetError, match=sentence):
        standard_values({"q": ("a",)}, {"q": {"a": 1}}, [name])


# --- nDCG and reciprocal rank from ranks -----------------------------------------------------

@pytest.mark.parametrize(("rank", "value"), [(1, 1.0), (2, 0.6309), (3, 0.5), (10, 0.2891), (1023, 0.1)])
def test_one_target(rank, value):
    # 1 / log2(1 + r): log2 2 = 1, log2 3 = 1.58496, log2 4 = 2, log2 11 = 3.45943, log2 1024 = 10
    assert ndcg([rank]) == pytest.approx(value, abs=5e-5)


def test_several_targets():
    # Ranks 1 and 3 of two: (1 + 1/2) / (1 + 1/log2 3) = 1.5 / 1.63093 = 0.91972
    assert ndcg([3, 1]) == pytest.approx(0.91972, abs=1e-5)
    # A single hit at rank 1 of one target is 1, not 1.585 (an ideal that starts one place late).
    assert ndcg([1]) == 1.0


def test_targets_that_were_not_found_gain_nothing():
    # One of three at rank 1: 1 / (1 + 1/log2 3 + 1/2) = 1 / 2.13093 = 0.46928
    assert ndcg([1], targets=3) == pytest.approx(0.46928, abs=1e-5)
    assert ndcg([], targets=3) == 0


def test_reciprocal_rank():
    assert reciprocal_rank([8, 4]) == 0.25
    assert reciprocal_rank([]) == 0


@given(st.lists(st.integers(1, 10_000), unique=True, min_size=1, max_size=40))
def test_never_above_one_and_one_only_when_perfect(ranks):
    value = ndcg(ranks)
    assert 0 < value <= 1
    assert (value == 1) == (sorted(ranks) == list(range(1, len(ranks) + 1)))
    gains = sum(1 / math.log2(1 + rank) for rank in ranks)
    assert value == pytest.approx(gains / sum(1 / math.log2(2 + place) for place in range(len(ranks))))


@pytest.mark.parametrize(("ranks", "targets"), [([], None), ([0], None), ([2, 2], None), ([1, 2], 1), ([], 0)])
def test_what_cannot_be(ranks, targets):
    with pytest.raises(ValueError, match=r"at least one|ranks"):
        ndcg(ranks, targets)


# --- AP@k: CIRCO's, SoFT's, and how they differ ----------------------------------------------

RANKS = st.lists(st.integers(1, 60), unique=True, max_size=8)


def test_fewer_targets_than_k_divides_by_the_targets():
    # n = 3, hits at 1, 3 and 6: precisions 1/1, 2/3, (3/6 lies beyond k = 5)
    # AP@5 = (1 + 2/3) / min(5, 3) = 5/9;  AP@10 = (1 + 2/3 + 1/2) / 3 = 13/18
    assert average_precision_at([1, 3, 6], 5, targets=3) == pytest.approx(5 / 9)
    assert average_precision_at([1, 3, 6], 10, targets=3) == pytest.approx(13 / 18)


def test_more_targets_than_k_divides_by_k():
    # n = 7, k = 5, hits at 2 and 4: (1/2 + 2/4) / min(5, 7) = 1/5
    assert average_precision_at([2, 4], 5, targets=7) == pytest.approx(1 / 5)
    # Five of seven targets on the first five places are all there is to find: 5/5
    assert average_precision_at([1, 2, 3, 4, 5], 5, targets=7) == 1.0


def test_no_hit_is_zero():
    assert average_precision_at([], 5, targets=2) == 0
    assert average_precision_at([6], 5, targets=2) == 0
    assert soft_average_precision_at([], 5) == soft_average_precision_at([6], 5) == 0


def test_softs_divides_by_the_hits_found():
    # One hit at rank 1 of four targets: SoFT 1/1, CIRCO 1/4.
    assert soft_average_precision_at([1], 5) == 1.0
    assert average_precision_at([1], 5, targets=4) == 0.25
    # Hits at 2 and 5 within 5: (1/2 + 2/5) / 2 = 0.45; a third at 6 does not count.
    assert soft_average_precision_at([6, 5, 2], 5) == pytest.approx(0.45)


@given(RANKS, st.integers(1, 50), st.integers(0, 5))
def test_both_equal_their_definition_over_positions(ranks, k, unfound):
    """The definition walks the list place by place, in exact fractions."""
    relevant = [Fraction(int(place in ranks)) for place in range(1, k + 1)]
    total = sum(rel * sum(relevant[:place]) / place for place, rel in enumerate(relevant, 1))
    hits = sum(relevant)
    assert soft_average_precision_at(ranks, k) == pytest.approx(float(total / hits) if hits else 0)
    if targets := len(ranks) + unfound:
        value = average_precision_at(ranks, k, targets)
        assert value == pytest.approx(float(total / min(k, targets))) and 0 <= value <= 1


@pytest.mark.parametrize(
    ("ranks", "k", "targets"), [([1], 0, 1), ([0], 5, 1), ([2, 2], 5, 2), ([1, 2], 5, 1), ([], 5, 0)]
)
def test_what_no_average_precision_can_be(ranks, k, targets):
    with pytest.raises(ValueError, match=r"k starts|ranks must be distinct and start at 1|targets"):
        average_precision_at(ranks, k, targets)
