"""Intraclass correlations of single ratings (Shrout and Fleiss 1979): ICC(1,1), of raters who differ from unit to unit,
and ICC(2,1), of raters who all rate the same units. Points of the scale count as equally far apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Scale, Undefined
from annotation.analysis.statistics.matrix import (
    Ratings,
    Statistic,
    Values,
    constant_estimate,
    once,
    one_category,
    paired_units,
    sums_of,
    too_few,
    unless_constant,
    uses_of,
)


def icc_one_way(ratings: Ratings, scale: Scale, undefined: Undefined = "null") -> Estimate:
    """ICC(1,1) by analysis of variance, over units with two ratings or more (``n``), of which there may be different
    numbers."""
    return _estimate(ratings, paired_units(ratings), icc_one_way_draws, undefined, too_few(ratings))


def icc_one_way_draws(ratings: Ratings, scale: Scale, constant: float = np.nan) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``, see :class:`~annotation.analysis.statistics.matrix.Statistic`."""
    chosen = paired_units(ratings)
    people, total, squares = _sums(ratings, chosen)
    uses = uses_of(ratings)[chosen]

    def icc(weight: Values) -> Values:
        weight = weight[:, chosen]
        groups, answers = weight.sum(axis=1), weight @ people
        between = (weight @ (total**2 / people) - (weight @ total)**2 / answers) / (groups - 1)
        within = weight @ (squares - total**2 / people) / (answers - groups)
        each = (answers - weight @ people**2 / answers) / (groups - 1)
        found = sums_of(weight, uses)
        return unless_constant((between - within) / (between + (each - 1) * within), found, answers, constant)

    return icc


def icc_two_way(ratings: Ratings, scale: Scale, undefined: Undefined = "null") -> Estimate:
    """ICC(2,1), absolute agreement, by analysis of variance, over the units that all people rated (``n``)."""
    people = ratings.codes.shape[1]
    return _estimate(ratings, rated_by_all(ratings), icc_two_way_draws, undefined,
                     f"no {ratings.unit} was rated by all {people:,} people" if people > 1 else too_few(ratings))


def rated_by_all(ratings: Ratings) -> NDArray[np.bool_]:
    """``[units]``; none of a single person."""
    people = ratings.people_per_unit()
    return np.asarray((people == ratings.codes.shape[1]) & (people > 1))


def icc_two_way_draws(ratings: Ratings, scale: Scale, constant: float = np.nan) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``, see :class:`~annotation.analysis.statistics.matrix.Statistic`."""
    chosen, k = rated_by_all(ratings), ratings.codes.shape[1]
    codes = ratings.codes[chosen].astype(np.float64)
    _, total, squares = _sums(ratings, chosen)
    uses = uses_of(ratings)[chosen]

    def icc(weight: Values) -> Values:
        weight = weight[:, chosen]
        n = weight.sum(axis=1)
        mean = (weight @ total)**2 / (n * k)
        rows = weight @ total**2 / k - mean
        columns = ((weight @ codes)**2).sum(axis=1) / n - mean
        error = (weight @ squares - mean - rows - columns) / ((n - 1) * (k - 1))
        rows, columns = rows / (n - 1), columns / (k - 1)
        value = (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n)
        return unless_constant(value, sums_of(weight, uses), k * n, constant)

    return icc


def _sums(ratings: Ratings, chosen: NDArray[np.bool_]) -> tuple[Values, Values, Values]:
    """``[units]`` each: ratings, their sum and the sum of their squares."""
    codes = np.where(ratings.codes[chosen] < 0, 0, ratings.codes[chosen]).astype(np.float64)
    return ratings.people_per_unit()[chosen].astype(np.float64), codes.sum(axis=1), (codes**2).sum(axis=1)


def _estimate(
    ratings: Ratings, chosen: NDArray[np.bool_], draws: Callable[[Ratings, Scale], Callable[[Values], Values]],
    undefined: Undefined, none: str,
) -> Estimate:
    n = int(chosen.sum())
    if not n:
        return Estimate(None, 0, reason=none)
    if one_category(ratings.codes[chosen]):
        return constant_estimate("all raters used a single category", n, undefined)
    if n < 2:
        return Estimate(None, n, reason=f"only one {ratings.unit}")
    return once(draws(ratings, "ordinal"), ratings, n)


ICC_ONE_WAY = Statistic(
    "icc_1", "icc_1", "ICC(1,1)", "ICC(1,1)", ("ordinal",),
    "Own code, one-way analysis of variance, over the {unit}s with two answers or more.",
    "Shrout and Fleiss 1979, Intraclass correlations: uses in assessing rater reliability",
    icc_one_way, paired_units, icc_one_way_draws,
    when="Use it if each {unit} was rated by different people: it is the share of variance due to the {unit}.")
ICC_TWO_WAY = Statistic(
    "icc_2", "icc_2", "ICC(2,1)", "ICC(2,1)", ("ordinal",),
    "Own code, two-way analysis of variance, absolute agreement, over the {unit}s that all people rated.",
    "Shrout and Fleiss 1979, Intraclass correlations: uses in assessing rater reliability",
    icc_two_way, rated_by_all, icc_two_way_draws,
    when="Use it if the same people rated all {unit}s, as a sample of possible raters.")
