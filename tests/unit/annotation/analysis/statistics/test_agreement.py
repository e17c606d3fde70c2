"""Agreement against its libraries, published examples and numbers derived by hand."""

from itertools import combinations

import evalica
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from annotation.analysis.statistics.coefficients.fleiss import fleiss
from annotation.analysis.statistics.coefficients.krippendorff import krippendorff
from annotation.analysis.statistics.cohen import agreement, cohen
from annotation.analysis.statistics.matrix import Ratings
from annotation.analysis.statistics.shares import positive_rate, unanimous

NOBODY = -1


def ratings(rows, categories=2):
    return Ratings(np.array(rows, dtype=np.int16), tuple(map(str, range(categories))))


def codes(*given):
    return np.array(given, dtype=np.int16)


def by_units(people):
    """Observers in rows as papers print them, "." for a missing value, values from 1."""
    return np.array([[NOBODY if value == "." else int(value) - 1 for value in row.split()] for row in people],
                    dtype=np.int16).T


# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: 4 observers, 12 units, values 1 to 5.
KRIPPENDORFF = Ratings(by_units((
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)), tuple("12345"))

# The example of Wikipedia's "Fleiss' kappa": 14 raters, 10 subjects, 5 categories; uses of each category.
FLEISS = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)


def test_krippendorffs_own_example():
    assert krippendorff(KRIPPENDORFF, "nominal").value == pytest.approx(0.743, abs=5e-4)
    ordinal = krippendorff(KRIPPENDORFF, "ordinal")
    assert ordinal.value == pytest.approx(0.815, abs=5e-4)
    assert (ordinal.n, ordinal.reason) == (11, "")   # the twelfth unit has one value alone


def test_the_published_example_of_fleiss():
    rows = [np.repeat(range(5), uses) for uses in FLEISS]
    assert fleiss(ratings(rows, 5)).value == pytest.approx(0.210, abs=5e-4)


def test_cohen_by_hand():
    # 50 items: both yes 20, a alone 5, b alone 10, both no 15. p_o = 35 / 50 = 0.7; a says yes 25 / 50, b 30 / 50:
    # p_e = 0.5 · 0.6 + 0.5 · 0.4 = 0.5; kappa = (0.7 - 0.5) / (1 - 0.5) = 0.4
    a = np.repeat(codes(1, 1, 0, 0), (20, 5, 10, 15))
    b = np.repeat(codes(1, 0, 1, 0), (20, 5, 10, 15))
    found = cohen(a, b, 2)
    assert (found.value, found.n, found.reason) == (pytest.approx(0.4, abs=1e-12), 50, "")
    assert (agreement(a, b).value, agreement(a, b).n) == (pytest.approx(0.7, abs=1e-12), 50)


def test_fleiss_and_alpha_by_hand():
    # Two items, three people: yes yes no; no no no. P = (1/3 + 1) / 2 = 2/3; yes 2 of 6: P_e = 1/9 + 4/9 = 5/9;
    # kappa = (6/9 - 5/9) / (4/9) = 1/4.
    # alpha: item 1 has 2 + 2 differing ordered pairs of weight 1/2, of 6 values: D_o = 2/6; D_e = 2 · 2 · 4 / (6 · 5)
    # = 16/30; alpha = 1 - (1/3) / (16/30) = 3/8.
    rows = ratings([[1, 1, 0], [0, 0, 0]])
    assert fleiss(rows).value == pytest.approx(1 / 4, abs=1e-12)
    assert krippendorff(rows, "nominal").value == pytest.approx(3 / 8, abs=1e-12)
    assert (unanimous(rows).value, unanimous(rows).n) == (0.5, 2)
    assert (positive_rate(rows).value, positive_rate(rows).n) == (pytest.approx(1 / 3, abs=1e-12), 6)


def test_people_who_always_say_the_opposite():
    # p_o = 0, p_e = 0 · 1 + 1 · 0 = 0: each is constant, but not at one and the same category. kappa = 0.
    assert cohen(codes(1, 1), codes(0, 0), 2).value == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("categories", "missing"), [(2, 0.0), (2, 0.4), (5, 0.3), (40, 0.5)])
def test_equal_to_the_libraries(seed, categories, missing):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, categories, (60, 5)).astype(np.int16)
    table[:, 1:] = np.where(rng.random((60, 4)) < 0.5, table[:, :1], table[:, 1:])
    table[rng.random(table.shape) < missing] = NOBODY
    rows = ratings(table, categories)
    for a, b in combinations(range(5), 2):
        both = (table[:, a] >= 0) & (table[:, b] >= 0)
        expected = cohen_kappa_score(table[both, a], table[both, b], labels=range(categories))
        assert cohen(table[:, a], table[:, b], categories).value == pytest.approx(expected, abs=1e-12)
    people = (table >= 0).sum(axis=1)
    each = max(range(2, 6), key=lambda number: (sum(people == number), number))
    uses = [np.bincount(row[row >= 0], minlength=categories) for row in table[people == each]]
    assert fleiss(rows).value == pytest.approx(fleiss_kappa(uses), abs=1e-12)
    given = pd.DataFrame(np.where(table < 0, np.nan, table).T)
    for scale in ("nominal", "ordinal"):
        expected = evalica.alpha(given, distance=scale).alpha
        assert krippendorff(rows, scale).value == pytest.approx(expected, abs=1e-12)


def test_fleiss_takes_the_most_frequent_number_of_answers():
    table = [[1, 1, 0]] * 2 + [[0, 0, 0]] * 2 + [[1, 0, NOBODY]] * 3 + [[1, NOBODY, NOBODY]] * 9
    found = fleiss(ratings(table))
    assert found.value == pytest.approx(1 / 4, abs=1e-12)
    assert (found.n, found.reason) == (4, "4 items with 3 answers each; 3 with another number left out")


def test_of_two_numbers_as_frequent_the_larger():
    assert fleiss(ratings([[1, 0, NOBODY], [1, 1, 0], [0, 1, NOBODY], [0, 0, 0]])).n == 2


# --- where a number means nothing ----------------------------------------------------------------


def test_nobody_shares_an_item():
    a, b = codes(1, 0, NOBODY), codes(NOBODY, NOBODY, 1)
    for found in (cohen(a, b, 2), cohen(a, b, 2, "one"), agreement(a, b)):
        assert (found.value, found.n, found.reason) == (None, 0, "no item was judged by both")


def test_one_and_the_same_category_throughout():
    a = codes(1, 1, 0)
    b = codes(1, 1, NOBODY)   # over the shared items both are constant
    found = cohen(a, b, 2)
    assert (found.value, found.n, found.reason) == (None, 2, "both raters used a single category")
    assert cohen(a, b, 2, "one").value == 1
    rows = ratings([[0, 0], [0, 0], [1, NOBODY]])
    for statistic in (fleiss, lambda *given: krippendorff(given[0], "nominal", *given[1:])):
        found = statistic(rows)
        assert (found.value, found.n, found.reason) == (None, 2, "all raters used a single category")
        assert statistic(rows, "one").value == 1


@pytest.mark.parametrize("rows", [
    np.zeros((0, 3)), np.zeros((4, 0)), np.zeros((0, 0)), [[1], [0]], [[1, NOBODY], [NOBODY, 0]], [[NOBODY, NOBODY]],
], ids=["no items", "nobody", "nothing", "one person", "one answer each", "no answers"])
def test_nothing_to_pair(rows):
    rows = ratings(rows)
    for undefined in ("null", "one"):
        for found in (fleiss(rows, undefined), krippendorff(rows, "nominal", undefined),
                      krippendorff(rows, "ordinal", undefined), unanimous(rows)):
            assert (found.value, found.n, found.reason) == (None, 0, "no item has answers from two people")


def test_reasons_call_units_by_their_name():
    sets = Ratings(np.zeros((3, 1), dtype=np.int16), ("1", "2"), "set")
    assert krippendorff(sets, "ordinal").reason == "no set has answers from two people"


def test_a_rate_of_no_answers():
    found = positive_rate(ratings([[NOBODY, NOBODY]]))
    assert (found.value, found.n, found.reason) == (None, 0, "no answers")
    with pytest.raises(ValueError, match="two categories"):
        positive_rate(ratings([[0]], 3))


def test_single_answers_count_in_the_rate_alone():
    rows = ratings([[1, NOBODY], [0, 0], [1, 1]])
    assert (positive_rate(rows).value, positive_rate(rows).n) == (pytest.approx(3 / 5, abs=1e-12), 5)
    assert (unanimous(rows).value, unanimous(rows).n) == (1, 2)


def test_codes_must_fit():
    for wrong in ([[2]], [[-2]]):
        with pytest.raises(ValueError, match="between -1 and 1"):
            ratings(wrong)
    with pytest.raises(ValueError, match="matrix"):
        ratings([1, 0])
