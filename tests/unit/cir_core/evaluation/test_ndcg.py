"""nDCG and reciprocal rank from ranks, against published numbers and sums by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cir_core.evaluation.metrics.ndcg import ndcg, reciprocal_rank


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
