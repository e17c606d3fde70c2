"""Records of accounts, sign-ins and invitations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Role = Literal["admin", "researcher", "analyst", "annotator"]
HANDLE = 8   # digits of an invitation's digest


@dataclass(frozen=True)
class Person:
    """An account. ``name`` never changes: judgements refer to it."""

    name: str                                 # as shown and used to sign in; unique, ignoring case
    role: Role
    password_hash: str = field(repr=False)    # Argon2 with its parameters; "" until an invitation is accepted
    active: bool
    created_at: datetime


@dataclass(frozen=True)
class Changed:
    """A person after a change. ``withdrawn``: number of their open invitations that were withdrawn."""

    person: Person
    withdrawn: int = 0


@dataclass(frozen=True)
class SignIn:
    """One signed-in browser or script. Only a digest of the cookie's secret is stored."""

    digest: str
    name: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class FailedLogins:
    """Number of failed sign-ins, and the time from which they decay, usually that of the last one. See
    ``annotation.accounts.throttle``."""

    count: int
    last_at: datetime


CountFailure = Callable[[FailedLogins | None], FailedLogins]
"""Count one more failed sign-in: from the previous state to the new one."""


@dataclass(frozen=True)
class Invitation:
    """A link to create an account. ``uses_left`` counts down to 0."""

    digest: str                  # of the secret in the link
    role: Role
    uses_left: int
    created_by: str
    created_at: datetime
    expires_at: datetime

    @property
    def handle(self) -> str:
        """Short public name of the invitation, because the link is shown only once."""
        return self.digest[:HANDLE]
