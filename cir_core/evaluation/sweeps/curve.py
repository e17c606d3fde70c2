"""A measure as a function of one parameter, chosen on one half of the queries and reported on the other.

The best of several values is too good on the queries it was the best on. So queries are split by a seed, within each
category, and every value is measured on both halves; the value is chosen on the first, and what it is worth is said of
the second alone. Queries of one unit, such as a reference image, are kept together: half of them would tell about the
others. A query that could not be answered with some value is left out of all, since what a model refuses may depend on
the value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.records import Columns, Measure, figures_json, intervals_json
from cir_core.evaluation.metrics.bootstrap import MeanEstimate, estimates_of_many
from cir_core.evaluation.sweeps.parameters import Swept
from cir_core.methods.declared import Method
from cir_core.support.texts import quoted

_SPLIT = 2   # mixed into the seed, so that the split does not use the drawings of the intervals
Rows = npt.NDArray[np.int64]
Figures = Mapping[Measure, MeanEstimate]


@dataclass(frozen=True)
class Point:
    """One value, measured on both halves. ``protocol``: digest of its protocol card."""

    value: float
    choosing: Figures
    reporting: Figures
    protocol: str = ""


@dataclass(frozen=True)
class Curve:
    """``best`` has the highest mean of ``measure`` on the first half; of equal ones, the nearest to ``own``, the value
    that the method has by itself. ``gained``: on the second half, ``best`` less ``own``, paired by query; None if
    ``own`` is not among the values, or is the best."""

    method: str
    title: str
    swept: Swept
    own: float
    measure: Measure
    sizes: tuple[int, int]            # queries of either half that count
    dropped: int                      # those that could not be answered with some value
    seed: int
    points: tuple[Point, ...]
    best: Point
    gained: MeanEstimate | None
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Measured:
    """What a value of the parameter gave for every query; ``notes`` are about its failed queries, whose rows are
    ``failed``."""

    columns: Columns
    protocol: str = ""
    notes: tuple[str, ...] = ()
    failed: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Halves:
    """``first``: rows of the queries on which a value is chosen; ``second``: those on which it is reported. ``units``:
    what each query is kept together with and drawn with."""

    first: Rows
    second: Rows
    units: Sequence[Hashable]


def halves(groups: Sequence[str], seed: int, units: Sequence[Hashable] | None = None) -> Halves:
    """Split the queries within each of ``groups``, which has the category of each.

    ``units`` has what the queries of one category are kept together by (by default each is its own): units are taken
    in a random order into the first half as long as it has at most half of the category's queries. Raises
    ``DatasetError`` for a category of fewer than two units.
    """
    rng = np.random.default_rng([seed, _SPLIT])
    units = range(len(groups)) if units is None else units
    members: dict[str, dict[Hashable, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, (group, unit) in enumerate(zip(groups, units, strict=True)):
        members[group][unit].append(row)
    first: list[int] = []
    for group, of in members.items():
        together, count = list(of.values()), sum(map(len, of.values()))
        if len(together) < 2:
            where = f" of {quoted(group)}" if group else ""
            reason = f"there is only 1{where}" if count == 1 else f"all {count}{where} belong to one reference image"
            raise DatasetError(f"A sweep splits the queries into two halves, and {reason}. Sweep over more queries.")
        room = count // 2
        for place in rng.permutation(len(together)):
            if len(together[place]) <= room:
                first += together[place]
                room -= len(together[place])
    taken = np.array(sorted(first), dtype=np.int64)
    return Halves(taken, np.setdiff1d(np.arange(len(groups)), taken), units)


def measure_named(name: str | None, measures: Sequence[Measure]) -> Measure:
    """The measure to choose by; without a ``name`` the benchmark's average or AUC, else its first at 10, else its
    first. Raises ``DatasetError`` listing all."""
    if name is not None:
        for one in measures:
            if one.name == name.strip():
                return one
        raise DatasetError(f"There is no measure {quoted(name)} to choose by. There are: "
                           f"{', '.join(one.name for one in measures)}.")
    means = [one for one in measures if one.family in ("average", "auc")]
    return (means or [one for one in measures if one.at == "10"] or list(measures))[0]


def curve(
    method: Method, swept: Swept, measured: Sequence[Measured], groups: Sequence[str], *, by: str | None, seed: int,
    split: Halves | None = None,
) -> Curve:
    """The curve of what each of ``swept.values`` gave.

    Args:
        groups: the category of each query, whose means are averaged; "" for all where there are none.
        by: name of the measure to choose by, as in :func:`measure_named`.
        split: other halves than those of ``groups`` with every query by itself.

    Raises ``DatasetError`` for an unknown measure and too few queries.
    """
    measures = [one for one in measured[0].columns if all(one in other.columns for other in measured)]
    chosen_by = measure_named(by, measures)
    split = halves(groups, seed) if split is None else split
    failed = frozenset[int]().union(*(one.failed for one in measured))
    first, second = (rows[~np.isin(rows, list(failed))] for rows in (split.first, split.second))
    choosing, reporting = (_figures(measured, measures, rows, groups, split.units, seed) for rows in (first, second))
    points = tuple(Point(value, on_first, on_second, one.protocol) for value, one, on_first, on_second
                   in zip(swept.values, measured, choosing, reporting, strict=True))
    if chosen_by not in points[0].choosing or chosen_by not in points[0].reporting:
        raise DatasetError(f"{chosen_by.name} counts too few queries to split them. Choose by another measure.")
    own = swept.of(method.settings)
    best = max(points, key=lambda one: (one.choosing[chosen_by].value, -abs(one.value - own)))
    return Curve(method.name, method.title, swept, own, chosen_by, (len(first), len(second)), len(failed), seed, points,
                 best, _gained(best.value, own, swept, measured, chosen_by, second, groups, split.units, seed),
                 _notes(swept, measured, chosen_by, len(failed)))


def curve_json(found: Curve) -> dict[str, Any]:
    """Every value with all figures of both halves, as shares; names as in the JSON of an evaluation."""
    return {
        "method": found.method, "parameter": found.swept.key, "sign": found.swept.sign, "own": found.own,
        "chosen_by": found.measure.name, "seed": found.seed,
        "queries": {"choosing": found.sizes[0], "reporting": found.sizes[1], "dropped": found.dropped},
        "best": {"value": found.best.value, "reporting": _half(found.best.reporting),
                 "gained": None if found.gained is None else
                 {"value": found.gained.value, "interval": [found.gained.low, found.gained.high]}},
        "values": [{"value": one.value, "protocol": one.protocol, "choosing": _half(one.choosing),
                    "reporting": _half(one.reporting)} for one in found.points],
        "notes": list(found.notes),
    }


def _half(figures: Figures) -> dict[str, Any]:
    return {**figures_json(figures), "intervals": intervals_json(figures)}


def _figures(
    measured: Sequence[Measured], measures: Sequence[Measure], rows: Rows, groups: Sequence[str],
    units: Sequence[Hashable], seed: int,
) -> list[dict[Measure, MeanEstimate]]:
    """For each value its figures over ``rows``, all drawn together; a measure that a category lacks is left out."""
    of = np.asarray(groups)[rows]
    together: dict[bytes, list[Measure]] = {}   # measures that count the same queries, such as those of an aspect
    for measure in measures:
        together.setdefault(np.isfinite(measured[0].columns[measure][rows]).tobytes(), []).append(measure)
    found: list[dict[Measure, MeanEstimate]] = [{} for _ in measured]
    for counted, those in together.items():
        there = np.frombuffer(counted, dtype=np.bool_)
        matrix = np.column_stack([one.columns[measure][rows] for one in measured for measure in those])
        counted_of = [there & (of == group) for group in dict.fromkeys(groups)]
        if all(map(np.any, counted_of)):
            numbers = iter(estimates_of_many([matrix[which] for which in counted_of], seed=seed, units=[
                [units[row] for row in rows[which]] for which in counted_of]))
            for figures in found:
                figures.update((measure, next(numbers)) for measure in those)
    return [{measure: figures[measure] for measure in measures if measure in figures} for figures in found]


def _gained(
    best: float, own: float, swept: Swept, measured: Sequence[Measured], measure: Measure, rows: Rows,
    groups: Sequence[str], units: Sequence[Hashable], seed: int,
) -> MeanEstimate | None:
    if own not in swept.values or best == own:
        return None
    columns = [measured[swept.values.index(value)].columns[measure] for value in (best, own)]
    paired = Measured({measure: columns[0] - columns[1]})
    return _figures([paired], [measure], rows, groups, units, seed)[0].get(measure)


def _notes(swept: Swept, measured: Sequence[Measured], measure: Measure, dropped: int) -> tuple[str, ...]:
    notes = [f"{swept.sign} {value:g}: {note}" for value, one in zip(swept.values, measured, strict=True)
             for note in one.notes]
    if dropped:
        notes.append(f"{dropped:,} could not be answered with some value of {swept.sign} and count with none.")
    if all(np.array_equal(one.columns[measure], measured[0].columns[measure], equal_nan=True) for one in measured):
        notes.append(f"{swept.sign} changes {measure.name} of no query.")
    return tuple(notes)
