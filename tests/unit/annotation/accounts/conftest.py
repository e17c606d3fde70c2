"""Stores of people: what holds for one holds for both."""

from __future__ import annotations

import pytest

from storage.accounts.store import SqlPeopleStore
from tests.fakes.databases import engine as engine
from tests.fakes.people import clock as clock
from tests.fakes.people_store import InMemoryPeopleStore


@pytest.fixture
def sql(engine):
    return SqlPeopleStore(engine)


@pytest.fixture(params=["dict", "sql"])
def store(request):
    return InMemoryPeopleStore() if request.param == "dict" else request.getfixturevalue("sql")
