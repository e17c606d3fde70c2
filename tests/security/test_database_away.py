"""The database server is away, and strangers ask: they learn that, and nothing of where it is or how one gets in."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import create_engine
from starlette.testclient import TestClient

from annotation.accounts.service import PeopleService
from storage.accounts.store import SqlPeopleStore
from web.accounts.sign_in import sign_in_routes
from web.middleware.auth import AuthMiddleware

# Nobody listens on port 1. A password may stand in two places of a URL.
SERVER = "postgresql+psycopg://ann:s3cr3t@127.0.0.1:1/the-lab?{query}"
QUERIES = ("password=hush", "host=/run/hush-hush&password=hush")


@pytest.fixture(params=QUERIES)
def client(request: pytest.FixtureRequest) -> TestClient:
    people = PeopleService(SqlPeopleStore(create_engine(SERVER.format(query=request.param))))
    people._accounts = True   # as when it went away while people worked
    services: Any = SimpleNamespace(people=people)
    app = FastAPI()
    app.include_router(sign_in_routes(services))
    app.add_middleware(AuthMiddleware, people=people)
    return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)


def test_a_stranger_learns_nothing_of_a_database_that_is_away(
    client: TestClient, caplog: pytest.LogCaptureFixture,
) -> None:
    known = {"name": "Ann", "password": "pass word"}
    with caplog.at_level(logging.WARNING, "cirque"):
        answers = [
            client.post("/sign-in", json=known), client.post("/sign-in", data=known),
            client.post("/login", data={"username": "Ann", "password": "pass word"}),
            client.get("/join/an-invitation"),
        ]
        client.cookies.set("cirque", "a-cookie")
        answers += [client.get("/study/mine"), client.get("/sign-in")]
    for answer in answers:
        assert answer.status_code == 503 and "Nothing can be saved at the moment" in answer.text
        for inside in ("hush", "s3cr3t", "ann:", "127.0.0.1", "the-lab", "psycopg", "postgres", "port 1", "/run",
                       "CIRQUE_"):
            assert inside not in answer.text, inside
    assert "hush" not in caplog.text and "s3cr3t" not in caplog.text
    assert "The database postgresql+psycopg://127.0.0.1:1/the-lab cannot be reached." in caplog.text
    assert "OperationalError: connection " in caplog.text, "the log has the details"
