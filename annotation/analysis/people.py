"""Names of annotators, or pseudonyms by seat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from annotation.analysis.records import Rater, StudyAnswers
from annotation.records import Judgement, Seat, name_key


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
