"""A person's answer about a session: ``{"ratings": {question: 1 to 5}, "reason": ""}``. The questions about a session
are written in ``assets/questions``: CIRCLED's five, of appendix D, which language models answer as well
(``cir_core.construct.judging.scores.DIMENSIONS``). A study may have a file of its own with others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from pydantic import Field

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
from annotation.studies.protocols import (
    OwnFile,
    Part,
    Protocol,
    Text,
    asked_by,
    chosen,
    load_protocol,
    newest_protocol,
    parse_toml,
    placed,
)
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.errors import IncompleteJudgement, StudyError

KEYS: tuple[str, ...] = DIMENSIONS
"""Of the questions of every version of cirque's, in their order."""
RESERVED = frozenset({
    "study", "item", "source", "subset", "session_id", "turns", "in_block", "gallery", "reference_ids", "texts",
    "target_id", "annotator", "revision", "protocol", "reason", "seconds", "answered_at", "judgements", "decided"})
"""Columns of exports, which no question can have."""
_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "questions"
_Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
_When = dict[_Key, Annotated[tuple[int, ...], Field(min_length=1)]]
"""Ratings, by the question that they are given to: one of each has to be."""


class Question(Part):
    """Answered from 1, ``low``, to ``points``, ``high``. ``guide``: more on it in the guidelines, if anything.
    ``show_if``: asked only after one of these ratings of earlier questions."""

    key: _Key
    title: Text
    text: Text
    low: Text
    high: Text
    guide: str = ""
    show_if: _When = Field(default={})


class Impossible(Part):
    """Ratings that exclude each other. ``says`` tells why, and what to do."""

    when: _When = Field(min_length=1)
    says: Text


class Questions(Protocol):
    title: Text = "Rate the session"
    intro: Text
    points: int = Field(default=5, ge=2, le=9)   # as many as there are keys
    questions: tuple[Question, ...] = Field(min_length=1, max_length=30)
    impossible: tuple[Impossible, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(one.key for one in self.questions)

    @property
    def scale(self) -> tuple[int, ...]:
        return tuple(range(1, self.points + 1))

    @property
    def whole(self) -> Question:
        """The question that stands for a session as a whole: "overall", else the last that everybody is asked."""
        always = [one for one in self.questions if not one.show_if]
        return next((one for one in always if one.key == "overall"), always[-1])

    def asked(self, ratings: Mapping[str, Any]) -> tuple[Question, ...]:
        """The questions that are shown beside ``ratings`` of the others, in their order."""
        given: dict[str, Any] = {}
        for one in self.questions:
            if _holds(one.show_if, given):
                given[one.key] = ratings.get(one.key)
        return tuple(one for one in self.questions if one.key in given)

    def contradiction(self, ratings: Mapping[str, Any]) -> str:
        """What is said of ratings that exclude each other; "" if none do."""
        return next((one.says for one in self.impossible if _holds(one.when, ratings)), "")


def _holds(when: _When, ratings: Mapping[str, Any]) -> bool:
    return all(ratings.get(key) in of for key, of in when.items())


@lru_cache
def load_questions(protocol: str) -> Questions:
    """The questions of a protocol of cirque's. Raises ``StudyError`` for one that it does not have, or is broken."""
    return load_protocol(_FOLDER, protocol, "file of questions", _parse_known)


def newest_questions() -> str:
    """The protocol of new studies; a study that is there has its own."""
    return newest_protocol(_FOLDER, "circled")


def questions_of(study: Study) -> Questions:
    """What ``study`` asks: a file of its own, or one of cirque's."""
    return asked_by(study, load_questions, parse_questions)


def choose_questions(own: OwnFile | None, others: Callable[[], Iterable[Study]]) -> tuple[Questions, dict[str, str]]:
    """:func:`annotation.studies.protocols.chosen`."""
    return chosen(_FOLDER, own, lambda: load_questions(newest_questions()), parse_questions, others)


def _parse_known(text: str, where: str) -> Questions:
    found = parse_questions(text, where)
    if found.keys != KEYS or found.points != 5:
        raise StudyError(f"{where}: the questions are {', '.join(KEYS)}, in this order, from 1 to 5: a language model "
                         "answers the same.")
    return found


def check_comparable(study: Study) -> None:
    """Raises ``StudyError`` for a study that asks other questions than language models answer."""
    asked = questions_of(study)
    if asked.keys != KEYS or asked.points != 5:
        raise StudyError(f"{study.name} asks questions of its own ({study.protocol}), and language models answer "
                         "CIRCLED's five: their scores cannot be compared. Leave them out.")


@lru_cache
def parse_questions(text: str, where: str) -> Questions:
    """Questions from their TOML. ``where`` names the file in the ``StudyError`` for what is wrong in it."""
    found = parse_toml(Questions, text, where)
    for place, problem, remedy in _faults(found):
        field = ".".join(map(str, place))
        raise StudyError(f"{placed(where, text, place)}, {field}: {problem}. {remedy}.")
    return found


def _faults(of: Questions) -> Iterable[tuple[tuple[str | int, ...], str, str]]:
    """Place, problem and remedy of what the types let pass."""
    earlier: set[str] = set()
    for number, one in enumerate(of.questions):
        at = ("questions", number, "key")
        if one.key in earlier:
            yield at, f"{one.key} occurs twice", "Give each question its own key"
        if one.key in RESERVED:
            yield at, f"{one.key} is another column of the exported tables", "Choose another key"
        yield from _unknown(of, ("questions", number, "show_if"), one.show_if, earlier, "no earlier question")
        earlier.add(one.key)
    if all(one.show_if for one in of.questions):
        yield ("questions",), "each has show_if, so that none is asked", "Leave it out of one of them"
    for number, rule in enumerate(of.impossible):
        yield from _unknown(of, ("impossible", number, "when"), rule.when, earlier, "no question")


def _unknown(
    of: Questions, at: tuple[str | int, ...], when: _When, known: Collection[str], what: str
) -> Iterable[tuple[tuple[str | int, ...], str, str]]:
    for key, ratings in when.items():
        if key not in known:
            yield at, f"{key} is {what}", f"Name one of: {', '.join(one.key for one in of.questions)}"
        if not set(ratings) <= set(of.scale):
            yield at, f"{key} is rated from 1 to {of.points}", "Name ratings between them"


FIELDS = ("ratings", "reason")


class Sessions(PlainKind):
    """:class:`annotation.studies.kinds.StudyKind` of session studies. The questions are those of the study's
    protocol; an answer is never unsure."""

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> NormalizedAnswer:
        """:func:`complete_answer`."""
        return NormalizedAnswer(complete_answer(answer, questions_of(study)))

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> Mapping[str, Any]:
        """:func:`draft_answer`."""
        return draft_answer(answer, questions_of(study))

    def page(self, study: Study) -> Mapping[str, Any]:
        """The questions with their guidelines, and the limit of a reason."""
        found = questions_of(study)
        return {**found.model_dump(exclude={"protocol"}, mode="json"), "points": list(found.scale),
                "note_limit": NOTE_LIMIT}

    def score(self, answer: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
        """Share of the questions whose rating is at most one point off; none where a question was not asked."""
        given, wanted = answer["ratings"], expected["ratings"]
        return fmean(abs(own - rating) <= 1 if None not in (own := given.get(key), rating) else own is rating
                     for key, rating in wanted.items())

    def pattern(self, answer: Mapping[str, Any]) -> object:
        return tuple(sorted(answer["ratings"].items()))

    def contradicts(self, answer: Mapping[str, Any], study: Study) -> bool | None:
        """The rating of the whole is beyond all others, by two points or more. None without others."""
        key = questions_of(study).whole.key
        whole = answer["ratings"][key]
        others = [rating for of, rating in answer["ratings"].items() if of != key and rating is not None]
        return bool(whole >= max(others) + 2 or whole <= min(others) - 2) if others else None

    def disputes(self, answers: Sequence[Mapping[str, Any]], study: Study) -> Collection[Why]:
        """"split": two ratings of a question are more than one point apart."""
        given = [[rating for answer in answers if (rating := answer["ratings"].get(key)) is not None]
                 for key in {key for answer in answers for key in answer["ratings"]}]
        found: list[Why] = ["split"] if any(of and max(of) - min(of) > 1 for of in given) else []
        return found

    def told(
        self, answer: Mapping[str, Any], item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING,
    ) -> str:
        return "; ".join(f"{one.title}: {rating}" for one in questions_of(study).questions
                         if (rating := answer["ratings"].get(one.key)) is not None)


def complete_answer(given: object, of: Questions) -> dict[str, Any]:
    """The canonical answer; null for a question that is not asked beside the other ratings. Raises
    ``IncompleteJudgement`` unless all others are answered, and for ratings that exclude each other."""
    answer = object_of(given, FIELDS, "A rating of a session")
    ratings = object_of(answer.get("ratings"), of.keys, "“ratings”")
    asked = of.asked(ratings)
    for one in asked:
        if ratings.get(one.key) is None:
            raise IncompleteJudgement(f"“{one.title}” has no answer yet. Choose 1 to {of.points}, then save.")
        if not is_rating(ratings[one.key], of.points):
            raise IncompleteJudgement(f"“{one.title}” must be a whole number from 1 to {of.points}.")
    kept = {**dict.fromkeys(of.keys), **{one.key: ratings[one.key] for one in asked}}
    if says := of.contradiction(kept):
        raise IncompleteJudgement(says)
    return {"ratings": kept, "reason": text_of(answer.get("reason"), "reason")}


def draft_answer(given: object, of: Questions) -> dict[str, Any]:
    """The storable parts of an unfinished answer; null where a question has none. Raises ``IncompleteJudgement`` for a
    reason that cannot be stored."""
    ratings = object_in(given, "ratings")
    return {"ratings": {key: rating if is_rating(rating := ratings.get(key), of.points) else None for key in of.keys},
            "reason": draft_text(given, "reason")}
