"""Correlation of scores and ratings, and its draws. Expected numbers are derived in comments or by scipy."""

import numpy as np
import pytest
from scipy import stats

from annotation.analysis.records import Options
from annotation.analysis.statistics.bootstrap import weights
from annotation.analysis.statistics.correlation import RatedSets, kendall, shapiro, spearman, spearman_draws

NONE = float("nan")
POINT = Options(draws=0)


def sets(score, rating, unit=None):
    score = np.asarray(score, float)
    unit = np.arange(len(score)) // 2 if unit is None else np.asarray(unit)
    return RatedSets(unit, np.asarray(rating, float), score)


def plain_loop(x, y, unit, units, draws, seed):
    """scipy on the rows of each draw, written out."""
    found = []
    for drawn in np.concatenate(list(weights(units, draws, seed))):
        rows = np.repeat(np.arange(len(x)), drawn[unit].astype(int))
        one_value = not len(rows) or len(set(x[rows])) == 1 or len(set(y[rows])) == 1
        found.append(NONE if one_value else stats.spearmanr(x[rows], y[rows]).statistic)
    return np.array(found)


def test_hand_derived_with_ties():
    # Ranks of scores 1.5 1.5 3.5 3.5, of ratings 1 2.5 2.5 4; less their mean -1 -1 1 1 and -1.5 0 0 1.5.
    # rho = 3 / sqrt(4 * 4.5). Pairs: 6, of which 2 tie in score and 1 in rating; of the rest 3 agree, none differs.
    # tau-b = 3 / sqrt((6 - 2) * (6 - 1)).
    four = sets([0, 0, 1, 1], [1, 2, 2, 3])
    rho = spearman(four, POINT, 2)
    assert rho.value == pytest.approx(3 / 18**0.5, abs=1e-12)
    assert (rho.n, rho.low, rho.reason) == (4, None, "")
    assert rho.p == pytest.approx(1 - 1 / 2**0.5)      # with 2 degrees of freedom p = 1 - |rho|
    tau = kendall(four)
    assert tau.value == pytest.approx(3 / 20**0.5, abs=1e-12)
    assert tau.p == stats.kendalltau([0, 0, 1, 1], [1, 2, 2, 3]).pvalue


def test_sets_without_a_score_are_left_out():
    all_of = sets([0.1, NONE, 0.4, 0.3, NONE, 0.9], [1, 5, 2, 3, 1, 4])
    scored = sets([0.1, 0.4, 0.3, 0.9], [1, 2, 3, 4])
    assert spearman(all_of, POINT, 3) == spearman(scored, POINT, 3)
    assert kendall(all_of) == kendall(scored)
    assert kendall(all_of).n == 4


@pytest.mark.parametrize(("score", "rating", "reason"), [
    ([], [], "no rated set has a score"),
    ([NONE, NONE, NONE], [1, 2, 3], "no rated set has a score"),
    ([1, NONE, NONE], [1, 2, 3], "only 1 rated set has a score; 3 are needed"),
    ([1, 2, NONE], [1, 2, 3], "only 2 rated sets have a score; 3 are needed"),
    ([1, 1, 1, NONE], [1, 2, 3, 4], "all rated sets have the same score"),
    ([1, 2, 3, NONE], [4, 4, 4, 1], "all sets have the same rating"),
])
def test_what_has_no_correlation_says_why(score, rating, reason):
    for found in (spearman(sets(score, rating), Options(draws=20), 2), kendall(sets(score, rating))):
        assert (found.value, found.p, found.low) == (None, None, None)
        assert found.reason == reason
        assert found.n == np.count_nonzero(~np.isnan(score))


@pytest.mark.parametrize("values", ["few", "many"])
def test_every_draw_is_that_of_scipy_on_the_repeated_rows(values):
    rng = np.random.default_rng(5)
    unit = rng.integers(0, 17, 60)          # of 20 units, so that some have no row
    y = rng.integers(1, 6, 60).astype(float)
    x = rng.integers(0, 2, 60).astype(float) if values == "few" else rng.normal(size=60) + y
    found = spearman_draws(x, y, unit, 20, 300, 9)
    assert found == pytest.approx(plain_loop(x, y, unit, 20, 300, 9), abs=1e-12, nan_ok=True)


def test_draws_in_which_it_is_undefined_are_counted():
    # The first of twelve units has a score of its own, or the first three have: a draw has none of them with a
    # probability of (11/12)**12 = 35 %, or (9/12)**12 = 3 %, and then all scores are the same.
    y, unit = np.arange(24.0) % 5, np.arange(24) // 2
    for special, share in ((1, 0.35), (3, 0.03)):
        x = np.where(unit < special, 1.0, 0.0)
        drawn = spearman_draws(x, y, unit, 12, 400, 1)
        assert drawn == pytest.approx(plain_loop(x, y, unit, 12, 400, 1), abs=1e-12, nan_ok=True)
        missing = int(np.isnan(drawn).sum())
        assert missing / 400 == pytest.approx(share, abs=0.05)
        found = spearman(RatedSets(unit, y, x), Options(draws=400, seed=1), 12)
        assert (found.low is None) == (special == 1)
        assert found.reason == (f"no interval: undefined in {missing} of 400 draws" if special == 1 else
                                f"undefined in {missing} of 400 draws, excluded from the interval")


@pytest.mark.parametrize(("units", "resample", "interval", "reason"), [
    (9, "people", False, "no interval: resampling people needs at least 10, not 9"),
    (10, "people", True, "resampled from 10 people: interpret the interval with care"),
    (29, "people", True, "resampled from 29 people: interpret the interval with care"), (30, "people", True, ""),
    (9, "items", True, "resampled from 9 questions: interpret the interval with care"), (10, "items", True, ""),
])
def test_of_few_people_or_questions(units, resample, interval, reason):
    rng = np.random.default_rng(9)
    unit = np.repeat(np.arange(units), 20)
    y = rng.integers(1, 6, len(unit)).astype(float)
    # A unit without a score says nothing, and does not count.
    x = np.append(y + rng.normal(size=len(unit)), NONE)
    sets_of = RatedSets(np.append(unit, units), np.append(y, 3), x)
    found = spearman(sets_of, Options(draws=100, resample=resample), units + 1)
    assert (found.low is not None, found.reason) == (interval, reason)


def test_a_large_sample_in_blocks_is_the_same():
    rng = np.random.default_rng(6)
    unit, x = np.repeat(np.arange(40), 500), rng.normal(size=20_000)
    y = np.round(x + rng.normal(size=20_000))
    # 20,000 different scores: blocks of 13 draws.
    found = spearman_draws(x, y, unit, 40, 15, 3)
    assert found == pytest.approx(plain_loop(x, y, unit, 40, 15, 3), abs=1e-12)


def test_the_interval_takes_units_whole():
    # Each unit is one pair of numbers ten times over: it knows no more than 30 pairs do.
    rng = np.random.default_rng(7)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    options = Options(draws=400)
    once = spearman(RatedSets(np.arange(30), y, x), options, 30)
    whole = spearman(RatedSets(np.repeat(np.arange(30), 10), y.repeat(10), x.repeat(10)), options, 30)
    apart = spearman(RatedSets(np.arange(300), y.repeat(10), x.repeat(10)), options, 300)
    assert (whole.value, whole.low, whole.high) == pytest.approx((once.value, once.low, once.high), abs=1e-12)
    assert apart.high - apart.low < (whole.high - whole.low) / 2


def test_one_question_has_no_interval():
    found = spearman(sets([1, 2, 3, 4], [1, 3, 2, 4], [0, 0, 0, 0]), Options(draws=50), 1)
    assert (found.value, found.low, found.high) == (pytest.approx(0.8), None, None)
    assert found.reason == "no interval: all draws give the same number"


def test_normality_is_scipy_s():
    values = np.random.default_rng(8).normal(size=50)
    expected = stats.shapiro(values)
    found = shapiro(np.append(values, [NONE, NONE]))
    assert (found.value, found.p, found.n, found.reason) == (expected.statistic, expected.pvalue, 50, "")


def test_normality_says_what_it_lacks():
    assert shapiro(np.array([])).reason == "no value"
    assert shapiro(np.array([1.0, NONE])).reason == "only 1 value; 3 are needed"
    assert shapiro(np.array([2.0, 2, 2, 2])).reason == "all values are the same"
    many = shapiro(np.arange(5001.0))
    assert many.value == pytest.approx(0.955, abs=0.001)       # of a uniform distribution
    assert many.reason == "p is approximate for more than 5,000 values"
