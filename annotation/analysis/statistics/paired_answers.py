"""Answers to questions on two known methods, and their bootstrap sums per resampling unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Options, Resample
from annotation.analysis.statistics.answer_rows import AnswerRows
from annotation.analysis.statistics.bootstrap import weights
from annotation.records import Item

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
