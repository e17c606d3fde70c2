"""Calls that take long: they wait for one another, nothing else waits for them, and who has gone is not worked for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from cir_core.errors import StudyError
from tests.fakes.loops import run
from web.http import json_api
from web.http.json_api import Deferred, Endpoint, get_endpoint
from web.http.visitor import LOCAL_VISITOR


def call(endpoint: Endpoint, gone: threading.Event | None = None) -> Any:
    """One request; whoever made it hangs up when ``gone`` is set."""
    async def receive() -> dict[str, Any]:
        if gone is None or not gone.is_set():
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b"",
             "state": {"visitor": LOCAL_VISITOR}}
    return endpoint(Request(scope, receive))


def test_it_is_answered_like_any_other_call() -> None:
    def fails() -> object:
        raise StudyError("Not so.")

    app = FastAPI()

    async def with_visitor(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"visitor": LOCAL_VISITOR}
        await app(scope, receive, send)

    for path, work in (("/json", lambda: {"a": 1}), ("/file", lambda: Response("x", 201)), ("/problem", fails)):
        app.add_route(path, get_endpoint(lambda visitor, query, work=work: Deferred(work), slow=True), ["GET"])
    client = TestClient(with_visitor)
    assert client.get("/json").json() == {"a": 1}
    assert client.get("/file").status_code == 201
    assert (client.get("/problem").status_code, client.get("/problem").json()["problem"]) == (400, "Not so.")


def test_nothing_is_begun_for_who_has_gone_and_nobody_else_waits(monkeypatch: Any) -> None:
    monkeypatch.setattr(json_api, "_STILL_THERE_EVERY", 0.05)
    go, gone, begun = threading.Event(), threading.Event(), []

    def long(name: str) -> Endpoint:
        def work() -> object:
            begun.append(name)
            assert go.wait(60)
            return name
        return get_endpoint(lambda visitor, query: Deferred(work), slow=True)

    async def story() -> None:
        staying = [asyncio.ensure_future(call(long(name))) for name in ("one", "two")]
        while len(begun) < 2:
            await asyncio.sleep(0.01)
        leaving = asyncio.ensure_future(call(long("left"), gone))
        last = asyncio.ensure_future(call(long("last")))
        others = [await call(get_endpoint(lambda visitor, query: 1, slow=True)) for _ in range(5)]
        assert {answer.status_code for answer in others} == {200} and begun == ["one", "two"]
        gone.set()
        assert (await leaving).status_code == 499
        go.set()
        assert [(await one).body for one in (*staying, last)] == [b'"one"', b'"two"', b'"last"']

    run(story())
    assert begun == ["one", "two", "last"]
