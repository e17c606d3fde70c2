"""Who may see the pictures of a study: an in-memory cache of its members."""

from __future__ import annotations

import time
from collections.abc import Callable

from annotation.accounts.roles import Capability
from annotation.studies.store import StudyStore
from cir_core.support.revocable_cache import RevocableCache
from web.http.visitor import Visitor

SEES_ALL: frozenset[Capability] = frozenset({"manage", "adjudicate", "results"})
"""Any one of these is enough for the pictures of every study."""
HOLDS_SECONDS = 30.0
_KEPT = 20_000   # people in studies


class StudyMembers:
    """Annotators who have, or had, items in a study, as the store says. Safe for use by many threads.

    Only a yes is kept, so who takes a seat is a member at once, whichever process seated them. A yes holds for
    :data:`HOLDS_SECONDS`, or until :meth:`forget`: who loses a seat in another process is let in no longer than that.
    """

    def __init__(self, store: StudyStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._known: RevocableCache[tuple[str, str], bool] = RevocableCache(_KEPT, HOLDS_SECONDS, clock)

    def knows(self, visitor: Visitor, study_id: str) -> bool:
        """Whether the visitor may see the study's pictures, as far as that is known without asking the store."""
        return bool(visitor.may & SEES_ALL or self._known.get((study_id, visitor.name)))

    def look(self, visitor: Visitor, study_id: str) -> bool:
        """Ask the store. Raises ``StorageError``."""
        changes = self._known.changes   # before: a seat may be lost while the store is asked
        if not self._store.is_member(study_id, visitor.name):
            return False
        self._known.put((study_id, visitor.name), True, changes)
        return True

    def forget(self) -> None:
        """Somebody has lost a seat: ask the store again."""
        self._known.clear()
