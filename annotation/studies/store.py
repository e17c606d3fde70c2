"""Where studies and people are kept. Implemented by ``storage``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from annotation.records import (
    LOCAL,
    Act,
    Admit,
    Assignment,
    Changed,
    CountTry,
    Decision,
    Desk,
    Draft,
    EventKind,
    HandOver,
    Invitation,
    Item,
    Judgement,
    MetricScores,
    Person,
    Place,
    Released,
    Role,
    Saved,
    Seat,
    SignIn,
    Study,
    StudyEvent,
    StudyImage,
    WrongTries,
)


class StudyStore(Protocol):
    """All methods raise ``StorageError``; what they wrote is durable when they return. Names of
    studies and annotators are compared without regard to case. ``study_id`` that is not there raises
    ``UnknownStudy``, an item that is not the annotator's ``UnknownItem``, an annotator without a seat
    ``NotJoined``.

    What runs a study is noted in the audit log by the same transaction; ``by``: who does it."""

    # --- making and reading ---------------------------------------------------------------

    def create(
        self, study: Study, items: Sequence[Item], images: Sequence[StudyImage], places: Sequence[Place], *,
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

    def join(self, study_id: str, annotator: str, at: datetime, hand_over: HandOver) -> Seat:
        """The person's seat: the one they have, else the lowest that is free, else a new one that gets
        what ``hand_over`` gives it."""
        ...

    def take_more(self, study_id: str, annotator: str, at: datetime, hand_over: HandOver) -> int:
        """Hand more to a person who is done; returns how many items. Of the agreement block they get back
        what was taken from them when their work was released."""
        ...

    def desk(
        self, study_id: str, annotator: str, *, item_id: str | None = None, position: int | None = None,
        after: str | None = None, ahead: int = 2, at: datetime | None = None,
    ) -> Desk:
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

    def keep_draft(self, study_id: str, draft: Draft, *, lasting: Collection[str] = ()) -> None:
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

    def keep_scores(self, study_id: str, scores: MetricScores, by: str, at: datetime) -> None:
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

    def note_act(self, act: Act) -> None:
        """Note in the audit log what changes nothing in the store, such as a download."""
        ...


class TriesStore(Protocol):
    """Wrong passwords by key."""

    def wrong_tries(self, keys: Collection[str]) -> Mapping[str, WrongTries]: ...

    def add_wrong_try(self, counts: Mapping[str, CountTry], at: datetime, forget_before: datetime) -> None:
        """One more for each key, as its function counts, which is called in the transaction, when nobody else can
        count the same key. What came last before ``forget_before`` goes."""
        ...

    def forgive_wrong_tries(self, key: str, others: Collection[str]) -> None:
        """Forget those of ``key``, and as many of each of ``others``."""
        ...

    def signed_in_from(self, name: str, since: datetime) -> Collection[str]:
        """The addresses from which somebody of this name has signed in, each once."""
        ...


class PeopleStore(TriesStore, Protocol):
    """Accounts, sign-ins, invitations and wrong passwords. Names are compared without regard to case.

    What is done is noted in the audit log by the same transaction; ``by``: who does it."""

    def any(self) -> bool:
        """Whether there is an account at all, active or not. Raises ``StorageError`` where there is none any more."""
        ...

    def add(self, person: Person, *, by: str = LOCAL) -> None:
        """Raises ``AccessError`` for a name that is taken, or that looks like one that is."""
        ...

    def person(self, name: str) -> Person | None: ...

    def people(self) -> Sequence[Person]:
        """By name."""
        ...

    def change(
        self, name: str, *, role: Role | None = None, password_hash: str | None = None, active: bool | None = None,
        by: str | None = LOCAL, at: datetime | None = None,
    ) -> Changed:
        """Another password, and being made inactive, end the person's sign-ins. Who is no active admin afterwards, or
        was none before, keeps no invitation: they are withdrawn, and those open ``at`` that time (now) are counted.
        ``by`` None: nobody did it, and nothing is noted. Raises ``AccessError`` for an unknown name, and where no
        active admin would be left."""
        ...

    def begin(self, sign_in: SignIn, address: str = "") -> None:
        """Keep a sign-in; those that have long expired are cleared away. ``address``: where it came from."""
        ...

    def visitor(self, digest: str, now: datetime) -> tuple[Person, SignIn] | None:
        """Who has signed in with this and may still be here; None otherwise."""
        ...

    def extend(self, digest: str, expires_at: datetime) -> None: ...

    def end(self, digest: str) -> None: ...

    def note(self, act: Act) -> None:
        """Note what changes nothing else, such as a wrong password."""
        ...

    def invite(self, invitation: Invitation) -> None:
        """Raises ``AccessError`` unless an active admin or ``LOCAL`` made it."""
        ...

    def invitation(self, digest: str, now: datetime) -> Invitation | None:
        """One that can still be used: whoever made it is an active admin, or ``LOCAL``."""
        ...

    def invitations(self, now: datetime) -> Sequence[Invitation]: ...

    def withdraw(self, digest: str, *, by: str = LOCAL) -> bool:
        """From now on nobody can use it. Returns whether it was there."""
        ...

    def accept(self, digest: str, person: Person, now: datetime) -> None:
        """Add the person and use the invitation, both or neither. Raises ``AccessError``."""
        ...
