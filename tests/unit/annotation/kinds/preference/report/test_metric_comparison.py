"""Metrics against simulated raters, counted by hand."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.analysis.records import Options
from annotation.analysis.statistics.rates import RATES, Compared, support, support_draws
from annotation.kinds.preference.report.metric_comparison import MEASURES, compare_with_raters
from annotation.kinds.preference.report.simulated_raters import SimulatedAnswers, simulate_answers
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
