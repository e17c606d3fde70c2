"""The paired test of two metrics. Expected numbers come from scipy, or are derived in comments."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from annotation.analysis.records import Estimate, Options
from annotation.analysis.statistics.correlation import compare_metrics

NONE = float("nan")


def made(rows, seed=3):
    """Ratings, and three metrics of which a goes with them best."""
    rng = np.random.default_rng(seed)
    rating = rng.integers(1, 6, rows).astype(float)
    return rating, {"a": rating + rng.normal(size=rows), "b": np.round(rating / 4 + rng.normal(size=rows)),
                    "c": rng.normal(size=rows)}


def one(scores, rating, unit, options, pair=("a", "b")):
    (found,) = compare_metrics([pair], scores, rating, np.asarray(unit), options)
    return found


def by_scipy(scores, rating, resamples):
    ranks = [stats.rankdata(scores[name]) for name in "ab"]
    rated = stats.rankdata(rating)

    def difference(x, y):
        return stats.pearsonr(x, rated).statistic - stats.pearsonr(y, rated).statistic

    return stats.permutation_test(ranks, difference, permutation_type="samples", vectorized=False,
                                  n_resamples=resamples, rng=np.random.default_rng(1))


def test_all_swaps_counted_equal_scipy_s_exact_test():
    rating, scores = made(9)
    expected = by_scipy(scores, rating, np.inf)
    found = one(scores, rating, np.arange(9), Options(draws=512))
    assert found.difference.value == pytest.approx(expected.statistic, abs=1e-12)
    assert found.difference.value == pytest.approx(
        stats.spearmanr(scores["a"], rating).statistic - stats.spearmanr(scores["b"], rating).statistic, abs=1e-12)
    assert found.difference.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert (found.difference.n, found.draws, found.exact) == (9, 512, True)


def test_drawn_swaps_come_close_to_the_exact_p():
    rating, scores = made(12)
    exact = one(scores, rating, np.arange(12), Options(draws=4096))
    drawn = one(scores, rating, np.arange(12), Options(draws=4095))
    assert (exact.exact, drawn.exact, drawn.draws) == (True, False, 4095)
    # Standard error of a share of 4,095 draws: at most 0.0078.
    assert drawn.difference.p == pytest.approx(exact.difference.p, abs=0.03)
    assert one(scores, rating, np.arange(12), Options(draws=4095)) == drawn
    # The one found counts as one more: p is never 0.
    assert (drawn.difference.p * 4096) == pytest.approx(round(drawn.difference.p * 4096))


def test_a_question_is_swapped_whole():
    # Two questions of three rows: none swapped, one, the other, both. Both give the difference with the other sign;
    # so p = (2 + how many of the other two are as large) / 4.
    rating, scores = made(6, seed=4)
    unit = np.array([0, 0, 0, 1, 1, 1])
    ranks = [stats.rankdata(scores[name]) for name in "ab"]

    def difference(swapped):
        x, y = np.where(swapped, ranks[1], ranks[0]), np.where(swapped, ranks[0], ranks[1])
        rated = stats.rankdata(rating)
        return np.corrcoef(x, rated)[0, 1] - np.corrcoef(y, rated)[0, 1]

    found = one(scores, rating, unit, Options(draws=100))
    large = sum(abs(difference(unit == swapped)) >= abs(found.difference.value) - 1e-12 for swapped in (0, 1))
    assert found.difference.value == pytest.approx(difference(unit > 1), abs=1e-12)
    assert (found.difference.p, found.difference.n, found.draws, found.exact) == ((2 + large) / 4, 2, 4, True)


def test_the_same_metric_twice_does_not_differ():
    rating, scores = made(40)
    found = one({"a": scores["a"], "b": scores["a"] * 2 + 1}, rating, np.arange(40), Options(draws=50))
    assert (found.difference.value, found.difference.p, found.difference.low) == (0.0, 1.0, None)
    assert found.difference.reason == "no interval: all draws give the same number"


def test_holm_is_over_the_pairs_that_have_a_p():
    rating, scores = made(30)
    scores["d"] = np.full(30, NONE)
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c")]
    tests = compare_metrics(pairs, scores, rating, np.arange(30) // 2, Options(draws=200))
    assert [(test.a, test.b) for test in tests] == pairs
    without = tests[2]
    assert without.difference == Estimate(None, 0, reason="fewer than 3 rated sets have a score from both metrics")
    assert without.p_holm is None
    tested = [tests[0], tests[1], tests[3]]
    expected = multipletests([test.difference.p for test in tested], method="holm")[1]
    assert [test.p_holm for test in tested] == pytest.approx(list(expected), abs=1e-12)
    # The smallest of three is taken three times.
    assert min(test.p_holm for test in tested) == pytest.approx(min(1.0, 3 * min(test.difference.p for test in tested)))


def test_one_metric_has_nothing_to_be_compared_with():
    rating, scores = made(10)
    assert compare_metrics([], scores, rating, np.arange(10), Options()) == ()


def test_rows_that_only_one_scores_are_left_out():
    rating, scores = made(20)
    less = {"a": scores["a"].copy(), "b": scores["b"].copy()}
    less["a"][[0, 3]] = NONE
    less["b"][[3, 7]] = NONE
    kept = np.setdiff1d(np.arange(20), [0, 3, 7])
    found = one(less, rating, np.arange(20), Options(draws=100))
    assert found.difference.n == 17
    assert found.difference.value == pytest.approx(
        stats.spearmanr(less["a"][kept], rating[kept]).statistic
        - stats.spearmanr(less["b"][kept], rating[kept]).statistic, abs=1e-12)


@pytest.mark.parametrize(("a", "b", "rating", "reason"), [
    ([1, 1, 1, 1], [1, 2, 3, 4], [1, 2, 3, 5], "a: all sets have the same score"),
    ([1, 1, 1, 1], [2, 2, 2, 2], [1, 2, 3, 5], "a and b: all sets have the same score"),
    ([1, 2, 3, 4], [2, 1, 3, 4], [2, 2, 2, 2], "all sets have the same rating"),
])
def test_what_cannot_be_compared_says_why(a, b, rating, reason):
    found = one({"a": np.array(a, float), "b": np.array(b, float)}, np.array(rating, float), np.arange(4), Options())
    of = found.difference
    assert (of.value, of.p, of.low, of.reason) == (None, None, None, reason)


def test_without_draws_there_is_a_difference_alone():
    rating, scores = made(10)
    found = one(scores, rating, np.arange(10), Options(draws=0))
    assert found.difference.value is not None
    assert (found.difference.p, found.p_holm, found.difference.low, found.draws) == (None, None, None, 0)
    assert found.difference.reason == "a test and an interval need a bootstrap, and none was requested"


def test_the_interval_draws_clusters_whole():
    rating, scores = made(60)
    unit = np.arange(60) // 2
    (questions,) = compare_metrics([("a", "b")], scores, rating, unit, Options(draws=100))
    options = Options(draws=100, resample="people")
    (people,) = compare_metrics([("a", "b")], scores, rating, unit, options, clusters=unit // 3)
    (few,) = compare_metrics([("a", "b")], scores, rating, unit, options, clusters=unit // 10)
    assert questions.difference.p == people.difference.p      # what is swapped are questions all the same
    assert questions.difference.low < questions.difference.value < questions.difference.high
    assert (people.difference.low, people.difference.high) != (questions.difference.low, questions.difference.high)
    assert people.difference.reason == "resampled from 10 people: interpret the interval with care"
    assert (few.difference.p, few.difference.low, few.difference.reason) == (
        questions.difference.p, None, "no interval: resampling people needs at least 10, not 3")


def test_many_questions_are_swapped_in_blocks(monkeypatch):
    rating, scores = made(200)
    whole = one(scores, rating, np.arange(200), Options(draws=99))
    monkeypatch.setattr("annotation.analysis.statistics.correlation._CELLS", 1000)
    assert one(scores, rating, np.arange(200), Options(draws=99)) == whole
