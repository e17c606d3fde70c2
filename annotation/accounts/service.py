"""Accounts, sign-ins and invitations: what the pages and the commands ask for."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from annotation.accounts.account_names import clean_name, new_name
from annotation.accounts.passwords import Passwords
from annotation.accounts.roles import as_role
from annotation.accounts.store import PeopleStore
from annotation.accounts.throttle import Throttle
from annotation.accounts.throttle_log import NotedWaits
from annotation.records import (
    HANDLE,
    LOCAL,
    AuditEvent,
    Changed,
    Invitation,
    Person,
    Role,
    SignIn,
    came_from,
    lookalike,
    name_key,
)
from cir_core.errors import AccessError, SignInFailed, TooManyTries
from cir_core.support.revocable_cache import RevocableCache
from cir_core.support.texts import quoted, shortened

MAX_INVITATION_DAYS = 365
MAX_INVITATION_USES = 1000
_EXTEND_EVERY = timedelta(hours=1)
_LOOK_FOR_ACCOUNTS_SECONDS = 1.0
VISITOR_SECONDS, _VISITORS = 3.0, 10_000   # a page with thirty pictures asks the store once
_WRONG = "This name and password do not go together. Check both and try again."
_USED_UP = "This invitation cannot be used any more. Ask whoever sent it for a new one."


@dataclass(frozen=True)
class AuthState:
    """Who is asking. ``open``: nobody has an account, so everybody may come in."""

    open: bool
    person: Person | None


class PeopleService:
    """Thread-safe. All methods raise ``StorageError`` when the store is away.

    Secrets are 256 random bits; the store only gets their SHA-256 digests. A sign-in ends
    ``sign_in_days`` after it was last used.
    """

    def __init__(
        self, store: PeopleStore, clock: Callable[[], datetime] = lambda: datetime.now(UTC), *,
        passwords: Passwords | None = None, sign_in_days: float = 14.0,
        visitor_cache: RevocableCache[str, Person] | None = None,
    ) -> None:
        self._store, self._clock = store, clock
        self._passwords = passwords or Passwords()
        self._lifetime = timedelta(days=sign_in_days)
        self._throttle = Throttle(store)
        self._waits = NotedWaits(store)
        self._recognised = visitor_cache or RevocableCache(_VISITORS, VISITOR_SECONDS)   # by digest
        self._accounts, self._looked = False, float("-inf")

    # --- who is asking --------------------------------------------------------------------

    def is_open(self) -> bool:
        """Whether nobody has an account. The store is asked at most once a second, and never again
        once there is one: accounts are made inactive, not deleted."""
        if not self._accounts and time.monotonic() - self._looked > _LOOK_FOR_ACCOUNTS_SECONDS:
            self._accounts = self._store.any()
            self._looked = time.monotonic()
        return not self._accounts

    def glance(self, secret: str | None) -> AuthState | None:
        """What is known without asking the store; None if it has to be asked (``look``)."""
        if not self._accounts:
            fresh = time.monotonic() - self._looked <= _LOOK_FOR_ACCOUNTS_SECONDS
            return AuthState(True, None) if fresh else None
        if not secret:
            return AuthState(False, None)
        person = self._recognised.get(digest_of(secret))
        return AuthState(False, person) if person is not None else None

    def look(self, secret: str | None) -> AuthState:
        if self.is_open():
            return AuthState(True, None)
        return AuthState(False, self.visitor(secret) if secret else None)

    def visitor(self, secret: str) -> Person | None:
        """Who has signed in with this; None if nobody, or too long ago. Puts the end off, at most
        once an hour."""
        digest, changes, now = digest_of(secret), self._recognised.changes, self._clock()
        found = self._store.visitor(digest, now)
        if found is None:
            return None
        person, sign_in = found
        left = sign_in.expires_at - now
        if not self._lifetime - min(_EXTEND_EVERY, self._lifetime / 4) < left <= self._lifetime + _EXTEND_EVERY:
            left = self._lifetime   # also of one that began while the clock was far ahead
            self._store.extend(digest, now + left)
        self._recognised.put(digest, person, changes, seconds=left.total_seconds())
        return person

    def sign_in(self, name: object, password: object, address: str = "") -> str:
        """The secret of a new sign-in. Raises ``SignInFailed`` with one sentence for a wrong name and
        for a wrong password, and ``TooManyTries`` for who has to wait (by name and ``address``)."""
        try:
            tidy = clean_name(name)
        except AccessError:
            tidy = ""
        try:
            self._throttle.check(name_key(tidy), address, self._clock())
        except TooManyTries as wait:
            self._waits.note(wait, tidy, address, self._clock())
            raise
        person = self._store.person(tidy) if tidy else None
        checked = self._passwords.check(password, person.password_hash if person is not None else "")
        if person is None or not checked.right or not person.active:
            self._throttle.failed(name_key(tidy), address, self._clock())
            self._store.note(AuditEvent("sign-in.failed", "", _known(person), details=came_from(address)))
            raise SignInFailed(_WRONG)
        self._throttle.succeeded(name_key(tidy), address)
        if checked.renewed is not None:
            # Ends older sign-ins, hence first. The password is the same: nobody has changed anything.
            self._store.change(person.name, password_hash=checked.renewed, by=None)
            self._recognised.clear()
        return self._begin(person.name, address)

    def sign_out(self, secret: str) -> None:
        self._store.end(digest_of(secret))
        self._recognised.clear()

    def _begin(self, name: str, address: str) -> str:
        secret, now = secrets.token_urlsafe(32), self._clock()
        self._store.begin(SignIn(digest_of(secret), name, now, now + self._lifetime), address)
        return secret

    # --- accounts -------------------------------------------------------------------------

    def people(self) -> Sequence[Person]:
        return self._store.people()

    def person(self, name: str) -> Person:
        """Raises ``AccessError`` for a name that nobody has."""
        found = self._store.person(name)
        if found is None:
            raise AccessError(f"Nobody here is called “{shortened(name)}”. See them all: cirque user list, or the "
                              "people page.")
        return found

    def add(self, name: object, password: object, role: Role, *, by: str = LOCAL) -> Person:
        """Make an account. Raises ``AccessError``: a name that cannot be, is taken or looks like one that is, a
        password that is too short, a first account that is no admin's."""
        tidy, role = new_name(name), as_role(role)
        if role != "admin" and not self._store.any():
            raise AccessError("The first account closes cirque to everybody else, so it must be an admin's. "
                              "Give it the role admin, then add the others.")
        self._check_free(tidy)
        person = Person(tidy, role, self._passwords.hash(password), True, self._clock())
        self._store.add(person, by=by)
        self._accounts = True
        return person

    def set_password(self, name: str, password: object, *, by: str = LOCAL) -> Person:
        """Ends the person's sign-ins."""
        return self._change(name, by, password_hash=self._passwords.hash(password)).person

    def set_role(self, name: str, role: Role, *, by: str = LOCAL) -> Changed:
        """Takes effect with the person's next click. Who is no admin any more loses their open invitations."""
        return self._change(name, by, role=as_role(role))

    def deactivate(self, name: str, *, by: str = LOCAL) -> Changed:
        """Ends the person's sign-ins and open invitations; what they judged stays."""
        return self._change(name, by, active=False)

    def reactivate(self, name: str, *, by: str = LOCAL) -> Person:
        return self._change(name, by, active=True).person

    def _change(
        self, name: str, by: str, *, role: Role | None = None, password_hash: str | None = None,
        active: bool | None = None,
    ) -> Changed:
        try:
            return self._store.change(name, role=role, password_hash=password_hash, active=active, by=by,
                                      at=self._clock())
        finally:
            self._recognised.clear()

    def _check_free(self, name: str) -> None:
        """Before a password is hashed; the store asks again."""
        if self._store.person(name) is not None:
            raise AccessError(f"The name “{shortened(name)}” is taken. Take another one.")
        if like := lookalike(name, (person.name for person in self._store.people())):
            raise AccessError(f"“{shortened(name)}” looks like “{shortened(like)}”, and that name is taken. "
                              "Take another one.")

    # --- invitations ----------------------------------------------------------------------

    def invite(self, role: Role, days: float, uses: int, by: str) -> str:
        """The secret of a link with which ``uses`` people can make an account within ``days``."""
        role = as_role(role)
        if not 0 < days <= MAX_INVITATION_DAYS:
            raise AccessError(f"An invitation holds for up to {MAX_INVITATION_DAYS} days, not {days:g}.")
        if not 1 <= uses <= MAX_INVITATION_USES:
            raise AccessError(f"An invitation is for 1 to {MAX_INVITATION_USES} people, not {uses}.")
        if not self._store.any():
            raise AccessError("Make an admin's account first, then invite the others: "
                              "cirque user add NAME --role admin.")
        secret, now = secrets.token_urlsafe(32), self._clock()
        self._store.invite(Invitation(digest_of(secret), role, uses, by, now, now + timedelta(days=days)))
        return secret

    def invitation(self, secret: str) -> Invitation:
        """Raises ``AccessError`` for one that is unknown, used up or too old."""
        found = self._store.invitation(digest_of(secret), self._clock())
        if found is None:
            raise AccessError(_USED_UP)
        return found

    def invitations(self) -> Sequence[Invitation]:
        """Those that can still be used."""
        return self._store.invitations(self._clock())

    def withdraw(self, handle: str, *, by: str = LOCAL) -> Invitation:
        """Make an invitation useless, by its ``handle``; who has used it stays. Raises ``AccessError`` for one
        that is not there, or cannot be used any more anyway."""
        asked = handle.strip().casefold()
        for one in self.invitations() if len(asked) >= HANDLE else ():
            if one.digest.startswith(asked) and self._store.withdraw(one.digest, by=by):
                return one
        raise AccessError(f"There is no invitation {quoted(handle)} that can still be used. See those there are: "
                          "cirque user invitations, or the people page.")

    def accept(self, secret: str, name: object, password: object, address: str = "") -> str:
        """Make an account by an invitation; returns the secret of a sign-in. Raises ``AccessError``."""
        invitation = self.invitation(secret)   # first: strangers get no password hashed
        tidy = new_name(name)
        self._check_free(tidy)
        now = self._clock()
        person = Person(tidy, invitation.role, self._passwords.hash(password), True, now)
        self._store.accept(invitation.digest, person, now)
        return self._begin(person.name, address)


def digest_of(secret: str) -> str:
    """What is stored of a secret: its SHA-256 digest in hex."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def link_path(secret: str) -> str:
    """Where an invitation is taken up, below the app's address."""
    return f"join/{secret}"


def _known(person: Person | None) -> str:
    """The name of an account, and of nobody else: people type passwords into the wrong field."""
    return "" if person is None else person.name
