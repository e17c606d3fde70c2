"""The alternative-annotator test against a plain one, person by person and unit by unit."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from annotation.analysis.models.alternative import EPSILONS, LEAST_UNITS, alternative_test, corrected_p, wins
from annotation.analysis.records import Options
from annotation.analysis.statistics.matrix import Ratings

NO_DRAWS = Options(draws=0)


def drawn(seed: int, scale: str, units: int = 120, people: int = 6, categories: int = 4):
    """Answers around a truth, a third of them missing; the model is one more, and misses some units, too."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, (units, 1))
    said = np.where(rng.random((units, people + 1)) < 0.6, truth, rng.integers(0, categories, (units, people + 1)))
    if scale == "ordinal":
        said = np.clip(truth + rng.integers(-1, 2, said.shape), 0, categories - 1)
    missing = rng.random(said.shape) < 0.35
    missing[:, -1] = rng.random(units) < 0.1
    codes = np.where(missing, -1, said).astype(np.int16)
    return Ratings(codes[:, :-1], tuple("abcd")[:categories]), codes[:, -1]


def plainly(ratings: Ratings, model, scale: str, epsilon: float):
    """As the paper writes it."""
    shares, p_values, tested = [], [], []
    for person in range(ratings.codes.shape[1]):
        model_wins, person_wins = [], []
        for answers, its in zip(ratings.codes.tolist(), model.tolist(), strict=True):
            others = [answer for place, answer in enumerate(answers) if answer >= 0 and place != person]
            own = answers[person]
            if own < 0 or its < 0 or not others:
                continue

            def score(answer, others=others):
                if scale == "nominal":
                    return sum(answer == one for one in others) / len(others)
                return -sqrt(sum((answer - one) ** 2 for one in others) / len(others))

            model_wins.append(score(its) >= score(own))
            person_wins.append(score(own) >= score(its))
        if len(model_wins) < LEAST_UNITS:
            continue
        tested.append(person)
        shares.append(np.mean(model_wins))
        difference = np.array(person_wins, float) - np.array(model_wins, float)
        p_values.append(ttest_1samp(difference, epsilon, alternative="less").pvalue)
    rejected = multipletests(p_values, 0.05, "fdr_by")[0]
    return tested, shares, p_values, float(np.mean(rejected))


@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_papers(seed, scale):
    ratings, model = drawn(seed, scale)
    found = alternative_test(ratings, model, scale, NO_DRAWS)
    tested, shares, p_values, winning = plainly(ratings, model, scale, 0.2)
    assert [one.advantage.value for one in found.people if one.p is not None] == pytest.approx(shares, abs=1e-10)
    assert [one.p for one in found.people if one.p is not None] == pytest.approx(p_values, abs=1e-10)
    corrected = multipletests(p_values, 0.05, "fdr_by")[1]
    assert [one.p_by for one in found.people if one.p is not None] == pytest.approx(corrected, abs=1e-10)
    assert [place for place, one in enumerate(found.people) if one.p is not None] == tested
    assert found.advantage.value == pytest.approx(np.mean(shares), abs=1e-10)
    for epsilon in EPSILONS:
        assert found.winning[epsilon].value == pytest.approx(plainly(ratings, model, scale, epsilon)[3], abs=1e-10)
    assert found.winning[0.2].value == winning


def test_some_win_and_some_do_not():
    """Otherwise the test above would compare constants."""
    values = {alternative_test(*drawn(seed, "nominal"), "nominal", NO_DRAWS).winning[epsilon].value
              for seed in range(4) for epsilon in EPSILONS}
    assert len(values) > 2


def test_a_draw_is_the_test_of_the_drawn_units():
    """Weights of units and units that stand twice give the same."""
    ratings, model = drawn(3, "ordinal")
    rng = np.random.default_rng(1)
    chosen = rng.integers(0, len(model), len(model))
    again = alternative_test(Ratings(ratings.codes[chosen], ratings.categories), model[chosen], "ordinal", NO_DRAWS)
    from annotation.analysis.models.alternative import _p_values

    weight = np.bincount(chosen, minlength=len(model)).astype(float)[None]
    assert [one.p for one in again.people] == pytest.approx(
        _p_values(wins(ratings, model, "ordinal"), weight, 0.2)[0], abs=1e-10)


def test_a_perfect_model_and_a_hopeless_one():
    """All say b. The model that does, too, ties everywhere: no difference, p 0. One that says c loses everywhere."""
    ratings = Ratings(np.ones((40, 3), np.int16), ("a", "b", "c"))
    good, bad = (alternative_test(ratings, np.full(40, code), "nominal", Options(draws=50)) for code in (1, 2))
    assert (good.winning[0.2].value, good.advantage.value) == (1.0, 1.0)
    assert (bad.winning[0.2].value, bad.advantage.value) == (0.0, 0.0)
    assert all(one.p == 0 and one.beaten for one in good.people) and all(one.p == 1 for one in bad.people)


def test_too_few_people_or_units_are_said():
    ratings, model = drawn(0, "nominal", people=2)
    two = alternative_test(ratings, model, "nominal", Options(draws=10))
    assert two.winning[0.2].value is None and "needs 3 people with 30 items each" in two.winning[0.2].reason
    ratings, model = drawn(0, "nominal", units=20)
    short = alternative_test(ratings, model, "nominal", NO_DRAWS)
    assert short.advantage.value is None and "there are 0" in short.advantage.reason
    assert all(one.p is None and "fewer than 30" in one.advantage.reason for one in short.people)


def test_intervals_hold_the_estimates():
    found = alternative_test(*drawn(2, "nominal"), "nominal", Options(draws=200))
    for one in (found.advantage, *found.winning.values(), *(one.advantage for one in found.people)):
        if one.low is None:
            assert "all draws give the same number" in one.reason
        else:
            assert one.low <= one.value <= one.high
    assert found.advantage.low is not None


def test_corrected_p_of_one_person_is_its_own():
    assert corrected_p(np.array([[0.03], [0.7]])).tolist() == [[0.03], [0.7]]
