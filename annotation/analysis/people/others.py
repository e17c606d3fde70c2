"""Each person against the majority of the others, how severe they are, and what agreement is without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.analysis.records import Estimate, Options, Scale
from annotation.analysis.statistics.bootstrap import share_with_interval, weights, with_interval
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.analysis.statistics.cohen import cohen
from annotation.analysis.statistics.matrix import Codes, Ratings, Values, counts, paired_units

MOST = 50
"""People of whom agreement without each is computed."""


@dataclass(frozen=True)
class Against:
    """One person. ``agreement``: share of the units with a majority of the others on which the person says the same;
    ``kappa``: Cohen's, of the same; ``severity``: own code less the mean of the others', over the units that they
    answered, too: of yes or no how much more often the person says yes, of ratings points; ``without``: Krippendorff's
    alpha of the others; ``difference``: that less alpha of all. ``n`` counts units."""

    agreement: Estimate
    kappa: Estimate
    severity: Estimate
    without: Estimate
    difference: Estimate


def majority_of_others(ratings: Ratings, person: int) -> Codes:
    """``[units]``: what more of the other people say than anything else; -1 where nothing is, or nobody answered."""
    others = np.delete(ratings.codes, person, axis=1)
    uses = counts(others, len(ratings.categories))
    most = uses.max(axis=1, initial=0)
    alone = (uses == most[:, None]).sum(axis=1) == 1
    return np.where((most > 0) & alone, uses.argmax(axis=1) if uses.size else -1, -1)


@dataclass(frozen=True)
class MeanOver:
    """Of ``values`` over the units that are ``met``, both ``[units]``."""

    values: Values
    met: Values

    def __call__(self, weight: Values) -> Values:
        return np.asarray((weight @ (self.values * self.met)) / (weight @ self.met))

    @property
    def n(self) -> int:
        return int(self.met.sum())


def against_others(
    ratings: Ratings, scale: Scale, options: Options, groups: Codes | None = None,
) -> tuple[Against, ...]:
    """A row for each person, in the order of the columns. Intervals are over draws of units, the same for everything:
    the difference of two alphas is paired. ``groups``: ``[units]``, numbers of what is drawn whole."""
    people = ratings.codes.shape[1]
    same, apart = [_same(ratings, person) for person in range(people)], _apart(ratings)
    some = people <= MOST
    alphas = [alpha_of(ratings, scale, options)] * some + [
        alpha_of(Ratings(np.delete(ratings.codes, person, axis=1), ratings.categories), scale, options)
        for person in range(people) if some]
    wanted: list[Callable[[Values], Values]] = [*same, *apart, *alphas]
    points, draws = evaluated(wanted, len(ratings.codes), options, groups)

    def at(place: int, n: int, none: str, share: bool = False) -> Estimate:
        value = float(points[place])
        if np.isnan(value):
            return Estimate(None, n, reason=none)
        return (share_with_interval if share else with_interval)(Estimate(value, n), draws[place], n, f"{unit}s")

    unit, found = ratings.unit, []
    people_per_unit = ratings.people_per_unit()
    for person in range(people):
        rest = int((people_per_unit - (ratings.codes[:, person] >= 0) >= 2).sum())
        undefined = f"undefined: no {unit} with two answers, or a single category" if some else (
            f"not computed for more than {MOST} people")
        place = 2 * people + 1 + person
        difference = Estimate(None, rest, reason=undefined)
        if some and not np.isnan(points[place] - points[2 * people]):
            difference = with_interval(Estimate(float(points[place] - points[2 * people]), rest),
                                       draws[place] - draws[2 * people], rest, f"{unit}s")
        none = f"no {unit} has a majority of the others"
        found.append(Against(
            at(person, same[person].n, none, share=True),
            cohen(ratings.codes[:, person], majority_of_others(ratings, person), len(ratings.categories),
                  options.undefined) if same[person].n else Estimate(None, 0, reason=none),
            at(people + person, apart[person].n, f"no {unit} was answered by others, too"),
            at(place, rest, undefined) if some else Estimate(None, rest, reason=undefined), difference))
    return tuple(found)


def severities(ratings: Ratings, options: Options, groups: Codes | None = None) -> tuple[Estimate, ...]:
    """``severity`` of :class:`Against` alone, of each person."""
    apart = _apart(ratings)
    points, draws = evaluated(list(apart), len(ratings.codes), options, groups)
    return tuple(
        with_interval(Estimate(float(value), one.n), drawn, one.n, f"{ratings.unit}s") if one.n else
        Estimate(None, 0, reason=f"no {ratings.unit} was answered by others, too")
        for one, value, drawn in zip(apart, points, draws, strict=True))


def _same(ratings: Ratings, person: int) -> MeanOver:
    own, others = ratings.codes[:, person], majority_of_others(ratings, person)
    return MeanOver((own == others).astype(np.float64), ((own >= 0) & (others >= 0)).astype(np.float64))


def _apart(ratings: Ratings) -> list[MeanOver]:
    there = ratings.codes >= 0
    values = np.where(there, ratings.codes, 0).astype(np.float64)
    total, given = values.sum(axis=1, keepdims=True), there.sum(axis=1, keepdims=True)
    apart = values - (total - values) / np.maximum(given - 1, 1)
    met = (there & (given > 1)).astype(np.float64)
    return [MeanOver(apart[:, person], met[:, person]) for person in range(ratings.codes.shape[1])]


def alpha_of(ratings: Ratings, scale: Scale, options: Options) -> Callable[[Values], Values]:
    if not paired_units(ratings).any():
        return lambda weight: np.full(len(weight), np.nan)
    return ALPHA.draws(ratings, scale, 1.0 if options.undefined == "one" else np.nan)


def evaluated(
    wanted: list[Callable[[Values], Values]], units: int, options: Options, groups: Codes | None,
) -> tuple[Values, Values]:
    """``[wanted]`` of the units as they are, and ``[wanted, draws]``."""
    means = [place for place, one in enumerate(wanted) if isinstance(one, MeanOver)]
    rest = [place for place, one in enumerate(wanted) if not isinstance(one, MeanOver)]
    chosen = [one for one in wanted if isinstance(one, MeanOver)]
    sums = np.array([one.values * one.met for one in chosen] + [one.met for one in chosen])
    sums = sums.reshape(2 * len(chosen), units).T

    def of(weight: Values, places: list[int]) -> Values:
        found = np.full((len(wanted), len(weight)), np.nan)
        total, met = np.hsplit(weight @ sums, 2)
        found[means] = (total / met).T
        for place in places:
            found[place] = wanted[place](weight)
        return found

    with np.errstate(divide="ignore", invalid="ignore"):     # 0 / 0: nothing of what it rests on was drawn
        points = of(np.ones((1, units)), rest)[:, 0]
        rest = [place for place in rest if not np.isnan(points[place])]
        draws = [of(weight, rest) for weight in weights(units, options.draws, options.seed, groups=groups)]
    return points, np.concatenate([np.empty((len(wanted), 0)), *draws], axis=1)
