"""One question of a study: a language model's answers beside people's, and people's beside each other's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotation.analysis.models.alternative import AlternativeTest, alternative_test
from annotation.analysis.people.others import (
    MOST,
    Against,
    MeanOver,
    against_others,
    alpha_of,
    evaluated,
    majority_of_others,
)
from annotation.analysis.records import Estimate, Options, Scale
from annotation.analysis.statistics.agreement import agreement_draws, agreement_estimates
from annotation.analysis.statistics.bootstrap import share_with_interval, with_interval
from annotation.analysis.statistics.cohen import agreement, cohen
from annotation.analysis.statistics.matrix import Codes, Ratings, Values, counts
from annotation.analysis.statistics.shares import share


@dataclass(frozen=True)
class Pairs:
    """Of all pairs: the mean share of units on which two say the same, and the mean Cohen's kappa. ``n``: pairs."""

    agreement: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class InPlace:
    """One person left out. ``person``, ``model``: as the majority of the other people, on the same units;
    ``difference``: the model less the person; ``alpha``: Krippendorff's with the model in the person's place, less that
    of all people."""

    person: Estimate
    model: Estimate
    difference: Estimate
    alpha: Estimate


@dataclass(frozen=True)
class Comparison:
    """Everything is of the units that the model answered.

    ``people``, ``together``: every coefficient among people, and with the model as one more; ``pairs_people``: of two
    people, ``pairs_model``: of the model and a person; ``model``: against the majority of all people.
    ``confusion[true, said]``: units by what most people say and what the model says; ``hits``: of each row the share on
    the diagonal. ``in_place``: a row for each of the people.
    """

    scale: Scale
    unit: str
    categories: tuple[str, ...]
    units: int
    people: Mapping[str, Estimate]
    together: Mapping[str, Estimate]
    pairs_people: Pairs
    pairs_model: Pairs
    model: Against
    in_place: tuple[InPlace, ...]
    confusion: tuple[tuple[int, ...], ...]
    hits: tuple[Estimate, ...]
    test: AlternativeTest


def compare(
    ratings: Ratings, model: Codes, scale: Scale, options: Options, groups: Codes | None = None,
) -> Comparison:
    """``ratings``: of people, of the units that the model answered; ``model``: ``[units]``, its codes. ``groups``:
    ``[units]``, numbers of what intervals draw whole."""
    both = Ratings(np.column_stack([ratings.codes, model]).astype(np.int16), ratings.categories, ratings.unit)
    people = ratings.codes.shape[1]
    pairs = list(combinations(range(people), 2)) if people <= MOST else []
    with_model = [(person, people) for person in range(people)]
    shared = [pair for pair in (*pairs, *with_model) if (both.codes[:, pair] >= 0).all(axis=1).any()]
    drawn = agreement_draws(both, shared, options.draws, options.seed, scale=scale, undefined=options.undefined,
                            groups=groups)
    alone = agreement_draws(ratings, [], options.draws, options.seed, scale=scale, undefined=options.undefined,
                            kappas=False, groups=groups)

    def of_pairs(chosen: Sequence[tuple[int, int]]) -> Pairs:
        these = frozenset(chosen)
        places = [place for place, pair in enumerate(shared) if pair in these]
        same = [agreement(both.codes[:, a], both.codes[:, b]).value for a, b in chosen]
        kappa = [cohen(both.codes[:, a], both.codes[:, b], len(both.categories), options.undefined).value
                 for a, b in chosen]
        none = "no two people answered the same" if people <= MOST else f"not computed for more than {MOST} people"
        return Pairs(_mean(same, drawn.agreements[:, places], both, none, share=True),
                     _mean(kappa, drawn.kappas[:, places], both, none))

    majority = majority_of_others(both, people)
    table = counts(np.where(majority >= 0, majority * len(both.categories) + model, -1)[None].T.astype(np.int64),
                   len(both.categories) ** 2).sum(axis=0).reshape(len(both.categories), -1)
    return Comparison(
        scale, ratings.unit, ratings.categories, len(both.codes),
        agreement_estimates(ratings, alone, options, scale), agreement_estimates(both, drawn, options, scale),
        of_pairs(pairs), of_pairs(with_model), against_others(both, scale, options, groups)[people],
        _in_place(ratings, model, scale, options, groups), tuple(tuple(map(int, row)) for row in table),
        tuple(share(int(row[place]), int(row.sum())) for place, row in enumerate(table)),
        alternative_test(ratings, model, scale, options, groups))


def _mean(
    values: Sequence[float | None], drawn: Values, of: Ratings, none: str, *, share: bool = False
) -> Estimate:
    there = [value for value in values if value is not None]
    if not there:
        return Estimate(None, 0, reason=none)
    defined = ~np.isnan(drawn)
    with np.errstate(invalid="ignore"):
        means = np.where(defined, drawn, 0).sum(axis=1) / defined.sum(axis=1)
    units = int((of.people_per_unit() > 1).sum())
    made = share_with_interval if share else with_interval
    return made(Estimate(float(np.mean(there)), len(there)), means, units, f"{of.unit}s")


def _in_place(
    ratings: Ratings, model: Codes, scale: Scale, options: Options, groups: Codes | None
) -> tuple[InPlace, ...]:
    people = ratings.codes.shape[1]
    if people > MOST:
        return ()
    wanted: list[Callable[[Values], Values]] = [alpha_of(ratings, scale, options)]
    met = []
    for person in range(people):
        own, others = ratings.codes[:, person], majority_of_others(ratings, person)
        there = ((own >= 0) & (others >= 0)).astype(np.float64)
        met.append(int(there.sum()))
        replaced = ratings.codes.copy()
        replaced[:, person] = np.where(own >= 0, model, -1)      # on the same units: else more would be compared
        wanted += [MeanOver((own == others).astype(np.float64), there),
                   MeanOver((model == others).astype(np.float64), there),
                   alpha_of(Ratings(replaced, ratings.categories, ratings.unit), scale, options)]
    points, draws = evaluated(wanted, len(ratings.codes), options, groups)

    def at(place: int, minus: int | None, n: int, *, share: bool = False) -> Estimate:
        value = float(points[place] - (0 if minus is None else points[minus]))
        if np.isnan(value):
            return Estimate(None, n, reason=f"no {ratings.unit} has a majority of the others")
        values = draws[place] - (0 if minus is None else draws[minus])
        return (share_with_interval if share else with_interval)(Estimate(value, n), values, n, f"{ratings.unit}s")

    return tuple(
        InPlace(at(first, None, n, share=True), at(first + 1, None, n, share=True), at(first + 1, first, n),
                at(first + 2, 0, n))
        for first, n in zip(range(1, 1 + 3 * people, 3), met, strict=True))
