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
from web.limits.concurrency import ConcurrencyLimits


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


def asked(path: str, work: Any, person: Any = LOCAL_VISITOR) -> Any:
    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b"",
             "state": {"visitor": person}, "server": ("localhost", 80), "scheme": "http"}
    return get_endpoint(lambda visitor, query: work(), slow=True)(Request(scope, receive))


def test_calls_that_never_end_hold_up_no_other_page_and_are_given_up(monkeypatch: Any) -> None:
    monkeypatch.setattr(json_api, "_READ_SECONDS", 0.3)
    monkeypatch.setattr(json_api, "_pages", {})
    go = threading.Event()

    async def everything() -> tuple[list[Any], Any]:
        stuck = [asyncio.create_task(asked(f"/benchmarks/{number}", lambda: go.wait(60))) for number in range(5)]
        other = await asked("/analysis/studies", lambda: {"there": True})
        return await asyncio.gather(*stuck), other

    try:
        stuck, other = run(everything())
    finally:
        go.set()
    assert other.status_code == 200
    assert {one.status_code for one in stuck} == {503} and b"takes longer than usual" in stuck[0].body


def test_a_person_has_two_of_a_limited_kind_at_a_time(monkeypatch: Any) -> None:
    monkeypatch.setattr(json_api, "_shares", ConcurrencyLimits(patience=0.2))
    go, begun = threading.Event(), threading.Semaphore(0)

    def estimate() -> object:
        begun.release()
        return go.wait(60)

    async def everything() -> list[int]:
        first = [asyncio.create_task(asked("/benchmarks/estimate", lambda: Deferred(estimate, "estimate")))
                 for _ in range(2)]
        for _ in first:
            await asyncio.to_thread(begun.acquire, timeout=60)
        third = await asked("/benchmarks/estimate", lambda: Deferred(estimate, "estimate"))
        go.set()
        return [third.status_code, *(one.status_code for one in await asyncio.gather(*first))]

    assert run(everything()) == [503, 200, 200]
