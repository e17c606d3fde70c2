"""Metrics against simulated raters, counted by hand."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.analysis.records import Options
from annotation.analysis.statistics.rates import RATES, Compared, support, support_draws
from annotation.kinds.preference.report.metric_comparison import MEASURES, compare_with_raters
from annotation.kinds.preference.report.simulated_raters import (
    SimulatedAnswers,
    calibrated_noise,
    rater_agreement,
    simulate_answers,
    to_likert,
)
from cir_core.errors import StudyError

# Four queries, two methods, each in the order of the methods; preferred: 1, 1, 2, 2.
ANSWERS = SimulatedAnswers(
    np.arange(4), 4, np.array([[0, 1]] * 4), np.array([[5.0, 2.0], [4.0, 3.0], [1.0, 2.0], [2.0, 4.0]]),
    np.array([1, 1, 2, 2], np.int8), 0.1, 0.7)
TRUTH = np.array([[0.9, 0.1], [0.8, 0.5], [0.2, 0.3], [0.3, 0.7]])
# Ahead, equal, equal, behind: >= counts three answers (1, 1, 2), > one (1), symmetric two (both right).
RECALL = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 1.0]])
PLAIN = Options(draws=0, seed=1)


def test_figures_by_hand():
    found = compare_with_raters(ANSWERS, TRUTH, {"recall": RECALL, "inverse": -TRUTH}, ("recall",), PLAIN)
    recall, inverse = found.metrics
    values = {measure: recall.measures[measure].value for measure in MEASURES}
    rho = spearmanr(RECALL.ravel(), ANSWERS.ratings.ravel()).statistic
    assert values == {"spearman": pytest.approx(rho), "ge": pytest.approx(2 / 3), "gt": 1.0, "symmetric": 1.0,
                      "half": 0.75}
    assert {measure: recall.measures[measure].n for measure in MEASURES} == {
        "spearman": 8, "ge": 3, "gt": 1, "symmetric": 2, "half": 4}
    # The truth is always right; what is upside down never is.
    assert [found.ceiling.measures[form].value for form in ("ge", "gt", "symmetric", "half")] == [1.0] * 4
    assert [inverse.measures[form].value for form in ("ge", "gt", "symmetric", "half")] == [0.0] * 4
    assert recall.of_ceiling["half"] == 0.75 and found.ceiling.of_ceiling["spearman"] == 1.0
    (less,) = found.differences
    assert (less.metric, less.other, less.measures["half"].value) == ("recall", "inverse", 0.75)
    with pytest.raises(StudyError, match="nosuch"):
        compare_with_raters(ANSWERS, TRUTH, {"recall": RECALL}, ("nosuch",), PLAIN)


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(5)
    truth = rng.uniform(0.3, 1.0, (120, 3))
    answers = simulate_answers(truth, [[("a",), ("b",), ("c",)]] * 120, seed=2)
    return truth, answers, {"near": truth + rng.normal(0, 0.03, truth.shape), "far": rng.uniform(0, 1, truth.shape)}


def test_intervals_take_queries_whole_and_differences_are_paired(study):
    truth, answers, metrics = study
    options = Options(draws=300, seed=11)
    found = compare_with_raters(answers, truth, metrics, ("near",), options)
    near, far = found.metrics
    for measure in MEASURES:
        assert near.measures[measure].low < near.measures[measure].value < near.measures[measure].high
        assert near.measures[measure].value > far.measures[measure].high
        assert near.of_ceiling[measure] > 0.9
    # The same draws by hand: queries with replacement, all their answers together.
    drawn = np.random.default_rng(11).integers(0, 120, (300, 120))
    rows = [np.flatnonzero(answers.query == query) for query in range(120)]
    scores = {name: answers.of(values) for name, values in metrics.items()}
    right = {name: (answers.preferred == np.where(of[:, 0] > of[:, 1], 1, 2)) for name, of in scores.items()}
    differences = []
    for sample in drawn:
        taken = np.concatenate([rows[query] for query in sample])
        differences.append(right["near"][taken].mean() - right["far"][taken].mean())
    expected = np.percentile(differences, (2.5, 97.5))
    less = found.differences[0].measures["symmetric"]
    assert (less.low, less.high) == pytest.approx(tuple(expected))


def test_forms_are_those_of_the_reports(study):
    _truth, answers, metrics = study
    scores = np.round(answers.of(metrics["near"]), 1)   # with ties
    nothing = np.full(len(scores), np.nan)
    compared = Compared(answers.query, answers.preferred, scores[:, 0], scores[:, 1], np.zeros(len(scores), np.int8),
                        nothing, nothing)
    options = Options(draws=200, seed=4)
    for rate in RATES[:3]:
        form, told = rate.key, rate(compared, options, 120)
        counted, follows = support(compared, form)
        assert (told.share.value, told.share.n) == (pytest.approx(follows.mean()), counted.sum())
        low, high = np.percentile(support_draws(compared, form, options, 120), (2.5, 97.5))
        assert (told.drawn.low, told.drawn.high) == pytest.approx((low, high))
    half = support(compared, "half")[1]
    ties = scores[:, 0] == scores[:, 1]
    assert len(half) == len(scores) and (half[ties] == 0.5).all() and not ties.all() and ties.any()


# --- raters who see what is true, and noise --------------------------------------------------

TRUE = np.random.default_rng(7).uniform(0.4, 0.9, (300, 3))
SETS = [[("a",), ("b",), ("c",)]] * len(TRUE)


def test_the_scale_has_equal_steps_and_two_ends():
    # From 0.2 to 0.6: a step is 0.1, the borders are in the middle between two.
    impressions = np.array([-1.0, 0.2, 0.24, 0.26, 0.4, 0.54, 0.56, 0.6, 2.0])
    assert to_likert(impressions, 0.2, 0.6).tolist() == [1, 1, 1, 2, 3, 4, 5, 5, 5]


@pytest.mark.parametrize("agreement", [0.3, 0.7, 0.9])
def test_noise_is_such_that_two_raters_agree_as_asked(agreement):
    noise = calibrated_noise(TRUE, agreement=agreement, seed=1)
    # Two raters drawn here, not by the module.
    rng, many = np.random.default_rng(99), np.tile(TRUE.ravel(), 20)
    one, two = (to_likert(many + rng.normal(0, noise, len(many)), TRUE.min(), TRUE.max()) for _ in range(2))
    assert spearmanr(one, two).statistic == pytest.approx(agreement, abs=0.02)
    assert rater_agreement(TRUE.ravel(), noise, seed=1) == pytest.approx(agreement, abs=0.002)


def test_every_pair_of_different_sets_is_asked_once_with_random_sides():
    sets = [[("a",), ("b",), ("a",)], [("a",), ("a",), ("a",)], *SETS[2:]]
    answers = simulate_answers(TRUE, sets, seed=3)
    pairs = [(query, *sorted(methods)) for query, methods in zip(answers.query, answers.methods.tolist(), strict=True)]
    # Query 0: sets 0 and 2 are the same; query 1: all are; the other 298 have three pairs.
    assert pairs[:2] == [(0, 0, 1), (0, 1, 2)] and len(pairs) == len(set(pairs)) == 2 + 3 * 298
    assert 0.4 < np.mean(answers.methods[:, 0] < answers.methods[:, 1]) < 0.6
    assert answers.of(TRUE)[1].tolist() == TRUE[0, answers.methods[1]].tolist()


def test_the_better_set_is_preferred_more_often_the_more_it_is_better():
    answers = simulate_answers(TRUE, SETS, seed=3)
    one, two = answers.of(TRUE).T
    right = (answers.preferred == 1) == (one > two)
    apart = np.abs(one - two)
    assert right[apart > 0.2].mean() > 0.95 > right[apart < 0.05].mean() > 0.5
    # The rating goes with the preference, and nobody prefers the set that he rates lower.
    lower = answers.ratings[:, 0] < answers.ratings[:, 1]
    assert (answers.preferred[lower] == 2).all() and set(np.unique(answers.ratings)) <= {1, 2, 3, 4, 5}


def test_the_seed_decides_everything():
    one, same, other = (simulate_answers(TRUE, SETS, seed=seed) for seed in (3, 3, 4))
    assert (one.ratings == same.ratings).all() and (one.preferred == same.preferred).all()
    assert (one.ratings != other.ratings).any()


def test_what_nobody_could_tell_apart_is_refused():
    with pytest.raises(StudyError, match="equally well"):
        simulate_answers(np.full((4, 2), 0.5), [[("a",), ("b",)]] * 4, seed=1)
    with pytest.raises(StudyError, match="two different"):
        simulate_answers(TRUE, [[("a",)] * 3] * len(TRUE), seed=1)
    with pytest.raises(StudyError, match="above 0 and below 1"):
        calibrated_noise(TRUE, agreement=1.0, seed=1)
