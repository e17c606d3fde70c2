"""AP@k by hand: CIRCO's, SoFT's, and how they differ."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cir_core.evaluation.metrics.average_precision import average_precision_at, soft_average_precision_at

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
def test_what_cannot_be(ranks, k, targets):
    with pytest.raises(ValueError, match=r"k starts|ranks start|targets"):
        average_precision_at(ranks, k, targets)
