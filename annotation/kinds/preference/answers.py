"""Preference studies: which of two sets of retrieved images is better for a query (HS-FashionIQ, of CIRQRS).

An item has two *stored* sets, 1 and 2. Which of them is shown first is randomised per person, and stored in the
assignment: ``extra["first"]``. Browsers send answers in *shown* terms, A for the first set::

    {"ratings": {"A": 4, "B": 2}, "preferred": "A" | "B" | "tie", "irrelevant": {"either": false}, "reason": "",
     "confirmed": false}

The canonical answer is in stored terms, with the set that was shown first::

    {"ratings": [4, 2], "preferred": 1 | 2 | 0, "irrelevant": {…}, "reason": "", "first": 1 | 2,
     "contradiction_confirmed": false}

``preferred`` 0 is a tie, if the study allows ties. ``irrelevant`` has a mark for each question that the survey asks
(:attr:`~annotation.kinds.preference.survey.texts.Survey.marks`): "either", or "image" and "text" in studies of earlier
versions. In answers of released files ``first`` and the marks are null (not recorded).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any, Literal

from annotation.kinds.preference.survey import plan
from annotation.kinds.preference.survey.position import SurveyFlow
from annotation.kinds.preference.survey.texts import as_page, preference_question, set_names, survey_of
from annotation.records import Item, OpenAssignments, Reassignment, Study, Why
from annotation.studies.input_limits import NOTE_LIMIT
from annotation.studies.kinds import (
    NOTHING,
    NormalizedAnswer,
    draft_text,
    is_rating,
    object_in,
    object_of,
    text_of,
    tied,
)
from cir_core.errors import IncompleteJudgement, NeedsConfirmation, StudyError

SIDES = ("A", "B")
TIE = "tie"
RATINGS = (1, 2, 3, 4, 5)
FIELDS = ("ratings", "preferred", "irrelevant", "reason", "confirmed")


class Preference:
    """:class:`~annotation.studies.kinds.StudyKind` preference. ``extra`` is that of the person's assignment."""

    flow = SurveyFlow()
    sticky_fields = ()
    usual_needs = ()

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> NormalizedAnswer:
        """The canonical answer. Raises ``IncompleteJudgement``; ``NeedsConfirmation`` for a preference that
        contradicts the ratings, unless confirmed. Only the irrelevance marks have defaults; a reason is
        required if ``extra["reason"]`` is set.
        """
        first, survey = _first(extra), survey_of(study)
        names = set_names(survey, study.settings)
        given = object_of(answer, FIELDS, "A rating")
        ratings = _ratings(given.get("ratings"), names)
        question = preference_question(survey, study.settings)
        preferred = _preferred(given.get("preferred"), names, question, bool(study.settings.get("allow_tie")))
        irrelevant = _marks(given.get("irrelevant"), tuple(survey.marks))
        reason = _reason(given.get("reason"), survey.questions.reason, bool(extra.get("reason")))
        confirmed = given.get("confirmed")
        if confirmed is not None and not isinstance(confirmed, bool):
            raise IncompleteJudgement("“confirmed” must be true or false.")
        against = contradicts(ratings, preferred)
        if against and not confirmed:
            raise NeedsConfirmation(_doubt(ratings, preferred, names))
        return NormalizedAnswer({
            "ratings": list(_turned(ratings, first)), "preferred": _side(preferred, first), "irrelevant": irrelevant,
            "reason": reason, "first": first, "contradiction_confirmed": against,
        })

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> Mapping[str, Any]:
        """The storable parts of an unfinished answer, in shown terms. Raises ``IncompleteJudgement`` for a reason that
        cannot be stored."""
        given = answer if isinstance(answer, Mapping) else {}
        ratings, marks = object_in(given, "ratings"), object_in(given, "irrelevant")
        preferred = given.get("preferred")
        return {
            "ratings": {side: rating if is_rating(rating := ratings.get(side)) else None for side in SIDES},
            "preferred": preferred if preferred in (*SIDES, TIE) else None,
            "irrelevant": {to: marks.get(to) is True for to in survey_of(study).marks},
            "reason": draft_text(given, "reason"),
            "confirmed": False,
        }

    def denormalize(self, answer: Mapping[str, Any], *, extra: Mapping[str, Any] = NOTHING) -> Mapping[str, Any]:
        """:func:`as_shown`."""
        return as_shown(answer, extra)

    def reassign(self, work: OpenAssignments) -> list[Reassignment]:
        """Abandoned questions: :func:`annotation.kinds.preference.survey.plan.reassign`."""
        return plan.reassign(work)

    def page(self, study: Study) -> Mapping[str, Any]:
        """:func:`annotation.kinds.preference.survey.texts.as_page`, and ``reason_limit``."""
        return as_page(survey_of(study), study.settings) | {"reason_limit": NOTE_LIMIT}

    def score(self, answer: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
        """1 for the same preference, a half where one of the two is a tie."""
        if answer["preferred"] == expected["preferred"]:
            return 1.0
        return 0.5 if 0 in (answer["preferred"], expected["preferred"]) else 0.0

    def pattern(self, answer: Mapping[str, Any]) -> object:
        return tuple(_turned(answer["ratings"], answer["first"] or 1))

    def contradicts(self, answer: Mapping[str, Any], study: Study) -> bool | None:
        if answer["preferred"] == 0 or len(set(answer["ratings"])) == 1:
            return None
        return contradicts(answer["ratings"], answer["preferred"])

    def disputes(self, answers: Sequence[Mapping[str, Any]], study: Study) -> Collection[Why]:
        """"tie": no set is preferred by most; "split": not all prefer the same, or all that they are equally good."""
        preferred = Counter(answer["preferred"] for answer in answers)
        found: list[Why] = ["tie"] if tied(preferred) else ["split"] if len(preferred) > 1 else []
        return found

    def told(
        self, answer: Mapping[str, Any], item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING,
    ) -> str:
        names = set_names(survey_of(study), study.settings)
        shown = as_shown(answer, extra)
        ratings = ", ".join(f"{name} {shown['ratings'][side]}" for side, name in zip(SIDES, names, strict=True))
        preferred = shown["preferred"]
        if preferred == TIE:
            return f"Both are equally good ({ratings})"
        better = names[SIDES.index(preferred)]
        return f"{better[0].upper()}{better[1:]} is better ({ratings})"

    def dealt_extra(self, rng: Random, near: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
        """Either set first, in the form of the question before it; asked for a reason where both neighbours are, as in
        a study that always asks."""
        return {"first": rng.choice((1, 2)), "form": near.get("form", 1),
                "reason": bool(near.get("reason") and after.get("reason"))}


def shown_sets(item: Item, extra: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Image tokens of the set shown first to this person, and of the other. Raises ``StudyError``."""
    one, other = item.shown["sets"]
    first, second = _turned((list(one), list(other)), _first(extra))
    return first, second


def as_shown(answer: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """A canonical answer in shown terms, as the person gave it."""
    first = _first(extra)
    ratings, preferred = _turned(answer["ratings"], first), _side(answer["preferred"], first)
    return {
        "ratings": dict(zip(SIDES, ratings, strict=True)), "preferred": SIDES[preferred - 1] if preferred else TIE,
        "irrelevant": dict(answer["irrelevant"]), "reason": answer["reason"],
        "confirmed": answer["contradiction_confirmed"],
    }


def contradicts(ratings: tuple[int, int] | list[int], preferred: int) -> bool:
    """Whether the preferred set, 1 or 2, is rated lower than the other. A tie never contradicts."""
    return preferred != 0 and ratings[preferred - 1] < ratings[2 - preferred]


def _first(extra: Mapping[str, Any]) -> Literal[1, 2]:
    first = extra.get("first")
    if first not in (1, 2) or isinstance(first, bool):
        raise StudyError("The order of the two sets was not recorded for this question, so it cannot be "
                         "answered. Create a new study: cirque study create preference")
    return 1 if first == 1 else 2


def _turned(pair: Any, first: int) -> tuple[Any, Any]:
    """Convert between shown and stored order; its own inverse."""
    one, other = pair
    return (one, other) if first == 1 else (other, one)


def _side(preferred: int, first: int) -> int:
    """:func:`_turned` for a preferred set; a tie stays 0."""
    return preferred if preferred == 0 or first == 1 else 3 - preferred


def _ratings(value: object, names: tuple[str, str]) -> tuple[int, int]:
    given = object_of({} if value is None else value, SIDES, "“ratings”")
    for side, name in zip(SIDES, names, strict=True):
        rating = given.get(side)
        if rating is None:
            raise IncompleteJudgement(f"{name} has no rating yet. Give it one from 1 to 5.")
        if not is_rating(rating):
            raise IncompleteJudgement(f"The rating of {name} must be a whole number from 1 to 5.")
    return given["A"], given["B"]


def _preferred(value: object, names: tuple[str, str], question: str, allow_tie: bool) -> int:
    """1 for the set shown first, 2 for the other, 0 for a tie."""
    choices = f"{names[0]}, {names[1]} or that both are equally good" if allow_tie else f"{names[0]} or {names[1]}"
    if value is None:
        raise IncompleteJudgement(f"{question} Choose {choices}.")
    if value == TIE and not allow_tie:
        raise IncompleteJudgement(f"This study asks for one of the two sets: choose {choices}.")
    if value not in (*SIDES, TIE):
        raise IncompleteJudgement(f"“preferred” must be “A”, “B”{' or “tie”' if allow_tie else ''}.")
    return 0 if value == TIE else SIDES.index(str(value)) + 1


def _marks(value: object, asked: tuple[str, ...]) -> dict[str, bool]:
    given = object_of({} if value is None else value, asked, "“irrelevant”")
    marks = {to: False if (mark := given.get(to)) is None else mark for to in asked}
    if wrong := next((to for to, mark in marks.items() if not isinstance(mark, bool)), None):
        raise IncompleteJudgement(f"“irrelevant”: “{wrong}” must be true or false.")
    return marks


def _reason(value: object, question: str, asked: bool) -> str:
    reason = text_of(value, "reason")
    if asked and not reason:
        raise IncompleteJudgement(f"{question} Say it in a few words: this question asks for a reason.")
    return reason


def _doubt(ratings: tuple[int, int], preferred: int, names: tuple[str, str]) -> str:
    better, other = names[preferred - 1], names[2 - preferred]
    return (f"You prefer {better}, but gave it {ratings[preferred - 1]} and {other} {ratings[2 - preferred]}. Is that "
            "what you meant? Change it, or save again to keep it as it is.")
