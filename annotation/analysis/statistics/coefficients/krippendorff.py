"""Krippendorff's alpha (2011) of all people, and in many draws at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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


def krippendorff(ratings: Ratings, scale: Scale, undefined: Undefined = "null") -> Estimate:
    """Krippendorff's alpha (2011), for any number of people and missing answers; ``n``: units with two or more."""
    paired = ratings.codes[paired_units(ratings)]
    if not len(paired):
        return Estimate(None, 0, reason=too_few(ratings))
    if one_category(paired):
        return constant_estimate("all raters used a single category", len(paired), undefined)
    return once(alpha_draws(ratings, scale, np.nan), ratings, len(paired))


def alpha_draws(ratings: Ratings, scale: Scale, constant: float) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``, see :class:`~annotation.analysis.statistics.matrix.Statistic`."""
    paired = paired_units(ratings)
    alpha = (_nominal if scale == "nominal" else _ordinal)(uses_of(ratings)[paired], constant)
    return lambda weight: alpha(weight[:, paired])


def _nominal(uses: Any, constant: float) -> Callable[[Values], Values]:
    """Krippendorff (2011), section C: values of a unit with m answers pair off with a weight of 1 / (m - 1)."""
    people = np.asarray(uses.sum(axis=1)).ravel()
    differ = (people**2 - np.asarray(uses.multiply(uses).sum(axis=1)).ravel()) / (people - 1)

    def alpha(weight: Values) -> Values:
        found = sums_of(weight, uses)
        given = found.sum(axis=1)
        observed, expected = weight @ differ, (given**2 - (found**2).sum(axis=1)) / (given - 1)
        return unless_constant(1 - observed / expected, found, given, constant)

    return alpha


def _ordinal(uses: Any, constant: float) -> Callable[[Values], Values]:
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
        return unless_constant(1 - observed / expected, found, given, constant)

    return alpha


ALPHA = Statistic(
    "krippendorff_alpha", "alpha", "Krippendorff’s α", "α", ("nominal", "ordinal"),
    "For {scale} answers, over the {unit}s with two or more.",
    "Krippendorff 2011, Computing Krippendorff’s alpha-reliability",
    krippendorff, paired_units, alpha_draws,
    when="The first to report: it takes any number of people and missing answers.")
