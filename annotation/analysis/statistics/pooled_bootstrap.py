"""Agreement of all people at once, in many bootstrap samples of units.

Each function looks at the ratings once and hands back what takes weights ``[batch, units]`` to a statistic
``[batch]``. 0 / 0 means that nothing was drawn that the statistic rests on: numpy's nan, and the caller silences its
warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from annotation.analysis.records import Scale
from annotation.analysis.statistics.agreement import all_same, fleiss_units
from annotation.analysis.statistics.bootstrap import Values
from annotation.analysis.statistics.matrix import Ratings

Statistic = Callable[[Values], Values]
FLEISS, ALPHA = 0, 1
"""Rows of :func:`pooled_statistics`."""


def pooled_statistics(ratings: Ratings, scale: Scale, constant: float) -> Statistic:
    """Fleiss' kappa, Krippendorff's alpha and unanimous share, ``[3, batch]``, see :data:`FLEISS` and
    :data:`ALPHA`. ``constant``: what kappa and alpha are of a sample with one category."""
    people, chosen = ratings.people_per_unit(), fleiss_units(ratings)
    paired = people >= 2
    uses = _uses(ratings)
    same = all_same(ratings.codes)[paired].astype(np.float64)
    fleiss = _fleiss(uses[chosen], int(people[chosen][0]) if chosen.any() else 2, constant)
    alpha = (_nominal if scale == "nominal" else _ordinal)(uses[paired], constant)

    def statistics(weight: Values) -> Values:
        some = weight[:, paired]
        return np.stack([fleiss(weight[:, chosen]), alpha(some), some @ same / some.sum(axis=1)])

    return statistics


def positive_rates(ratings: Ratings) -> Statistic:
    """Share of all answers that are the second of two categories."""
    answers, yes = ((of.sum(axis=1).astype(np.float64)) for of in (ratings.codes >= 0, ratings.codes == 1))
    return lambda weight: (weight @ yes) / (weight @ answers)


def _fleiss(uses: Any, answers: int, constant: float) -> Statistic:
    """Fleiss (1971); ``answers`` of each unit."""
    alike = np.asarray(uses.multiply(uses).sum(axis=1)).ravel() - answers

    def kappa(weight: Values) -> Values:
        given = answers * weight.sum(axis=1)
        found = _sums(weight, uses)
        observed = weight @ alike / (given * (answers - 1))
        expected = (found**2).sum(axis=1) / given**2
        return _unless_constant((observed - expected) / (1 - expected), found, given, constant)

    return kappa


def _nominal(uses: Any, constant: float) -> Statistic:
    """Krippendorff (2011), section C: values of a unit with m answers pair off with a weight of 1 / (m - 1)."""
    people = np.asarray(uses.sum(axis=1)).ravel()
    differ = (people**2 - np.asarray(uses.multiply(uses).sum(axis=1)).ravel()) / (people - 1)

    def alpha(weight: Values) -> Values:
        found = _sums(weight, uses)
        given = found.sum(axis=1)
        observed, expected = weight @ differ, (given**2 - (found**2).sum(axis=1)) / (given - 1)
        return _unless_constant(1 - observed / expected, found, given, constant)

    return alpha


def _ordinal(uses: Any, constant: float) -> Statistic:
    """Krippendorff (2011), section D: two categories differ by the square of the uses between their middles."""
    table = uses.toarray()
    low, high = np.triu_indices(table.shape[1], 1)
    meet = 2 * table[:, low] * table[:, high] / (table.sum(axis=1, keepdims=True) - 1)

    def alpha(weight: Values) -> Values:
        found = weight @ table
        given = found.sum(axis=1)
        middle = found.cumsum(axis=1) - found / 2
        apart = (middle[:, low] - middle[:, high])**2
        observed = ((weight @ meet) * apart).sum(axis=1)
        expected = 2 * (found[:, low] * found[:, high] * apart).sum(axis=1) / (given - 1)
        return _unless_constant(1 - observed / expected, found, given, constant)

    return alpha


def _uses(ratings: Ratings) -> Any:
    """``[units, categories]``, sparse: of hundreds of signatures a unit has a few."""
    from scipy.sparse import csr_array

    unit, person = np.nonzero(ratings.codes >= 0)
    given = np.ones(len(unit)), (unit, ratings.codes[unit, person])
    return csr_array(given, shape=(len(ratings.codes), len(ratings.categories)))


def _sums(weight: Values, table: Any) -> Values:
    return np.asarray(table.T @ weight.T).T


def _unless_constant(statistic: Values, found: Values, given: Values, constant: float) -> Values:
    """``found``: uses of each category in each draw, ``given``: all of them."""
    alike = (found.max(axis=1, initial=0) == given) & (given > 0)
    return np.where(alike, constant, np.where(given > 0, statistic, np.nan))
