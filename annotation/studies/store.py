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
    Deal,
    Decision,
    Draft,
    EventKind,
    FirstAnswer,
    GoldAnswer,
    GoldItem,
    Item,
    Judgement,
    Message,
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
    """All methods raise ``StorageError``; writes are durable when they return. Names of studies and
    annotators are compared without case. An unknown ``study_id`` raises ``UnknownStudy``, an item that is
    not the annotator's ``UnknownItem``, an annotator without a seat ``NotJoined``.

    Administrative changes are recorded in the audit log in the same transaction; ``by``: who acts."""

    def create(
        self, study: Study, items: Sequence[Item], images: Sequence[StudyImage], places: Sequence[PlannedAssignment], *,
        seats: Sequence[Seat] = (), judgements: Sequence[Judgement] = (),
    ) -> None:
        """Insert a study, atomically. ``seats`` (besides the plan's empty ones) and ``judgements`` are of an import:
        their assignments are stored as answered. A taken name raises ``StudyError``."""

    def study(self, name_or_id: str) -> Study: ...

    def studies(self) -> Sequence[Study]:
        """The latest first."""

    def items(self, study_id: str) -> Sequence[Item]:
        """In order of their number."""

    def images(self, study_id: str) -> Mapping[str, StudyImage]:
        """By token."""

    def seats(self, study_id: str) -> Sequence[Seat]: ...

    def assignments(self, study_id: str) -> Sequence[Assignment]: ...

    def judgements(self, study_id: str, *, history: bool = False) -> Sequence[Judgement]:
        """Current judgements, by item number and seat; with ``history`` all revisions, oldest first."""

    def item_judgements(self, study_id: str, item_id: str) -> Sequence[Judgement]:
        """Current judgements of one item."""

    def decisions(self, study_id: str, *, history: bool = False) -> Sequence[Decision]: ...

    def counts(self, study_id: str) -> Mapping[str, int]:
        """``{"items", "assignments", "done", "unsure", "people", "decisions"}`` without reading the rows."""

    def join(
        self, study_id: str, annotator: str, at: datetime, reassign: Reassign, first: Sequence[str] = (),
    ) -> Seat:
        """The person's seat: the one they have, else the lowest free one, else a new one with the work that
        ``reassign`` returns. Of new work, the items ``first`` come first, in this order; gold and training keep their
        places."""

    def take_more(
        self, study_id: str, annotator: str, at: datetime, reassign: Reassign, first: Sequence[str] = (),
    ) -> int:
        """Assign more items to a person without open work, ``first`` as in :meth:`join`; returns how many. Items of
        the agreement set that were withdrawn when their work was released are restored."""

    def workspace(
        self, study_id: str, annotator: str, *, item_id: str | None = None, position: int | None = None,
        after: str | None = None, ahead: int = 2, at: datetime | None = None,
    ) -> Workspace:
        """The workspace with the item requested by id or position, else the first open one; with ``after``, an
        item's id, the first open one after that item, wrapping around.

        One transaction. ``at`` updates the time of last activity (at most once a minute)."""

    def save(
        self, judgement: Judgement, *, unsure: bool, seen_revision: int | None = None,
        sticky_fields: Collection[str] = (), admit: Admit | None = None,
    ) -> Saved:
        """Save a judgement, and assign its ``revision``. The same answer again, with the same or another token,
        adds nothing. Deletes the draft. Raises ``StudyClosed``, and ``UsedToken`` for another answer with the same
        token.

        ``sticky_fields`` stay true for this person and item once they were true in an answer or a draft. Answers that
        differ only in them are equal.

        ``admit`` is called in the transaction, with this person's seat locked: its result replaces
        ``judgement.answer`` and ``unsure``, and its errors propagate."""

    def save_draft(self, study_id: str, draft: Draft, *, sticky_fields: Collection[str] = ()) -> None:
        """Replace the person's draft of the item. ``sticky_fields`` as in :meth:`save`."""

    def drop_draft(self, study_id: str, item_id: str, annotator: str) -> None:
        """Delete a draft, if there is one."""

    def overview(self, study_id: str, annotator: str) -> Sequence[Assignment]:
        """A person's assignments, in order."""

    def is_member(self, study_id: str, annotator: str) -> bool:
        """Whether a person has a seat with items, also reassigned ones, which they may still answer. False for an
        unknown study."""

    def drafts(self, study_id: str, annotator: str) -> Sequence[tuple[Draft, Mapping[str, Any] | None]]:
        """A person's drafts, each with their current answer to the item."""

    def decide(self, decision: Decision) -> Decision:
        """Save an adjudicator's decision, idempotent by its token, and assign its ``revision``. Raises ``UsedToken``
        for another decision with the same token."""

    def first_answers(
        self, study_id: str, adjudicator: str | None = None, item_id: str | None = None,
    ) -> Sequence[FirstAnswer]:
        """What adjudicators, or one of them, answered before they saw the judges' answers; to all items, or one."""

    def answer_first(self, given: FirstAnswer) -> FirstAnswer:
        """Save an adjudicator's own answer to an item, once and for all: returns the one that is stored."""

    def messages(self, study_id: str, item_id: str | None = None) -> Sequence[Message]:
        """The discussion on an item, oldest first; those on all items, item by item."""

    def say(self, message: Message) -> Message:
        """Add to the discussion on an item, idempotent by the message's token. Raises ``UsedToken`` for another
        message with the same token."""

    def gold(self, study_id: str) -> Sequence[GoldItem]:
        """Items whose right answer is known, by item number."""

    def make_gold(self, study_id: str, deal: Deal, *, by: str = LOCAL) -> Sequence[GoldItem]:
        """Store the further gold items and the order of open work that ``deal`` returns, called in the transaction;
        returns these items. Answers to items that people get as gold are no :meth:`judgements`."""

    def gold_answers(self, study_id: str, annotator: str | None = None) -> Sequence[GoldAnswer]:
        """What people, or one person, answered to gold items since these are gold, oldest first; open ones last."""

    def end_work(self, study_id: str, annotator: str) -> None:
        """Take a person's open work from them, for good: it lies on a free seat."""

    def train_again(self, study_id: str, annotator: str) -> int:
        """Ask a person the items of training again; returns how many."""

    def note(self, event: StudyEvent) -> StudyEvent:
        """Save an event of a person with a seat, also in a closed study. Idempotent by study, annotator and token:
        returns the stored event."""

    def events(
        self, study_id: str, annotator: str | None = None, kind: EventKind | None = None,
    ) -> Sequence[StudyEvent]:
        """Events, oldest first; optionally of one person, and of one kind."""

    def save_scores(self, study_id: str, scores: MetricScores, by: str, at: datetime) -> None:
        """Save scores, replacing those of the same name. Raises ``StudyError`` for an empty name, unknown items or
        sets, and non-finite numbers."""

    def scores(self, study_id: str) -> Sequence[MetricScores]:
        """By name."""

    def drop_scores(self, study_id: str, name: str, *, by: str = LOCAL) -> None:
        """Delete scores. Raises ``UnknownScores`` for an unknown name."""

    def stamp(self, study_id: str) -> str:
        """Version stamp, which changes with all inputs of a report: answers, seats, decisions, events, scores, the
        study itself. Cheap for studies of any size."""

    def set_accepting(self, study_id: str, accepting: bool, *, by: str = LOCAL) -> Study: ...

    def release(self, study_id: str, annotator: str, *, by: str = LOCAL) -> Released:
        """Release a person's open work to others at once. A seat without answers is freed."""

    def change_settings(self, study_id: str, changes: Mapping[str, Any], *, by: str = LOCAL) -> Study:
        """Set these settings, and remove those that are None here. Others stay as they are, though somebody else has
        changed them meanwhile."""

    def rename(self, study_id: str, name: str, *, by: str = LOCAL) -> Study:
        """Raises ``StudyError`` for a taken name."""

    def remove(self, study_id: str, *, by: str = LOCAL) -> None:
        """Delete a study with all its judgements, decisions, drafts, events and scores; not its images, which are
        files."""

    def log_event(self, event: AuditEvent) -> None:
        """Log an event without any other change, such as a download."""


@dataclass(frozen=True)
class StudyParts:
    """Arguments of ``StudyStore.create``."""

    study: Study
    items: Sequence[Item] = field(repr=False)
    images: Sequence[StudyImage] = field(repr=False)
    places: Sequence[PlannedAssignment] = field(repr=False)
    seats: Sequence[Seat] = field(repr=False)
    judgements: Sequence[Judgement] = field(repr=False)
