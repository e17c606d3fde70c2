"""Protocol of a kind of study; people, assignment, drafts and saving are common to all kinds. Shared parts of the
kinds of study: answering in any order, and the checks of an answer's fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import Any, Protocol

from annotation.records import (
    AnswerContext,
    Assignment,
    EventKind,
    Item,
    OpenAssignments,
    Reassignment,
    Study,
    SurveyPosition,
    Why,
    Workspace,
)
from annotation.studies import assignment
from annotation.studies.input_limits import DRAFT_NOTE_LIMIT, NOTE_LIMIT, checked_text
from cir_core.errors import IncompleteJudgement
from cir_core.support.texts import printable, shortened, tidy

OwnAssignments = Sequence[Assignment]
"""All assignments of one person in a study, in order, with reassigned ones."""


@dataclass(frozen=True)
class NormalizedAnswer:
    """Answer in canonical plain JSON, so that equal answers compare equal."""

    answer: Mapping[str, Any]
    unsure: bool = False      # for adjudication


@dataclass(frozen=True)
class GateResult:
    """Result of a survey step, to record as an event. ``passed``: whether the person may continue."""

    kind: EventKind
    payload: Mapping[str, Any]
    passed: bool


class Flow(Protocol):
    """Ordered way through a survey: its steps between items, and how far back people may go. Pure."""

    def position(
        self, workspace: Workspace, annotator: str, mine: OwnAssignments, share: Callable[[], int]
    ) -> SurveyPosition:
        """The person's position. ``share``: minimum items of a planned seat; a person who has answered fewer, because
        some were reassigned, is not finished."""

    def admit(self, context: AnswerContext, annotator: str, token: str) -> None:
        """Check that an answer may be saved, in the store's transaction. Raises ``GateStands`` for a new answer while
        a step is open, ``IncompleteJudgement`` for a change that is too late."""

    def pass_gate(
        self, workspace: Workspace, annotator: str, kind: EventKind, token: str, *, number: int | None,
        attempt: int | None, answer: object,
    ) -> GateResult:
        """Complete a step. Raises ``IncompleteJudgement`` for a missing answer, and if another step is due now."""


class StudyKind(Protocol):
    """One kind of study. ``extra`` is that of the person's assignment of the item."""

    @property
    def flow(self) -> Flow | None:
        """None: items in any order, without steps between them."""

    @property
    def sticky_fields(self) -> Collection[str]:
        """Boolean fields that stay true once true, per person and item. Changing only them does not make a new
        revision."""

    def normalize(self, answer: object, item: Item, study: Study, *, extra: Mapping[str,
                                                                                    Any] = ...) -> NormalizedAnswer:
        """Validate and normalise an answer of a browser or script. Raises ``IncompleteJudgement`` that says what is
        missing or contradictory."""

    def draft(self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = ...) -> Mapping[str, Any]:
        """Normalise an incomplete answer: its valid parts, limited in size."""

    def denormalize(self, answer: Mapping[str, Any], *, extra: Mapping[str, Any] = ...) -> Mapping[str, Any]:
        """A stored answer in the form in which the person gave it."""

    def reassign(self, work: OpenAssignments) -> Sequence[Reassignment]:
        """Work of others for a seat without any. Pure; called in the store's transaction."""

    def page(self, study: Study) -> Mapping[str, Any]:
        """Data of the study for its screen, besides items: plain JSON, nothing hidden."""

    def score(self, answer: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
        """How far a canonical answer is the expected one, from 0 to 1."""

    def told(self, answer: Mapping[str, Any], item: Item, study: Study, *, extra: Mapping[str, Any] = ...) -> str:
        """A canonical answer in words, as the person who gets ``extra`` sees the item."""

    def pattern(self, answer: Mapping[str, Any]) -> object:
        """What a person pressed, without texts and without what the item brings: the same for answers that are given by
        pressing the same."""

    def contradicts(self, answer: Mapping[str, Any], study: Study) -> bool | None:
        """Whether an answer contradicts itself; None for one that cannot."""

    @property
    def usual_needs(self) -> Collection[str]:
        """Which items of a new study need a decision: of ``annotation.adjudication.needs.NEEDS``."""

    def disputes(self, answers: Sequence[Mapping[str, Any]], study: Study) -> Collection[Why]:
        """How canonical answers to an item differ, and whether one is unsure."""

    def dealt_extra(self, rng: Random, near: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
        """``extra`` of an assignment that is dealt between one with ``near`` and one with ``after``."""


NOTHING: Mapping[str, Any] = MappingProxyType({})


class PlainKind:
    """Base of a :class:`annotation.studies.kinds.StudyKind` whose items come in any order and look the same to
    everybody: an answer is stored as it was given."""

    flow = None
    sticky_fields: Sequence[str] = ()
    usual_needs: Collection[str] = ()

    def denormalize(self, answer: Mapping[str, Any], *, extra: Mapping[str, Any] = NOTHING) -> Mapping[str, Any]:
        return answer

    def dealt_extra(self, rng: Random, near: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
        return {}

    def reassign(self, work: OpenAssignments) -> Sequence[Reassignment]:
        """A fair share of all open work: :func:`annotation.studies.assignment.reassign`."""
        return assignment.reassign(work)


def tied(counts: Mapping[Any, int]) -> bool:
    """Whether two answers are given by as many people as each other, and none by more."""
    most = sorted(counts.values())[-2:]
    return len(most) == 2 and most[0] == most[1] > 0


def object_of(value: object, fields: Sequence[str], what: str) -> Mapping[str, Any]:
    """``value`` as an object without other ``fields``. Raises ``IncompleteJudgement``."""
    if not isinstance(value, Mapping):
        raise IncompleteJudgement(f"{what} is an object with {', '.join(fields)}.")
    if unknown := [name for name in value if name not in fields]:
        raise IncompleteJudgement(f"{what} has no field “{printable(shortened(str(unknown[0]), 40))}”. Its fields are "
                                  f"{', '.join(fields)}.")
    return value


def object_in(value: object, name: str) -> Mapping[str, Any]:
    """The field ``name`` of an unfinished answer; empty where it is no object."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else NOTHING


def text_of(value: object, name: str) -> str:
    """``value``, None for empty, without spaces around it. Raises ``IncompleteJudgement`` for what is no text, cannot
    be stored, or is too long."""
    if value is not None and not isinstance(value, str):
        raise IncompleteJudgement(f"“{name}” must be a text.")
    text = tidy(checked_text(value or "", name))
    if len(text) > NOTE_LIMIT:
        raise IncompleteJudgement(f"The {name} has {len(text):,} characters; the limit is {NOTE_LIMIT:,}. Nothing was "
                                  "saved yet: shorten it and save again.")
    return text


def draft_text(answer: object, name: str) -> str:
    """The field ``name`` of an unfinished answer, limited in size. Raises ``IncompleteJudgement`` for what cannot be
    stored."""
    text = answer.get(name) if isinstance(answer, Mapping) else None
    return printable(checked_text(text, name)[:DRAFT_NOTE_LIMIT]) if isinstance(text, str) else ""


def is_rating(value: object, points: int = 5) -> bool:
    """A whole number from 1 to ``points``."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= points
