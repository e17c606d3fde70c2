"""A people service that is quick, and whose clock stands still."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from argon2 import PasswordHasher

from annotation.accounts import service
from annotation.accounts.service import Passwords, PeopleService
from annotation.accounts.store import PeopleStore
from tests.fakes.people_store import InMemoryPeopleStore

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
PASSWORD = "correct horse"
LIGHT = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def hash_lightly() -> None:
    """From now on, passwords that this process stores are hashed with :data:`LIGHT`: what is the default takes 0.1 s of
    CPU each. A server that a test starts hashes as always."""
    service.PasswordHasher = lambda: LIGHT  # type: ignore[misc,assignment]


class Clock:
    """A time that is moved by hand: of the day, and in seconds."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    """For the tests of a file that imports it."""
    return Clock()


def people_service(store: PeopleStore | None = None, **options: Any) -> PeopleService:
    clock = options.pop("clock", Clock())
    return PeopleService(store or InMemoryPeopleStore(), clock, passwords=Passwords(LIGHT), **options)
