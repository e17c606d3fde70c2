"""Answers of a preference study as arrays, for its statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Resample
from annotation.analysis.statistics.bootstrap import PEOPLE, with_interval
from annotation.records import Judgement, MetricScores, name_key


@dataclass(frozen=True)
class AnswerRows:
    """One row per answer. ``question`` and ``person`` are indices from 0 over those with an answer."""

    item_ids: tuple[str, ...]          # of the questions
    question: NDArray[np.int64]        # (rows,)
    person: NDArray[np.int64]          # (rows,)
    people: int
    ratings: NDArray[np.float64]       # (rows, 2), of stored sets 1 and 2
    preferred: NDArray[np.int8]        # (rows,): 1 or 2, 0 for a tie
    first: NDArray[np.int8]            # (rows,): the stored set shown first; 0 if not recorded

    def unit(self, resample: Resample) -> NDArray[np.int64]:
        """(rows,): resampling unit: question or person."""
        return self.person if resample == "people" else self.question

    def units(self, resample: Resample) -> int:
        return self.people if resample == "people" else len(self.item_ids)

    def scores(self, metric: MetricScores | None) -> NDArray[np.float64]:
        """(rows, 2): the metric's scores of stored sets 1 and 2; nan without a score."""
        found = np.full((len(self.item_ids), 2), np.nan)
        if metric is not None:
            for place, item_id in enumerate(self.item_ids):
                for which in (1, 2):
                    found[place, which - 1] = metric.scores.get((item_id, which), np.nan)
        return found[self.question]


def over_draws(estimate: Estimate, values: NDArray[np.float64], unit: NDArray[np.int64], options: Options) -> Estimate:
    """``estimate`` with its bootstrap interval.

    Args:
        values: replicates, (draws,).
        unit: (rows,), resampling unit of each row that the estimate uses.
    """
    return with_interval(estimate, values, len(np.unique(unit)), drawn_whole(options.resample))


def drawn_whole(resample: Resample) -> str:
    """Name of the resampling unit, in the plural."""
    return PEOPLE if resample == "people" else "questions"


def answer_rows(judgements: Sequence[Judgement]) -> AnswerRows:
    """``judgements``: current ones of a preference study, in canonical form; rows keep their order."""
    questions: dict[str, int] = {}
    people: dict[str, int] = {}
    count = len(judgements)
    question, person = np.zeros(count, np.int64), np.zeros(count, np.int64)
    ratings, preferred, first = np.zeros((count, 2)), np.zeros(count, np.int8), np.zeros(count, np.int8)
    for row, judgement in enumerate(judgements):
        answer = judgement.answer
        question[row] = questions.setdefault(judgement.item_id, len(questions))
        person[row] = people.setdefault(name_key(judgement.annotator), len(people))
        ratings[row] = answer["ratings"]
        preferred[row], first[row] = answer["preferred"], answer["first"] or 0
    return AnswerRows(tuple(questions), question, person, len(people), ratings, preferred, first)
