"""How often people prefer the set that a metric scores higher: preference rates of CIRQRS, and what sides do to them.

The paper's rate counts equal scores as support for set 1 (``ge``). Where a metric is often equal, as recall is, that
says more about how often set 1 is preferred than about the metric; ``gt`` and ``symmetric`` leave equal scores out.

Wilson's intervals and p take answers as independent. Draws take questions (or people) whole.
"""

from __future__ import annotations

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


def ge(compared: Compared, options: Options, units: int) -> Rate:
    """P(set 1 preferred | f(set 1) >= f(set 2)), CIRQRS's equation 8.

    Args:
        units: how many there are to draw from; as in all functions here.
    """
    return _one_sided(_rate(compared, compared.one >= compared.two, _set_one(compared), options, units,
                            "set 1 has a score as high as set 2's or higher"))


def gt(compared: Compared, options: Options, units: int) -> Rate:
    """P(set 1 preferred | f(set 1) > f(set 2))."""
    return _one_sided(_rate(compared, compared.one > compared.two, _set_one(compared), options, units,
                            "set 1 has the higher score"))


def symmetric(compared: Compared, options: Options, units: int) -> Rate:
    """P(preferred = the set with the higher f), where f differs."""
    return _rate(compared, _differ(compared), _higher(compared), options, units, "the two scores differ")


def given_equal_recall(compared: Compared, options: Options, units: int) -> Rate:
    """As :func:`symmetric`, of answers in which both sets have the same recall."""
    return _rate(compared, _differ(compared) & _equal_recall(compared), _higher(compared), options, units,
                 "the two scores differ and recall is equal")


def gt_given_equal_recall(compared: Compared, options: Options, units: int) -> Rate:
    """As :func:`gt`, of answers in which both sets have the same recall (CIRQRS's equation 9)."""
    return _one_sided(_rate(compared, (compared.one > compared.two) & _equal_recall(compared), _set_one(compared),
                            options, units, "set 1 has the higher score and recall is equal"))


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


def _one_sided(rate: Rate) -> Rate:
    # What a metric that tells nothing would reach is how often set 1 is preferred, not one half.
    return replace(rate, share=replace(rate.share, p=None))


def _set_one(compared: Compared) -> NDArray[np.int8]:
    return np.ones(len(compared.preferred), np.int8)


def _higher(compared: Compared) -> NDArray[np.int8]:
    return np.where(compared.one > compared.two, 1, 2).astype(np.int8)


def _differ(compared: Compared) -> NDArray[np.bool_]:
    # Not "!=", which holds of nan.
    return (compared.one > compared.two) | (compared.one < compared.two)


def _equal_recall(compared: Compared) -> NDArray[np.bool_]:
    equal: NDArray[np.bool_] = compared.recall_one == compared.recall_two     # nan equals nothing
    return equal


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
    why = "" if len(follows) else _why_none(compared, condition)
    drawn = Estimate(found.value, found.n, reason=why)
    adjusted = _adjusted(follows, leads, trails)
    if options.draws and len(follows):
        rows = np.stack([follows, np.ones_like(follows), leads & follows, leads, trails & follows, trails], axis=1)
        of_unit = np.zeros((units, rows.shape[1]))
        np.add.at(of_unit, unit, rows)
        sums = np.concatenate([batch @ of_unit for batch in weights(units, options.draws, options.seed)])
        with np.errstate(invalid="ignore"):     # 0 / 0: a draw without an answer of that kind is nan
            parts = sums[:, ::2] / sums[:, 1::2]
        drawn = over_draws(drawn, parts[:, 0], unit, options)
        adjusted = over_draws(adjusted, (parts[:, 1] + parts[:, 2]) / 2, unit[known], options)
    return Rate(found, drawn, adjusted, share(int((preferred == first)[known].sum()), int(known.sum())), why)


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
