"""Bootstrap samples as weights: the same samples, and the same interval, as scipy's bootstrap with the same seed."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.bootstrap import interval, weights, with_interval


def exactly(value):
    return pytest.approx(value, rel=0, abs=1e-12)


def drawn(*args, **options):
    return np.concatenate(list(weights(*args, **options)))


@pytest.mark.parametrize("statistic", [np.mean, np.median, np.std])
def test_the_interval_is_scipys_percentile_bootstrap(statistic):
    values = np.random.default_rng(3).exponential(size=37)
    theirs = bootstrap((values,), statistic, n_resamples=400, method="percentile", rng=np.random.default_rng(11),
                       vectorized=True)
    ours = np.array([statistic(np.repeat(values, often)) for often in drawn(37, 400, 11).astype(int)])
    np.testing.assert_allclose(np.sort(ours), np.sort(theirs.bootstrap_distribution), rtol=0, atol=1e-12)
    low, high, said = interval(ours)
    assert (low, high) == exactly(tuple(theirs.confidence_interval))
    assert said == ""


def test_batches_change_nothing_and_a_seed_gives_the_same_samples():
    whole = drawn(9, 50, 5)
    for batch in (1, 7, 50, 1000):
        np.testing.assert_array_equal(drawn(9, 50, 5, batch=batch), whole)
    assert not np.array_equal(drawn(9, 50, 6), whole)
    assert [len(part) for part in weights(9, 50, 5, batch=20)] == [20, 20, 10]


def test_a_sample_has_as_many_units_as_there_are():
    assert set(drawn(8, 30, 1).sum(axis=1)) == {8}


def test_units_come_equally_often():
    # 20,000 samples of 5: each unit is expected once a sample; its mean has a standard error of √(0.8 / 20,000) = 0.006
    often = drawn(5, 20_000, 2)
    np.testing.assert_allclose(often.mean(axis=0), 1, atol=0.03)
    # Two units of one sample: covariance of multinomial counts is -n p² = -5 / 25
    assert np.cov(often[:, 0], often[:, 1])[0, 1] == pytest.approx(-0.2, abs=0.03)


def test_groups_are_drawn_whole():
    groups = np.array([2, 0, 0, 1, 2, 2])
    often = drawn(6, 40, 3, groups=groups)
    assert (often[:, 1] == often[:, 2]).all()
    assert (often[:, 0] == often[:, 4]).all()
    assert (often[:, 4] == often[:, 5]).all()
    np.testing.assert_array_equal(often[:, [1, 3, 0]], drawn(3, 40, 3))   # groups 0, 1, 2


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="6 units need as many groups, not 2"):
        next(weights(6, 1, 1, groups=np.array([0, 1])))


def test_without_units_or_draws_nothing_is_drawn():
    assert drawn(0, 12, 1).shape == (12, 0)
    assert drawn(0, 12, 1, groups=np.array([], dtype=int)).shape == (12, 0)
    assert list(weights(5, 0, 1)) == []


def test_memory_is_bounded_by_the_batch():
    assert max(part.size for part in weights(100_000, 50, 1)) <= 2**21


def test_percentiles_by_hand():
    # 101 values 0, 0.01, …, 1: the 2.5th percentile is the one at place 0.025 · 100 = 2.5, between 0.02 and 0.03
    low, high, said = interval(np.arange(101) / 100)
    assert (low, high, said) == (exactly(0.025), exactly(0.975), "")


def test_undefined_draws_are_left_out_and_counted():
    # 11 of 112 are just less than a tenth.
    values = np.concatenate([np.arange(101) / 100, np.full(11, np.nan)])
    low, high, said = interval(values)
    assert (low, high) == (exactly(0.025), exactly(0.975))
    assert said == "undefined in 11 of 112 draws, excluded from the interval"


@pytest.mark.parametrize(("values", "why"), [
    ([], "no bootstrap requested"),
    (np.concatenate([np.arange(101) / 100, np.full(12, np.nan)]), "no interval: undefined in 12 of 113 draws"),
    ([np.nan, np.nan], "no interval: undefined in 2 of 2 draws"),
    ([*[0.7] * 9, 0.7 + 1e-16, np.nan], "no interval: all draws give the same number"),
])
def test_where_there_is_no_interval(values, why):
    assert interval(np.array(values)) == (None, None, why)


@pytest.mark.parametrize(("units", "what", "said"), [
    (10, "items", ""),
    (9, "items", "resampled from 9 items: interpret the interval with care"),
    (9, "questions", "resampled from 9 questions: interpret the interval with care"),
    (30, "people", ""),
    (29, "people", "resampled from 29 people: interpret the interval with care"),
    (10, "people", "resampled from 10 people: interpret the interval with care"),
])
def test_few_units_are_remarked_on(units, what, said):
    low, high, remark = interval(np.arange(101) / 100, units, what)
    assert (low, high, remark) == (exactly(0.025), exactly(0.975), said)


def test_fewer_than_ten_people_give_no_interval():
    why = "no interval: resampling people needs at least 10, not 9"
    assert interval(np.arange(101) / 100, 9, "people") == (None, None, why)
    found = with_interval(Estimate(0.5, 300), np.arange(101) / 100, 9, "people")
    assert (found.value, found.low, found.high, found.reason) == (0.5, None, None, why)


def test_an_estimate_gets_its_interval():
    values = np.concatenate([np.arange(101) / 100, [np.nan]])
    found = with_interval(Estimate(0.5, 9, reason="2 items left out"), values)
    assert (found.value, found.n) == (0.5, 9)
    # Places 2.5 and 97.5 of 100, the nan being left out.
    assert (found.low, found.high) == (exactly(0.025), exactly(0.975))
    assert found.reason == "2 items left out; undefined in 1 of 102 draws, excluded from the interval"
    assert with_interval(Estimate(0.5, 9), values, 9).reason == (
        "undefined in 1 of 102 draws, excluded from the interval; resampled from 9 items: interpret the interval with "
        "care")
    assert with_interval(Estimate(0.5, 9), np.array([0.5, 0.5])).reason == "no interval: all draws give the same number"


def test_without_a_value_or_draws_an_estimate_stays_as_it_is():
    nothing = Estimate(None, 0, reason="no item was judged by both")
    assert with_interval(nothing, np.arange(9.0)) is nothing
    plain = Estimate(0.4, 3)
    assert with_interval(plain, np.array([])) is plain
