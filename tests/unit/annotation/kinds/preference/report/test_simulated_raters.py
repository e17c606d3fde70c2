"""Raters who see what is true, and noise."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.kinds.preference.report.simulated_raters import (
    calibrated_noise,
    rater_agreement,
    simulate_answers,
    to_likert,
)
from cir_core.errors import StudyError

TRUTH = np.random.default_rng(7).uniform(0.4, 0.9, (300, 3))
SETS = [[("a",), ("b",), ("c",)]] * len(TRUTH)


def test_the_scale_has_equal_steps_and_two_ends():
    # From 0.2 to 0.6: a step is 0.1, the borders are in the middle between two.
    impressions = np.array([-1.0, 0.2, 0.24, 0.26, 0.4, 0.54, 0.56, 0.6, 2.0])
    assert to_likert(impressions, 0.2, 0.6).tolist() == [1, 1, 1, 2, 3, 4, 5, 5, 5]


@pytest.mark.parametrize("agreement", [0.3, 0.7, 0.9])
def test_noise_is_such_that_two_raters_agree_as_asked(agreement):
    noise = calibrated_noise(TRUTH, agreement=agreement, seed=1)
    # Two raters drawn here, not by the module.
    rng, many = np.random.default_rng(99), np.tile(TRUTH.ravel(), 20)
    one, two = (to_likert(many + rng.normal(0, noise, len(many)), TRUTH.min(), TRUTH.max()) for _ in range(2))
    assert spearmanr(one, two).statistic == pytest.approx(agreement, abs=0.02)
    assert rater_agreement(TRUTH.ravel(), noise, seed=1) == pytest.approx(agreement, abs=0.002)


def test_every_pair_of_different_sets_is_asked_once_with_random_sides():
    sets = [[("a",), ("b",), ("a",)], [("a",), ("a",), ("a",)], *SETS[2:]]
    answers = simulate_answers(TRUTH, sets, seed=3)
    pairs = [(query, *sorted(methods)) for query, methods in zip(answers.query, answers.methods.tolist(), strict=True)]
    # Query 0: sets 0 and 2 are the same; query 1: all are; the other 298 have three pairs.
    assert pairs[:2] == [(0, 0, 1), (0, 1, 2)] and len(pairs) == len(set(pairs)) == 2 + 3 * 298
    assert 0.4 < np.mean(answers.methods[:, 0] < answers.methods[:, 1]) < 0.6
    assert answers.of(TRUTH)[1].tolist() == TRUTH[0, answers.methods[1]].tolist()


def test_the_better_set_is_preferred_more_often_the_more_it_is_better():
    answers = simulate_answers(TRUTH, SETS, seed=3)
    one, two = answers.of(TRUTH).T
    right = (answers.preferred == 1) == (one > two)
    apart = np.abs(one - two)
    assert right[apart > 0.2].mean() > 0.95 > right[apart < 0.05].mean() > 0.5
    # The rating goes with the preference, and nobody prefers the set that he rates lower.
    lower = answers.ratings[:, 0] < answers.ratings[:, 1]
    assert (answers.preferred[lower] == 2).all() and set(np.unique(answers.ratings)) <= {1, 2, 3, 4, 5}


def test_the_seed_decides_everything():
    one, same, other = (simulate_answers(TRUTH, SETS, seed=seed) for seed in (3, 3, 4))
    assert (one.ratings == same.ratings).all() and (one.preferred == same.preferred).all()
    assert (one.ratings != other.ratings).any()


def test_what_nobody_could_tell_apart_is_refused():
    with pytest.raises(StudyError, match="equally well"):
        simulate_answers(np.full((4, 2), 0.5), [[("a",), ("b",)]] * 4, seed=1)
    with pytest.raises(StudyError, match="two different"):
        simulate_answers(TRUTH, [[("a",)] * 3] * len(TRUTH), seed=1)
    with pytest.raises(StudyError, match="between 0 and 1"):
        calibrated_noise(TRUTH, agreement=1.0, seed=1)
