"""Agreement of people on which candidates answer a query, image by image.

Images of one query are not independent, so intervals are percentiles over bootstrap samples of queries, each with all
its images.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Rater
from annotation.analysis.statistics import cohen, shares
from annotation.analysis.statistics.agreement import AgreementDraws, agreement_draws, statistics_of
from annotation.analysis.statistics.bootstrap import share_with_interval, weights, with_interval
from annotation.analysis.statistics.matrix import Ratings, Values
from annotation.kinds.marks.report.records import MarkAgreement, PairMarks

NOT_SHARED = "no image has a yes or no from two people"
_NO, _YES = 0, 1

Interval = Callable[[Estimate, Values, int, str], Estimate]


class Marks:
    """Marks as a table. ``codes``: ``[images, people]``, 0 for no, 1 for yes, -1 for unsure or no mark; ``unsure`` and
    ``given`` count each image's marks; ``queries``: ``[images]``, the number of its query from 0."""

    def __init__(self, marks: Sequence[Sequence[str | None]], queries: Sequence[int], people: int) -> None:
        table = np.array([[{"no": _NO, "yes": _YES}.get(mark or "", -1) for mark in row] for row in marks],
                         np.int16).reshape(len(marks), people)
        self.codes = table
        self.unsure = np.array([sum(mark == "unsure" for mark in row) for row in marks], np.float64)
        self.given = np.array([sum(mark is not None for mark in row) for row in marks], np.float64)
        self.queries: NDArray[np.int64] = np.array(queries, np.int64)


def mark_agreement(of: Marks, options: Options) -> MarkAgreement:
    several = (of.codes >= 0).sum(axis=1) >= 2
    ratings, groups = Ratings(of.codes[several], ("no", "yes"), "image"), of.queries[several]
    pairs = list(combinations(range(of.codes.shape[1]), 2))
    each = [_pair(ratings.codes, a, b, options) for a, b in pairs]
    drawn = _draws(ratings, groups, pairs, options)
    queries = len(np.unique(groups))

    def over_queries(found: Estimate, values: Values, interval: Interval = with_interval) -> Estimate:
        return interval(found if found.n else Estimate(None, 0, reason=NOT_SHARED), values, queries, "queries")

    return MarkAgreement(
        over_queries(_mean([one for one, _ in each], len(ratings.codes)), drawn.mean_kappa),
        {one.key: over_queries(one.estimate(ratings, "nominal", options.undefined), drawn.pooled[one.key])
         for one in statistics_of("nominal")},
        over_queries(_mean([one for _, one in each], len(ratings.codes)), drawn.mean_agreement, share_with_interval),
        over_queries(shares.unanimous(ratings), drawn.unanimous, share_with_interval), _unsure(of, options))


def pair_marks(of: Marks, raters: Sequence[Rater], options: Options) -> tuple[PairMarks, ...]:
    """Each two of ``raters`` who share an image; they are the columns of ``of``."""
    found = []
    for a, b in combinations(range(len(raters)), 2):
        kappa, same = _pair(of.codes, a, b, options)
        if not same.n:
            continue
        both = (of.codes[:, a] >= 0) & (of.codes[:, b] >= 0)
        ratings = Ratings(of.codes[both][:, [a, b]], ("no", "yes"), "image")
        drawn, queries = _draws(ratings, of.queries[both], [(0, 1)], options), len(np.unique(of.queries[both]))
        found.append(PairMarks(
            raters[a].name, raters[b].name, same.n, with_interval(kappa, drawn.mean_kappa, queries, "queries"),
            share_with_interval(same, drawn.mean_agreement, queries, "queries")))
    return tuple(found)


def mean_kappa(of: Marks, person: int, options: Options) -> float | None:
    """Of one person with each other for whom it is defined."""
    found = [_pair(of.codes, person, other, options)[0].value for other in range(of.codes.shape[1]) if other != person]
    there = [value for value in found if value is not None]
    return fmean(there) if there else None


def _pair(codes: NDArray[np.int16], a: int, b: int, options: Options) -> tuple[Estimate, Estimate]:
    return cohen.cohen(codes[:, a], codes[:, b], 2, options.undefined), cohen.agreement(codes[:, a], codes[:, b])


def _mean(found: Sequence[Estimate], images: int) -> Estimate:
    there = [one.value for one in found if one.value is not None]
    if not images:
        return Estimate(None, 0, reason=NOT_SHARED)
    if not there:
        return Estimate(None, images, reason="undefined for all pairs")
    undefined = sum(one.value is None and one.n > 0 for one in found)
    return Estimate(fmean(there), images, reason=f"undefined for {undefined} of the pairs" if undefined else "")


def _draws(
    ratings: Ratings, queries: NDArray[np.int64], pairs: Sequence[tuple[int, int]], options: Options
) -> AgreementDraws:
    return agreement_draws(ratings, pairs, options.draws, options.seed, undefined=options.undefined, groups=queries)


def _unsure(of: Marks, options: Options) -> Estimate:
    marks = int(of.given.sum())
    if not marks:
        return Estimate(None, 0, reason="no answers")
    _, groups = np.unique(of.queries, return_inverse=True)
    drawn = [(weight @ of.unsure) / (weight @ of.given)
             for weight in weights(len(of.codes), options.draws, options.seed, groups=groups)]
    values = np.concatenate(drawn) if drawn else np.array([])
    return share_with_interval(Estimate(float(of.unsure.sum() / marks), marks), values, int(groups.max()) + 1,
                               "queries")
