"""A call that cannot be read is refused with a sentence, whatever was sent."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

from web.middleware.malformed_requests import handle_malformed_requests


class Call(BaseModel):
    data: list[int]


def an_app() -> FastAPI:
    app = FastAPI()

    @app.post("/call")
    def call(body: Call) -> int:
        return len(body.data)

    return app


@pytest.fixture(params=["", "/inner"])
def client(request: pytest.FixtureRequest) -> TestClient:
    outer = an_app()
    outer.mount("/inner", an_app())
    handle_malformed_requests(outer)
    return TestClient(outer, base_url=f"http://testserver{request.param}")


@pytest.mark.parametrize(("sent", "named"), [
    (b'{"data": NaN}', "body.data"), (b'{"data": [1e999]}', "body.data.0"), (b'{"data": ["\\ud800"]}', "body.data.0"),
    (b'{"\\ud800": 1}', "body.data"), (b"[1", "body.2"), (b"", "body"), (b'"LPT1"', "body"),
])
def test_what_cannot_be_read_is_said(client: TestClient, sent: bytes, named: str) -> None:
    answer = client.post("call", content=sent, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["problem"].startswith(f"This call cannot be read ({named}). Check it")


def test_what_can_be_read_is_answered(client: TestClient) -> None:
    assert client.post("call", json={"data": [1, 2]}).json() == 2
