"""Selection of the judgements of a report: available choices, and filtering. Names of annotators, or pseudonyms by
seat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from annotation.analysis.records import Options, Rater, Selection, StudyAnswers
from annotation.records import Item, Judgement, Seat, Study, name_key
from cir_core.errors import StudyError
from cir_core.support.texts import quoted, shortened


def name_of(seat: Seat, *, hide: bool) -> str:
    """Name of the person in the seat, or a pseudonym by its number: "P03", also for a free seat."""
    return f"P{seat.number:02}" if hide or seat.annotator is None else seat.annotator


def seat_numbers(seats: Iterable[Seat]) -> Mapping[str, int]:
    """Seat numbers by :func:`~annotation.records.name_key` of their annotators."""
    return {name_key(seat.annotator): seat.number for seat in seats if seat.annotator is not None}


def raters(answers: StudyAnswers, judgements: Iterable[Judgement], *, hide: bool) -> tuple[Rater, ...]:
    """Annotators of ``judgements``, with their number, by seat."""
    counts = Counter(name_key(judgement.annotator) for judgement in judgements)
    people = sorted((seat for seat in answers.seats if seat.annotator is not None), key=lambda seat: seat.number)
    found = ((seat, counts[name_key(seat.annotator or "")]) for seat in people)
    return tuple(Rater(seat.number, name_of(seat, hide=hide), count) for seat, count in found if count)


_LISTED = 12   # maximum of names in a message
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Choices:
    """Available filters. ``datasets`` and ``categories``: names with numbers of items, in order of first occurrence.
    ``people``: with at least one answer, and the number of all their answers. ``block``: number of items of the
    agreement set."""

    datasets: tuple[tuple[str, int], ...]
    categories: tuple[tuple[str, int], ...]
    people: tuple[Rater, ...]
    block: int


def wrong_kind(study: Study, lacks: str) -> StudyError:
    """The error for a report of a study of another kind. ``lacks``: what such a study does not do."""
    return StudyError(f"{study.name} is {study.called}, which {lacks}. For its report: cirque report "
                      f"{quoted(study.name)}")


def check_options(options: Options, unit: str = "") -> None:
    """Raises ``StudyError`` for a negative number of draws. ``unit``: what intervals resample in the plural, if people
    cannot be resampled: a person drawn twice would agree with themselves."""
    if unit and options.resample != "items":
        raise StudyError(f"Intervals of this report resample {unit}: a person drawn twice would agree with themselves. "
                         "Choose items.")
    if options.draws < 0:
        raise StudyError(f"{options.draws:,} draws cannot be made. Choose 0 for no intervals, or 1,000.")


def choices(answers: StudyAnswers, *, hide_names: bool = False) -> Choices:
    """Possible values of a :class:`Selection` of this study."""
    return Choices(
        tuple(_datasets(answers).items()), tuple(_categories(answers).items()),
        raters(answers, answers.judgements, hide=hide_names),
        sum(item.in_block for item in answers.items) if answers.groups.has_block else 0)


def select(answers: StudyAnswers, selection: Selection) -> StudyAnswers:
    """Filter answers by ``selection``. Values of one filter are alternatives; all filters must hold, so the result may
    be empty. Raises ``StudyError`` for values that the study does not have."""
    _check(answers, selection)
    groups = answers.groups
    items = tuple(
        item for item in answers.items
        if (not selection.datasets or _group(item, groups.dataset_field) in selection.datasets)
        and (not selection.categories or _group(item, groups.category_field) in selection.categories)
        and (not selection.block_only or item.in_block))
    kept = {item.item_id for item in items}
    numbers = set(selection.people) or {seat.number for seat in answers.seats}
    seats = tuple(seat for seat in answers.seats if seat.number in numbers)
    names = set(seat_numbers(seats)) if selection.people else None
    return replace(
        answers, items=items, seats=seats,
        assignments=tuple(one for one in answers.assignments if one.item_id in kept and one.seat in numbers),
        judgements=tuple(one for one in answers.judgements
                         if one.item_id in kept and (names is None or name_key(one.annotator) in names)),
        decisions=tuple(one for one in answers.decisions if one.item_id in kept),
        checks=tuple(one for one in answers.checks if names is None or name_key(one.annotator) in names))


def _check(answers: StudyAnswers, selection: Selection) -> None:
    study, groups = answers.study, answers.groups
    _known(groups.dataset, selection.datasets, _datasets(answers), study)
    _known(groups.category, selection.categories, _categories(answers), study)
    occupied = sorted(seat_numbers(answers.seats).values())
    for number in selection.people:
        if number not in occupied:
            raise StudyError(f"Nobody has seat {number} in {study.name}. "
                             + (f"Occupied seats: {_listed(map(str, occupied))}." if occupied
                                else "Nobody has joined the study yet: leave this filter out."))
    if selection.block_only and not groups.has_block:
        raise StudyError(f"{study.name} is {study.called}, which has no agreement set: its shared questions "
                         "are spread over everybody. Leave this filter out.")
    if selection.block_only and not any(item.in_block for item in answers.items):
        raise StudyError(f"{study.name} has no agreement set: its plan gives no item to everybody. Leave this "
                         "filter out.")


def _known(what: str, wanted: Iterable[str], there: Counter[str], study: Study) -> None:
    for name in wanted:
        if name not in there:
            raise StudyError(f"No item of {study.name} is of the {what} “{shortened(name)}”. "
                             + (f"Choose from: {_listed(there)}." if there else "The study has no items."))


def _datasets(answers: StudyAnswers) -> Counter[str]:
    return Counter(_group(item, answers.groups.dataset_field) for item in answers.items)


def _categories(answers: StudyAnswers) -> Counter[str]:
    return Counter(_group(item, answers.groups.category_field) for item in answers.items)


def _group(item: Item, field: str) -> str:
    return str(item.hidden.get(field) or UNKNOWN)


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
