"""A store of sessions in a dict. The contract in ``test_store.py`` holds it to what SQL does."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cir_core.errors import SearchError, StorageError, UnknownSession
from cir_core.images.uploads import UploadFolder
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from cir_core.sessions.store import SessionSummary, has_words
from cir_core.sessions.tree import without_branches
from cir_core.types.records import Branch, SearchSession, Thumb, Turn, new_id
from storage.checks import check_thumb, check_turn, clean_name
from storage.sessions.store import only_branch, unknown_branch
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel


class InMemorySessionStore:
    def __init__(self) -> None:
        self._sessions: dict[str, SearchSession] = {}
        self._updated: dict[str, datetime] = {}
        self._owner: dict[str, str] = {}
        self._removed: set[str] = set()     # sessions and branches
        self._lock = threading.RLock()
        self.uploads: dict[str, tuple[int, int, str]] = {}

    def close(self) -> None:
        pass

    def create_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        if session.branches or session.turns:
            raise ValueError("a new session has no turns; add them with add_turn")
        with self._lock:
            if session.session_id in self._sessions:
                raise StorageError("This session is stored already.")
            created = replace(session, title=clean_name(session.title),
                              created_at=session.created_at or datetime.now(UTC))
            self._updated[session.session_id] = created.created_at
            self._owner[session.session_id] = owner
            return self._keep(created)

    def add_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        with self._lock:
            ids = {turn.turn_id for other in self._sessions.values() for turn in other.turns}
            if session.session_id in self._sessions or ids.intersection(turn.turn_id for turn in session.turns):
                raise StorageError("This session is stored already.")
            branches = tuple(replace(one, name=clean_name(one.name)) for one in session.branches)
            for turn in session.turns:
                check_turn(turn)
            created_at = session.created_at or datetime.now(UTC)
            self._updated[session.session_id] = max((turn.created_at for turn in session.turns), default=created_at)
            self._owner[session.session_id] = owner
            return self._keep(replace(session, title=clean_name(session.title), created_at=created_at,
                                      branches=branches))

    def add_turn(self, turn: Turn) -> Turn:
        check_turn(turn)
        with self._lock:
            session = self.session(turn.session_id, whole=True)
            branch, number = self._place(session, turn.parent_id)
            turn = replace(turn, branch_id=branch.branch_id, number=number)
            if any(other.turn(turn.turn_id) for other in self._sessions.values()):
                raise StorageError("This turn is stored already.")
            branches = session.branches if branch in session.branches else (*session.branches, branch)
            self._keep(replace(session, branches=branches, turns=(*session.turns, turn)))
            self._updated[turn.session_id] = turn.created_at
            self._removed.discard(turn.session_id)
            return turn

    def session(self, session_id: str, *, whole: bool = False) -> SearchSession:
        if session_id not in self._sessions:
            raise UnknownSession(f"No search session {session_id!r} here.")
        session = self._sessions[session_id]
        return session if whole else without_branches(session, self._removed.intersection(
            branch.branch_id for branch in session.branches))

    def owner_of(self, session_id: str) -> str:
        return self._owner[self.session(session_id).session_id]

    def sessions(
        self, limit: int = 50, gallery: str | None = None, among: Collection[str] | None = None,
    ) -> Sequence[SessionSummary]:
        shown = [s for s in self._sessions.values()
                 if gallery in (None, s.gallery) and (among is None or s.session_id in among)]
        shown.sort(key=lambda s: s.session_id)
        shown.sort(key=lambda s: self._updated[s.session_id], reverse=True)
        return tuple(self._summary(s) for s in shown[:limit])

    def listed(
        self, owner: str, known: Collection[str], words: str = "", limit: int = 10,
    ) -> tuple[Sequence[SessionSummary], int]:
        def has(session: SearchSession) -> bool:
            return has_words([session.title, session.gallery, *(t.modification_text for t in session.turns)], words)

        mine = [i for i, s in self._sessions.items() if (s.turns or s.target_id) and has(s) and (
            (owner and self._owner[i] == owner and i not in self._removed) or (not self._owner[i] and i in known))]
        return self.sessions(limit, among=mine), len(mine)

    def finished_target_sessions(self, session_ids: Sequence[str]) -> Sequence[SearchSession]:
        known = [self._sessions[i] for i in dict.fromkeys(session_ids) if i in self._sessions]
        return tuple(s for s in known if s.target_id is not None and s.target_revealed and s.turns)

    def name_branch(self, session_id: str, branch_id: str, name: str) -> SearchSession:
        with self._lock:
            session = self.session(session_id, whole=True)
            if branch_id not in [branch.branch_id for branch in session.branches]:
                raise unknown_branch(branch_id)
            return self._keep(replace(session, branches=tuple(
                replace(branch, name=clean_name(name)) if branch.branch_id == branch_id else branch
                for branch in session.branches)))

    def rename_session(self, session_id: str, title: str) -> SearchSession:
        with self._lock:
            return self._keep(replace(self.session(session_id, whole=True), title=clean_name(title)))

    def remove_branch(self, session_id: str, branch_id: str, removed: bool = True) -> SearchSession:
        with self._lock:
            ids = [branch.branch_id for branch in self.session(session_id, whole=True).branches]
            if branch_id not in ids:
                raise unknown_branch(branch_id)
            if removed and not [one for one in ids if one not in (branch_id, *self._removed)]:
                raise only_branch()
            (self._removed.add if removed else self._removed.discard)(branch_id)
            return self.session(session_id)

    def remove_session(self, session_id: str, removed: bool = True) -> None:
        with self._lock:
            self.session(session_id)
            (self._removed.add if removed else self._removed.discard)(session_id)

    def reveal_target(self, session_id: str) -> SearchSession:
        with self._lock:
            revealed = replace(self._with_target(session_id), target_revealed=True)
            self._updated[session_id] = datetime.now(UTC)
            return self._keep(revealed)

    def set_target_live(self, session_id: str, live: bool) -> SearchSession:
        with self._lock:
            return self._keep(replace(self._with_target(session_id), target_live=live))

    def put_thumb(self, session_id: str, thumb: Thumb) -> None:
        check_thumb(thumb)
        with self._lock:
            session = self.session(session_id)
            if session.turn(thumb.turn_id) is None:
                raise UnknownSession("That turn is not part of this session.")
            self._without_thumb(session, thumb.turn_id, thumb.image_id, thumb.person, thumb)

    def drop_thumb(self, session_id: str, turn_id: str, image_id: str, person: str) -> None:
        with self._lock:
            self._without_thumb(self.session(session_id), turn_id, image_id, person)

    def _without_thumb(self, session: SearchSession, turn_id: str, image_id: str, person: str, *then: Thumb) -> None:
        key = (turn_id, image_id, person)
        others = [one for one in session.thumbs if (one.turn_id, one.image_id, one.person) != key]
        self._keep(replace(session, thumbs=tuple(
            sorted((*others, *then), key=lambda one: (one.created_at, one.turn_id, one.image_id, one.person)))))

    def add_upload(self, upload_id: str, width: int, height: int, original_name: str) -> None:
        self.uploads.setdefault(upload_id, (width, height, clean_name(original_name)))

    def _keep(self, session: SearchSession) -> SearchSession:
        self._sessions[session.session_id] = session
        return self.session(session.session_id)

    def _with_target(self, session_id: str) -> SearchSession:
        session = self.session(session_id, whole=True)
        if session.target_id is None:
            raise SearchError("This session has no target image.")
        return session

    def _place(self, session: SearchSession, parent_id: str | None) -> tuple[Branch, int]:
        number = 1
        if parent_id is not None:
            parent = session.turn(parent_id)
            if parent is None:
                if any(other.turn(parent_id) for other in self._sessions.values()):
                    raise SearchError("That turn belongs to another session.")
                raise UnknownSession(f"No turn {parent_id!r} here.")
            number = parent.number + 1
            has_child = any(turn.parent_id == parent_id for turn in session.turns)
            deleted = parent.branch_id in self._removed
            if session.tip_of(parent.branch_id) == parent and not has_child and not deleted:
                return next(b for b in session.branches if b.branch_id == parent.branch_id), number
        return Branch(new_id(), session.session_id, len(session.branches) + 1, ""), number

    def _summary(self, session: SearchSession) -> SessionSummary:
        session = self.session(session.session_id)
        turns = session.turns
        return SessionSummary(
            session_id=session.session_id, gallery=session.gallery, title=session.title, turns=len(turns),
            branches=len(session.branches), first_reference_id=turns[0].reference_id if turns else None,
            last_text=turns[-1].modification_text if turns else "",
            has_target=session.target_id is not None, target_revealed=session.target_revealed,
            created_at=session.created_at, updated_at=self._updated[session.session_id],
        )


@pytest.fixture
def service(tmp_path: Path) -> SearchService:
    """For the tests of a file that imports it: over the gallery of colours, and a language model that says "green"."""
    colour_gallery(tmp_path)
    home = tmp_path / "home"
    pool = SearcherPool(home, lambda encoder: ScriptedLanguageModel("green"), lambda spec: FakeEncoder())
    return SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
