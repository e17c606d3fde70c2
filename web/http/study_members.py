"""Who may see the pictures of a study: an in-memory cache of its members."""

from __future__ import annotations

import time
from collections.abc import Callable

from annotation.accounts.roles import Capability
from annotation.studies.lru_cache import LRUCache
from annotation.studies.store import StudyStore
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
        self._store, self._clock = store, clock
        self._since: LRUCache[tuple[str, str], tuple[float, int]] = LRUCache(_KEPT)
        self._forgotten: LRUCache[str, int] = LRUCache(_KEPT)   # by study, how often

    def knows(self, visitor: Visitor, study_id: str) -> bool:
        """Whether the visitor may see the study's pictures, as far as that is known without asking the store."""
        if visitor.may & SEES_ALL:
            return True
        since, generation = self._since.get((study_id, visitor.name)) or (float("-inf"), 0)
        return self._clock() - since < HOLDS_SECONDS and generation == self._generation(study_id)

    def look(self, visitor: Visitor, study_id: str) -> bool:
        """Ask the store. Raises ``StorageError``."""
        generation = self._generation(study_id)   # before: a seat may be lost while the store is asked
        if not self._store.is_member(study_id, visitor.name):
            return False
        self._since.put((study_id, visitor.name), (self._clock(), generation))
        return True

    def forget(self, study_id: str) -> None:
        """Somebody has lost a seat: ask the store again."""
        self._forgotten.put(study_id, self._generation(study_id) + 1)

    def _generation(self, study_id: str) -> int:
        return self._forgotten.get(study_id) or 0
