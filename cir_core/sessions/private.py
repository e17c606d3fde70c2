"""Sessions and comparisons that only the browser which began them can open, for a public demo.

Whose they are is kept in memory alone: after a restart nobody can open what was stored before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from threading import Lock

from cir_core.errors import UnknownSession
from cir_core.sessions.store import Comparison, ComparisonStore, SessionStore, SessionSummary
from cir_core.support.texts import quoted
from cir_core.types.records import SearchSession, Thumb, Turn


class Owners:
    """Which browser began what. ``asking``: the browser that is worked for; "" owns nothing. Thread-safe."""

    def __init__(self, asking: Callable[[], str]) -> None:
        self._asking, self._lock = asking, Lock()
        self._owner: dict[str, str] = {}

    def note(self, one: str) -> None:
        """``one`` belongs to who asks."""
        with self._lock:
            self._owner[one] = self._asking()

    def own(self, one: str) -> bool:
        asking = self._asking()
        return asking != "" and self._owner.get(one) == asking

    def check(self, one: str) -> None:
        """Raises ``UnknownSession`` for what somebody else began, as for what does not exist."""
        if not self.own(one):
            raise UnknownSession(f"There is no session {quoted(one)}. Sessions of this demo can be opened by the "
                                 "browser that began them, and are deleted after a day.")

    def forget(self, removed: Collection[str]) -> None:
        with self._lock:
            for one in removed:
                self._owner.pop(one, None)

    def all_of(self) -> tuple[str, ...]:
        """What who asks began, the newest last."""
        asking = self._asking()
        with self._lock:
            return tuple(one for one, owner in self._owner.items() if owner == asking != "")


class PrivateSessions(SessionStore):
    """``store`` as one browser sees it."""

    def __init__(self, store: SessionStore, owners: Owners) -> None:
        self._store, self._owners = store, owners

    def create_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        created = self._store.create_session(session, owner)
        self._owners.note(created.session_id)
        return created

    def add_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        added = self._store.add_session(session, owner)
        self._owners.note(added.session_id)
        return added

    def add_turn(self, turn: Turn) -> Turn:
        self._owners.check(turn.session_id)
        return self._store.add_turn(turn)

    def session(self, session_id: str, *, whole: bool = False) -> SearchSession:
        self._owners.check(session_id)
        return self._store.session(session_id, whole=whole)

    def owner_of(self, session_id: str) -> str:
        self._owners.check(session_id)
        return self._store.owner_of(session_id)

    def sessions(
        self, limit: int = 50, gallery: str | None = None, among: Collection[str] | None = None,
    ) -> Sequence[SessionSummary]:
        own = self._owners.all_of()
        return self._store.sessions(limit, gallery, own if among is None else set(among).intersection(own))

    def listed(
        self, owner: str, known: Collection[str], words: str = "", limit: int = 10,
    ) -> tuple[Sequence[SessionSummary], int]:
        return self._store.listed(owner, [one for one in known if self._owners.own(one)], words, limit)

    def finished_target_sessions(self, session_ids: Sequence[str]) -> Sequence[SearchSession]:
        return self._store.finished_target_sessions([one for one in session_ids if self._owners.own(one)])

    def name_branch(self, session_id: str, branch_id: str, name: str) -> SearchSession:
        self._owners.check(session_id)
        return self._store.name_branch(session_id, branch_id, name)

    def rename_session(self, session_id: str, title: str) -> SearchSession:
        self._owners.check(session_id)
        return self._store.rename_session(session_id, title)

    def remove_branch(self, session_id: str, branch_id: str, removed: bool = True) -> SearchSession:
        self._owners.check(session_id)
        return self._store.remove_branch(session_id, branch_id, removed)

    def remove_session(self, session_id: str, removed: bool = True) -> None:
        self._owners.check(session_id)
        self._store.remove_session(session_id, removed)

    def reveal_target(self, session_id: str) -> SearchSession:
        self._owners.check(session_id)
        return self._store.reveal_target(session_id)

    def set_target_live(self, session_id: str, live: bool) -> SearchSession:
        self._owners.check(session_id)
        return self._store.set_target_live(session_id, live)

    def put_thumb(self, session_id: str, thumb: Thumb) -> None:
        self._owners.check(session_id)
        self._store.put_thumb(session_id, thumb)

    def drop_thumb(self, session_id: str, turn_id: str, image_id: str, person: str) -> None:
        self._owners.check(session_id)
        self._store.drop_thumb(session_id, turn_id, image_id, person)

    def add_upload(self, upload_id: str, width: int, height: int, original_name: str) -> None:
        self._store.add_upload(upload_id, width, height, "")   # a name may be somebody's


class PrivateComparisons(ComparisonStore):
    """``store`` as one browser sees it."""

    def __init__(self, store: ComparisonStore, owners: Owners) -> None:
        self._store, self._owners = store, owners

    def add_comparison(self, comparison: Comparison) -> Comparison:
        self._owners.note(comparison.comparison_id)
        return self._store.add_comparison(comparison)

    def comparison(self, comparison_id: str) -> Comparison:
        self._owners.check(comparison_id)
        return self._store.comparison(comparison_id)
