"""Service of accounts, sign-ins and invitations, for the web and the command line. Password hashing with Argon2id
(RFC 9106), by argon2-cffi."""

from __future__ import annotations

import hashlib
import secrets
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from annotation.accounts.account_names import clean_name, new_name
from annotation.accounts.roles import as_role
from annotation.accounts.store import PeopleStore
from annotation.accounts.throttle import NotedWaits, Throttle
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

MIN_PASSWORD = 8
MAX_PASSWORD = 1024   # limits the work that an anonymous request can cause


@dataclass(frozen=True)
class Checked:
    """Result of a check. ``renewed``: new hash to store, if the stored hash has outdated parameters."""

    right: bool
    renewed: str | None = None


class Passwords:
    """Hashes and checks passwords. Thread-safe; each call takes a core for some tens of milliseconds."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    def hash(self, password: object) -> str:
        """Hash with salt and parameters, to store. Raises ``AccessError`` for a password that is too short or too
        long."""
        if not isinstance(password, str) or len(password) < MIN_PASSWORD:
            raise AccessError(f"Choose a password of at least {MIN_PASSWORD} characters. A few words are easy to "
                              "remember.")
        if len(password) > MAX_PASSWORD:
            raise AccessError(f"The password has {len(password)} characters; the limit is {MAX_PASSWORD}.")
        return self._hasher.hash(_bytes(password))

    def check(self, password: object, stored: str) -> Checked:
        """Whether ``password`` matches the hash ``stored``. An empty hash (unknown person, no password yet) takes as
        long, and never matches."""
        given = password if isinstance(password, str) and len(password) <= MAX_PASSWORD else ""
        try:
            self._hasher.verify(stored or self._nobody, _bytes(given))
        except (VerificationError, InvalidHashError):
            return Checked(False)
        if not stored:
            return Checked(False)
        return Checked(True, self._hasher.hash(_bytes(given)) if self._hasher.check_needs_rehash(stored) else None)

    @cached_property
    def _nobody(self) -> str:
        return self._hasher.hash(secrets.token_bytes(32))


def _bytes(password: str) -> bytes:
    # Systems differ in the code points that they produce for the same letters.
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


MAX_INVITATION_DAYS = 365
MAX_INVITATION_USES = 1000
_EXTEND_EVERY = timedelta(hours=1)
_LOOK_FOR_ACCOUNTS_SECONDS = 1.0
VISITOR_SECONDS, _VISITORS = 3.0, 10_000   # a page with thirty pictures asks the store once
_WRONG = "The name or password is wrong. Check both and try again."
_USED_UP = "This invitation can no longer be used. Ask the person who sent it for a new one."


@dataclass(frozen=True)
class AuthState:
    """Authentication state of a request. ``open``: there are no accounts, so no sign-in is needed."""

    open: bool
    person: Person | None


class PeopleService:
    """Thread-safe service. All methods raise ``StorageError`` when the store is unavailable. Secrets are 256 random
    bits; only their SHA-256 digests are stored. A sign-in expires ``sign_in_days`` after its last use."""

    def __init__(
        self, store: PeopleStore, clock: Callable[[], datetime] = lambda: datetime.now(UTC), *,
        passwords: Passwords | None = None, sign_in_days: float = 14.0,
        visitor_cache: RevocableCache[str, Person] | None = None,
    ) -> None:
        self._store, self._clock = store, clock
        self._passwords = passwords or Passwords()
        self._lifetime = timedelta(days=sign_in_days)
        self._throttle = Throttle(store)
        self._throttle_log = NotedWaits(store)
        self._visitor_cache = visitor_cache or RevocableCache(_VISITORS, VISITOR_SECONDS)   # by digest
        self._accounts, self._looked = False, float("-inf")

    def is_open(self) -> bool:
        """Whether there are no accounts. Queried at most once a second, and never again once there is one:
        accounts are deactivated, not deleted."""
        if not self._accounts and time.monotonic() - self._looked > _LOOK_FOR_ACCOUNTS_SECONDS:
            self._accounts = self._store.any()
            self._looked = time.monotonic()
        return not self._accounts

    def cached_state(self, secret: str | None) -> AuthState | None:
        """State from the cache; None if the store has to be queried (``auth_state``)."""
        if not self._accounts:
            fresh = time.monotonic() - self._looked <= _LOOK_FOR_ACCOUNTS_SECONDS
            return AuthState(True, None) if fresh else None
        if not secret:
            return AuthState(False, None)
        person = self._visitor_cache.get(digest_of(secret))
        return AuthState(False, person) if person is not None else None

    def auth_state(self, secret: str | None) -> AuthState:
        if self.is_open():
            return AuthState(True, None)
        return AuthState(False, self.visitor(secret) if secret else None)

    def visitor(self, secret: str) -> Person | None:
        """The person who is signed in with this secret; None if unknown or expired. Extends the sign-in, at most
        once an hour."""
        digest, changes, now = digest_of(secret), self._visitor_cache.changes, self._clock()
        found = self._store.visitor(digest, now)
        if found is None:
            return None
        person, sign_in = found
        left = sign_in.expires_at - now
        if not self._lifetime - min(_EXTEND_EVERY, self._lifetime / 4) < left <= self._lifetime + _EXTEND_EVERY:
            left = self._lifetime   # also if the clock was far ahead at sign-in
            self._store.extend(digest, now + left)
        self._visitor_cache.put(digest, person, changes, seconds=left.total_seconds())
        return person

    def sign_in(self, name: object, password: object, address: str = "") -> str:
        """The secret of a new sign-in. Raises ``SignInFailed``, with the same message for a wrong name and a wrong
        password, and ``TooManyTries`` while throttled (by name and ``address``)."""
        try:
            tidy = clean_name(name)
        except AccessError:
            tidy = ""
        try:
            self._throttle.check(name_key(tidy), address, self._clock())
        except TooManyTries as wait:
            self._throttle_log.note(wait, tidy, address, self._clock())
            raise
        person = self._store.person(tidy) if tidy else None
        checked = self._passwords.check(password, person.password_hash if person is not None else "")
        if person is None or not checked.right or not person.active:
            self._throttle.failed(name_key(tidy), address, self._clock())
            self._store.note(AuditEvent("sign-in.failed", "", _known(person), details=came_from(address)))
            raise SignInFailed(_WRONG)
        self._throttle.succeeded(name_key(tidy), address)
        if checked.renewed is not None:
            # Ends older sign-ins, hence first. Not logged, because the password is the same.
            self._store.change(person.name, password_hash=checked.renewed, by=None)
            self._visitor_cache.clear()
        return self._begin(person.name, address)

    def sign_out(self, secret: str) -> None:
        self._store.end(digest_of(secret))
        self._visitor_cache.clear()

    def _begin(self, name: str, address: str) -> str:
        secret, now = secrets.token_urlsafe(32), self._clock()
        self._store.begin(SignIn(digest_of(secret), name, now, now + self._lifetime), address)
        return secret

    def people(self) -> Sequence[Person]:
        return self._store.people()

    def person(self, name: str) -> Person:
        """Raises ``AccessError`` for an unknown name."""
        found = self._store.person(name)
        if found is None:
            raise AccessError(f"There is no account named “{shortened(name)}”. List all: cirque user list, or the "
                              "people page.")
        return found

    def add(self, name: object, password: object, role: Role, *, by: str = LOCAL) -> Person:
        """Create an account. Raises ``AccessError`` for a name that is invalid, taken or confusable with one that is
        taken, a short password, and a first account that is not an admin's."""
        tidy, role = new_name(name), as_role(role)
        if role != "admin" and not self._store.any():
            raise AccessError("The first account turns sign-in on, so it must be an admin's. "
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
        """Takes effect at the person's next request. Withdraws the open invitations of a former admin."""
        return self._change(name, by, role=as_role(role))

    def deactivate(self, name: str, *, by: str = LOCAL) -> Changed:
        """Ends the person's sign-ins and open invitations; their judgements stay."""
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
            self._visitor_cache.clear()

    def _check_free(self, name: str) -> None:
        """Early check, before a password is hashed; the store checks again."""
        if self._store.person(name) is not None:
            raise AccessError(f"The name “{shortened(name)}” is taken. Choose another one.")
        if like := lookalike(name, (person.name for person in self._store.people())):
            raise AccessError(f"“{shortened(name)}” looks like “{shortened(like)}”, and that name is taken. "
                              "Choose another one.")

    def invite(self, role: Role, days: float, uses: int, by: str) -> str:
        """The secret of a link with which ``uses`` people can create an account within ``days``."""
        role = as_role(role)
        if not 0 < days <= MAX_INVITATION_DAYS:
            raise AccessError(f"An invitation is valid for up to {MAX_INVITATION_DAYS} days, not {days:g}.")
        if not 1 <= uses <= MAX_INVITATION_USES:
            raise AccessError(f"An invitation is for 1 to {MAX_INVITATION_USES} people, not {uses}.")
        if not self._store.any():
            raise AccessError("Create an admin account first, then invite the others: "
                              "cirque user add NAME --role admin.")
        secret, now = secrets.token_urlsafe(32), self._clock()
        self._store.invite(Invitation(digest_of(secret), role, uses, by, now, now + timedelta(days=days)))
        return secret

    def invitation(self, secret: str) -> Invitation:
        """Raises ``AccessError`` for one that is unknown, used up or expired."""
        found = self._store.invitation(digest_of(secret), self._clock())
        if found is None:
            raise AccessError(_USED_UP)
        return found

    def invitations(self) -> Sequence[Invitation]:
        """Usable invitations."""
        return self._store.invitations(self._clock())

    def withdraw(self, handle: str, *, by: str = LOCAL) -> Invitation:
        """Revoke an invitation by its ``handle``; accounts created with it stay. Raises ``AccessError`` for an unknown
        or unusable one."""
        prefix = handle.strip().casefold()
        for one in self.invitations() if len(prefix) >= HANDLE else ():
            if one.digest.startswith(prefix) and self._store.withdraw(one.digest, by=by):
                return one
        raise AccessError(f"There is no usable invitation {quoted(handle)}. List all: "
                          "cirque user invitations, or the people page.")

    def accept(self, secret: str, name: object, password: object, address: str = "") -> str:
        """Create an account by an invitation; returns the secret of a sign-in. Raises ``AccessError``."""
        invitation = self.invitation(secret)   # first: no password is hashed for a wrong link
        tidy = new_name(name)
        self._check_free(tidy)
        now = self._clock()
        person = Person(tidy, invitation.role, self._passwords.hash(password), True, now)
        self._store.accept(invitation.digest, person, now)
        return self._begin(person.name, address)


def digest_of(secret: str) -> str:
    """SHA-256 digest of a secret in hex, which is what is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def link_path(secret: str) -> str:
    """URL path to accept an invitation, below the app's address."""
    return f"join/{secret}"


def _known(person: Person | None) -> str:
    """The name of an existing account, else "": people type passwords into the wrong field."""
    return "" if person is None else person.name
