"""How often people prefer the set that a metric scores higher: preference rates of CIRQRS, and what sides do to them.

The paper's rate counts equal scores as support for set 1 (``ge``). Where a metric is often equal, as recall is, that
says more about how often set 1 is preferred than about the metric; ``gt`` and ``symmetric`` leave equal scores out.

Wilson's intervals and p take answers as independent. Draws take questions (or people) whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Rate
from annotation.analysis.statistics.answer_rows import over_draws
from annotation.analysis.statistics.bootstrap import weights
from annotation.analysis.statistics.shares import share

Form = Literal["ge", "gt", "symmetric", "half"]
"""Of a rate: CIRQRS's equation 8; likewise with >; over all answers where the scores differ; over all answers, equal
scores counting one half."""


@dataclass(frozen=True)
class Compared:
    """A row for each answer that prefers one of its two sets; ties are left out before. All are (rows,). ``unit``: what
    draws take whole, the question or the person, as an index from 0. Scores and recalls are nan where there is none."""

    unit: NDArray[np.int64]
    preferred: NDArray[np.int8]        # 1 or 2
    one: NDArray[np.float64]           # the metric's score of stored set 1
    two: NDArray[np.float64]
    first: NDArray[np.int8]            # which set stood first, 1 or 2; 0 where nobody recorded it
    recall_one: NDArray[np.float64]
    recall_two: NDArray[np.float64]


@dataclass(frozen=True)
class RateForm:
    """A preference rate: whom it counts, and which set it expects to be preferred. Reports, their JSON, tables and
    figures show every row of :data:`RATES`. ``one_sided``: it looks at preferences for set 1 alone."""

    key: str                                                 # in JSON: preference_rate_KEY
    label: str
    how: tuple[str, str]                                     # name and text in the Method section of a report
    counted: Callable[[Compared], NDArray[np.bool_]]         # (rows,)
    condition: str                                           # what counted answers have in common
    one_sided: bool = False

    def __call__(self, compared: Compared, options: Options, units: int) -> Rate:
        """``units``: how many there are to draw from."""
        favoured = np.ones(len(compared.preferred), np.int8) if self.one_sided else _higher(compared)
        rate = _rate(compared, self.counted(compared), favoured, options, units, self.condition)
        # What a metric that tells nothing would reach is how often set 1 is preferred, not one half.
        return replace(rate, share=replace(rate.share, p=None)) if self.one_sided else rate


def _differ(compared: Compared) -> NDArray[np.bool_]:
    # Not "!=", which holds of nan.
    return (compared.one > compared.two) | (compared.one < compared.two)


def _equal_recall(compared: Compared) -> NDArray[np.bool_]:
    equal: NDArray[np.bool_] = compared.recall_one == compared.recall_two     # nan equals nothing
    return equal


_EQUAL_RECALL = ("Rate, equal recall", "Symmetric, or one-sided with >, over the answers whose two sets have the same "
                                       "recall. The one-sided rate is CIRQRS, equation 9.")
RATES: tuple[RateForm, ...] = (
    RateForm("symmetric", "symmetric (the default)",
             ("Rate, symmetric",
              "P(the preferred set has the higher value), over all preferences with different values."),
             _differ, "the two scores differ"),
    RateForm("ge", "≥, one-sided (as published)",
             ("Rate ≥, one-sided", "P(set 1 preferred | value of set 1 ≥ value of set 2): CIRQRS, equation 8. With "
                                   "equal values, a preference for set 1 counts for the metric."),
             lambda of: of.one >= of.two, "set 1 scores at least as high as set 2", True),
    RateForm("gt", ">, one-sided", ("Rate >, one-sided", "The same with > in place of ≥."),
             lambda of: of.one > of.two, "set 1 has the higher score", True),
    RateForm("given_equal_recall", "symmetric, equal recall", _EQUAL_RECALL,
             lambda of: _differ(of) & _equal_recall(of), "the two scores differ and recall is equal"),
    RateForm("gt_given_equal_recall", ">, one-sided, equal recall", _EQUAL_RECALL,
             lambda of: (of.one > of.two) & _equal_recall(of), "set 1 has the higher score and recall is equal", True),
)


def support(compared: Compared, form: Form) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """(rows,): which answers ``form`` counts; and of these, how far each follows the metric: 1, 0, or ½ where its
    scores are equal (``half``: that of a metric that tosses a coin between equal scores)."""
    if form == "ge":
        counted = compared.one >= compared.two
        return counted, (compared.preferred[counted] == 1).astype(np.float64)
    if form == "gt":
        counted = compared.one > compared.two
        return counted, (compared.preferred[counted] == 1).astype(np.float64)
    if form == "symmetric":
        counted = _differ(compared)
        return counted, (compared.preferred == _higher(compared))[counted].astype(np.float64)
    counted = ~np.isnan(compared.one + compared.two)
    follows = np.where(compared.one == compared.two, 0.5, compared.preferred == _higher(compared))
    return counted, follows[counted]


def support_draws(compared: Compared, form: Form, options: Options, units: int) -> NDArray[np.float64]:
    """Means of :func:`support` in each draw of units, (draws,), nan where no answer counts. With the same seed, draws
    of two metrics are paired."""
    counted, follows = support(compared, form)
    sums = np.zeros((units, 2))
    np.add.at(sums, compared.unit[counted], np.stack([follows, np.ones_like(follows)], axis=1))
    drawn = [batch @ sums for batch in weights(units, options.draws, options.seed)]
    both = np.concatenate(drawn) if drawn else np.empty((0, 2))
    with np.errstate(invalid="ignore"):     # 0 / 0: a draw without such an answer is nan
        found: NDArray[np.float64] = both[:, 0] / both[:, 1]
    return found


def _higher(compared: Compared) -> NDArray[np.int8]:
    return np.where(compared.one > compared.two, 1, 2).astype(np.int8)


def _rate(
    compared: Compared, counted: NDArray[np.bool_], favoured: NDArray[np.int8], options: Options, units: int,
    condition: str,
) -> Rate:
    """``counted``: the answers it is about; ``favoured``: the set that the metric favours in each answer."""
    unit, first, preferred = compared.unit[counted], compared.first[counted], compared.preferred[counted]
    favoured = favoured[counted]
    follows = preferred == favoured
    known = first > 0
    leads, trails = known & (first == favoured), known & (first != favoured)
    found = share(int(follows.sum()), len(follows))
    if not len(follows):
        found = replace(found, reason=_why_none(compared, condition))
    drawn = Estimate(found.value, found.n, reason=found.reason)
    adjusted = _adjusted(follows, leads, trails)
    if options.draws and len(follows):
        rows = np.stack([follows, np.ones_like(follows), leads & follows, leads, trails & follows, trails], axis=1)
        of_unit = np.zeros((units, rows.shape[1]))
        np.add.at(of_unit, unit, rows)
        sums = np.concatenate([batch @ of_unit for batch in weights(units, options.draws, options.seed)])
        with np.errstate(invalid="ignore"):     # 0 / 0: a draw without an answer of that kind is nan
            parts = sums[:, ::2] / sums[:, 1::2]
        drawn = over_draws(drawn, parts[:, 0], unit, options, share=True)
        adjusted = over_draws(adjusted, (parts[:, 1] + parts[:, 2]) / 2, unit[known], options, share=True)
    return Rate(found, drawn, adjusted, share(int((preferred == first)[known].sum()), int(known.sum())))


def _why_none(compared: Compared, condition: str) -> str:
    if not len(compared.preferred):
        return "no answer prefers one of its two sets"
    if np.isnan(compared.one + compared.two).all():
        return "no answer has scores for both sets"
    return f"no answer in which {condition}"


def _adjusted(follows: NDArray[np.bool_], leads: NDArray[np.bool_], trails: NDArray[np.bool_]) -> Estimate:
    """The mean of the rates where the favoured set ``leads`` (stood first) and where it ``trails``; neither where
    nobody recorded the sides. Each (rows,)."""
    answers, n = len(follows), int((leads | trails).sum())
    if not n:
        return Estimate(None, 0, reason="which set was shown first was not recorded" if answers else "no answers")
    if not leads.any() or not trails.any():
        where = "first" if trails.any() else "second"
        return Estimate(None, n, reason=f"no answer in which the favoured set was shown {where}")
    left_out = ""
    if n < answers:
        left_out = f"positions not recorded, left out: {answers - n:,} of {answers:,} answers"
    return Estimate(float(follows[leads].mean() + follows[trails].mean()) / 2, n, reason=left_out)
