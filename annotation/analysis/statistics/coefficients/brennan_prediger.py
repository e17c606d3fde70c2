"""The coefficient of Brennan and Prediger (1981) of all people; with two categories it is PABAK, of an ordinal scale it
has quadratic weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from annotation.analysis.records import Estimate, Scale, Undefined
from annotation.analysis.statistics.coefficients.weighting import alike, weighting
from annotation.analysis.statistics.matrix import Ratings, Statistic, Values, once, paired_units, too_few


def brennan_prediger(ratings: Ratings, scale: Scale, undefined: Undefined = "null") -> Estimate:
    """For any number of people and missing answers; ``n``: units with two answers or more. Also defined where all
    raters used a single category: 1 there. Not with a single possible category."""
    if not (n := int(paired_units(ratings).sum())):
        return Estimate(None, 0, reason=too_few(ratings))
    if len(ratings.categories) < 2:
        return Estimate(None, n, reason="there is only one category")
    return once(brennan_prediger_draws(ratings, scale), ratings, n)


def brennan_prediger_draws(ratings: Ratings, scale: Scale, constant: float = np.nan) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``, see :class:`~annotation.analysis.statistics.matrix.Statistic`. Chance is
    the mean weight: all categories are as likely."""
    weights = weighting(scale, len(ratings.categories))
    same, paired = alike(ratings, weights), (ratings.people_per_unit() >= 2) * 1.0
    chance = weights.sum() / max(1, len(ratings.categories))**2
    return lambda weight: np.asarray((weight @ same / (weight @ paired) - chance) / (1 - chance))


BRENNAN_PREDIGER = Statistic(
    "brennan_prediger", "bp", "Brennan–Prediger", "BP", ("nominal", "ordinal"),
    "Own code, checked against Gwet’s examples, {scale}, over the {unit}s with two answers or more. Chance agreement "
    "is that of random answers. With two possible answers it is PABAK.",
    "Brennan and Prediger 1981, Coefficient kappa: some uses, misuses, and alternatives",
    brennan_prediger, paired_units, brennan_prediger_draws,
    when="Use it to compare questions whose answers are not equally frequent: its chance level is the same for all.",
    rarity=False)
