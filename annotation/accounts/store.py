"""Protocols of the stores of accounts and of failed sign-ins. Implemented by ``storage``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from annotation.records import (
    LOCAL,
    AuditEvent,
    Changed,
    CountFailure,
    FailedLogins,
    Invitation,
    Person,
    Role,
    SignIn,
)


class FailedLoginStore(Protocol):
    """Failed sign-ins by key."""

    def failed_logins(self, keys: Collection[str]) -> Mapping[str, FailedLogins]: ...

    def add_failed_login(self, counts: Mapping[str, CountFailure], at: datetime, forget_before: datetime) -> None:
        """Update each key with its function, which is called in the transaction with the key locked. Deletes entries
        older than ``forget_before``."""

    def clear_failed_logins(self, key: str, others: Collection[str]) -> None:
        """Delete the entry of ``key``, and subtract its count from each of ``others``."""

    def signed_in_from(self, name: str, since: datetime) -> Collection[str]:
        """Distinct addresses from which this person has signed in."""


class PeopleStore(FailedLoginStore, Protocol):
    """Accounts, sign-ins, invitations and wrong passwords. Names are compared without regard to case. Changes are
    recorded in the audit log in the same transaction; ``by``: who acts."""

    def any(self) -> bool:
        """Whether there is any account, active or not. Raises ``StorageError`` if there was one and there is none."""

    def add(self, person: Person, *, by: str = LOCAL) -> None:
        """Raises ``AccessError`` for a name that is taken, or confusable with one that is."""

    def person(self, name: str) -> Person | None: ...

    def people(self) -> Sequence[Person]:
        """By name."""

    def change(
        self, name: str, *, role: Role | None = None, password_hash: str | None = None, active: bool | None = None,
        by: str | None = LOCAL, at: datetime | None = None,
    ) -> Changed:
        """A new password and deactivation end the person's sign-ins. Unless the person is an active admin before and
        afterwards, their invitations are withdrawn, and those usable ``at`` that time (default: now) are counted.
        Without ``by`` nothing is logged. Raises ``AccessError`` for an unknown name, and if no active admin would be
        left."""

    def begin(self, sign_in: SignIn, address: str = "") -> None:
        """Store a sign-in from ``address``, and delete long expired ones."""

    def visitor(self, digest: str, now: datetime) -> tuple[Person, SignIn] | None:
        """The active person and unexpired sign-in of this digest, else None."""

    def extend(self, digest: str, expires_at: datetime) -> None: ...

    def end(self, digest: str) -> None: ...

    def note(self, event: AuditEvent) -> None:
        """Log an event without any other change, such as a wrong password."""

    def invite(self, invitation: Invitation) -> None:
        """Raises ``AccessError`` unless it was created by an active admin or ``LOCAL``."""

    def invitation(self, digest: str, now: datetime) -> Invitation | None:
        """A usable invitation, created by an active admin or ``LOCAL``."""

    def invitations(self, now: datetime) -> Sequence[Invitation]: ...

    def withdraw(self, digest: str, *, by: str = LOCAL) -> bool:
        """Revoke an invitation. Returns whether it existed."""

    def accept(self, digest: str, person: Person, now: datetime) -> None:
        """Add the person and use the invitation, atomically. Raises ``AccessError``."""
