"""Storage interface of search sessions, and records of comparisons: the same turn under several methods."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from cir_core.types.composition import Composition
from cir_core.types.records import Hit, MethodSettings, ProtocolCard, SearchSession, Thumb, Turn


@dataclass(frozen=True)
class SessionSummary:
    """Row of the session list, without the turns."""

    session_id: str
    gallery: str
    title: str
    turns: int
    branches: int
    first_reference_id: str | None
    last_text: str
    has_target: bool
    target_revealed: bool
    created_at: datetime
    updated_at: datetime


def has_words(texts: Sequence[str], words: str) -> bool:
    """Whether each of ``words`` is part of one of ``texts``, in any case."""
    known = _folded("\n".join(texts))
    return all(word in known for word in _folded(words).split())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


class SessionStore(Protocol):
    """Writes are committed on return. Unknown ids raise ``UnknownSession`` with a remedy; a failed write raises
    ``StorageError``."""

    def create_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        """Store a session without turns. The caller creates the ids (``new_id``). ``owner``: the account it belongs
        to, or ""."""

    def add_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        """Store a session with its branches and turns, in one transaction."""

    def add_turn(self, turn: Turn) -> Turn:
        """Store one turn, in one transaction; returns it with its ``branch_id`` and ``number``, whatever it had before.

        It continues its parent's branch if the parent is that branch's tip, else it opens a new one: two tabs that
        continue the same tip at once get two branches. A session that was removed is listed again; a branch that was
        deleted is not continued.
        """

    def session(self, session_id: str, *, whole: bool = False) -> SearchSession:
        """Without the branches that were deleted, unless it is read ``whole``, as evaluations and studies do."""

    def owner_of(self, session_id: str) -> str:
        """The account that began it; "" if there was none."""

    def sessions(
        self, limit: int = 50, gallery: str | None = None, among: Collection[str] | None = None,
    ) -> Sequence[SessionSummary]:
        """Newest first; ``among``: of those with these ids. Those that were removed, too."""

    def listed(
        self, owner: str, known: Collection[str], words: str = "", limit: int = 10,
    ) -> tuple[Sequence[SessionSummary], int]:
        """A person's list of sessions that have turns or a target: the first ``limit``, newest first, and how many
        there are. It holds those of the account ``owner`` that it did not remove, and those of ``known`` (ids) that
        belong to no account; of these, those in whose title, gallery or requests each of ``words`` occurs, in any
        case."""

    def finished_target_sessions(self, session_ids: Sequence[str]) -> Sequence[SearchSession]:
        """Those of ``session_ids`` that have a revealed target and at least one turn, whole."""

    def name_branch(self, session_id: str, branch_id: str, name: str) -> SearchSession: ...

    def rename_session(self, session_id: str, title: str) -> SearchSession: ...

    def remove_branch(self, session_id: str, branch_id: str, removed: bool = True) -> SearchSession:
        """Delete a branch, or have it back. Its turns stay stored, and those that other branches go through stay in the
        session. Raises ``SearchError`` for the only branch."""

    def remove_session(self, session_id: str, removed: bool = True) -> None:
        """Take a session off its owner's list, or put it back. Nothing is deleted."""

    def reveal_target(self, session_id: str) -> SearchSession: ...

    def set_target_live(self, session_id: str, live: bool) -> SearchSession: ...

    def put_thumb(self, session_id: str, thumb: Thumb) -> None:
        """Replaces the same person's thumb for the same image of the same turn, which must be one of the session."""

    def drop_thumb(self, session_id: str, turn_id: str, image_id: str, person: str) -> None:
        """Take a thumb back. Nothing happens if there is none."""

    def add_upload(self, upload_id: str, width: int, height: int, original_name: str) -> None:
        """Record an uploaded reference whose file is already on disk. Idempotent."""


@dataclass(frozen=True)
class MethodColumn:
    """Result of one method for the turn; ``problem`` is the reason if there is none."""

    method: str                # its name; its settings are in ``protocol``
    protocol: ProtocolCard
    caption: str = ""
    merged_text: str = ""
    notes: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = field(default=(), repr=False)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    composition: Composition | None = field(default=None, repr=False)
    problem: str = ""

    @property
    def settings(self) -> MethodSettings:
        return self.protocol.method


@dataclass(frozen=True)
class Comparison:
    """``columns`` are in display order, which ``blind`` comparisons shuffle by ``seed``. It continues from a turn
    (``parent_id``) or starts afresh. Never changed once stored."""

    comparison_id: str
    gallery: str
    reference_id: str
    modification_text: str
    columns: tuple[MethodColumn, ...]
    blind: bool
    seed: int
    created_at: datetime
    session_id: str | None = None
    parent_id: str | None = None


class ComparisonStore(Protocol):
    """Every write is committed on return. Unknown ids raise ``UnknownSession``, a full disk ``StorageError``."""

    def add_comparison(self, comparison: Comparison) -> Comparison: ...

    def comparison(self, comparison_id: str) -> Comparison: ...
