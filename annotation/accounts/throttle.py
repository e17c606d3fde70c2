"""Waiting times after wrong passwords. The store counts them, so that all processes on one database count together
and a restart forgets none. Throttled sign-ins are noted in the audit log.

Own code: limits has windows, no waits that double and none that are forgiven, and stores no counts in SQL.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from cachetools import LRUCache

from annotation.accounts.store import FailedLoginStore, PeopleStore
from annotation.records import AuditEvent, FailedLogins, came_from, name_key
from cir_core.errors import TooManyTries

_MOST = 10_000
_EVERY = timedelta(minutes=10)
_FORGET = timedelta(hours=1)    # longer than it takes any bucket below to run dry
_KNOWN = timedelta(days=90)     # so long an address stays one where somebody has signed in


@dataclass(frozen=True)
class Backoff:
    """The first ``free`` cost nothing; then the wait doubles from one second up to ``longest``. An hour without a
    wrong one makes good."""

    free: int
    longest: float = 300.0

    def wait(self, count: int) -> float:
        """Seconds after the last of ``count`` wrong ones."""
        return min(self.longest, 2.0 ** min(count - self.free, 60)) if count >= self.free else 0.0

    def after(self, before: FailedLogins | None, *, now: datetime) -> FailedLogins:
        old = before is None or before.last_at < now - _FORGET
        return FailedLogins(1 if old or before is None else before.count + 1, now)

    def left(self, wrong: FailedLogins | None, now: datetime) -> float:
        """Seconds still to wait. Should the clock have been set back meanwhile, they are never more than the whole
        wait, and none where it was set back for longer: nobody waits until it has caught up."""
        if wrong is None:
            return 0.0
        wait, ahead = self.wait(wrong.count), (wrong.last_at - now).total_seconds()
        return min(wait, ahead + wait) if ahead <= wait else 0.0


@dataclass(frozen=True)
class LeakyBucket:
    """Holds ``most`` wrong ones, and forgives one every ``seconds``. Who finds it full waits for the next to be
    forgiven, and so never longer than that. ``last_at`` of its count is when one was last forgiven."""

    most: int
    seconds: float

    def after(self, before: FailedLogins | None, *, now: datetime) -> FailedLogins:
        held, since = self._held(before, now)
        return FailedLogins(min(held, self.most - 1) + 1, since)   # several may have been tried at the same moment

    def left(self, wrong: FailedLogins | None, now: datetime) -> float:
        held, since = self._held(wrong, now)
        if held < self.most:
            return 0.0
        return min(self.seconds, (since - now).total_seconds() + self.seconds)

    def _held(self, wrong: FailedLogins | None, now: datetime) -> tuple[int, datetime]:
        every = timedelta(seconds=self.seconds)
        if wrong is None or wrong.last_at > now + every:   # from before the clock was set back
            return 0, now
        forgiven = max(0, (now - wrong.last_at) // every)
        held = max(0, wrong.count - forgiven)
        return (held, wrong.last_at + forgiven * every) if held else (0, now)


class Throttle:
    """Counts wrong passwords for a name from one address, from that address for whatever name, and for the name
    from wherever. Thread-safe.

    The last one slows down who guesses from many addresses. It holds nobody off who has signed in from the same
    address before, or strangers could keep people out by their names.
    """

    def __init__(
        self, store: FailedLoginStore, by_name: Backoff = Backoff(5),
        by_address: LeakyBucket = LeakyBucket(100, 5.0),   # one address may be a whole lab's
        anywhere: LeakyBucket = LeakyBucket(20, 60.0),
    ) -> None:
        self._store, self._by_name, self._by_address, self._anywhere = store, by_name, by_address, anywhere

    def check(self, name: str, address: str, now: datetime) -> None:
        """Raises ``TooManyTries`` while one has to wait. ``name`` is a name's key."""
        here, place, anywhere = _keys(name, address)
        counted = self._store.failed_logins((here, place, anywhere))
        for_name, for_address = self._by_name.left(counted.get(here), now), self._by_address.left(
            counted.get(place), now)
        left = max(for_name, for_address)
        everywhere = self._anywhere.left(counted.get(anywhere), now)
        if everywhere > left and not self._has_been(name, address, now):
            seconds = math.ceil(everywhere)
            raise TooManyTries("Too many wrong passwords for this name, also from other addresses. Wait "
                               f"{_duration(seconds)} and try again, or sign in from an address you "
                               "have used before.", seconds, "name")
        if left > 0:
            seconds = math.ceil(left)
            raise TooManyTries(f"Too many wrong passwords. Wait {_duration(seconds)} and try again.", seconds,
                               "address" if for_address > for_name else "name and address")

    def failed(self, name: str, address: str, now: datetime) -> None:
        here, place, anywhere = _keys(name, address)
        self._store.add_failed_login({
            here: partial(self._by_name.after, now=now), place: partial(self._by_address.after, now=now),
            anywhere: partial(self._anywhere.after, now=now)}, now, now - _FORGET)

    def succeeded(self, name: str, address: str) -> None:
        """Forgets what was wrong for the name, and forgives the address as much: a person's own mistakes. Those for
        other names go on being counted, or somebody with an account could guess others' passwords in between."""
        here, place, anywhere = _keys(name, address)
        if self._store.failed_logins([here]):   # most sign-ins are right at once, and write nothing
            self._store.clear_failed_logins(here, (place, anywhere))

    def _has_been(self, name: str, address: str, now: datetime) -> bool:
        place = place_of(address)
        return any(place_of(one) == place for one in self._store.signed_in_from(name, now - _KNOWN))


def place_of(address: str) -> str:
    """Key under which an address is counted: an IPv4 address, or the /64 network of an IPv6 one, of which
    anybody who has one has all."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:   # how a socket for both kinds shows IPv4
        return str(ip.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(ip), 64), strict=False))


def _keys(name: str, address: str) -> tuple[str, str, str]:
    """Digests: a name that was tried may be a password that was typed into the wrong field."""
    place = place_of(address)
    return _digest("name", name, place), _digest("address", place), _digest("anywhere", name)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _duration(seconds: int) -> str:
    if seconds < 90:
        return "a second" if seconds == 1 else f"{seconds} seconds"
    return f"{math.ceil(seconds / 60)} minutes"


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
