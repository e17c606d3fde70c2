"""Who judged, by name or by a code that tells nothing but the seat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from annotation.analysis.records import Rater, StudyAnswers
from annotation.records import Judgement, Seat, name_key


def name_of(seat: Seat, *, hide: bool) -> str:
    """The name of whoever has the seat, or a code of its number: "P03". A seat that nobody has has a code only."""
    return f"P{seat.number:02}" if hide or seat.annotator is None else seat.annotator


def seat_numbers(seats: Iterable[Seat]) -> Mapping[str, int]:
    """Numbers of seats by :func:`~annotation.records.name_key` of who has them."""
    return {name_key(seat.annotator): seat.number for seat in seats if seat.annotator is not None}


def raters(answers: StudyAnswers, judgements: Iterable[Judgement], *, hide: bool) -> tuple[Rater, ...]:
    """Those with at least one of ``judgements``, and how many of these they gave, in order of seats."""
    counts = Counter(name_key(judgement.annotator) for judgement in judgements)
    people = sorted((seat for seat in answers.seats if seat.annotator is not None), key=lambda seat: seat.number)
    found = ((seat, counts[name_key(seat.annotator or "")]) for seat in people)
    return tuple(Rater(seat.number, name_of(seat, hide=hide), count) for seat, count in found if count)
