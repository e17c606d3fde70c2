"""Audit entries for throttled sign-ins."""

from __future__ import annotations

from datetime import datetime, timedelta

from annotation.accounts.store import PeopleStore
from annotation.accounts.throttle import place_of
from annotation.records import AuditEvent, came_from, name_key
from annotation.studies.lru_cache import LRUCache
from cir_core.errors import TooManyTries

_MOST = 10_000
_EVERY = timedelta(minutes=10)


class NotedWaits:
    """Rate-limited logging: at most one entry per throttled name or address and interval, so that attackers cannot
    fill the log. Thread-safe."""

    def __init__(self, store: PeopleStore) -> None:
        self._store = store
        self._last_logged: LRUCache[tuple[str, str], datetime] = LRUCache(_MOST)

    def note(self, wait: TooManyTries, name: str, address: str, now: datetime) -> None:
        name = "" if wait.counted == "address" else name
        key = name_key(name), "" if wait.counted == "name" else place_of(address)
        last, quiet = self._last_logged.get(key), max(_EVERY, timedelta(seconds=wait.seconds))
        if last is not None and abs(now - last) < quiet:   # else the clock was set back
            return
        self._last_logged.put(key, now)
        person = self._store.person(name) if name else None   # only known names: others may be passwords
        self._store.note(AuditEvent("sign-in.throttled", "", person.name if person is not None else "", details={
            **came_from(address), "seconds": wait.seconds, "counted": wait.counted}))
