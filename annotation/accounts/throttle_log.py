"""Audit entries for throttled sign-ins."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from cachetools import LRUCache

from annotation.accounts.store import PeopleStore
from annotation.accounts.throttle import place_of
from annotation.records import AuditEvent, came_from, name_key
from cir_core.errors import TooManyTries

_MOST = 10_000
_EVERY = timedelta(minutes=10)


class NotedWaits:
    """Rate-limited logging: at most one entry per throttled name or address and interval, so that attackers cannot
    fill the log. Thread-safe."""

    def __init__(self, store: PeopleStore) -> None:
        self._store = store
        self._noted: LRUCache[tuple[str, str], datetime] = LRUCache(_MOST)
        self._lock = threading.Lock()

    def note(self, wait: TooManyTries, name: str, address: str, now: datetime) -> None:
        name = "" if wait.counted == "address" else name
        key = name_key(name), "" if wait.counted == "name" else place_of(address)
        with self._lock:
            noted, quiet = self._noted.get(key), max(_EVERY, timedelta(seconds=wait.seconds))
            if noted is not None and abs(now - noted) < quiet:   # further ahead: the clock was set back since
                return
            self._noted[key] = now
        person = self._store.person(name) if name else None   # no other name: it may be a password
        self._store.note(AuditEvent("sign-in.throttled", "", person.name if person is not None else "", details={
            **came_from(address), "seconds": wait.seconds, "counted": wait.counted}))
