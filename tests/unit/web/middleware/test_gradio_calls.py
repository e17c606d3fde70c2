"""In front of Gradio's calls: how much they may bring, whose sessions and events they may name, and what is said of
mistakes. Over a small app of Gradio's, with its queue at work."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.requests import Request
from starlette.testclient import TestClient

from tests.fakes.loops import run
from tests.fakes.signed_in import SignedIn
from web.http import request_fields
from web.http.meter import Meter
from web.http.request_fields import MOST_AT_WORK, Unreadable, whole_body
from web.middleware.gradio_calls import GradioCalls
from web.middleware.gradio_connections import GradioConnections
from web.middleware.gradio_errors import Screens
from web.middleware.request_log import RequestLog, handle_malformed_requests

MAX_UPLOAD_MB = 1
JSON = {"Content-Type": "application/json"}
Person = Callable[[str], TestClient]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    return tmp_path / "gradio"


@pytest.fixture
def person(temporary: Path) -> Iterator[Person]:
    """A client of the person of this name. ``/echo`` is called directly, ``/queued`` waits in the queue, ``/remember``
    gives back what its session was told before, ``/upload`` takes a file."""
    def remember(text: str, before: str) -> tuple[str, str]:
        return before, text

    async def page() -> FastAPI:
        with Screens() as demo:
            box, file = gr.Textbox(), gr.File(type="filepath")
            kept = gr.State("nothing")
            gr.Button().click(lambda text: text, box, box, queue=False, api_name="echo")
            gr.Button().click(lambda text: f"{text} for sure", box, box, api_name="queued")
            gr.Button().click(remember, [box, kept], [box, kept], queue=False, api_name="remember")
            gr.Button().click(lambda path: "taken", file, box, queue=False, api_name="take")
        demo.has_launched = True   # as create_app does
        return gr.mount_gradio_app(app, demo, path="/", show_error=False, run_history=False, ssr_mode=False,
                                   max_file_size=MAX_UPLOAD_MB * 2**20)

    app = FastAPI(openapi_url=None)
    app.add_middleware(GradioCalls, max_upload_mb=MAX_UPLOAD_MB)
    app.add_middleware(SignedIn)
    app.add_middleware(RequestLog, meter=Meter(), templates={})
    run(page())
    handle_malformed_requests(app)
    with TestClient(app) as client:   # one that begins and ends the app; the others ask in the same loop
        def of(name: str) -> TestClient:
            made = TestClient(app, headers={"x-test-name": name})
            made.portal = client.portal
            return made

        yield of


def in_pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), 2**16):
        yield content[start:start + 2**16]


def a_call(bytes_in_all: int) -> bytes:
    return b'{"data":["%s"]}' % (b"x" * (bytes_in_all - len(b'{"data":[""]}')))


@pytest.mark.parametrize("sent", [lambda content: content, in_pieces], ids=["with a length", "in pieces"])
def test_a_call_brings_a_megabyte_and_no_more(person: Person, sent: Callable[[bytes], Any]) -> None:
    ann = person("Ann")
    answer = ann.post("/gradio_api/run/echo", content=sent(a_call(MOST_AT_WORK)), headers=JSON)
    assert len(answer.json()["data"][0]) == MOST_AT_WORK - len(b'{"data":[""]}')
    for path in ("run/echo", "api/echo", "call/queued", "call/v2/queued", "queue/join", "cancel", "reset", "mcp"):
        answer = ann.post(f"/gradio_api/{path}", content=sent(a_call(MOST_AT_WORK + 1)), headers=JSON)
        assert answer.status_code == 413, path
        assert answer.json()["error"] == "The request is larger than 1,024 kB. Send less.", path


def test_a_call_is_no_heap_of_lists(person: Person) -> None:
    ann = person("Ann")
    text = "[{" * 10_000      # as many as the longest note has room for
    assert ann.post("/gradio_api/run/echo", json={"data": [text]}).json()["data"] == [text]
    for unit in (b"[],", b'{"a":1},'):
        answer = ann.post("/gradio_api/run/echo", content=b'{"data":[%s1]}' % (unit * 30_000), headers=JSON)
        assert (answer.status_code, answer.json()["error"]) == (
            413, "This call has more than 30,000 lists and objects. Send less.")
    deep = b'{"data":%s%s}' % (b"[" * 14_000, b"]" * 14_000)
    assert ann.post("/gradio_api/run/echo", content=deep, headers=JSON).status_code == 422


def test_an_upload_is_as_large_as_one_file_however_many_parts_it_has(person: Person, temporary: Path) -> None:
    ann, most = person("Ann"), MAX_UPLOAD_MB * 2**20
    first = ann.post("/gradio_api/upload", files={"files": ("a.bin", b"a" * most)})
    assert first.status_code == 200 and Path(first.json()[0]).stat().st_size == most
    kept = sorted(temporary.rglob("*"))
    form = b"".join(b'--x\r\nContent-Disposition: form-data; name="files"; filename="%d"\r\n\r\n%s\r\n'
                    % (number, bytes([number]) * (most // 2)) for number in range(9)) + b"--x--\r\n"
    for sent in (form, in_pieces(form)):
        answer = ann.post("/gradio_api/upload", content=sent,
                          headers={"Content-Type": "multipart/form-data; boundary=x"})
        assert answer.status_code == 413
        assert answer.json()["problem"] == "The upload is larger than 1 MB. Make it smaller."
    assert sorted(temporary.rglob("*")) == kept


def test_a_call_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_fields, "_BODY_SECONDS", 0.05)

    async def never() -> Any:
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with pytest.raises(Unreadable, match="too slowly"):
        run(whole_body(Request(scope, never), 100))


def stream(client: TestClient, path: str, **query: str) -> str:
    return client.get(f"/gradio_api/{path}", params=query).text


def test_a_stream_is_read_by_whom_it_was_begun_by(person: Person) -> None:
    res, ann = person("Res"), person("Ann")
    event = res.post("/gradio_api/call/queued", json={"data": ["plans"]}).json()["event_id"]
    config = res.get("/config").json()
    number = next(one["id"] for one in config["dependencies"] if one["api_name"] == "queued")
    joined = {"data": ["hopes"], "fn_index": number, "session_hash": "of-res"}
    queued = res.post("/gradio_api/queue/join", json=joined).json()["event_id"]
    for path in (f"call/queued/{event}", f"call/v2/queued/{event}", f"call/queued/{queued}", "call/queued/of-res",
                 f"call/queued/{event}/"):
        answer = ann.get(f"/gradio_api/{path}")
        assert answer.status_code == 404 and "belong to another user" in answer.json()["problem"], path
    for session in ("of-res", event, queued):
        told = stream(ann, "queue/data", session_hash=session)
        assert json.loads(told.partition("data: ")[2])["session_not_found"] is True and "for sure" not in told
    cancelled = ann.post("/gradio_api/cancel", json={"session_hash": "of-res", "fn_index": number, "event_id": queued})
    assert cancelled.status_code == 404
    # All that took nothing away from whose it is.
    assert '"hopes for sure"' in stream(res, "queue/data", session_hash="of-res")
    assert 'event: complete\ndata: ["plans for sure"]' in stream(res, f"call/queued/{event}")
    cancelled = res.post("/gradio_api/cancel", json={"session_hash": "of-res", "fn_index": number, "event_id": queued})
    assert cancelled.json() == {"success": True}


def test_two_people_may_call_their_sessions_the_same(person: Person) -> None:
    """The example of the docs calls it "mine", and what a session knows is its person's alone."""
    def tell(name: str, text: str) -> str:
        body = {"data": [text, None], "session_hash": "mine"}
        return str(person(name).post("/gradio_api/run/remember", json=body).json()["data"][0])

    assert [tell("Res", "a secret"), tell("Ann", "hers"), tell("Res", "more"), tell("Ann", "x")] == [
        "nothing", "nothing", "a secret", "hers"]


def test_events_are_remembered_and_not_for_ever() -> None:
    sessions = GradioConnections()
    sessions.began("Ann", "of Ann")
    for number in range(1000):
        sessions.began("Res", f"event {number}")
    assert sessions.has("Ann", "of Ann") and sessions.has("Res", "event 0")
    assert not sessions.has("Res", "of Ann") and not sessions.has("Bob", "of Ann")
    sessions.began("Res", "event 1000")
    assert not sessions.has("Res", "event 0") and sessions.has("Res", "event 1") and sessions.has("Ann", "of Ann")
    # Gradio's name for a session is told by neither name, and is not the same elsewhere.
    assert sessions.of("Ann", "mine") != sessions.of("Ann", "other") != sessions.of("Res", "other")
    assert sessions.of("Ann", "mine") == sessions.of("Ann", "mine") != GradioConnections().of("Ann", "mine")


FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


@pytest.mark.parametrize(("path", "sent", "status", "said"), [
    ("run/remember", {"data": ["x"]}, 500, "This call takes 2 values and got 1."),
    ("run/take", {"data": [FILE]}, 500, "a file that was not uploaded here"),
    ("run/take", {"data": [7]}, 500, "it has the wrong type"),
    ("run/nothing", {"data": []}, 404, "There is no such call"),
    ("run/echo", {"data": [], "fn_index": 99}, 404, "There is no such call"),
    ("call/nothing", {"data": []}, 404, "There is no such call"),
    ("call/v2/queued", {"nothing": 1}, 404, "its arguments are different"),
    ("queue/join", {"data": [], "fn_index": 99, "session_hash": "a"}, 404, "There is no such call"),
    ("upload", b'--x\r\nContent-Disposition: form-data; name="files"\r\n\r\nx\r\n--x--\r\n', 404, "There is no such"),
])
def test_a_mistake_of_who_calls_is_a_sentence_and_a_line(
    person: Person, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], path: str, sent: Any,
    status: int, said: str,
) -> None:
    more = {"json": sent} if isinstance(sent, dict) else {
        "content": sent, "headers": {"Content-Type": "multipart/form-data; boundary=x"}}
    with caplog.at_level(logging.INFO, "cirque"):
        answer = person("Ann").post(f"/gradio_api/{path}", **more)
    assert answer.status_code == status and said in answer.json()["error"], answer.text
    assert "passwd" not in answer.text
    lines = [one for one in caplog.records if " was refused: " in one.getMessage()]
    assert len(lines) == 1 and not lines[0].exc_info and lines[0].levelno < logging.ERROR
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_stream_of_nothing_ends_without_an_error(person: Person, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "cirque"):
        told = person("Ann").get("/gradio_api/queue/data", params={"session_hash": "a"})
    assert told.status_code == 200 and '"session_not_found":true' in told.text
    assert not [one for one in caplog.records if one.levelno > logging.INFO]


def test_what_gradio_does_wrong_by_itself_is_still_an_error(
    person: Person, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("a defect")

    ann = person("Ann")
    monkeypatch.setattr(gr.Blocks, "postprocess_data", broken)
    assert "quote " in ann.post("/gradio_api/run/echo", json={"data": ["x"]}).json()["error"]
    assert [one for one in caplog.records if one.levelno == logging.ERROR]


# --- calls that cannot be read ---------------------------------------------------------------

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
