"""Who was recognised a moment ago, so that a page with thirty pictures asks the store once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from annotation.records import Person

_MOST = 10_000


class VisitorCache:
    """People by the digest of their sign-in, for ``seconds``. Thread-safe."""

    def __init__(self, seconds: float = 3.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._known: dict[str, tuple[Person, float]] = {}
        self._changes = 0
        self._lock = threading.Lock()

    def get(self, digest: str) -> Person | None:
        found = self._known.get(digest)
        return found[0] if found is not None and self._clock() < found[1] else None

    @property
    def changes(self) -> int:
        """To be read before the store is: see ``put``."""
        return self._changes

    def put(self, digest: str, person: Person, seconds: float, changes: int) -> None:
        """Remember for at most ``seconds``; not if something was forgotten since ``changes`` was read,
        for then the store may have said this before it knew better."""
        with self._lock:
            if changes != self._changes:
                return
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[digest] = (person, self._clock() + min(self._seconds, seconds))

    def forget(self) -> None:
        """Ask the store anew for everybody."""
        with self._lock:
            self._changes += 1
            self._known.clear()
