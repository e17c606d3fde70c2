"""Ratings of sessions as numbers: means, agreement among people, and between people and a language model.

Intervals are percentiles over bootstrap samples of sessions, each with all its ratings. Ratings are ordinal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

import numpy as np

from annotation.analysis.records import Estimate, Options, Rater
from annotation.analysis.statistics.agreement import agreement_draws, agreement_estimates, statistics_of
from annotation.analysis.statistics.bootstrap import weights, with_interval
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.analysis.statistics.correlation import LEAST, spearman_draws
from annotation.analysis.statistics.matrix import Ratings
from annotation.kinds.ratings.answers import Questions
from annotation.kinds.ratings.report.records import ModelRatings, PersonRatings, QuestionRatings

NOT_BOTH = "no session was rated by people and the language model"
NOT_SHARED = "no session was rated by two people"

Scores = Mapping[str, int | None]
"""By question; None or nothing where it was not asked."""


@dataclass(frozen=True)
class RatedSession:
    """``people``: ratings by seat. ``models``: by name of a language model."""

    source: str
    turns: int
    people: Mapping[int, Scores]
    models: Mapping[str, Mapping[str, int]]


def question_ratings(key: str, asked: Questions, sessions: Sequence[RatedSession], options: Options) -> QuestionRatings:
    """``sessions``: with one answer or more."""
    sessions = [one for one in sessions if given_to(key, one)]
    given = [given_to(key, one) for one in sessions]
    apart = [fmean(abs(a - b) for a, b in combinations(ratings, 2)) for ratings in given if len(ratings) > 1]
    every = [rating for ratings in given for rating in ratings]
    return QuestionRatings(
        key, tuple(every.count(point) for point in asked.scale),
        mean_of([fmean(ratings) for ratings in given], "no session has a rating", options),
        _agreement(people_ratings(key, asked, sessions), options), mean_of(apart, NOT_SHARED, options))


def given_to(key: str, session: RatedSession) -> list[int]:
    """Ratings of one question, by people who were asked it."""
    return [rating for one in session.people.values() if (rating := one.get(key)) is not None]


def people_ratings(key: str, asked: Questions, sessions: Sequence[RatedSession]) -> Ratings:
    """A column for each person with an answer, by seat."""
    seats = {seat: place for place, seat in enumerate(sorted({seat for one in sessions for seat in one.people}))}
    codes = np.full((len(sessions), len(seats)), -1, np.int16)
    for row, session in enumerate(sessions):
        for seat, scores in session.people.items():
            codes[row, seats[seat]] = (scores.get(key) or 0) - 1      # -1: not asked
    return Ratings(codes, tuple(map(str, asked.scale)), "session")


def model_ratings(
    key: str, asked: Questions, model: str, sessions: Sequence[RatedSession], options: Options,
) -> ModelRatings:
    """``sessions``: rated by people and the model, which both answer all questions."""
    given = [given_to(key, session) for session in sessions]
    scores = [session.models[model][key] for session in sessions]
    halves = tuple(f"{half / 2:g}" for half in range(2, 2 * asked.points + 1))   # a median can be 3.5
    means = [fmean(ratings) for ratings in given]
    middle = np.array([[round(2 * (value - 1)) for value in (median(ratings), score)]
                       for ratings, score in zip(given, scores, strict=True)], np.int16).reshape(-1, 2)
    return ModelRatings(
        key, mean_of(scores, NOT_BOTH, options),
        mean_of([score - mean for score, mean in zip(scores, means, strict=True)], NOT_BOTH, options),
        _agreement(Ratings(middle, halves, "session"), options, NOT_BOTH)[ALPHA.key], _rho(scores, means, options),
        mean_of([fmean(abs(score - rating) for rating in ratings)
                 for score, ratings in zip(scores, given, strict=True)], NOT_BOTH, options))


def person_ratings(rater: Rater, asked: Questions, sessions: Sequence[RatedSession]) -> PersonRatings:
    """How one person rates beside the others, over all questions."""
    mine = [one for one in sessions if rater.seat in one.people]
    differences = [
        own - theirs
        for one in mine for seat, scores in one.people.items() if seat != rater.seat for key in asked.keys
        if (own := one.people[rater.seat].get(key)) is not None and (theirs := scores.get(key)) is not None]
    whole = [rating for one in mine if (rating := one.people[rater.seat][asked.whole.key]) is not None]
    return PersonRatings(
        rater.seat, rater.name, len(mine), fmean(whole),
        sum(len(one.people) > 1 for one in mine), fmean(map(abs, differences)) if differences else None,
        fmean(differences) if differences else None)


def mean_of(values: Sequence[float], empty: str, options: Options) -> Estimate:
    """Mean of one value for each session; ``empty``: why there is none."""
    if not values:
        return Estimate(None, 0, reason=empty)
    found = Estimate(fmean(values), len(values))
    if not options.draws:
        return found
    array = np.array(values, np.float64)
    drawn = [weight @ array / len(values) for weight in weights(len(values), options.draws, options.seed)]
    return with_interval(found, np.concatenate(drawn), len(values), "sessions")


def _agreement(ratings: Ratings, options: Options, empty: str = "") -> dict[str, Estimate]:
    if not len(ratings.codes):
        return {one.key: Estimate(None, 0, reason=empty or NOT_SHARED) for one in statistics_of("ordinal")}
    drawn = agreement_draws(ratings, (), options.draws, options.seed, scale="ordinal", undefined=options.undefined,
                            kappas=False)
    return agreement_estimates(ratings, drawn, options, "ordinal")


def _rho(scores: Sequence[float], means: Sequence[float], options: Options) -> Estimate:
    from scipy.stats import spearmanr

    if len(scores) < LEAST:
        return Estimate(None, len(scores), reason=f"only {len(scores)} sessions rated by both; {LEAST} are needed"
                        if scores else NOT_BOTH)
    for values, whose in ((scores, "the language model"), (means, "people")):
        if min(values) == max(values):
            return Estimate(None, len(scores), reason=f"{whose} rated all sessions the same")
    x, y = np.array(scores, np.float64), np.array(means, np.float64)
    found = Estimate(float(spearmanr(x, y).statistic), len(scores))
    if not options.draws:
        return found
    drawn = spearman_draws(x, y, np.arange(len(x)), len(x), options.draws, options.seed)
    return with_interval(found, drawn, len(x), "sessions")
