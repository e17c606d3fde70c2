"""Waiting times after wrong passwords. The store counts them, so that all processes on one database count together
and a restart forgets none."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from annotation.records import WrongTries
from annotation.store import TriesStore
from cir_core.errors import TooManyTries

_FORGET = timedelta(hours=1)


@dataclass(frozen=True)
class Patience:
    """The first ``free`` cost nothing; then the wait doubles from one second up to ``longest``."""

    free: int
    longest: float = 300.0

    def wait(self, count: int) -> float:
        """Seconds after the last of ``count`` wrong ones."""
        return min(self.longest, 2.0 ** min(count - self.free, 60)) if count >= self.free else 0.0


class Throttle:
    """Counts wrong passwords for a name from one address, and for the address. Thread-safe."""

    def __init__(
        self, store: TriesStore, by_name: Patience = Patience(5),
        by_address: Patience = Patience(100),   # one address may be a whole lab's
    ) -> None:
        self._store, self._by_name, self._by_address = store, by_name, by_address

    def check(self, name: str, address: str, now: datetime) -> None:
        """Raises ``TooManyTries`` while one has to wait. ``name`` is a name's key."""
        keys = _keys(name, address)
        counted = self._store.wrong_tries(keys)
        left = max(_left(counted.get(key), patience, now)
                   for key, patience in zip(keys, (self._by_name, self._by_address), strict=True))
        if left > 0:
            seconds = math.ceil(left)
            raise TooManyTries(f"Too many wrong passwords. Wait {_said(seconds)} and try again.", seconds)

    def failed(self, name: str, address: str, now: datetime) -> None:
        self._store.add_wrong_try(_keys(name, address), now, now - _FORGET)

    def succeeded(self, name: str, address: str) -> None:
        """Forgets what was wrong for the name; the address goes on being counted."""
        key, _ = _keys(name, address)
        if self._store.wrong_tries([key]):   # most sign-ins are right at once, and write nothing
            self._store.forget_wrong_tries(key)


def _keys(name: str, address: str) -> tuple[str, str]:
    """Digests: a name that was tried may be a password that was typed into the wrong field."""
    return _digest("name", name, address), _digest("address", address)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _left(wrong: WrongTries | None, patience: Patience, now: datetime) -> float:
    """Seconds still to wait: never more than the whole wait, should the clock have been set back meanwhile."""
    if wrong is None:
        return 0.0
    wait = patience.wait(wrong.count)
    return min(wait, (wrong.last_at - now).total_seconds() + wait)


def _said(seconds: int) -> str:
    if seconds < 90:
        return "a second" if seconds == 1 else f"{seconds} seconds"
    return f"{math.ceil(seconds / 60)} minutes"
