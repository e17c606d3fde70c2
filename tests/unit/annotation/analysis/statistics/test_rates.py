"""Preference rates and what sides do to them. Expected counts are derived in comments."""

import numpy as np
import pytest

from annotation.analysis.records import Options
from annotation.analysis.statistics.bootstrap import weights
from annotation.analysis.statistics.rates import RATES, Compared

NONE = float("nan")
OPTIONS = Options(draws=200)
symmetric, ge, gt, given_equal_recall, _ = RATES


def compared(rows, unit=None):
    """Of (preferred, score of set 1, of set 2, which stood first, recall of set 1, of set 2)."""
    preferred, one, two, first, recall_one, recall_two = zip(*rows, strict=True) if rows else [()] * 6
    numbers = (np.asarray(values, float) for values in (one, two, recall_one, recall_two))
    one, two, recall_one, recall_two = numbers
    unit = np.arange(len(rows)) if unit is None else np.asarray(unit)
    return Compared(unit, np.asarray(preferred, np.int8), one, two, np.asarray(first, np.int8), recall_one,
                    recall_two)


ROWS = [
    (1, 0.9, 0.1, 1, 1, 0),       # f1 > f2
    (1, 0.8, 0.2, 2, 0, 0),       # f1 > f2, recall equal
    (2, 0.7, 0.3, 2, 1, 1),       # f1 > f2, recall equal, preferred against it
    (1, 0.5, 0.5, 1, 0, 0),       # equal scores
    (2, 0.5, 0.5, 1, 0, 0),       # equal scores
    (2, 0.1, 0.6, 1, 0, 0),       # f1 < f2, recall equal
    (1, 0.2, 0.4, 1, 0, 1),       # f1 < f2, preferred against it
    (1, NONE, 0.4, 1, 0, 1),      # no score
    (2, 0.3, NONE, 2, 1, 1),
    (1, 0.6, 0.2, 1, NONE, NONE),   # f1 > f2, recall not known
]


def test_each_form_counts_its_own_answers():
    counts = {form.key: (found.share.count, found.share.n)
              for form in RATES if (found := form(compared(ROWS), OPTIONS, len(ROWS)))}
    assert counts == {
        "ge": (4, 6),                       # rows 0 1 2 3 4 9; set 1 preferred in 0 1 3 9
        "gt": (3, 4),                       # rows 0 1 2 9
        "symmetric": (4, 6),                # rows 0 1 2 5 6 9; against it 2 and 6
        "given_equal_recall": (2, 3),       # rows 1 2 5; against it 2
        "gt_given_equal_recall": (1, 2),    # rows 1 2
    }
    assert all(form(compared(ROWS), OPTIONS, len(ROWS)).share.reason == "" for form in RATES)


def test_sides_are_weighed_alike():
    # The favoured set stood first in rows 0 9 (gt), followed in both; second in rows 1 2, followed in one.
    found = gt(compared(ROWS), Options(draws=0), len(ROWS))
    assert found.adjusted.value == pytest.approx((2 / 2 + 1 / 2) / 2, abs=1e-12)
    assert (found.adjusted.n, found.adjusted.low, found.adjusted.reason) == (4, None, "")
    # What stood first is preferred in rows 0 2 9, not in row 1.
    assert (found.first_side.count, found.first_side.n) == (3, 4)
    # Symmetric: the favoured stood first in rows 0 9, and second in 1 2 5 6, followed in 1 and 5.
    both = symmetric(compared(ROWS), Options(draws=0), len(ROWS))
    assert both.adjusted.value == pytest.approx((1 + 2 / 4) / 2, abs=1e-12)
    # First preferred: 0 2 6 9, not 1 and 5.
    assert (both.first_side.count, both.first_side.n) == (4, 6)


def test_a_side_that_is_always_chosen_is_no_rate():
    # The favoured set stood first in 9 of 10 answers, and people took what stood first throughout.
    rows = [(1, 1, 0, 1, 0, 0)] * 9 + [(2, 1, 0, 2, 0, 0)]
    found = symmetric(compared(rows), OPTIONS, 10)
    assert found.share.value == 0.9
    assert found.adjusted.value == 0.5
    assert found.first_side.value == 1.0


def test_only_symmetric_rates_have_a_p_against_one_half():
    # People prefer set 1 in 30 of 40 answers whatever the metric, which favours each set 20 times: 15 + 5 follow it.
    rows = [(1 + (k % 4 == 3), *((1, 0) if k < 20 else (0, 1)), 1, 0, 0) for k in range(40)]
    found = {form.key: form(compared(rows), OPTIONS, 40).share for form in RATES}
    assert [found[name].count for name in ("gt", "symmetric")] == [15, 20]
    assert [name for name, share in found.items() if share.p is not None] == ["symmetric", "given_equal_recall"]
    assert found["symmetric"].p == pytest.approx(1, abs=1e-12)


def test_the_rate_has_an_interval_over_whole_units():
    # 40 questions with the same six answers each know no more than 40 answers: Wilson's interval takes them for 240.
    follows = np.arange(40) % 3 > 0
    once = compared([(1 if yes else 2, 1, 0, 1, 0, 0) for yes in follows])
    often = compared([(1 if yes else 2, 1, 0, 1, 0, 0) for yes in follows.repeat(6)], np.arange(40).repeat(6))
    for form in (gt, symmetric):
        one, six = form(once, OPTIONS, 40), form(often, OPTIONS, 40)
        assert (six.drawn.low, six.drawn.high) == pytest.approx((one.drawn.low, one.drawn.high), abs=1e-12)
        assert six.drawn.high - six.drawn.low > 2 * (six.share.high - six.share.low)
        assert (six.drawn.value, six.drawn.n, six.drawn.reason) == (six.share.value, 240, "")
    drawn = [(batch * follows).sum(axis=1) / 40 for batch in weights(40, 200, OPTIONS.seed)]
    assert (one.drawn.low, one.drawn.high) == pytest.approx(
        tuple(np.percentile(np.concatenate(drawn), [2.5, 97.5])), abs=1e-12)
    assert gt(once, Options(draws=0), 40).drawn.low is None
    # What has no answer to such a question is not among the units.
    few = gt(compared([*ROWS, *[(1, 0, 1, 1, 0, 0)] * 20]), OPTIONS, 30)
    assert few.drawn.reason.endswith("; resampled from 4 questions: interpret the interval with care")
    nine = compared([(1 + k % 2, 1, 0, 1, 0, 0) for k in range(90)], np.arange(90) % 9)
    found = gt(nine, Options(draws=50, resample="people"), 9)
    assert (found.drawn.value, found.drawn.low) == (0.5, None) and found.share.low is not None
    assert found.drawn.reason == "no interval: resampling people needs at least 10, not 9"


def test_the_adjusted_interval_is_of_whole_units():
    rng = np.random.default_rng(2)
    rows = [(int(p), 1, 0, int(f), 0, 0) for p, f in zip(rng.integers(1, 3, 60), rng.integers(1, 3, 60), strict=True)]
    unit = np.arange(60) // 3
    found = gt(compared(rows, unit), OPTIONS, 20).adjusted
    preferred, first = (np.array([row[k] for row in rows]) for k in (0, 3))
    drawn = []
    for often in np.concatenate(list(weights(20, 200, OPTIONS.seed))):
        taken = np.repeat(np.arange(60), often[unit].astype(int))
        p, f = preferred[taken], first[taken]
        drawn.append(((p[f == 1] == 1).mean() + (p[f == 2] == 1).mean()) / 2)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])), abs=1e-12)


def test_unknown_sides_have_a_reason():
    rows = [(*row[:3], 0, *row[4:]) for row in ROWS]
    found = gt(compared(rows), OPTIONS, len(ROWS))
    assert (found.share.count, found.share.n, found.share.reason) == (3, 4, "")
    assert (found.adjusted.value, found.adjusted.n) == (None, 0)
    assert found.adjusted.reason == "which set was shown first was not recorded"
    assert (found.first_side.n, found.first_side.value) == (0, None)


def test_some_unknown_sides_are_left_out_and_counted():
    found = gt(compared([*ROWS, (1, 1, 0, 0, 0, 0)]), Options(draws=0), len(ROWS) + 1)
    assert (found.share.count, found.share.n) == (4, 5)
    assert (found.adjusted.value, found.adjusted.n) == (0.75, 4)
    assert found.adjusted.reason == "positions not recorded, left out: 1 of 5 answers"


@pytest.mark.parametrize(("first", "where"), [(1, "second"), (2, "first")])
def test_one_side_only_cannot_be_adjusted(first, where):
    found = gt(compared([(1, 1, 0, first, 0, 0), (2, 1, 0, first, 0, 0)]), OPTIONS, 2)
    assert found.adjusted.value is None
    assert found.adjusted.reason == f"no answer in which the favoured set was shown {where}"


def test_no_rate_says_why():
    assert {form(compared([]), OPTIONS, 0).share.reason for form in RATES} == {"no answer prefers one of its two sets"}
    unscored = compared([(1, NONE, 0, 1, 0, 0), (2, 1, NONE, 1, 0, 0)])
    assert {form(unscored, OPTIONS, 2).share.reason for form in RATES} == {
        "no answer has scores for both sets"}
    equal = compared([(1, 1, 1, 1, 0, 0)])
    assert ge(equal, OPTIONS, 1).share.n == 1
    assert symmetric(equal, OPTIONS, 1).share.reason == "no answer in which the two scores differ"
    lower = compared([(1, 0, 1, 1, 0, 1)])
    assert ge(lower, OPTIONS, 1).share.reason == "no answer in which set 1 scores at least as high as set 2"
    assert gt(lower, OPTIONS, 1).share.reason == "no answer in which set 1 has the higher score"
    nothing = given_equal_recall(lower, OPTIONS, 1)
    assert nothing.share.reason == "no answer in which the two scores differ and recall is equal"
    assert (nothing.share.n, nothing.share.value, nothing.adjusted.value, nothing.first_side.value) == (
        0, None, None, None)
    assert (nothing.drawn.value, nothing.drawn.n, nothing.drawn.reason) == (None, 0, nothing.share.reason)
    assert nothing.adjusted.reason == "no answers"
