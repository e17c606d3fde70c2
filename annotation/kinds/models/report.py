"""Language models that answered a study, against people: the same questions, on the same units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.analysis.models.comparison import Comparison, compare
from annotation.analysis.people.others import majority_of_others
from annotation.analysis.records import Estimate, ModelAnswer, ModelAnswers, Options, Rater, StudyAnswers
from annotation.analysis.selection import raters, seat_numbers
from annotation.analysis.statistics.matrix import Codes, Ratings
from annotation.analysis.statistics.shares import share
from annotation.kinds.asking import Asking, ComparedQuestion
from annotation.records import Item, Judgement, Study, name_key

_MISSES = 20


@dataclass(frozen=True)
class Sides:
    """Share of the preferences for what was shown first: of the model and of people. Of the items that the model was
    asked both ways: ``same``, it stayed with its choice; ``first``, ``second``: it chose that place both times."""

    model: Estimate
    people: Estimate
    same: Estimate
    first: Estimate
    second: Estimate


@dataclass(frozen=True)
class Place:
    """A part of the places in an item: the share of "yes" there, of the model and of people."""

    name: str
    model: Estimate
    people: Estimate


@dataclass(frozen=True)
class GroupHits:
    """``share``: of the units of a data set or category, those on which the model says what most people say."""

    group: str
    name: str
    share: Estimate


@dataclass(frozen=True)
class Miss:
    """An item on which people agree, and the model says something else."""

    key: str
    people: str
    count: int
    model: str
    reason: str


@dataclass(frozen=True)
class ModelReport:
    """``questions``: of each what was compared; empty without units that a person answered too. ``groups`` and
    ``misses`` are of the first question. ``again``: answers that the form had refused once."""

    model: str
    answered: int
    failed: int
    again: int
    raters: tuple[Rater, ...]
    questions: tuple[tuple[ComparedQuestion, Comparison], ...]
    sides: Sides | None
    places: tuple[Place, ...]
    groups: tuple[GroupHits, ...]
    misses: tuple[Miss, ...]


@dataclass(frozen=True)
class _Units:
    """``ratings`` and ``model``: codes of the units; ``items``: index of each one's item."""

    ratings: Ratings
    model: Codes
    items: Codes


def model_reports(answers: StudyAnswers, asking: Asking, options: Options) -> tuple[ModelReport, ...]:
    """``answers``: those that a report counts."""
    people = raters(answers, answers.judgements, hide=options.hide_names)
    return tuple(_report(answers, asking, one, people, options) for one in answers.models)


def _report(
    answers: StudyAnswers, asking: Asking, model: ModelAnswers, people: tuple[Rater, ...], options: Options,
) -> ModelReport:
    study = answers.study
    items = {item.item_id: item for item in answers.items}
    given = {one.item_id: one for one in model.answers if not one.turned and one.item_id in items}
    known = [one for one in answers.judgements if one.item_id in given]
    there = tuple(one for one in people if one.seat in _seats(answers, known))
    found = [(question, _units(answers, question, list(given.values()), known, there))
             for question in asking.questions(answers.study)]
    compared = [(question, units) for question, units in found if len(units.model) and there]
    first = compared[0] if compared else None
    chosen = [items[item_id] for item_id in given]
    return ModelReport(
        model.model, len(given), model.failed, sum(one.again for one in given.values()), there,
        tuple((question, compare(units.ratings, units.model, question.scale, options, units.items))
              for question, units in compared),
        _sides(asking, model, given, known) if asking.side else None,
        _places(asking, study, chosen, given, known) if known else (),
        _groups(answers, first[1], chosen) if first else (),
        _misses(study, *first, chosen, list(given.values())) if first else ())


def _seats(answers: StudyAnswers, judgements: Sequence[Judgement]) -> set[int]:
    numbers = seat_numbers(answers.seats)
    return {numbers[name_key(one.annotator)] for one in judgements}


def _units(
    answers: StudyAnswers, question: ComparedQuestion, given: Sequence[ModelAnswer], judgements: Sequence[Judgement],
    people: Sequence[Rater],
) -> _Units:
    """Of the units that the model and at least one person answered."""
    study, numbers = answers.study, seat_numbers(answers.seats)
    rows: dict[tuple[str, str], int] = {}
    model: list[int] = []
    items: list[int] = []
    for place, one in enumerate(given):
        for unit, code in question.codes(one.answer, study).items():
            rows[one.item_id, unit] = len(model)
            model.append(code)
            items.append(place)
    columns = {rater.seat: column for column, rater in enumerate(people)}
    codes = np.full((len(model), len(people)), -1, np.int16)
    for judgement in judgements:
        column = columns[numbers[name_key(judgement.annotator)]]
        for unit, code in question.codes(judgement.answer, study).items():
            if (row := rows.get((judgement.item_id, unit))) is not None:
                codes[row, column] = code
    met = (codes >= 0).any(axis=1)
    return _Units(Ratings(codes[met], question.categories(study), question.unit), np.array(model, np.int64)[met],
                  np.array(items, np.int64)[met])


def _sides(
    asking: Asking, model: ModelAnswers, given: Mapping[str, ModelAnswer], judgements: Sequence[Judgement],
) -> Sides:
    side = asking.side
    assert side is not None

    def first(answers: Sequence[Mapping[str, Any]]) -> Estimate:
        found = [chosen for one in answers if (chosen := side(one)) is not None]
        return share(sum(found), len(found))

    pairs = [(side(given[one.item_id].answer), side(one.answer)) for one in model.answers
             if one.turned and one.item_id in given]
    same, front, back = (sum(pair in wanted for pair in pairs) for wanted in (
        ((True, False), (False, True), (None, None)), ((True, True),), ((False, False),)))
    return Sides(first([one.answer for one in given.values()]), first([one.answer for one in judgements]),
                 *(share(count, len(pairs)) for count in (same, front, back)))


def _places(
    asking: Asking, study: Study, items: Sequence[Item], given: Mapping[str, ModelAnswer],
    judgements: Sequence[Judgement],
) -> tuple[Place, ...]:
    """By thirds of the places, on the items that the model and a person answered."""
    if asking.places is None:
        return ()
    codes = asking.questions(study)[0].codes
    met = {one.item_id for one in judgements}
    third = {(item.item_id, unit): 3 * place // len(units) for item in items if item.item_id in met
             for units in [asking.places(item)] for place, unit in enumerate(units)}

    def shares(answers: Sequence[ModelAnswer] | Sequence[Judgement]) -> list[Estimate]:
        said: list[list[int]] = [[], [], []]
        for one in answers:
            for unit, code in codes(one.answer, study).items():
                if (part := third.get((one.item_id, unit))) is not None:
                    said[part].append(code)
        return [share(sum(part), len(part)) for part in said]

    return tuple(Place(*of) for of in zip(
        ("first third", "second third", "last third"), shares(list(given.values())), shares(judgements), strict=True))


def _groups(answers: StudyAnswers, units: _Units, items: Sequence[Item]) -> tuple[GroupHits, ...]:
    majority = _majority(units)
    groups, found = answers.groups, []
    for word, field in ((groups.dataset, groups.dataset_field), (groups.category, groups.category_field)):
        names = np.array([str(items[place].hidden.get(field) or "unknown") for place in units.items])
        for name in sorted(set(names.tolist())):
            of = (names == name) & (majority >= 0)
            found.append(GroupHits(word, name, share(int((majority == units.model)[of].sum()), int(of.sum()))))
    return tuple(found)


def _misses(
    study: Study, question: ComparedQuestion, units: _Units, items: Sequence[Item], given: Sequence[ModelAnswer],
) -> tuple[Miss, ...]:
    """Those on which most people agree first."""
    categories, found = question.categories(study), []
    for row, (codes, model) in enumerate(zip(units.ratings.codes, units.model, strict=True)):
        said = codes[codes >= 0]
        if len(said) > 1 and (said == said[0]).all() and said[0] != model:
            place = units.items[row]
            found.append(Miss(items[place].key, categories[said[0]], len(said), categories[model], given[place].reason))
    return tuple(sorted(found, key=lambda one: -one.count)[:_MISSES])


def _majority(units: _Units) -> Codes:
    """Of all people: :func:`majority_of_others` leaves a column out, here one that nobody is in."""
    everybody = np.column_stack([units.ratings.codes, np.full(len(units.model), -1)]).astype(np.int16)
    return majority_of_others(Ratings(everybody, units.ratings.categories), everybody.shape[1] - 1)
