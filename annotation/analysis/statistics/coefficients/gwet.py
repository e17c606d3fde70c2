"""Gwet's AC1 (2008) of nominal answers and AC2 of ordinal ones, with quadratic weights, of all people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from annotation.analysis.records import Estimate, Scale, Undefined
from annotation.analysis.statistics.coefficients.weighting import alike, weighting
from annotation.analysis.statistics.matrix import (
    Ratings,
    Statistic,
    Values,
    once,
    paired_units,
    sums_of,
    too_few,
    uses_of,
)


def gwet(ratings: Ratings, scale: Scale, undefined: Undefined = "null") -> Estimate:
    """For any number of people and missing answers; ``n``: units with two answers or more. Those with one answer count
    in the shares of categories. Also defined where all raters used a single category: 1 there."""
    if not (n := int(paired_units(ratings).sum())):
        return Estimate(None, 0, reason=too_few(ratings))
    return once(gwet_draws(ratings, scale), ratings, n)


def gwet_draws(ratings: Ratings, scale: Scale, constant: float = np.nan) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``, see :class:`~annotation.analysis.statistics.matrix.Statistic`. Chance is
    T / (q (q - 1)) Σ π (1 - π): T the sum of the weights of q categories, π a category's mean share of a unit's
    answers."""
    from scipy.sparse import diags_array

    people, categories = ratings.people_per_unit(), len(ratings.categories)
    weights = weighting(scale, categories)
    same, paired, answered = alike(ratings, weights), (people >= 2) * 1.0, (people >= 1) * 1.0
    shares = diags_array(1 / np.maximum(people, 1)) @ uses_of(ratings)
    factor = weights.sum() / max(1, categories * (categories - 1))

    def coefficient(weight: Values) -> Values:
        share = sums_of(weight, shares) / (weight @ answered)[:, None]
        chance = factor * (share * (1 - share)).sum(axis=1)
        return np.asarray((weight @ same / (weight @ paired) - chance) / (1 - chance))

    return coefficient


AC1 = Statistic(
    "gwet_ac1", "ac1", "Gwet’s AC1", "AC1", ("nominal",),
    "Own code, checked against Gwet’s examples, over the {unit}s with two answers or more; those with one answer count "
    "in the shares of categories.",
    "Gwet 2008, Computing inter-rater reliability and its variance in the presence of high agreement",
    gwet, paired_units, gwet_draws,
    when="Report it next to α if one answer is rare: κ and α are then low even if nearly all answers agree.",
    rarity=False, single_answers=True)
AC2 = replace(
    AC1, key="gwet_ac2", column="ac2", name="Gwet’s AC2", symbol="AC2", scales=("ordinal",),
    how=AC1.how.replace("with two answers or more", "with two answers or more, with quadratic weights"),
    source="Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition",
    when="Report it next to α if nearly all ratings are close to each other: α is then low although people agree.")
