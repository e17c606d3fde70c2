"""Agreement on the five questions about sessions, among people and between people and a language model.

Everything is resampled by session. Ratings are ordinal. A language model answers each session once, so it is compared
with the median of the people who rated that session: their ratings are one opinion, not several independent ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from annotation.analysis.records import Estimate, Options
from annotation.analysis.statistics.agreement import agreement_draws
from annotation.analysis.statistics.bootstrap import shared_with_interval, weights, with_interval
from annotation.analysis.statistics.krippendorff import krippendorff
from annotation.analysis.statistics.matrix import Ratings
from annotation.sessions.questions import POINTS, QUESTIONS

_HALVES = tuple(f"{point / 2:g}" for point in range(2 * POINTS[0], 2 * POINTS[-1] + 1))   # a median can be 3.5


@dataclass(frozen=True)
class SessionRating:
    """One person's answer about one session. ``scores`` by question."""

    session: str
    annotator: str
    scores: Mapping[str, int]


@dataclass(frozen=True)
class QuestionAgreement:
    """``people``: Krippendorff's alpha of the people; ``model``: that of their median and the language model's score;
    ``difference``: the mean of the model's score less the mean of the people's, over sessions that both rated."""

    question: str
    mean: Estimate          # of all ratings of people, each session counting once
    people: Estimate
    model: Estimate
    difference: Estimate


def session_agreement(
    ratings: Sequence[SessionRating], judged: Mapping[str, Mapping[str, int]] | None = None,
    options: Options = Options(),
) -> list[QuestionAgreement]:
    """For each question, in their order.

    Args:
        ratings: current ones; of two by one person about one session the last counts.
        judged: the language model's scores by session; sessions that no person rated are left out.
    """
    current = {(one.session, one.annotator): one for one in ratings}
    by_session: dict[str, list[SessionRating]] = {}
    for one in current.values():
        by_session.setdefault(one.session, []).append(one)
    people = {name: place for place, name in enumerate(sorted({one.annotator for one in current.values()}))}
    return [_agreement(one.key, by_session, people, judged or {}, options) for one in QUESTIONS]


def _agreement(
    key: str, by_session: Mapping[str, Sequence[SessionRating]], people: Mapping[str, int],
    judged: Mapping[str, Mapping[str, int]], options: Options,
) -> QuestionAgreement:
    codes = np.full((len(by_session), len(people)), -1, np.int16)
    for row, given in enumerate(by_session.values()):
        for one in given:
            codes[row, people[one.annotator]] = one.scores[key] - POINTS[0]
    both = [(median(one.scores[key] for one in given), fmean(one.scores[key] for one in given), judged[session][key])
            for session, given in by_session.items() if session in judged]
    middle = np.array([[round(2 * (value - POINTS[0])) for value in (middle, score)] for middle, _, score in both],
                      np.int16).reshape(-1, 2)
    means = [fmean(one.scores[key] for one in given) for given in by_session.values()]
    return QuestionAgreement(
        key, _mean(means, "no session has a rating", options),
        _alpha(Ratings(codes, tuple(map(str, POINTS)), "session"), options),
        _alpha(Ratings(middle, _HALVES, "session"), options, "no session was rated by people and the language model"),
        _mean([score - mean for _, mean, score in both], "no session was rated by people and the language model",
              options),
    )


def _alpha(ratings: Ratings, options: Options, empty: str = "") -> Estimate:
    if empty and not len(ratings.codes):
        return Estimate(None, 0, reason=empty)
    found = krippendorff(ratings, "ordinal", options.undefined)
    if found.value is None or not options.draws:
        return found
    drawn = agreement_draws(ratings, (), options.draws, options.seed, scale="ordinal", undefined=options.undefined,
                            kappas=False)
    return shared_with_interval(found, drawn.alpha, ratings)


def _mean(values: Sequence[float], empty: str, options: Options) -> Estimate:
    """Every value is that of one session."""
    if not values:
        return Estimate(None, 0, reason=empty)
    found = Estimate(fmean(values), len(values))
    if not options.draws:
        return found
    drawn = [weight @ np.array(values) / len(values) for weight in weights(len(values), options.draws, options.seed)]
    return with_interval(found, np.concatenate(drawn), len(values), "sessions")
