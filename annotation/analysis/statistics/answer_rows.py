"""Answers of a preference study as arrays, for its statistics. Answers to questions on two known methods, and their
bootstrap sums per resampling unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Resample
from annotation.analysis.statistics.bootstrap import PEOPLE, share_with_interval, weights, with_interval
from annotation.records import Item, Judgement, MetricScores, name_key


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


def over_draws(
    estimate: Estimate, values: NDArray[np.float64], unit: NDArray[np.int64], options: Options, *, share: bool = False,
) -> Estimate:
    """``estimate`` with its bootstrap interval.

    Args:
        values: replicates, (draws,).
        unit: (rows,), resampling unit of each row that the estimate uses.
        share: as for :func:`~annotation.analysis.statistics.bootstrap.share_with_interval`.
    """
    made = share_with_interval if share else with_interval
    return made(estimate, values, len(np.unique(unit)), drawn_whole(options.resample))


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


Values = NDArray[np.float64]
_AT_ONCE = 2**21   # sums per batch; 16 MiB


@dataclass(frozen=True)
class Meetings:
    """One row per answer; arrays are (rows,) except ``ratings`` (rows, 2). ``one`` and ``two`` are the methods of
    stored sets 1 and 2, as indices into ``methods``, which are sorted by name."""

    methods: tuple[str, ...]
    one: NDArray[np.int64]
    two: NDArray[np.int64]
    ratings: Values
    preferred: NDArray[np.int8]
    first: NDArray[np.int8]
    unit: NDArray[np.int64]            # resampling unit
    units: int

    def preferences(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Values]:
        """Side, winner, loser, weight: two entries per answer; a tie gives each method one half. Side 0: the winner was
        shown first, 1: the loser, 2: not recorded."""
        won = np.where(self.preferred == 0, 0.5, self.preferred == 1)
        side_of_one = np.select([self.first == 1, self.first == 2], [0, 1], 2)
        side_of_two = np.select([self.first == 2, self.first == 1], [0, 1], 2)
        return (np.concatenate([side_of_one, side_of_two]), np.concatenate([self.one, self.two]),
                np.concatenate([self.two, self.one]), np.concatenate([won, 1 - won]))


def meetings(items: Iterable[Item], rows: AnswerRows, resample: Resample) -> Meetings:
    """The ``rows`` whose question has two different, known methods."""
    methods_of = {item.item_id: item.hidden["methods"] for item in items}
    pairs = [methods_of[item_id] for item_id in rows.item_ids]
    known = [None not in pair and pair[0] != pair[1] for pair in pairs]
    names = tuple(sorted({name for pair, there in zip(pairs, known, strict=True) if there for name in pair}))
    places = np.array([[names.index(name) for name in pair] if there else (-1, -1)
                       for pair, there in zip(pairs, known, strict=True)], np.int64).reshape(-1, 2)
    met = places[rows.question]
    there = met[:, 0] >= 0
    return Meetings(names, met[there, 0], met[there, 1], rows.ratings[there], rows.preferred[there],
                    rows.first[there], rows.unit(resample)[there], rows.units(resample))


def drawn_sums(
    unit: NDArray[np.int64], column: NDArray[np.int64], value: Values, units: int, columns: int, options: Options
) -> Iterator[Values]:
    """Sums of ``value`` by column in each bootstrap replicate, as matrices (batch, columns). ``unit``, ``column`` and
    ``value`` are the entries, all (entries,); duplicate entries are summed."""
    batch = max(1, _AT_ONCE // max(units, columns, 1))
    from scipy.sparse import csr_array

    held: Any = csr_array((value, (unit, column)), shape=(units, columns))
    for drawn in weights(units, options.draws, options.seed, batch=batch):
        yield drawn @ held
