"""How often people prefer the set that a metric scores higher: preference rates of CIRQRS, and what sides do to them.

The paper's rate counts equal scores as support for set 1 (``ge``). Where a metric is often equal, as recall is, that
says more about how often set 1 is preferred than about the metric; ``gt`` and ``symmetric`` leave equal scores out.

Wilson's intervals and p take answers as independent. Draws of the adjusted rate take questions (or people) whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.draws import weights, with_interval
from annotation.analysis.records import Estimate, Options, Rate
from annotation.quality import share


@dataclass(frozen=True)
class Compared:
    """A row for each answer that prefers one of its two sets; ties are left out before. All are (rows,).

    ``unit``: what draws take whole, the question or the person, as an index from 0. Scores and recalls are nan
    where there is none.
    """

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
    return _rate(compared, compared.one >= compared.two, _set_one(compared), options, units,
                 "set 1 has a score as high as set 2's or higher")


def gt(compared: Compared, options: Options, units: int) -> Rate:
    """P(set 1 preferred | f(set 1) > f(set 2))."""
    return _rate(compared, compared.one > compared.two, _set_one(compared), options, units,
                 "set 1 has the higher score")


def symmetric(compared: Compared, options: Options, units: int) -> Rate:
    """P(preferred = the set with the higher f), where f differs."""
    return _rate(compared, _differ(compared), _higher(compared), options, units, "the two scores differ")


def given_equal_recall(compared: Compared, options: Options, units: int) -> Rate:
    """As :func:`symmetric`, of answers in which both sets have the same recall (CIRQRS's equation 9)."""
    return _rate(compared, _differ(compared) & _equal_recall(compared), _higher(compared), options, units,
                 "the two scores differ and recall is equal")


def gt_given_equal_recall(compared: Compared, options: Options, units: int) -> Rate:
    """As :func:`gt`, of answers in which both sets have the same recall (CIRQRS's equation 9)."""
    return _rate(compared, (compared.one > compared.two) & _equal_recall(compared), _set_one(compared), options,
                 units, "set 1 has the higher score and recall is equal")


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
    return Rate(
        share(int(follows.sum()), len(follows)),
        _adjusted(unit[known], follows[known], (first == favoured)[known], len(follows), options, units),
        share(int((preferred == first)[known].sum()), int(known.sum())),
        _why_none(compared, condition) if not len(follows) else "",
    )


def _why_none(compared: Compared, condition: str) -> str:
    if not len(compared.preferred):
        return "no answer prefers one of its two sets"
    if np.isnan(compared.one + compared.two).all():
        return "there is no answer both of whose sets have a score"
    return f"there is no answer in which {condition}"


def _adjusted(
    unit: NDArray[np.int64], follows: NDArray[np.bool_], leads: NDArray[np.bool_], answers: int, options: Options,
    units: int,
) -> Estimate:
    """The mean of the rates where the favoured set ``leads`` (stood first) and where it does not.

    Of answers whose sides are known: each (rows,). ``answers``: all that the rate is about.
    """
    n = len(follows)
    if not n:
        return Estimate(None, 0, reason="nobody recorded which set stood first" if answers else "there are no answers")
    if leads.all() or not leads.any():
        where = "first" if not leads.any() else "second"
        return Estimate(None, n, reason=f"there is no answer in which the favoured set stood {where}")
    left_out = ""
    if n < answers:
        left_out = f"left out, for nobody recorded the sides: {answers - n:,} of {answers:,} answers"
    estimate = Estimate(float(follows[leads].mean() + follows[~leads].mean()) / 2, n, reason=left_out)
    if not options.draws:
        return estimate
    counts = np.zeros((units, 4))
    for column, rows in enumerate((leads, leads & follows, ~leads, ~leads & follows)):
        counts[:, column] = np.bincount(unit[rows], minlength=units)
    drawn = np.concatenate([batch @ counts for batch in weights(units, options.draws, options.seed)])
    with np.errstate(invalid="ignore"):     # 0 / 0: a draw without one of the sides is nan
        return with_interval(estimate, (drawn[:, 1] / drawn[:, 0] + drawn[:, 3] / drawn[:, 2]) / 2)
