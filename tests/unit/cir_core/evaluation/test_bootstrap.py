"""Intervals against what theory says of means of coins, and what a stratified mean must be."""

import numpy as np
import pytest

from cir_core.evaluation.metrics.bootstrap import MeanEstimate, estimates, share_estimates


def coins(heads: int, of: int) -> np.ndarray:
    return np.array([[1.0]] * heads + [[0.0]] * (of - heads))


def test_the_interval_of_a_share_is_the_binomial_one():
    # 120 of 300: standard error √(0.4 · 0.6 / 300) = 0.02828, so 0.4 ± 1.96 · 0.02828 = 0.3446 … 0.4554
    (share,) = estimates([coins(120, 300)], seed=1)
    assert share.value == pytest.approx(0.4)
    assert share.low == pytest.approx(0.3446, abs=0.006)
    assert share.high == pytest.approx(0.4554, abs=0.006)


def test_a_share_of_nothing_or_all_has_wilsons_interval():
    # Wilson at 0 of n: from 0 to z² / (n + z²) with z = 1.96; at n of n its mirror image.
    none, everything, some = share_estimates([np.hstack([coins(0, 40), coins(40, 40), coins(10, 40)])], seed=1)
    bound = 1.959964**2 / (40 + 1.959964**2)
    assert (none.value, none.low, none.high) == (0, 0, pytest.approx(bound))
    assert (everything.value, everything.low, everything.high) == (1, pytest.approx(1 - bound), 1)
    assert some == estimates([coins(10, 40)], seed=1)[0]
    # The mean of two groups' means has the variance (1 / 10 + 1 / 90) / 4 of one query's: worth 36 queries, not 100.
    (grouped,) = share_estimates([coins(0, 10), coins(0, 90)], seed=1)
    assert grouped.high == pytest.approx(1.959964**2 / (36 + 1.959964**2))
    # A difference of nothing stays a difference of nothing.
    assert estimates([coins(0, 40)], seed=1) == (MeanEstimate(0, 0, 0),)


def test_groups_count_the_same_however_many_queries_they_have():
    # mean of 0.9 and 0.1, not (90 + 1) / 110
    (mean,) = estimates([coins(90, 100), coins(1, 10)], seed=1)
    assert mean.value == pytest.approx(0.5)


def test_queries_are_drawn_within_their_group():
    # No group varies in itself, so neither does their mean; drawn from one pot of 150 it would,
    # by √(0.25 / 150) = 0.04.
    (mean,) = estimates([coins(100, 100), coins(0, 50)], seed=1)
    assert mean == MeanEstimate(0.5, 0.5, 0.5)


def test_a_stratified_interval_has_the_stratified_width():
    # Var = (0.09 / 100 + 0.25 / 400) / 4 = 0.00038125, √ = 0.019526, ± 1.96 of it = ± 0.0383
    (mean,) = estimates([coins(90, 100), coins(200, 400)], seed=3)
    assert mean.high - mean.low == pytest.approx(2 * 0.0383, abs=0.008)


def test_pairs_that_move_together_have_a_narrow_difference():
    """The difference of two methods that disagree on 6 of 300 queries, always the same way."""
    one, other = coins(150, 300), coins(144, 300)
    (difference,) = estimates([one - other], seed=1)
    # 0.02 ± 1.96 · √(0.02 · 0.98 / 300) = 0.0042 … 0.0358: clear of zero
    assert difference.value == pytest.approx(0.02) and difference.low > 0
    assert difference.low == pytest.approx(0.0042, abs=0.004)
    # Unpaired, each share alone is ± 0.0565: the intervals would overlap widely.
    (first,), (second,) = estimates([one], seed=1), estimates([other], seed=1)
    assert first.low < second.value


def test_measures_of_one_query_are_drawn_together():
    both = np.hstack([coins(30, 100), 1 - coins(30, 100)])
    share, rest = estimates([both], seed=1)
    assert share.low + rest.high == pytest.approx(1) and share.high + rest.low == pytest.approx(1)


def test_the_seed_decides():
    rng = np.random.default_rng(0)
    groups = [rng.random((40, 3)), rng.random((20, 3))]
    assert estimates(groups, seed=1) == estimates(groups, seed=1)
    assert estimates(groups, seed=1) != estimates(groups, seed=2)


def test_one_query_has_no_interval_and_an_empty_group_is_a_mistake():
    assert estimates([coins(1, 1)], seed=1) == (MeanEstimate(1.0, None, None),)
    for groups in ([], [np.empty((0, 2))], [np.zeros(3)]):
        with pytest.raises(ValueError, match="needs queries"):
            estimates(groups, seed=1)
