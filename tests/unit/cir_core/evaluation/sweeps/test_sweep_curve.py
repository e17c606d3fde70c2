"""A value is chosen on one half of the queries and reported on the other."""

import numpy as np
import pytest

from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.records import Measure
from cir_core.evaluation.metrics.bootstrap import estimates, estimates_of_many
from cir_core.evaluation.sweeps.curve import Measured, curve, curve_json, halves, measure_named
from cir_core.evaluation.sweeps.page import TurnSet, sentence, sweep_page, turns_page
from cir_core.evaluation.sweeps.parameters import read_sweep
from cir_core.methods.declared import builtin_methods

SOFT = builtin_methods()["soft"]
R10, R1 = Measure("recall", "10"), Measure("recall", "1")
GROUPS = [""] * 8


def swept(values="0,0.5,1"):
    return read_sweep(f"lambda={values}", SOFT)


def on(first, second, groups=GROUPS, seed=0):
    """A column that is ``first`` on the half for choosing and ``second`` on the other."""
    rows = halves(groups, seed)
    column = np.empty(len(groups))
    column[rows.first], column[rows.second] = first, second
    return Measured({R10: column, R1: np.zeros(len(groups))})


def test_halves_are_of_every_category_and_depend_on_the_seed():
    groups = ["a"] * 10 + ["b"] * 5
    split = halves(groups, 3)
    first, second = split.first, split.second
    assert sorted([*first, *second]) == list(range(15))
    assert [groups[row] for row in first] == ["a"] * 5 + ["b"] * 2    # of an odd number the second has one more
    assert tuple(halves(groups, 3).first) == tuple(first)
    assert len({tuple(halves(groups, seed).first) for seed in range(9)}) > 1
    with pytest.raises(DatasetError, match="only 1 of 'b'"):
        halves(["a", "a", "b"], 0)
    with pytest.raises(DatasetError, match=r"there is only 1\. Sweep over more"):
        halves([""], 0)


def test_queries_of_one_unit_are_in_one_half():
    groups, units = ["a"] * 9 + ["b"] * 4, [*"xxxyyzzww", *"xxyy"]
    for seed in range(20):
        split = halves(groups, seed, units)
        first = {(groups[row], units[row]) for row in split.first}
        assert first.isdisjoint((groups[row], units[row]) for row in split.second)
        assert sorted([*split.first, *split.second]) == list(range(13))
        assert 3 <= sum(row < 9 for row in split.first) <= 4 and sum(row >= 9 for row in split.first) == 2
    with pytest.raises(DatasetError, match="all 4 of 'b' belong to one reference image"):
        halves(groups, 0, [*"xxxyyzzww", *"xxxx"])


def test_a_query_that_fails_with_one_value_counts_with_none():
    measured = [on(1, 1), on(0.5, 0.25), on(0, 0)]
    gone = int(halves(GROUPS, 0).second[0])
    measured[2] = Measured(measured[2].columns, notes=("1 could not be answered: no",), failed=frozenset({gone}))
    measured[0].columns[R10][gone] = -7.0
    found = curve(SOFT, swept(), measured, GROUPS, by=None, seed=0)
    assert found.sizes == (4, 3) and found.dropped == 1 and found.best.reporting[R10].value == 1
    assert curve_json(found)["queries"] == {"choosing": 4, "reporting": 3, "dropped": 1}
    assert found.notes == ("λ 1: 1 could not be answered: no",
                           "1 could not be answered with some value of λ and count with none.")


def test_what_the_second_half_likes_is_not_chosen():
    """On the first half 0.5 is best (3 of 4), on the second 0 (all of 4): it is chosen for the first alone."""
    measured = [on([0, 0, 1, 1], 1), on([1, 1, 1, 0], [1, 0, 0, 0]), on([1, 0, 0, 0], [1, 1, 0, 0])]
    found = curve(SOFT, swept(), measured, GROUPS, by=None, seed=0)
    assert found.best.value == 0.5 and found.sizes == (4, 4) and found.measure == R10
    assert [one.choosing[R10].value for one in found.points] == [0.5, 0.75, 0.25]
    assert [one.reporting[R10].value for one in found.points] == [1, 0.25, 0.5]
    # Own is λ = 1: on the second half 0.5 has one hit of four less, and no query the other way round.
    assert found.own == 1 and found.gained is not None and found.gained.value == -0.25
    assert found.gained.low >= -1 and found.gained.high == 0
    content = curve_json(found)
    assert content["best"]["value"] == 0.5 and content["best"]["reporting"]["recall"] == {"1": 0, "10": 0.25}
    assert content["queries"] == {"choosing": 4, "reporting": 4, "dropped": 0}
    assert content["parameter"] == "soft_filter.weight"
    said = sentence(found)
    assert "chosen by recall@10 on 4 queries and is reported on the other 4" in said
    assert "λ = 0.5, recall@10 25.00" in said and "75.00" not in said


def test_of_equal_values_the_nearest_to_the_methods_own():
    found = curve(SOFT, swept("0,0.2,0.6"), [on(1, 0), on(1, 1), on(1, 0)], GROUPS, by=None, seed=0)
    assert found.best.value == 0.6 and found.gained is None   # own is 1, which is not among the values
    assert "1, is not among the values" in sentence(found)


def test_a_parameter_that_changes_nothing_is_said_to():
    found = curve(SOFT, swept(), [on(1, 0)] * 3, GROUPS, by="recall@10", seed=0)
    assert found.notes == ("λ changes recall@10 of no query.",) and found.best.value == found.own == 1


def test_categories_count_the_same():
    groups = ["a"] * 4 + ["b"] * 40
    column = np.array([1.0] * 4 + [0.0] * 40)
    found = curve(SOFT, swept("0,1"), [Measured({R10: column})] * 2, groups, by=None, seed=0)
    assert found.best.reporting[R10].value == 0.5 and found.best.reporting[R10].low == 0.5


def test_queries_that_a_measure_does_not_count_are_left_out():
    aspect = Measure("semantic_map_at_10", "addition")
    column = np.full(8, np.nan)
    split = halves(GROUPS, 0)
    column[[split.first[0], split.second[0]]] = 0.25   # one of either half
    measured = Measured({aspect: column, R10: np.ones(8)})
    found = curve(SOFT, swept("0,1"), [measured] * 2, GROUPS, by="semantic_map_at_10 addition", seed=0)
    assert found.best.reporting[aspect].value == 0.25 and found.best.reporting[R10].value == 1
    empty = Measured({aspect: np.full(8, np.nan), R10: np.ones(8)})
    with pytest.raises(DatasetError, match="counts too few queries"):
        curve(SOFT, swept("0,1"), [empty] * 2, GROUPS, by="semantic_map_at_10 addition", seed=0)


def test_the_measure_to_choose_by():
    average, auc = Measure("average"), Measure("auc")
    assert measure_named(None, [R1, R10, average]) == average and measure_named(None, [R1, auc]) == auc
    assert measure_named(None, [R1, R10]) == R10 and measure_named(None, [R1]) == R1
    with pytest.raises(DatasetError, match=r"no measure 'r@1' to choose by\. There are: recall@1, recall@10, average"):
        measure_named("r@1", [R1, R10, average])


def test_intervals_of_many_measures():
    # Two queries, 0 and 1: a resampled mean is 0, ½ or 1, each end with probability ¼.
    [one] = estimates_of_many([[[0.0], [1.0]]], seed=4)
    assert (one.value, one.low, one.high) == (0.5, 0, 1)
    values = np.random.default_rng(0).random((300, 3)) ** [1, 2, 3]
    groups = [values[:100], values[100:]]
    for ours, scipys in zip(estimates_of_many(groups, seed=1), estimates(groups, seed=1), strict=True):
        assert ours.value == scipys.value
        width = scipys.high - scipys.low
        assert abs(ours.low - scipys.low) < width / 24 and abs(ours.high - scipys.high) < width / 24
    assert estimates_of_many([[[0.25]]], seed=0)[0].low is None
    # Two units, of one query (0) and of three (1): a resampled mean is 0, 3/4 or 1.
    [together] = estimates_of_many([[[0.0], [1.0], [1.0], [1.0]]], seed=4, units=["xyyy"])
    assert (together.value, together.low, together.high) == (0.75, 0, 1)
    assert estimates_of_many([[[0.0], [1.0]]], seed=4, units=["xx"])[0].low is None
    alike = [[[0.0]] * 50 + [[1.0]] * 50]
    [rows], [units] = (estimates_of_many(alike, seed=1, units=of) for of in (None, [[n // 10 for n in range(100)]]))
    assert units.high - units.low > 2 * (rows.high - rows.low)
    with pytest.raises(ValueError, match="every group needs queries"):
        estimates_of_many([[]], seed=0)


def test_the_page_has_both_halves_and_needs_no_network():
    measured = [on([0, 0, 1, 1], 1), on([1, 1, 1, 0], [1, 0, 0, 0]), on([1, 0, 0, 0], [1, 1, 0, 0])]
    found = curve(SOFT, swept(), measured, GROUPS, by=None, seed=0)
    page = sweep_page("dress <b>", "8 queries", [found])
    assert "half it is chosen on" in page and "half it is reported on" in page and "dress &lt;b&gt;" in page
    assert "The dotted line is the chosen value, 0.5." in page and 'src="http' not in page


def test_the_page_by_turn():
    figures = dict(enumerate(estimates([[[0.0, 1.0], [1.0, 1.0]]], seed=0), start=1))
    page = turns_page("CIRCLED", "digest x", [TurnSet("All sessions", 2, {"latest": figures})])
    assert "Hits@10 by turn, All sessions. latest: 50.0 %, 100.0 %" in page and "2 sessions." in page
