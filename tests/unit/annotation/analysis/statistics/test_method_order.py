"""Order of methods: scale, ranks, predictions and circles, by hand."""

from math import log

import numpy as np
import pytest

from annotation.analysis.statistics.method_order import circular_triads, elo, predicted, rank_estimate, ranks


def test_four_hundred_points_are_odds_of_ten_to_one():
    assert elo(0) == 1500 and elo(log(10)) == pytest.approx(1900)
    assert predicted(log(10), 0) == pytest.approx(10 / 11) and predicted(0.3, 0.3) == 0.5


def test_ranks_of_each_draw():
    drawn = ranks(np.array([[0.5, -0.5, 0.0], [0.0, 0.0, -1.0], [np.nan] * 3]))
    np.testing.assert_array_equal(drawn, [[1, 3, 2], [1, 1, 3], [np.nan] * 3])
    found = rank_estimate(2, np.array([1.0] * 50 + [2.0] * 900 + [3.0] * 50), 3)
    assert (found.value, found.low, found.high) == (2, 1, 3)          # 5 % each are outside of 2
    found = rank_estimate(2, np.array([1.0] * 10 + [2.0] * 980 + [3.0] * 10), 3)
    assert (found.low, found.high) == (2, 2)
    assert rank_estimate(1, np.array([]), 3).low is None


def test_circles_are_found_in_either_direction():
    circle = {("a", "b"): 0.6, ("b", "c"): 0.7, ("a", "c"): 0.4, ("c", "d"): 0.9}
    assert circular_triads(circle) == ([("a", "b", "c")], 1)
    assert circular_triads({pair: 1 - share for pair, share in circle.items()}) == ([("a", "c", "b")], 1)
    assert circular_triads({**circle, ("a", "c"): 0.5}) == ([], 1)
    assert circular_triads({("a", "b"): 0.6}) == ([], 0)
