"""Each person against the others, by hand and by plain loops; and who judges alike."""

from collections import Counter
from statistics import fmean

import evalica
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.analysis.people.clusters import segments, tree_of
from annotation.analysis.people.others import MOST, against_others, majority_of_others, severities
from annotation.analysis.records import Options
from annotation.analysis.statistics.bootstrap import weights
from annotation.analysis.statistics.matrix import Ratings

OPTIONS = Options(draws=40, seed=3)
NONE = Options(draws=0)


def made(seed, categories=2, missing=0.3, units=30, people=5):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, categories, (units, people))
    codes[:, 1:] = np.where(rng.random((units, people - 1)) < 0.6, codes[:, :1], codes[:, 1:])
    codes[rng.random(codes.shape) < missing] = -1
    return Ratings(codes.astype(np.int16), tuple(map(str, range(categories))))


def test_a_tie_of_the_others_is_no_majority():
    rows = Ratings(np.array([[1, 0, 1], [1, 0, 0], [0, -1, -1], [1, 1, -1]], np.int16), ("no", "yes"))
    assert majority_of_others(rows, 0).tolist() == [-1, 0, -1, 1]
    first = against_others(rows, "nominal", NONE)[0]
    assert (first.agreement.value, first.agreement.n) == (0.5, 2)     # says yes where they say no, and yes where yes
    # Others' mean: 0.5, 0, nobody, 1; own 1, 1, 0, 1: (0.5 + 1 + 0) / 3.
    assert (first.severity.value, first.severity.n) == (pytest.approx(0.5), 3)


@pytest.mark.parametrize(("categories", "scale"), [(2, "nominal"), (5, "ordinal")])
@pytest.mark.parametrize("seed", range(3))
def test_equal_to_plain_loops(seed, categories, scale):
    rows = made(seed, categories)
    codes = rows.codes
    for person, found in enumerate(against_others(rows, scale, NONE)):
        same, own, majority, apart = [], [], [], []
        for row in codes:
            others = [int(one) for place, one in enumerate(row) if place != person and one >= 0]
            if row[person] < 0 or not others:
                continue
            apart.append(row[person] - fmean(others))
            (said, most), *rest = Counter(others).most_common()
            if not rest or rest[0][1] < most:
                same.append(row[person] == said)
                own.append(int(row[person]))
                majority.append(said)
        assert (found.agreement.value, found.agreement.n) == (pytest.approx(fmean(same), abs=1e-12), len(same))
        assert found.kappa.value == pytest.approx(cohen_kappa_score(own, majority, labels=range(categories)), abs=1e-10)
        assert (found.severity.value, found.severity.n) == (pytest.approx(fmean(apart), abs=1e-12), len(apart))
        table = np.where(codes < 0, np.nan, codes)
        alpha, without = (evalica.alpha(pd.DataFrame(one[(~np.isnan(one)).sum(axis=1) > 1].T), distance=scale).alpha
                          for one in (table, np.delete(table, person, axis=1)))
        assert found.without.value == pytest.approx(without, abs=1e-10)
        assert found.difference.value == pytest.approx(without - alpha, abs=1e-10)
    assert [one.value for one in severities(rows, NONE)] == [
        one.severity.value for one in against_others(rows, scale, NONE)]


def test_intervals_are_those_of_the_repeated_units():
    rows = made(4, missing=0.2)
    found = against_others(rows, "nominal", OPTIONS)[1]
    drawn = []
    for often in np.concatenate(list(weights(len(rows.codes), OPTIONS.draws, OPTIONS.seed))).astype(int):
        again = Ratings(np.repeat(rows.codes, often, axis=0), rows.categories)
        drawn.append(against_others(again, "nominal", NONE)[1])
    for name in ("agreement", "severity", "without", "difference"):
        low, high = np.percentile([getattr(one, name).value for one in drawn], (2.5, 97.5))
        ours = getattr(found, name)
        assert (ours.low, ours.high) == (pytest.approx(low, abs=1e-10), pytest.approx(high, abs=1e-10)), name


def test_a_person_who_answers_at_random_lowers_alpha():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, (100, 1))
    codes = np.where(rng.random((100, 4)) < 0.9, truth, 1 - truth).astype(np.int16)
    codes[:, 2] = rng.integers(0, 2, 100)
    found = against_others(Ratings(codes, ("no", "yes")), "nominal", Options(draws=200))
    assert found[2].difference.low > 0 and max(found, key=lambda one: one.difference.value) is found[2]
    assert found[2].agreement.value < 0.7 < found[0].agreement.value


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.zeros((3, 1)), [[0, -1], [-1, 1]]])
def test_nothing_to_compare_says_why(rows):
    for one in against_others(Ratings(np.array(rows, np.int16), ("no", "yes")), "nominal", OPTIONS):
        for estimate in (one.agreement, one.kappa, one.severity, one.without, one.difference):
            assert estimate.value is None and estimate.reason


def test_agreement_without_each_of_many_people_is_not_computed():
    rows = made(1, units=5, people=MOST + 1, missing=0)
    one = against_others(rows, "nominal", NONE)[0]
    assert one.without.value is None and "more than 50 people" in one.without.reason and one.agreement.value is not None


def test_people_who_agree_are_joined_first():
    # a and c agree on 90 %, b and d on 80 %, others on 20 %: joins at 0.1, 0.2 and 0.8 (the mean of four pairs).
    pairs = [(0, 2, 0.9), (1, 3, 0.8), (0, 1, 0.2), (0, 3, 0.2), (1, 2, 0.2), (2, 3, 0.2)]
    tree = tree_of(pairs, 4)
    assert [(sorted(join[:2]), join[2]) for join in tree.joins] == [
        ([0, 2], pytest.approx(0.1)), ([1, 3], pytest.approx(0.2)), ([4, 5], pytest.approx(0.8))]
    assert {frozenset(tree.order[:2]), frozenset(tree.order[2:])} == {frozenset({0, 2}), frozenset({1, 3})}
    last = segments(tree)[-1]     # from the middles of the two clusters, at their heights
    assert sorted(place for _, place in last) == [0.5, 0.5, 2.5, 2.5] and last[1][0] == pytest.approx(0.8)


def test_two_who_share_nothing_are_as_far_as_any_two():
    assert tree_of([(0, 1, 0.9), (0, 2, 0.4), (1, 2, None)], 3).joins[-1][2] == pytest.approx(0.6)
    assert tree_of([(0, 1, None)], 2).joins == ((0, 1, 1.0),) and tree_of([], 1).order == (0,)
