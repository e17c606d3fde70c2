"""Protocol of a kind of study; people, assignment, drafts and saving are common to all kinds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
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
    Workspace,
)

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
