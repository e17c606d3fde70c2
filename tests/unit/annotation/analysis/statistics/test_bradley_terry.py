"""Strengths of methods: against closed forms, another fit, and where there is none."""

import numpy as np
import pytest
import statsmodels.api as sm

from annotation.analysis.records import Options
from annotation.analysis.statistics.answer_rows import answer_rows, meetings
from annotation.analysis.statistics.bradley_terry import bradley_terry, strengths, with_side
from annotation.analysis.statistics.bradley_terry_fit import connected, fit
from annotation.kinds.preference.report.metric_reports import method_pairs
from tests.fakes.preferences import a_judgement, an_answer, an_item

NO_DRAWS = Options(draws=0)


def study(*answers):
    """A question for each (method of set 1, method of set 2, preferred, first), and its one answer."""
    items = [an_item(number, methods=[one, two]) for number, (one, two, *_) in enumerate(answers)]
    given = [a_judgement(number, "Ada", an_answer(4, 2, preferred, first=first))
             for number, (_, _, preferred, first) in enumerate(answers)]
    return items, given


def found(answers, options=NO_DRAWS):
    items, given = study(*answers)
    return {one.method: one for one in strengths(meetings(items, answer_rows(given), options.resample), options)}


def counts(methods, *, seed, each=12, side=0.4):
    """Wins drawn from known strengths with a side worth ``side``: (3, methods, methods)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, methods)
    wins = np.zeros((3, methods, methods))
    for first in range(methods):
        for second in range(methods):
            if first != second:
                won = rng.binomial(each, 1 / (1 + np.exp(truth[second] - truth[first] - side)))
                ties = rng.integers(0, 3)
                wins[0, first, second] += won + ties / 2
                wins[1, second, first] += each - won + ties / 2
    return wins


def by_regression(wins, *, sides):
    """Independent of both: a logistic regression with an entry for each preference."""
    rows, said, weight = [], [], []
    for side, sign in ((0, 1), (1, -1)):
        for winner, loser in zip(*np.nonzero(wins[side]), strict=True):
            row = np.zeros(wins.shape[1] + 1)
            row[winner], row[loser], row[-1] = 1, -1, sign
            for times, outcome in ((1, 1), (-1, 0)):
                rows.append(times * row)
                said.append(outcome)
                weight.append(wins[side, winner, loser])
    design = np.array(rows)[:, 1:] if sides else np.array(rows)[:, 1:-1]
    fitted = sm.GLM(said, design, family=sm.families.Binomial(), freq_weights=weight).fit(tol=1e-14, maxiter=300)
    strength = np.concatenate([[0], fitted.params[:-1] if sides else fitted.params])
    return strength - strength.mean()


def test_two_methods_by_hand():
    # a is preferred in 3 of 4; with a tie, half each, 3.5 of 5: odds 3.5 / 1.5, and half the logarithm around 0.
    wins = [("a", "b", 1, 1), ("a", "b", 1, 2), ("b", "a", 2, 1), ("a", "b", 2, 2)]
    of = found(wins)
    assert of["a"].value.value == pytest.approx(np.log(3) / 2, abs=1e-12) and of["a"].value.n == 4
    of = found([*wins, ("a", "b", 0, 1)])
    assert of["a"].value.value == pytest.approx(np.log(3.5 / 1.5) / 2, abs=1e-12) and of["a"].value.n == 5
    assert of["b"].value.value == pytest.approx(-np.log(3.5 / 1.5) / 2, abs=1e-12)
    # Ties are left out of the rate.
    assert (of["a"].win_rate.count, of["a"].win_rate.n) == (3, 4)
    # Set 1 got 4 and set 2 got 2, whoever was preferred: a 4, 4, 2, 4, 4 and b 2, 2, 4, 2, 2.
    assert (of["a"].mean_rating.value, of["b"].mean_rating.value, of["a"].mean_rating.n) == (3.6, 2.4, 5)
    assert [one.value.low for one in of.values()] == [None, None]


@pytest.mark.parametrize("methods", [2, 3, 6, 12])
def test_all_three_fits_are_the_same(methods):
    wins = counts(methods, seed=methods)
    expected = by_regression(wins, sides=False)
    assert bradley_terry(wins.sum(axis=0)) == pytest.approx(expected, abs=1e-12)
    assert fit(wins[None], sides=False)[0] == pytest.approx(expected, abs=1e-12)
    expected = by_regression(wins, sides=True)
    assert with_side(wins[0], wins[1].T) == pytest.approx(expected, abs=1e-12)
    assert fit(wins[None], sides=True)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("methods", "odds"), [(10, 9), (20, 30)])
def test_a_long_chain_of_lopsided_pairs(methods, odds):
    # Each beats the next 9 to 1, so neighbours lie log 9 apart, and the ends 9 log 9; of 20 at 30 to 1, 19 log 30 = 65.
    wins = np.zeros((methods, methods))
    for better in range(methods - 1):
        wins[better, better + 1], wins[better + 1, better] = odds, 1
    expected = np.log(odds) * ((methods - 1) / 2 - np.arange(methods))
    assert bradley_terry(wins) == pytest.approx(expected, abs=1e-12)
    assert fit(np.stack([np.zeros_like(wins), np.zeros_like(wins), wins])[None], sides=False)[0] == pytest.approx(
        expected, abs=1e-12)
    # As often with each of the two in front: the side is worth nothing.
    assert fit(np.stack([wins, wins, np.zeros_like(wins)])[None], sides=True)[0] == pytest.approx(expected, abs=1e-12)
    assert with_side(wins, wins.T) == pytest.approx(expected, abs=1e-12)


def test_whoever_always_takes_the_first_side_says_nothing_of_methods():
    # a stood first in 9 of 10, and what stood first was always preferred but once each way.
    lopsided = [("a", "b", 1, 1)] * 9 + [("a", "b", 2, 1)] + [("a", "b", 2, 2)] * 9 + [("a", "b", 1, 2)]
    of = found([*lopsided, *[("a", "b", 1, 1)] * 9, ("a", "b", 2, 1)])
    # a won 19 of 30 answers. Per side it is 18 to 2 where a was first, and 1 to 9 where b was: log-odds d + g = log 9
    # and d - g = -log 9, so d is 0.
    assert of["a"].value.value == pytest.approx(np.log(19 / 11) / 2, abs=1e-12)
    assert of["a"].adjusted.value == pytest.approx(0, abs=1e-12) and of["a"].adjusted.n == 30


def test_a_method_that_never_lost_has_none_and_the_others_do():
    of = found([("best", "a", 1, 1), ("best", "b", 1, 2), ("a", "b", 1, 1), ("a", "b", 1, 2), ("a", "b", 2, 1),
                ("worst", "a", 2, 2)])
    assert of["best"].value.value is None and of["best"].value.reason == "never lost: strength unbounded"
    assert of["worst"].value.reason == "never won: strength unbounded"
    # a won 2 of its 3 against b.
    assert of["a"].value.value == pytest.approx(np.log(2) / 2, abs=1e-12)
    assert list(of) == ["a", "b", "best", "worst"], "the strongest first, then those without, by how often they won"
    # The fit rests on the three answers of a and b to each other, and says who is not in it.
    assert [one.value.n for one in of.values()] == [3, 3, 0, 0]
    assert of["a"].value.reason == of["b"].value.reason == "the fit leaves out best, worst"
    assert of["a"].win_rate.n == 5
    many = found([("a", "b", 1, 1), ("a", "b", 2, 2), *[("a", f"m{number}", 1, 1) for number in range(7)]])
    assert many["a"].value.reason == "the fit leaves out m0, m1, m2, m3, m4 and 2 more"


def test_groups_that_never_met_are_not_compared():
    of = found([("a", "b", 1, 1), ("a", "b", 2, 1), ("c", "d", 1, 1), ("c", "d", 2, 2)])
    assert {one.value.value for one in of.values()} == {None}
    assert {one.value.reason for one in of.values()} == {
        "some methods are not connected by comparisons, so their strengths cannot be compared"}
    # Nor where one group never lost to the other.
    of = found([("a", "b", 1, 1), ("a", "b", 2, 1), ("c", "d", 1, 1), ("c", "d", 2, 2), ("a", "c", 1, 1)])
    assert {one.value.reason for one in of.values()} == {
        "some methods never lost to the others, so their strengths cannot be compared"}


def test_sides_that_nobody_recorded_or_that_cannot_be_told_from_methods():
    of = found([("a", "b", 1, None), ("a", "b", 2, None)])
    assert of["a"].value.value == 0
    assert (of["a"].adjusted.value, of["a"].adjusted.reason) == (None, "which set was shown first was not recorded")
    of = found([("a", "b", 1, 1), ("a", "b", 2, 1), ("a", "b", 1, 1)])   # a always first
    assert of["a"].value.value == pytest.approx(np.log(2) / 2, abs=1e-12) and of["a"].adjusted.value is None
    assert "always shown in the same position" in of["a"].adjusted.reason
    of = found([("a", "b", 1, 1), ("a", "b", 2, 2)])                     # the first side always
    assert of["a"].adjusted.value is None and "always follow the position" in of["a"].adjusted.reason


def test_intervals_leave_out_and_count_draws_without_a_strength():
    # 9 of 12: in (3/4)^12 = 3.2 % of samples a never loses. Of the others it wins 5 or fewer in 1.5 % and 6 or fewer in
    # 5.6 %, and 11 in 13 %: the interval goes from 6 of 12, log-odds 0, to 11 of 12, log-odds log 11.
    options = Options(draws=400, seed=5)
    answers = [("a", "b", 1, 1)] * 9 + [("a", "b", 2, 2)] * 3
    of = found(answers, options)
    value = of["a"].value
    left_out = int(value.reason.split()[2])
    assert value.reason == f"undefined in {left_out} of 400 draws, excluded from the interval"
    assert left_out / 400 == pytest.approx(0.032, abs=0.025)
    assert (value.low, value.high) == pytest.approx((0, np.log(11) / 2), abs=1e-12)
    assert of["a"].mean_rating.low is None and "same number" in of["a"].mean_rating.reason
    assert found(answers, options)["a"].value == value, "the same seed, the same interval"
    # 3 of 4: nobody loses or nobody wins in (3/4)^4 + (1/4)^4 = 32 %, too many for what is left to be an interval.
    few = found([("a", "b", 1, 1), ("a", "b", 1, 2), ("a", "b", 1, 1), ("a", "b", 2, 2)], options)["a"].value
    assert few.low is None and few.reason.startswith("no interval: undefined in 1")


def test_draws_are_those_of_a_loop_over_repeated_answers():
    wins = np.stack([counts(4, seed=seed) for seed in range(20)])
    for sides in (False, True):
        one_by_one = np.stack([by_regression(one, sides=sides) for one in wins])
        assert fit(wins, sides=sides) == pytest.approx(one_by_one, abs=1e-12)
    wins[3, :, 1, :] = 0    # method 1 never won in that draw
    assert np.isnan(fit(wins, sides=False)).all(axis=1).tolist() == [draw == 3 for draw in range(20)]
    assert connected(wins.sum(axis=1)).tolist() == [draw != 3 for draw in range(20)]


def test_pairs_have_intervals_and_what_was_known_before():
    options = Options(draws=300)
    answers = [("b", "a", *one) for one in ((1, 1), (2, 2), (1, 2), (2, 1), (2, 1), (0, 1), (2, None))] * 3
    items, given = study(*answers)
    rows = answer_rows(given)
    (pair,) = method_pairs(items, given, meetings(items, rows, "items"), options)
    assert (pair.first, pair.second, pair.answers, pair.ties) == ("a", "b", 21, 3)
    assert (pair.first_preferred.count, pair.first_preferred.n) == (12, 18)
    # a led in answers 2 and 3 of seven (one of two won), followed in 1, 4 and 5 (two of three won).
    assert pair.adjusted.value == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-12) and pair.adjusted.n == 15
    assert pair.adjusted.low < pair.adjusted.value < pair.adjusted.high
    # What stood first was preferred in answers 1 and 2 of the five whose side is known and that are no tie.
    assert (pair.first_side.count, pair.first_side.n) == (6, 15)
    # Set 1, of b, always got 4, and set 2 got 2.
    assert (pair.mean_difference.value, pair.mean_difference.n, pair.mean_difference.low) == (-2, 21, None)
    assert "same number" in pair.mean_difference.reason


def test_unknown_and_equal_methods_are_left_out():
    assert found([("a", "a", 1, 1)]) == {}
    items = [an_item(0, methods=[None, None])]
    met = meetings(items, answer_rows([a_judgement(0, "Ada", an_answer())]), "items")
    assert strengths(met, Options(draws=10)) == () and method_pairs(items, [], met, Options(draws=10)) == ()
    assert strengths(meetings([], answer_rows([]), "people"), Options()) == ()
