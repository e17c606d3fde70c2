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
    """Wrong passwords by key."""

    def failed_logins(self, keys: Collection[str]) -> Mapping[str, FailedLogins]: ...

    def add_failed_login(self, counts: Mapping[str, CountFailure], at: datetime, forget_before: datetime) -> None:
        """One more for each key, as its function counts, which is called in the transaction, when nobody else can
        count the same key. What came last before ``forget_before`` goes."""
        ...

    def clear_failed_logins(self, key: str, others: Collection[str]) -> None:
        """Forget those of ``key``, and as many of each of ``others``."""
        ...

    def signed_in_from(self, name: str, since: datetime) -> Collection[str]:
        """The addresses from which somebody of this name has signed in, each once."""
        ...


class PeopleStore(FailedLoginStore, Protocol):
    """Accounts, sign-ins, invitations and wrong passwords. Names are compared without regard to case.

    What is done is noted in the audit log by the same transaction; ``by``: who does it."""

    def any(self) -> bool:
        """Whether there is an account at all, active or not. Raises ``StorageError`` where there is none any more."""
        ...

    def add(self, person: Person, *, by: str = LOCAL) -> None:
        """Raises ``AccessError`` for a name that is taken, or that looks like one that is."""
        ...

    def person(self, name: str) -> Person | None: ...

    def people(self) -> Sequence[Person]:
        """By name."""
        ...

    def change(
        self, name: str, *, role: Role | None = None, password_hash: str | None = None, active: bool | None = None,
        by: str | None = LOCAL, at: datetime | None = None,
    ) -> Changed:
        """Another password, and being made inactive, end the person's sign-ins. Who is no active admin afterwards, or
        was none before, keeps no invitation: they are withdrawn, and those open ``at`` that time (now) are counted.
        ``by`` None: nobody did it, and nothing is noted. Raises ``AccessError`` for an unknown name, and where no
        active admin would be left."""
        ...

    def begin(self, sign_in: SignIn, address: str = "") -> None:
        """Keep a sign-in; those that have long expired are cleared away. ``address``: where it came from."""
        ...

    def visitor(self, digest: str, now: datetime) -> tuple[Person, SignIn] | None:
        """Who has signed in with this and may still be here; None otherwise."""
        ...

    def extend(self, digest: str, expires_at: datetime) -> None: ...

    def end(self, digest: str) -> None: ...

    def note(self, act: AuditEvent) -> None:
        """Note what changes nothing else, such as a wrong password."""
        ...

    def invite(self, invitation: Invitation) -> None:
        """Raises ``AccessError`` unless an active admin or ``LOCAL`` made it."""
        ...

    def invitation(self, digest: str, now: datetime) -> Invitation | None:
        """One that can still be used: whoever made it is an active admin, or ``LOCAL``."""
        ...

    def invitations(self, now: datetime) -> Sequence[Invitation]: ...

    def withdraw(self, digest: str, *, by: str = LOCAL) -> bool:
        """From now on nobody can use it. Returns whether it was there."""
        ...

    def accept(self, digest: str, person: Person, now: datetime) -> None:
        """Add the person and use the invitation, both or neither. Raises ``AccessError``."""
        ...
