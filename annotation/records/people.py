"""Who may sign in, and as what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Role = Literal["admin", "researcher", "analyst", "annotator"]
HANDLE = 8   # digits of an invitation's digest


@dataclass(frozen=True)
class Person:
    """An account. ``name`` never changes: judgements carry it."""

    name: str                                 # as shown and signed in with; unique without regard to case
    role: Role
    password_hash: str = field(repr=False)    # argon2, with its parameters; "" until an invitation is taken up
    active: bool
    created_at: datetime


@dataclass(frozen=True)
class Changed:
    """A person after a change. ``withdrawn``: how many open invitations of theirs went with it."""

    person: Person
    withdrawn: int = 0


@dataclass(frozen=True)
class SignIn:
    """One browser or script that is signed in. The cookie's secret is kept as a digest only."""

    digest: str
    name: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class FailedLogins:
    """Wrong passwords that count, and since when: as a rule the last one's time. See
    ``annotation.accounts.throttle``."""

    count: int
    last_at: datetime


CountFailure = Callable[[FailedLogins | None], FailedLogins]
"""One more wrong password: from what counted before to what counts now."""


@dataclass(frozen=True)
class Invitation:
    """A link with which somebody makes an account. ``uses_left`` counts down to 0."""

    digest: str                  # of the secret in the link
    role: Role
    uses_left: int
    created_by: str
    created_at: datetime
    expires_at: datetime

    @property
    def handle(self) -> str:
        """What people call it by, for the link is told only once."""
        return self.digest[:HANDLE]
