"""Answers of a validity study, written as a grid: a line for each item, a mark for each person."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from annotation.analysis.records import StudyAnswers
from annotation.kinds.table import KINDS
from annotation.records import Assignment, Item, Seat
from tests.fakes.judged import AT, BROAD, IMAGE, TARGET, TEXT, answer_of, item_of, judgement_of, study_of

PEOPLE = ("Ada", "Björn", "Çelik", "Dana", "Eve")
_FLAGS = {"G": TARGET, "I": IMAGE, "T": TEXT, "B": BROAD}


def grid(*lines: str, people: Sequence[str] = PEOPLE, items: Sequence[Item] = (), **study: Any) -> StudyAnswers:
    """``"V TB . ?"``: the first person says valid, the second flags text and broad, the third's work is open, the
    fourth is unsure. ``X`` is invalid without a flag; ``-`` is an item that the plan does not give to the person.

    ``items`` in place of plain ones. Judgements come an item a second, from ``AT``.
    """
    made = list(items) or [item_of(number) for number in range(len(lines))]
    marks = [line.split() for line in lines]
    width = max(map(len, marks), default=0)
    seats = tuple(Seat("s1", number, name, AT, AT) for number, name in enumerate(people[:width], 1))
    places, judgements = [], []
    for item, line in zip(made, marks, strict=True):
        for seat, mark in zip(seats, line, strict=True):
            if mark == "-":
                continue
            state = {".": "open", "?": "unsure"}.get(mark, "done")
            places.append(Assignment(item.item_id, seat.number, item.number, state, seat.annotator))
            if mark != ".":
                judgements.append(judgement_of(item, seat.annotator, _answer(mark)))
    return StudyAnswers(study_of(**study), tuple(made), seats, tuple(places), tuple(judgements),
                        groups=KINDS["validity"].groups)


def at(seconds: int) -> str:
    """When the item of this number was judged."""
    return (AT + timedelta(seconds=seconds)).isoformat()


def _answer(mark: str) -> dict[str, Any]:
    if mark in "VX?":
        return answer_of(validated={"V": True, "X": False, "?": None}[mark], unsure=mark == "?")
    return answer_of(*[flag for letter, flag in _FLAGS.items() if letter in mark])
