"""Calls that take long: they wait for one another, nothing else waits for them, and who has gone is not worked for."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError
from functools import partial
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.testclient import TestClient

from cir_core.errors import StudyError
from tests.fakes.loops import run
from tests.fakes.signed_in import SignedIn
from web.http import json_api
from web.http.background import BackgroundPool
from web.http.json_api import Deferred, Endpoint, get_endpoint, post_endpoint
from web.http.request_fields import TooLarge, Unreadable, form, json_object
from web.http.visitor import LOCAL_VISITOR
from web.limits.rates import ConcurrencyLimits


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


# --- threads that nobody waits for at the end ------------------------------------------------

def test_what_is_under_way_is_told_and_nothing_more_begins():
    threads, go, began = BackgroundPool(1, "test"), threading.Event(), threading.Event()

    def work():
        began.set()
        return go.wait(60)

    assert not threads.busy
    first, second = threads.submit(work), threads.submit(work)
    assert began.wait(60) and threads.busy
    assert threads.shutdown()
    with pytest.raises(RuntimeError):
        threads.submit(work)
    go.set()
    assert first.result(60) is True
    with pytest.raises(CancelledError):
        second.result(60)
    assert not threads.busy and not threads.shutdown()


def test_failures_and_ends_are_no_work():
    threads = BackgroundPool(2, "test")
    assert threads.submit(lambda: 7).result(60) == 7
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 / 0).result(60)
    assert not threads.shutdown()


# --- the one reader of what a request brings -------------------------------------------------

JSON = {"Content-Type": "application/json"}
UNREADABLE = [b"", b"{", b"\xff\xfe", b"[" * 50_000, b'{"a": NaN}', b'{"a": "\\ud800"}']


@pytest.fixture
def client():
    app = FastAPI()

    async def read(request: Request, **limit):
        try:
            return JSONResponse({"found": await json_object(request, **limit)})
        except Unreadable as error:
            return JSONResponse({"error": type(error).__name__, "says": str(error)}, 422)

    app.add_route("/strangers", read, ["POST"])
    app.add_route("/ten-bytes", partial(read, most_bytes=10), ["POST"])
    app.add_route("/told", post_endpoint(lambda visitor, sent: {"length": len(sent["text"])}, ("text",)), ["POST"])
    app.add_middleware(SignedIn)
    return TestClient(app, headers={"x-test-name": "Ada"})


def send(client, path, body, **headers):
    return client.post(path, content=body, headers={**JSON, **headers})


def test_an_object_of_any_spelling_of_json(client):
    for kind in ("application/json", "Application/JSON; charset=utf-8"):
        answer = client.post("/strangers", content='{"ä": [1, null]}'.encode(), headers={"Content-Type": kind})
        assert answer.json() == {"found": {"ä": [1, None]}}


def test_the_limit_is_the_callers(client):
    assert send(client, "/ten-bytes", b'{"a": 123}').status_code == 200             # ten
    over = send(client, "/ten-bytes", b'{"a": 1234}')
    assert over.json()["error"] == TooLarge.__name__
    # 64 kB of strangers: {"a":"…"} has eight bytes around the text.
    assert send(client, "/strangers", b'{"a":"%s"}' % (b"x" * (64 * 1024 - 8))).status_code == 200
    over = send(client, "/strangers", b'{"a":"%s"}' % (b"x" * (64 * 1024 - 7)))
    assert over.json() == {"error": "TooLarge", "says": "The request is larger than 64 kB. Send less."}
    # A megabyte of those at work: {"text":"…"} has eleven.
    assert send(client, "/told", b'{"text":"%s"}' % (b"x" * (2**20 - 11))).json() == {"length": 2**20 - 11}
    over = send(client, "/told", b'{"text":"%s"}' % (b"x" * (2**20 - 10)))
    assert (over.status_code, over.json()["kind"]) == (422, "incomplete")
    assert "what you wrote stays on the page" in over.json()["problem"]


@pytest.mark.parametrize("body", UNREADABLE)
def test_both_refuse_the_same_with_the_same_words(client, body):
    problem = send(client, "/told", body)
    assert (problem.status_code, problem.json()["kind"]) == (400, "other")
    assert send(client, "/strangers", body).json() == {"error": "Unreadable", "says": problem.json()["problem"]}
    assert "is not valid JSON" in problem.json()["problem"]


def test_what_is_no_object_or_does_not_say_that_it_is_json(client):
    for body in (b"[]", b"null", b"7"):
        assert "must be a JSON object" in send(client, "/told", body).json()["problem"]
        assert "must be a JSON object" in send(client, "/strangers", body).json()["says"]
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        for path, said in (("/told", "problem"), ("/strangers", "says")):
            answer = send(client, path, b'{"text": "x"}', **{"Content-Type": kind})
            assert "Content-Type: application/json" in answer.json()[said]


def test_forms_have_the_limit_of_strangers():
    app = FastAPI()

    async def read(request: Request):
        try:
            return JSONResponse(await form(request))
        except Unreadable as error:
            return JSONResponse({"error": type(error).__name__}, 422)

    app.add_route("/form", read, ["POST"])
    client = TestClient(app)
    assert client.post("/form", content=b"a=1&b=&a=2").json() == {"a": "2", "b": ""}
    assert client.post("/form", content=b"a=" + b"x" * 65_535).json() == {"error": "TooLarge"}
    assert client.post("/form", content=b"a=\xff").json() == {"error": "Unreadable"}


def test_a_page_that_goes_away_while_it_sends_is_no_fault_of_the_server():
    pieces = iter([{"type": "http.request", "body": b'{"a": ', "more_body": True}, {"type": "http.disconnect"}])

    async def receive():
        return next(pieces)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-type", b"application/json")]}
    with pytest.raises(Unreadable, match="The request was incomplete"):
        run(json_object(Request(scope, receive)))
