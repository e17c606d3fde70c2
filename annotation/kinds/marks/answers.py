"""A person's answer about a query: ``{"marks": {image token: "yes", "no" or "unsure"}, "note": ""}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from annotation.kinds.marks.marks import GUIDE, INTRO, MARKS, check_protocol
from annotation.records import Item, OpenAssignments, Reassignment, Study
from annotation.studies import assignment
from annotation.studies.input_limits import DRAFT_NOTE_LIMIT, NOTE_LIMIT, checked_text
from annotation.studies.kinds import NormalizedAnswer
from cir_core.errors import IncompleteJudgement
from cir_core.support.texts import counted, printable, shortened, tidy

FIELDS = ("marks", "note")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Targets:
    """:class:`annotation.studies.kinds.StudyKind` of target studies. An image can be unsure, an answer never is:
    nothing is adjudicated."""

    flow = None
    sticky_fields = ()

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = _NOTHING
    ) -> NormalizedAnswer:
        """:func:`complete_answer`."""
        check_protocol(study.protocol)
        return NormalizedAnswer(complete_answer(answer, item.shown["candidates"]))

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = _NOTHING
    ) -> Mapping[str, Any]:
        """:func:`draft_answer`."""
        return draft_answer(answer, item.shown["candidates"])

    def denormalize(self, answer: Mapping[str, Any], *, extra: Mapping[str, Any] = _NOTHING) -> Mapping[str, Any]:
        return answer

    def reassign(self, work: OpenAssignments) -> Sequence[Reassignment]:
        """A fair share of all open work: :func:`annotation.studies.assignment.reassign`."""
        return assignment.reassign(work)

    def page(self, study: Study) -> Mapping[str, Any]:
        """The marks with their guidelines, and the limit of a note."""
        check_protocol(study.protocol)
        return {"intro": INTRO, "marks": list(MARKS), "guide": [{"title": title, "text": text}
                                                                for title, text in GUIDE], "note_limit": NOTE_LIMIT}


def complete_answer(given: object, candidates: Sequence[str]) -> dict[str, Any]:
    """The canonical answer, its marks in the order of ``candidates`` (tokens). Raises ``IncompleteJudgement`` unless
    each candidate, and nothing else, has a mark."""
    answer = _object(given, FIELDS, "An answer about a query's images")
    marks = answer.get("marks")
    if not isinstance(marks, Mapping):
        raise IncompleteJudgement("“marks” is an object with a mark for each image, by its token.")
    if unknown := [token for token in marks if token not in candidates]:
        raise IncompleteJudgement(f"“{printable(shortened(str(unknown[0]), 40))}” is no image of this query. Reload "
                                  "the page.")
    if left := sum(marks.get(token) is None for token in candidates):
        raise IncompleteJudgement(f"{counted(left, 'image has', 'images have')} no mark yet. Mark each with "
                                  f"{', '.join(MARKS[:-1])} or {MARKS[-1]}, then save.")
    if any(marks[token] not in MARKS for token in candidates):
        raise IncompleteJudgement(f"A mark is one of {', '.join(MARKS)}.")
    note = answer.get("note")
    if note is not None and not isinstance(note, str):
        raise IncompleteJudgement("“note” must be a text.")
    note = tidy(checked_text(note or "", "note"))
    if len(note) > NOTE_LIMIT:
        raise IncompleteJudgement(f"The note has {len(note):,} characters; the limit is {NOTE_LIMIT:,}. Nothing was "
                                  "saved yet: shorten it and save again.")
    return {"marks": {token: marks[token] for token in candidates}, "note": note}


def draft_answer(given: object, candidates: Sequence[str]) -> dict[str, Any]:
    """The storable parts of an unfinished answer; null where an image has no mark. Raises ``IncompleteJudgement`` for
    a note that cannot be stored."""
    answer = given if isinstance(given, Mapping) else {}
    marks = answer["marks"] if isinstance(answer.get("marks"), Mapping) else {}
    note = answer.get("note")
    return {
        "marks": {token: mark if (mark := marks.get(token)) in MARKS else None for token in candidates},
        "note": printable(checked_text(note, "note")[:DRAFT_NOTE_LIMIT]) if isinstance(note, str) else "",
    }


def _object(value: object, fields: tuple[str, ...], what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise IncompleteJudgement(f"{what} is an object with {', '.join(fields)}.")
    if unknown := [name for name in value if name not in fields]:
        raise IncompleteJudgement(f"{what} has no field “{printable(shortened(str(unknown[0]), 40))}”. Its fields are "
                                  f"{', '.join(fields)}.")
    return value
