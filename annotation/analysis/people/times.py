"""How long answers take, by where they stand in a person's order, and what changes from the first third of their
answers to the last: seconds, agreement with the others, and the answers themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import median

import numpy as np

from annotation.analysis.people.others import majority_of_others
from annotation.analysis.records import Estimate, Options, Rater, StudyAnswers
from annotation.analysis.selection import seat_numbers
from annotation.analysis.statistics.bootstrap import PEOPLE, weights, with_interval
from annotation.analysis.statistics.matrix import Ratings, Values
from annotation.records import Judgement, name_key

NOT_RECORDED = "not recorded"
LEAST = 9
"""Answers of a person whose thirds are compared."""
SPEEDER = 1 / 3
"""Of the median person's median seconds: people below it are marked as fast."""
_BINS = 10


@dataclass(frozen=True)
class Answered:
    """One answer. ``place``: in its person's order; ``seconds``, ``same`` (1 if it is that of the majority of the
    others, else 0) and ``value`` (what is watched over time) are nan where unknown."""

    seat: int
    place: int
    seconds: float
    same: float
    value: float


@dataclass(frozen=True)
class PersonTimes:
    """``last_by_first``: median seconds of the last third by those of the first."""

    seat: int
    name: str
    answers: int
    timed: int
    median_seconds: float | None
    minutes: float | None
    last_by_first: float | None
    fast: bool


@dataclass(frozen=True)
class Stretch:
    """Answers at neighbouring places, or of one third of each person's answers. ``seconds``: the median, with quartiles
    in place of an interval; ``n`` counts answers with a time."""

    name: str
    first: int
    last: int
    answers: int
    seconds: Estimate
    same: Estimate
    value: Estimate


@dataclass(frozen=True)
class Times:
    """``drift``: last third less first third, mean over people with :data:`LEAST` answers or more; of seconds the
    geometric mean of last by first."""

    timed: int
    answers: int
    ordered: bool                  # whether the order of the answers is known
    people: tuple[PersonTimes, ...]
    stretches: tuple[Stretch, ...]
    thirds: tuple[Stretch, ...]
    drift: Mapping[str, Estimate]  # "seconds", "same", "value"


def answered(
    selected: StudyAnswers, judgements: Sequence[Judgement], same: Mapping[str, float], value: Mapping[str, float],
) -> tuple[Answered, ...]:
    """``same`` and ``value``: by judgement id. Answers of a person that are in no order come last, as they are."""
    positions = {(name_key(one.annotator), one.item_id): one.position
                 for one in selected.assignments if one.annotator is not None}
    seats, found = seat_numbers(selected.seats), []
    of: dict[str, list[Judgement]] = {}
    for one in judgements:
        of.setdefault(name_key(one.annotator), []).append(one)
    for person, mine in of.items():
        mine.sort(key=lambda one: positions.get((person, one.item_id), len(positions)))
        found += [Answered(seats[person], place, one.seconds if one.seconds > 0 else nan,
                           same.get(one.judgement_id, nan), value.get(one.judgement_id, nan))
                  for place, one in enumerate(mine, 1)]
    return tuple(found)


def same_as_others(ratings: Ratings) -> Values:
    """``[units, people]``: 1 where a person says what the majority of the others does, else 0; nan without either."""
    found = np.full(ratings.codes.shape, np.nan)
    for person in range(ratings.codes.shape[1]):
        own, others = ratings.codes[:, person], majority_of_others(ratings, person)
        met = (own >= 0) & (others >= 0)
        found[met, person] = own[met] == others[met]
    return found


def times_of(answers: Sequence[Answered], raters: Iterable[Rater], options: Options, ordered: bool = True) -> Times:
    """``ordered``: whether the places of the answers are those in which people gave them."""
    of: dict[int, list[Answered]] = {}
    for one in answers:
        of.setdefault(one.seat, []).append(one)
    medians = {seat: _median(one.seconds for one in mine) for seat, mine in of.items()}
    middle = _median(one for one in medians.values() if one is not None)
    thirds = {seat: _thirds(mine) for seat, mine in of.items() if ordered and len(mine) >= LEAST}
    people = []
    for rater in raters:
        mine, own = of.get(rater.seat, []), medians.get(rater.seat)
        timed = [one.seconds for one in mine if not isnan(one.seconds)]
        people.append(PersonTimes(
            rater.seat, rater.name, len(mine), len(timed), own, sum(timed) / 60 if timed else None,
            _ratio(thirds.get(rater.seat)),
            bool(own is not None and middle is not None and len(of) > 2 and own < SPEEDER * middle)))
    parts = [_stretch(name, [one for some in thirds.values() for one in some[place]])
             for place, name in enumerate(("first third", "middle third", "last third"))] if thirds else []
    return Times(sum(not isnan(one.seconds) for one in answers), len(answers), ordered, tuple(people),
                 tuple(_stretches(answers)) if ordered else (), tuple(parts), _drift(list(thirds.values()), options))


def _thirds(mine: Sequence[Answered]) -> tuple[list[Answered], list[Answered], list[Answered]]:
    first, second = round(len(mine) / 3), round(2 * len(mine) / 3)
    return list(mine[:first]), list(mine[first:second]), list(mine[second:])


def _ratio(thirds: tuple[list[Answered], list[Answered], list[Answered]] | None) -> float | None:
    if thirds is None:
        return None
    first, last = (_median(one.seconds for one in part) for part in (thirds[0], thirds[2]))
    return None if first is None or last is None else last / first


def _stretches(answers: Sequence[Answered]) -> list[Stretch]:
    most = max((one.place for one in answers), default=0)
    edges = np.unique(np.round(np.linspace(0, most, min(_BINS, most) + 1)).astype(int)).tolist()
    return [_stretch(f"{low + 1}–{high}" if high > low + 1 else str(high),
                     [one for one in answers if low < one.place <= high])
            for low, high in zip(edges, edges[1:], strict=False)]


def _stretch(name: str, of: Sequence[Answered]) -> Stretch:
    seconds = [one.seconds for one in of if not isnan(one.seconds)]
    spread = Estimate(None, 0, reason=NOT_RECORDED)
    if seconds:
        low, middle, high = (float(one) for one in np.percentile(seconds, (25, 50, 75)))
        spread = Estimate(middle, len(seconds), low, high)
    return Stretch(name, min((one.place for one in of), default=0), max((one.place for one in of), default=0), len(of),
                   spread, _mean([one.same for one in of], "no majority of the others"),
                   _mean([one.value for one in of], "no answers"))


def _mean(values: Iterable[float], none: str) -> Estimate:
    there = [one for one in values if not isnan(one)]
    return Estimate(sum(there) / len(there), len(there)) if there else Estimate(None, 0, reason=none)


def _drift(
    thirds: Sequence[tuple[list[Answered], list[Answered], list[Answered]]], options: Options,
) -> dict[str, Estimate]:
    def changes(of: str) -> list[float]:
        found = [(_mean([getattr(one, of) for one in first], ""), _mean([getattr(one, of) for one in last], ""))
                 for first, _, last in thirds]
        return [last.value - first.value for first, last in found
                if first.value is not None and last.value is not None]

    ratios = [float(np.log(one)) for one in map(_ratio, thirds) if one]
    seconds = _over_people(ratios, options, NOT_RECORDED if thirds else _few())
    return {
        "seconds": _exponential(seconds),
        "same": _over_people(changes("same"), options, "no majority of the others" if thirds else _few()),
        "value": _over_people(changes("value"), options, "no answers" if thirds else _few())}


def _few() -> str:
    return f"nobody gave {LEAST} answers in a known order"


def _over_people(values: Sequence[float], options: Options, none: str) -> Estimate:
    if not values:
        return Estimate(None, 0, reason=none)
    array = np.array(values)
    drawn = [weight @ array / len(array) for weight in weights(len(array), options.draws, options.seed)]
    return with_interval(Estimate(float(array.mean()), len(array)), np.concatenate(drawn) if drawn else np.empty(0),
                         len(array), PEOPLE)


def _exponential(of: Estimate) -> Estimate:
    value, low, high = (None if one is None else float(np.exp(one)) for one in (of.value, of.low, of.high))
    return Estimate(value, of.n, low, high, of.reason)


def _median(values: Iterable[float]) -> float | None:
    there = [one for one in values if not isnan(one)]
    return float(median(there)) if there else None
