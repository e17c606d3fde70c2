"""Coefficients against published examples, and against plain implementations from their papers on random answers with
missing ones; in each draw, too."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.analysis.records import Options
from annotation.analysis.statistics.agreement import STATISTICS, agreement_draws, agreement_estimates, statistics_of
from annotation.analysis.statistics.bootstrap import share_with_interval, weights
from annotation.analysis.statistics.coefficients.brennan_prediger import BRENNAN_PREDIGER, brennan_prediger
from annotation.analysis.statistics.coefficients.gwet import AC1, AC2, gwet
from annotation.analysis.statistics.coefficients.icc import ICC_ONE_WAY, ICC_TWO_WAY, icc_one_way, icc_two_way
from annotation.analysis.statistics.coefficients.weighted_kappa import WEIGHTED_KAPPA, weighted_kappa
from cir_core.reports.records import Estimate
from tests.unit.annotation.analysis.statistics.test_agreement import KRIPPENDORFF, NOBODY, ratings

# Gwet, vignettes "overview" and "weighting" of irrCAC 1.0 (CRAN): 100 patients by two abstractors, 3 categories.
ABSTRACTORS = ((13, 0, 0), (0, 20, 7), (0, 4, 56))
# Shrout and Fleiss (1979), table 2: six targets, four judges; table 4 has the results.
JUDGES = ratings(np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]), 11)


def of_table(table):
    rows = [(a, b) for a, row in enumerate(table) for b, count in enumerate(row) for _ in range(count)]
    return ratings(rows, len(table))


def test_gwets_own_examples():
    assert gwet(of_table(ABSTRACTORS), "nominal").value == pytest.approx(0.8493305, abs=5e-8)
    assert gwet(of_table(ABSTRACTORS), "ordinal").value == pytest.approx(0.9402369, abs=5e-8)
    # Four raters, with missing answers: Krippendorff's data, whose twelfth unit has one answer alone.
    assert gwet(KRIPPENDORFF, "nominal").value == pytest.approx(0.77544, abs=5e-6)
    assert gwet(KRIPPENDORFF, "ordinal").value == pytest.approx(0.914, abs=5e-4)
    assert gwet(KRIPPENDORFF, "nominal").n == 11


def test_brennan_and_predigers_coefficient_in_gwets_examples():
    assert brennan_prediger(of_table(ABSTRACTORS), "nominal").value == pytest.approx(0.835, abs=5e-8)
    assert brennan_prediger(of_table(ABSTRACTORS), "ordinal").value == pytest.approx(0.9175, abs=5e-8)
    # p_a 0.9753788 and p_e 0.75 are printed there.
    assert brennan_prediger(KRIPPENDORFF, "ordinal").value == pytest.approx(0.90152, abs=5e-6)


def test_weighted_kappa_in_gwets_example():
    assert weighted_kappa(of_table(ABSTRACTORS), "ordinal").value == pytest.approx(0.8921569, abs=5e-8)


def test_the_example_of_shrout_and_fleiss():
    assert icc_one_way(JUDGES, "ordinal").value == pytest.approx(0.17, abs=5e-3)
    assert icc_two_way(JUDGES, "ordinal").value == pytest.approx(0.29, abs=5e-3)


def test_with_two_answers_it_is_pabak():
    # Of 50 items 35 have the same answer: PABAK = 2 · 0.7 - 1 (Byrt, Bishop and Carlin 1993).
    assert brennan_prediger(of_table(((15, 5), (10, 20))), "nominal").value == pytest.approx(0.4, abs=1e-12)


def test_a_rare_answer_lowers_kappa_and_not_ac1():
    # 111 of 125 the same; 2 · 108 + 14 of 250 answers are yes: 0.92. Chance of AC1: 2 · 0.92 · 0.08 = 0.1472.
    table = of_table(((3, 2), (12, 108)))
    assert gwet(table, "nominal").value == pytest.approx((111 / 125 - 0.1472) / (1 - 0.1472), abs=1e-12)
    assert statistics_of("nominal")[0].estimate(table, "nominal", "null").value < 0.3 < gwet(table, "nominal").value


# --- plain implementations ------------------------------------------------------------------------


def plain_weight(scale, k, m, categories):
    return float(k == m) if scale == "nominal" else 1 - (k - m)**2 / (categories - 1)**2


def plain_agreement(codes, scale, categories):
    """Mean over units of the mean weight of each two of its answers."""
    found = []
    for row in codes:
        given = [int(one) for one in row if one >= 0]
        if len(given) > 1:
            found.append(np.mean([plain_weight(scale, a, b, categories) for a, b in combinations(given, 2)]))
    return np.mean(found) if found else np.nan


def plain_gwet(codes, scale, categories):
    every = range(categories)
    total = sum(plain_weight(scale, k, m, categories) for k in every for m in every)
    answered = [row for row in codes if max(row) >= 0]
    shares = [np.mean([sum(row == k) / sum(row >= 0) for row in answered]) for k in every]
    chance = total / (categories * (categories - 1)) * sum(share * (1 - share) for share in shares)
    return (plain_agreement(codes, scale, categories) - chance) / (1 - chance)


def plain_brennan_prediger(codes, scale, categories):
    every = range(categories)
    chance = sum(plain_weight(scale, k, m, categories) for k in every for m in every) / categories**2
    return (plain_agreement(codes, scale, categories) - chance) / (1 - chance)


def plain_weighted_kappa(codes, scale, categories):
    found = []
    for a, b in combinations(range(codes.shape[1]), 2):
        one, other = codes[(codes[:, a] >= 0) & (codes[:, b] >= 0)][:, [a, b]].T
        if len({*one, *other}) > 1:
            found.append(cohen_kappa_score(one, other, labels=range(categories), weights="quadratic"))
    return np.mean(found) if found else np.nan


def plain_icc_one_way(codes, scale, categories):
    groups = [row[row >= 0].astype(float) for row in codes if (row >= 0).sum() > 1]
    if len(groups) < 2 or len(set(np.concatenate(groups))) == 1:
        return np.nan
    every = np.concatenate(groups)
    between = sum(len(one) * (one.mean() - every.mean())**2 for one in groups) / (len(groups) - 1)
    within = sum(((one - one.mean())**2).sum() for one in groups) / (len(every) - len(groups))
    each = (len(every) - sum(len(one)**2 for one in groups) / len(every)) / (len(groups) - 1)
    return (between - within) / (between + (each - 1) * within)


def plain_icc_two_way(codes, scale, categories):
    whole = codes[(codes >= 0).all(axis=1)].astype(float)
    n, k = whole.shape
    if n < 2 or k < 2 or len(set(whole.ravel())) == 1:
        return np.nan
    rows, columns = whole.mean(axis=1), whole.mean(axis=0)
    rest = whole - rows[:, None] - columns + whole.mean()
    by_row, by_column = k * rows.var(ddof=1), n * columns.var(ddof=1)
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    return (by_row - error) / (by_row + (k - 1) * error + k * (by_column - error) / n)


PLAIN = {AC1.key: plain_gwet, AC2.key: plain_gwet, BRENNAN_PREDIGER.key: plain_brennan_prediger,
         WEIGHTED_KAPPA.key: plain_weighted_kappa, ICC_ONE_WAY.key: plain_icc_one_way,
         ICC_TWO_WAY.key: plain_icc_two_way}


def made(seed, categories, missing, units=40):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, categories, (units, 4))
    table[:, 1:] = np.where(rng.random((units, 3)) < 0.5, table[:, :1], table[:, 1:])
    table[rng.random(table.shape) < missing] = NOBODY
    return ratings(table, categories)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("categories", "missing"), [(2, 0.0), (2, 0.4), (5, 0.3), (7, 0.6)])
def test_equal_to_the_plain_implementations(seed, categories, missing):
    table = made(seed, categories, missing)
    for one in STATISTICS:
        if one.key in PLAIN:
            for scale in one.scales:
                found = one.estimate(table, scale, "null")
                expected = PLAIN[one.key](table.codes, scale, categories)
                assert found.value is None if np.isnan(expected) else found.value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("categories", "missing", "units"), [(2, 0.3, 20), (5, 0.3, 20), (5, 0.6, 8)])
@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
def test_every_draw_equals_the_plain_implementations(scale, categories, missing, units):
    table = made(5, categories, missing, units)
    drawn = agreement_draws(table, (), 20, 3, scale=scale).pooled
    people = table.people_per_unit()
    for one in statistics_of(scale):
        if one.key in PLAIN:
            codes = table.codes[people >= (1 if one.single_answers else 2)]
            often = np.concatenate(list(weights(len(codes), 20, 3))).astype(int)
            # Which people there are does not depend on the draw, but whether all of them rated a unit does.
            expected = [PLAIN[one.key](np.repeat(codes, times, axis=0), scale, categories) for times in often]
            np.testing.assert_allclose(drawn[one.key], expected, rtol=0, atol=1e-10, equal_nan=True)


# --- where a number means nothing -----------------------------------------------------------------


def test_one_category_throughout():
    rows = ratings([[1, 1], [1, 1], [1, NOBODY]])
    for one in (AC1, AC2, BRENNAN_PREDIGER):     # defined: chance is not complete
        assert one.estimate(rows, one.scales[0], "null").value == 1
    for one in (WEIGHTED_KAPPA, ICC_ONE_WAY, ICC_TWO_WAY):
        found = one.estimate(rows, "ordinal", "null")
        assert found.value is None and "single category" in found.reason
        assert one.estimate(rows, "ordinal", "one").value == 1


@pytest.mark.parametrize("one", STATISTICS, ids=lambda one: one.key)
@pytest.mark.parametrize("rows", [np.zeros((0, 3)), np.zeros((4, 0)), [[1], [0]], [[1, NOBODY], [NOBODY, 0]]])
def test_nothing_to_pair(one, rows):
    found = one.estimate(ratings(rows), one.scales[-1], "one")
    assert found.value is None and found.n == 0 and found.reason


def test_raters_of_all_units_are_needed_for_the_two_way_icc():
    found = icc_two_way(ratings([[0, 1, NOBODY], [NOBODY, 1, 1]]), "ordinal")
    assert (found.value, found.n, found.reason) == (None, 0, "no item was rated by all 3 people")
    assert icc_one_way(ratings([[0, 1]]), "ordinal").reason == "only one item"


@pytest.mark.parametrize(("value", "low", "high"), [(0.0, 0.0, 1.959964**2 / (20 + 1.959964**2)),
                                                    (1.0, 20 / (20 + 1.959964**2), 1.0)])
@pytest.mark.parametrize("draws", [0, 50])
def test_a_share_of_none_or_all_has_wilsons_interval(value, low, high, draws):
    # Wilson at 0 of n: from 0 to z² / (n + z²).
    found = share_with_interval(Estimate(value, 60), np.full(draws, value), 20)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
    assert found.reason == "Wilson’s interval over 20 items"


def test_few_items_are_remarked_on_for_kappas_alone():
    """Intervals of AC1 and Brennan-Prediger hold with few items and a rare answer (docs/concepts/agreement.md)."""
    table = made(1, 2, 0.0, units=15)
    found = agreement_estimates(table, agreement_draws(table, (), 100, 1), Options(draws=100))
    assert {key for key, one in found.items() if "interval unreliable" in one.reason} == {"krippendorff_alpha",
                                                                                         "fleiss_kappa"}
    assert found[AC1.key].low < found[AC1.key].value < found[AC1.key].high
