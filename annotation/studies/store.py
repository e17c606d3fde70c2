"""Protocol of the store of studies. Implemented by ``storage``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from annotation.records import (
    LOCAL,
    Admit,
    Assignment,
    AuditEvent,
    Decision,
    Draft,
    EventKind,
    Item,
    Judgement,
    MetricScores,
    PlannedAssignment,
    Reassign,
    Released,
    Saved,
    Seat,
    Study,
    StudyEvent,
    StudyImage,
    Workspace,
)


class StudyStore(Protocol):
    """All methods raise ``StorageError``; what they wrote is durable when they return. Names of
    studies and annotators are compared without regard to case. ``study_id`` that is not there raises
    ``UnknownStudy``, an item that is not the annotator's ``UnknownItem``, an annotator without a seat
    ``NotJoined``.

    What runs a study is noted in the audit log by the same transaction; ``by``: who does it."""

    # --- making and reading ---------------------------------------------------------------

    def create(
        self, study: Study, items: Sequence[Item], images: Sequence[StudyImage], places: Sequence[PlannedAssignment], *,
        seats: Sequence[Seat] = (), judgements: Sequence[Judgement] = (),
    ) -> None:
        """All or nothing. ``seats`` beyond the plan's empty ones, and ``judgements``, are those of an
        import: their assignments are stored as answered. A name that is taken raises ``StudyError``."""
        ...

    def study(self, name_or_id: str) -> Study: ...

    def studies(self) -> Sequence[Study]:
        """The latest first."""
        ...

    def items(self, study_id: str) -> Sequence[Item]:
        """In order of their number."""
        ...

    def images(self, study_id: str) -> Mapping[str, StudyImage]:
        """By token."""
        ...

    def seats(self, study_id: str) -> Sequence[Seat]: ...

    def assignments(self, study_id: str) -> Sequence[Assignment]: ...

    def judgements(self, study_id: str, *, history: bool = False) -> Sequence[Judgement]:
        """What counts now, by item number and seat; with ``history`` every revision, oldest first."""
        ...

    def item_judgements(self, study_id: str, item_id: str) -> Sequence[Judgement]:
        """What counts now for one item."""
        ...

    def decisions(self, study_id: str, *, history: bool = False) -> Sequence[Decision]: ...

    def counts(self, study_id: str) -> Mapping[str, int]:
        """``{"items", "assignments", "done", "unsure", "people", "decisions"}`` without reading the rows."""
        ...

    # --- judging --------------------------------------------------------------------------

    def join(self, study_id: str, annotator: str, at: datetime, hand_over: Reassign) -> Seat:
        """The person's seat: the one they have, else the lowest that is free, else a new one that gets
        what ``hand_over`` gives it."""
        ...

    def take_more(self, study_id: str, annotator: str, at: datetime, hand_over: Reassign) -> int:
        """Hand more to a person who is done; returns how many items. Of the agreement block they get back
        what was taken from them when their work was released."""
        ...

    def workspace(
        self, study_id: str, annotator: str, *, item_id: str | None = None, position: int | None = None,
        after: str | None = None, ahead: int = 2, at: datetime | None = None,
    ) -> Workspace:
        """The item asked for by id or by position, else the first that is open;
        with ``after``, an item's id, the first open one behind that item, wrapping round.
        One transaction. ``at`` notes that the person was here (at most once a minute)."""
        ...

    def save(
        self, judgement: Judgement, *, unsure: bool, seen_revision: int | None = None, lasting: Collection[str] = (),
        admit: Admit | None = None,
    ) -> Saved:
        """Keep a judgement (its ``revision`` is given here). The same answer again, with the same token or
        another, adds nothing. Ends the draft. Raises ``StudyClosed`` when answers are no longer taken,
        ``UsedToken`` for another answer under the same token.

        ``lasting``: fields that stay true for this person and item once an answer or a draft had them true. Answers
        that differ in nothing else are equal.

        ``admit`` is called in the transaction, when no other answer of this person can come between: what it
        returns is kept in place of ``judgement.answer`` and ``unsure``, and what it raises is raised."""
        ...

    def save_draft(self, study_id: str, draft: Draft, *, lasting: Collection[str] = ()) -> None:
        """Replaces the person's draft of the item. ``lasting`` as in :meth:`save`."""
        ...

    def drop_draft(self, study_id: str, item_id: str, annotator: str) -> None:
        """Nothing happens where there is none."""
        ...

    def overview(self, study_id: str, annotator: str) -> Sequence[Assignment]:
        """A person's assignments in their order."""
        ...

    def is_member(self, study_id: str, annotator: str) -> bool:
        """Whether a person has a seat with items, also handed-on ones, which they may still answer. False for a
        study that is not there."""
        ...

    def drafts(self, study_id: str, annotator: str) -> Sequence[tuple[Draft, Mapping[str, Any] | None]]:
        """A person's drafts, each with their answer to its item that counts now."""
        ...

    def decide(self, decision: Decision) -> Decision:
        """Keep an adjudicator's decision, idempotent by its token; ``revision`` is given here. Raises
        ``UsedToken`` for another decision under the same token."""
        ...

    def note(self, event: StudyEvent) -> StudyEvent:
        """Keep what a person with a seat did between the items, also in a study that takes no more
        answers. Idempotent by study, annotator and token: what was noted first is given back."""
        ...

    def events(
        self, study_id: str, annotator: str | None = None, kind: EventKind | None = None,
    ) -> Sequence[StudyEvent]:
        """Oldest first; of everybody, or of one person; of all kinds, or of one."""
        ...

    # --- scores of metrics, for preference studies -------------------------------------------

    def save_scores(self, study_id: str, scores: MetricScores, by: str, at: datetime) -> None:
        """Replaces those of the same name. Raises ``StudyError`` for a name without letters, for sets of items
        that the study does not have, and for numbers that are not finite."""
        ...

    def scores(self, study_id: str) -> Sequence[MetricScores]:
        """By name."""
        ...

    def drop_scores(self, study_id: str, name: str, *, by: str = LOCAL) -> None:
        """Raises ``UnknownScores`` where there are none of that name."""
        ...

    def stamp(self, study_id: str) -> str:
        """Another text whenever something has changed that a report is made of: an answer, a seat, a decision, an
        event, the study itself, scores. Cheap however much is stored."""
        ...

    # --- running --------------------------------------------------------------------------

    def set_accepting(self, study_id: str, accepting: bool, *, by: str = LOCAL) -> Study: ...

    def release(self, study_id: str, annotator: str, *, by: str = LOCAL) -> Released:
        """Make a person's open work free for others at once. Who has answered nothing loses the seat."""
        ...

    def change_settings(self, study_id: str, settings: Mapping[str, Any], *, by: str = LOCAL) -> Study: ...

    def rename(self, study_id: str, name: str, *, by: str = LOCAL) -> Study:
        """Raises ``StudyError`` for a name that another study has."""
        ...

    def remove(self, study_id: str, *, by: str = LOCAL) -> None:
        """With all its judgements, decisions, drafts, events and scores, at once; its pictures are not the store's."""
        ...

    def log_event(self, act: AuditEvent) -> None:
        """Note in the audit log what changes nothing in the store, such as a download."""
        ...


@dataclass(frozen=True)
class StudyParts:
    """What ``StudyStore.create`` takes."""

    study: Study
    items: Sequence[Item] = field(repr=False)
    images: Sequence[StudyImage] = field(repr=False)
    places: Sequence[PlannedAssignment] = field(repr=False)
    seats: Sequence[Seat] = field(repr=False)
    judgements: Sequence[Judgement] = field(repr=False)
