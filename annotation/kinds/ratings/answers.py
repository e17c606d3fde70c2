"""A person's answer about a session: ``{"ratings": {question: 1 to 5}, "reason": ""}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from annotation.kinds.ratings.questions import INTRO, POINTS, QUESTIONS, questions_of
from annotation.records import Item, OpenAssignments, Reassignment, Study
from annotation.studies import assignment
from annotation.studies.input_limits import DRAFT_NOTE_LIMIT, NOTE_LIMIT, checked_text
from annotation.studies.kinds import NormalizedAnswer
from cir_core.errors import IncompleteJudgement
from cir_core.support.texts import printable, shortened, tidy

FIELDS = ("ratings", "reason")
_KEYS = tuple(one.key for one in QUESTIONS)
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Sessions:
    """:class:`annotation.studies.kinds.StudyKind` of session studies. The questions are those of the study's
    protocol; an answer is never unsure."""

    flow = None
    sticky_fields = ()

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = _NOTHING
    ) -> NormalizedAnswer:
        """:func:`complete_answer`."""
        questions_of(study.protocol)
        return NormalizedAnswer(complete_answer(answer))

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = _NOTHING
    ) -> Mapping[str, Any]:
        """:func:`draft_answer`."""
        return draft_answer(answer)

    def denormalize(self, answer: Mapping[str, Any], *, extra: Mapping[str, Any] = _NOTHING) -> Mapping[str, Any]:
        return answer

    def reassign(self, work: OpenAssignments) -> Sequence[Reassignment]:
        """A fair share of all open work: :func:`annotation.studies.assignment.reassign`."""
        return assignment.reassign(work)

    def page(self, study: Study) -> Mapping[str, Any]:
        """The questions with their guidelines, and the limit of a reason."""
        return {"intro": INTRO, "questions": [asdict(one) for one in questions_of(study.protocol)],
                "points": list(POINTS), "note_limit": NOTE_LIMIT}


def complete_answer(given: object) -> dict[str, Any]:
    """The canonical answer. Raises ``IncompleteJudgement`` unless all five questions are answered."""
    answer = _object(given, FIELDS, "A rating of a session")
    ratings = _object(answer.get("ratings"), _KEYS, "“ratings”")
    for one in QUESTIONS:
        if ratings.get(one.key) is None:
            raise IncompleteJudgement(f"“{one.title}” has no answer yet. Choose 1 to 5, then save.")
        if not _is_rating(ratings[one.key]):
            raise IncompleteJudgement(f"“{one.title}” must be a whole number from 1 to 5.")
    reason = answer.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise IncompleteJudgement("“reason” must be a text.")
    reason = tidy(checked_text(reason or "", "reason"))
    if len(reason) > NOTE_LIMIT:
        raise IncompleteJudgement(f"The reason has {len(reason):,} characters; the limit is {NOTE_LIMIT:,}. Nothing "
                                  "was saved yet: shorten it and save again.")
    return {"ratings": {key: ratings[key] for key in _KEYS}, "reason": reason}


def draft_answer(given: object) -> dict[str, Any]:
    """The storable parts of an unfinished answer; null where a question has none. Raises ``IncompleteJudgement`` for a
    reason that cannot be stored."""
    answer = given if isinstance(given, Mapping) else {}
    ratings = answer["ratings"] if isinstance(answer.get("ratings"), Mapping) else {}
    reason = answer.get("reason")
    return {
        "ratings": {key: rating if _is_rating(rating := ratings.get(key)) else None for key in _KEYS},
        "reason": printable(checked_text(reason, "reason")[:DRAFT_NOTE_LIMIT]) if isinstance(reason, str) else "",
    }


def _is_rating(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in POINTS


def _object(value: object, fields: tuple[str, ...], what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise IncompleteJudgement(f"{what} is an object with {', '.join(fields)}.")
    if unknown := [name for name in value if name not in fields]:
        raise IncompleteJudgement(f"{what} has no field “{printable(shortened(unknown[0], 40))}”. Its fields are "
                                  f"{', '.join(fields)}.")
    return value
