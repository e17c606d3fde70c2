"""What differs between kinds of studies; people, assignment, drafts and saving are the same for all."""

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

Mine = Sequence[Assignment]
"""All that one person has or had in a study, in their order."""


@dataclass(frozen=True)
class NormalizedAnswer:
    """An answer as it is kept: plain JSON in one canonical form, so that equal answers are equal."""

    answer: Mapping[str, Any]
    unsure: bool = False      # goes to an adjudicator


@dataclass(frozen=True)
class GateResult:
    """What is to be noted of an answer to a gate. ``passed``: whether the person goes on."""

    kind: EventKind
    payload: Mapping[str, Any]
    passed: bool


class Flow(Protocol):
    """How people go through a study in order: what stands between its items, and how far back they may go. Pure."""

    def position(self, workspace: Workspace, annotator: str, mine: Mine, share: Callable[[], int]) -> SurveyPosition:
        """``share``: how many items a seat of the plan has at least; who lost some to others and has
        answered fewer is not at the end."""
        ...

    def admit(self, standing: AnswerContext, annotator: str, token: str) -> None:
        """Whether an answer may be kept; called in the store's transaction. Raises ``GateStands`` for a new
        one behind a gate, ``IncompleteJudgement`` for a change that comes too late."""
        ...

    def pass_gate(
        self, workspace: Workspace, annotator: str, kind: EventKind, token: str, *, number: int | None,
        attempt: int | None,
        answer: object,
    ) -> GateResult:
        """Raises ``IncompleteJudgement`` for a missing answer, and where something else stands there now."""
        ...


class Kind(Protocol):
    """One kind of study. ``extra`` is that of the person's assignment of the item."""

    @property
    def flow(self) -> Flow | None:
        """None: items in any order, and nothing between them."""
        ...

    @property
    def lasting(self) -> Collection[str]:
        """Fields of an answer that only ever go from false to true, for one person and item. They alone
        make no new answer."""
        ...

    def normalize(self, answer: object, item: Item, study: Study, *, extra: Mapping[str,
                                                                                    Any] = ...) -> NormalizedAnswer:
        """Check what came from a browser or a script. Raises ``IncompleteJudgement`` with a sentence
        that says what is missing or contradicts itself."""
        ...

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = ...
    ) -> Mapping[str, Any]:
        """The same without completeness: whatever can be kept of it, bounded in size."""
        ...

    def denormalize(self, answer: Mapping[str, Any], *, extra: Mapping[str, Any] = ...) -> Mapping[str, Any]:
        """A kept answer as its person gave it."""
        ...

    def hand_over(self, work: OpenAssignments) -> Sequence[Reassignment]:
        """What a seat without work takes over from others. Pure; called in the store's transaction."""
        ...

    def page(self, study: Study) -> Mapping[str, Any]:
        """What the screen needs to know of the study beyond its items: plain JSON, nothing hidden."""
        ...
