"""The one reader of what a request brings, with a limit for strangers and a wider one for those at work."""

from __future__ import annotations

from functools import partial

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from tests.fakes.loops import run
from tests.fakes.signed_in import SignedIn
from web.http.json_api import post_endpoint
from web.http.request_fields import TooLarge, Unreadable, form, json_object

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
