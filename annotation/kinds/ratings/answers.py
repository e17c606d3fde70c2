"""A person's answer about a session: ``{"ratings": {question: 1 to 5}, "reason": ""}``. The five questions about a
session, as they are written in ``assets/questions``: CIRCLED's appendix D. Language models answer the same
(``cir_core.construct.judging.scores.DIMENSIONS``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import model_validator

from annotation.records import Item, Study, Why
from annotation.studies.input_limits import NOTE_LIMIT
from annotation.studies.kinds import (
    NOTHING,
    NormalizedAnswer,
    PlainKind,
    draft_text,
    is_rating,
    object_in,
    object_of,
    text_of,
)
from annotation.studies.protocols import Part, Protocol, Text, load_protocol, newest_protocol, parse_toml
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.errors import IncompleteJudgement

KEYS: tuple[str, ...] = DIMENSIONS
"""Of the questions of every version, in their order."""
POINTS = (1, 2, 3, 4, 5)
_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "questions"


class Question(Part):
    """Answered from 1, ``low``, to 5, ``high``. ``guide``: more on it in the guidelines, if
    anything."""

    key: str
    title: Text
    text: Text
    low: Text
    high: Text
    guide: str = ""


class Questions(Protocol):
    intro: Text
    questions: tuple[Question, ...]

    @model_validator(mode="after")
    def _all(self) -> Questions:
        if tuple(one.key for one in self.questions) != KEYS:
            raise ValueError(f"the questions are {', '.join(KEYS)}, in this order")
        return self


@lru_cache
def load_questions(protocol: str) -> Questions:
    """The questions of a study's protocol. Raises ``StudyError`` for one that cirque does not have, or is broken."""
    return load_protocol(_FOLDER, protocol, "file of questions", lambda text, where: parse_toml(Questions, text, where))


def newest_questions() -> str:
    """The protocol of new studies; a study that is there has its own."""
    return newest_protocol(_FOLDER, "circled")


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

    def score(self, answer: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
        """Share of the questions whose rating is at most one point off."""
        return fmean(abs(answer["ratings"][key] - expected["ratings"][key]) <= 1 for key in KEYS)

    def pattern(self, answer: Mapping[str, Any]) -> object:
        return tuple(answer["ratings"][key] for key in KEYS)

    def contradicts(self, answer: Mapping[str, Any], study: Study) -> bool | None:
        """The overall rating is beyond all others, by two points or more."""
        overall, others = answer["ratings"]["overall"], [answer["ratings"][key] for key in KEYS if key != "overall"]
        return bool(overall >= max(others) + 2 or overall <= min(others) - 2)

    def disputes(self, answers: Sequence[Mapping[str, Any]], study: Study) -> Collection[Why]:
        """"split": two ratings of a question are more than one point apart."""
        given = [[answer["ratings"][key] for answer in answers] for key in KEYS]
        found: list[Why] = ["split"] if answers and any(max(of) - min(of) > 1 for of in given) else []
        return found

    def told(
        self, answer: Mapping[str, Any], item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING,
    ) -> str:
        return "; ".join(f"{one.title}: {answer['ratings'][one.key]}"
                         for one in load_questions(study.protocol).questions)


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
