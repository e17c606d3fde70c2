"""Fleiss' kappa (1971) of all people, and in many draws at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Undefined
from annotation.analysis.statistics.matrix import (
    Ratings,
    Statistic,
    Values,
    constant_estimate,
    once,
    one_category,
    sums_of,
    too_few,
    unless_constant,
    uses_of,
)


def fleiss(ratings: Ratings, undefined: Undefined = "null") -> Estimate:
    """Fleiss' kappa (1971) over the units of :func:`fleiss_units`; ``n`` counts them."""
    people, chosen = ratings.people_per_unit(), fleiss_units(ratings)
    if not (n := int(chosen.sum())):
        return Estimate(None, 0, reason=too_few(ratings))
    each, left = int(people[chosen][0]), int((people >= 2).sum()) - n
    said = f"{_count(n, ratings.unit)} with {each} answers each; {left:,} with another number left out" if left else ""
    codes = ratings.codes[chosen]
    if one_category(codes):
        return constant_estimate("all raters used a single category", n, undefined, said)
    return replace(once(fleiss_draws(ratings, np.nan), ratings, n), reason=said)


def fleiss_units(ratings: Ratings) -> NDArray[np.bool_]:
    """``[units]``: those that Fleiss' kappa can take together, for it wants as many answers for each. Of the units with
    two answers or more they are those with the most frequent number of answers; of two such numbers the larger."""
    people = ratings.people_per_unit()
    often = np.bincount(people[people >= 2])
    if not len(often):
        return np.zeros(len(people), dtype=np.bool_)
    return np.asarray(people == len(often) - 1 - int(often[::-1].argmax()))


def fleiss_draws(ratings: Ratings, constant: float) -> Callable[[Values], Values]:
    """Of weights of all units of ``ratings``, see :class:`~annotation.analysis.statistics.matrix.Statistic`."""
    chosen = fleiss_units(ratings)
    uses = uses_of(ratings)[chosen]
    answers = int(uses[[0]].sum()) if chosen.any() else 2     # of each unit
    alike = np.asarray(uses.multiply(uses).sum(axis=1)).ravel() - answers

    def kappa(weight: Values) -> Values:
        weight = weight[:, chosen]
        given = answers * weight.sum(axis=1)
        found = sums_of(weight, uses)
        observed = weight @ alike / (given * (answers - 1))
        expected = (found**2).sum(axis=1) / given**2
        return unless_constant((observed - expected) / (1 - expected), found, given, constant)

    return kappa


def _count(n: int, unit: str) -> str:
    return f"{n:,} {unit}" + ("" if n == 1 else "s")


FLEISS = Statistic(
    "fleiss_kappa", "fleiss", "Fleiss’ κ", "Fleiss’ κ", ("nominal",),
    "It needs the same number of answers for each {unit}: if numbers differ, over the {unit}s with the "
    "most common number.",
    "Fleiss 1971, Measuring nominal scale agreement among many raters",
    lambda ratings, scale, undefined: fleiss(ratings, undefined), fleiss_units,
    lambda ratings, scale, constant: fleiss_draws(ratings, constant),
    when="Use it to compare with papers that report it; α is close to it and takes all answers.")
