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
    column[rows[0]], column[rows[1]] = first, second
    return Measured({R10: column, R1: np.zeros(len(groups))})


def test_halves_are_of_every_category_and_depend_on_the_seed():
    groups = ["a"] * 10 + ["b"] * 5
    first, second = halves(groups, 3)
    assert sorted([*first, *second]) == list(range(15))
    assert [groups[row] for row in first] == ["a"] * 5 + ["b"] * 2    # of an odd number the second has one more
    assert [tuple(of) for of in halves(groups, 3)] == [tuple(first), tuple(second)]
    assert len({tuple(halves(groups, seed)[0]) for seed in range(9)}) > 1
    with pytest.raises(DatasetError, match="only 1 of 'b'"):
        halves(["a", "a", "b"], 0)
    with pytest.raises(DatasetError, match=r"there is only 1\. Sweep over more"):
        halves([""], 0)


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
    assert content["queries"] == {"choosing": 4, "reporting": 4} and content["parameter"] == "soft_filter.weight"
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
    column[[row[0] for row in halves(GROUPS, 0)]] = 0.25   # one of either half
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
        assert abs(ours.low - scipys.low) < width / 8 and abs(ours.high - scipys.high) < width / 8
    assert estimates_of_many([[[0.25]]], seed=0)[0].low is None
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
