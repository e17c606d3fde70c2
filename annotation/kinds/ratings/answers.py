"""A person's answer about a session: ``{"ratings": {question: 1 to 5}, "reason": ""}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.kinds.ratings.questions import KEYS, POINTS, Question, load_questions
from annotation.records import Item, Study
from annotation.studies.input_limits import NOTE_LIMIT
from annotation.studies.kinds import NormalizedAnswer
from annotation.studies.plain_kind import NOTHING, PlainKind, draft_text, is_rating, object_in, object_of, text_of
from cir_core.errors import IncompleteJudgement

FIELDS = ("ratings", "reason")


class Sessions(PlainKind):
    """:class:`annotation.studies.kinds.StudyKind` of session studies. The questions are those of the study's
    protocol; an answer is never unsure."""

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> NormalizedAnswer:
        """:func:`complete_answer`."""
        return NormalizedAnswer(complete_answer(answer, load_questions(study.protocol).questions))

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> Mapping[str, Any]:
        """:func:`draft_answer`."""
        return draft_answer(answer)

    def page(self, study: Study) -> Mapping[str, Any]:
        """The questions with their guidelines, and the limit of a reason."""
        return {**load_questions(study.protocol).model_dump(exclude={"protocol"}, mode="json"),
                "points": list(POINTS), "note_limit": NOTE_LIMIT}


def complete_answer(given: object, questions: Sequence[Question]) -> dict[str, Any]:
    """The canonical answer. Raises ``IncompleteJudgement`` unless all five questions are answered."""
    answer = object_of(given, FIELDS, "A rating of a session")
    ratings = object_of(answer.get("ratings"), KEYS, "“ratings”")
    for one in questions:
        if ratings.get(one.key) is None:
            raise IncompleteJudgement(f"“{one.title}” has no answer yet. Choose 1 to 5, then save.")
        if not is_rating(ratings[one.key]):
            raise IncompleteJudgement(f"“{one.title}” must be a whole number from 1 to 5.")
    return {"ratings": {key: ratings[key] for key in KEYS}, "reason": text_of(answer.get("reason"), "reason")}


def draft_answer(given: object) -> dict[str, Any]:
    """The storable parts of an unfinished answer; null where a question has none. Raises ``IncompleteJudgement`` for a
    reason that cannot be stored."""
    ratings = object_in(given, "ratings")
    return {"ratings": {key: rating if is_rating(rating := ratings.get(key)) else None for key in KEYS},
            "reason": draft_text(given, "reason")}
