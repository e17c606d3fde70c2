"""A request's id, its line in the log, and what is said of errors that nobody foresaw."""

from __future__ import annotations

import json
import logging
import sys

import gradio as gr
import pytest
from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.testclient import TestClient

from tests.fakes.loops import run
from tests.fakes.signed_in import SignedIn
from web.http.json_api import get_endpoint
from web.http.meter import Meter
from web.http.request_ids import id_of, request_id, with_request_ids
from web.limits.connections import Networks
from web.middleware.gradio_errors import Screens
from web.middleware.headers import Forwarded
from web.middleware.request_log import RequestLog, shown_path, templates_of
from web.ops.logging_setup import FIELDS, JsonLines, TextLines

SECRET = "what somebody wrote"
_log = logging.getLogger("cirque.tests")


class Counting(Meter):
    def __init__(self):
        self.routes = []

    def answered(self, route, method, status, seconds):
        assert seconds >= 0
        self.routes.append((route, method, status))


@pytest.fixture
def meter():
    return Counting()


@pytest.fixture
def browse(meter):
    def client(at="127.0.0.1", trusted="127.0.0.1"):
        def worked_on(visitor, query):
            _log.warning("in a thread")
            return {"id": request_id()}

        def broken(visitor, query):
            raise ValueError(SECRET)

        routes = APIRouter()
        routes.add_route("/study/{study}/at", get_endpoint(worked_on), ["GET"])
        routes.add_route("/study/broken", get_endpoint(broken), ["GET"])

        @routes.get("/runs/{run_id}/stop")
        async def page(request: Request) -> dict[str, str]:
            return {"id": id_of(request)}

        app = FastAPI(openapi_url=None)
        app.include_router(routes)
        app.add_middleware(SignedIn)
        app.add_middleware(RequestLog, meter=meter, templates=templates_of([routes]))
        app.add_middleware(with_request_ids)
        return TestClient(Forwarded(app, Networks(trusted)), client=(at, 5000), headers={"x-test-name": "Ada"})

    return client


@pytest.mark.parametrize(("at", "trusted", "sent", "kept"), [
    ("127.0.0.1", "127.0.0.1", "0123456789abcdef", True), ("10.9.8.7", "::1, 10.0.0.0/8", "a-b_c.d-1", True),
    ("::ffff:10.9.8.7", "10.0.0.0/8", "0123456789abcdef", True),
    ("127.0.0.1", "", "0123456789abcdef", False), ("10.9.8.7", "127.0.0.1", "0123456789abcdef", False),
    ("127.0.0.1", "127.0.0.1", "short", False), ("127.0.0.1", "127.0.0.1", "a" * 65, False),
    ("127.0.0.1", "127.0.0.1", "with a space", False), ("127.0.0.1", "127.0.0.1", '{"level":"x"}', False),
])
def test_a_trusted_proxy_names_the_request_and_nobody_else(browse, at, trusted, sent, kept):
    answer = browse(at, trusted).get("/runs/1/stop", headers={"X-Request-ID": sent})
    found = answer.headers["x-request-id"]
    assert found == answer.json()["id"]
    assert (found == sent) is kept
    assert kept or len(bytes.fromhex(found)) == 8


def test_the_id_is_in_every_line_of_the_request_also_from_its_threads(browse, caplog):
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(json.loads(JsonLines().format(record)))
    logging.getLogger("cirque").addHandler(handler)
    try:
        with caplog.at_level(logging.INFO, "cirque"):
            answers = [browse().get("/study/one/at?q=" + SECRET) for _ in range(2)]
    finally:
        logging.getLogger("cirque").removeHandler(handler)
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert ids == [answer.json()["id"] for answer in answers] and ids[0] != ids[1]
    assert [(line["request"], line["logger"]) for line in lines] == [
        (identity, logger) for identity in ids for logger in ("cirque.tests", "cirque.requests")]
    said = lines[-1]
    assert {name: said[name] for name in FIELDS if name != "ms"} == {
        "method": "GET", "path": "/study/one/at", "status": 200, "person": "Ada"}
    assert said["ms"] > 0 and SECRET not in caplog.text


def test_an_error_that_nobody_foresaw_is_one_sentence_with_the_id(browse, caplog, meter):
    answer = browse().get("/study/broken")
    assert answer.status_code == 500
    identity = answer.headers["x-request-id"]
    assert answer.json() == {"kind": "unexpected", "problem": (
        "Something went wrong on the server. What was saved before is safe. Try again; if it happens "
        f"again, quote {identity} when you report it.")}
    (record,) = [it for it in caplog.records if it.levelno == logging.ERROR]
    assert identity in record.getMessage()
    lines = {quoting: form(quoting).format(record) for quoting in (False, True) for form in (TextLines, JsonLines)}
    assert SECRET not in lines[False] and "ValueError" in lines[False] and "in broken" in lines[False]
    assert SECRET in lines[True]
    assert meter.routes == [("/study/broken", "GET", 500)]


def test_somebody_who_looks_gets_a_page(browse):
    answer = browse().get("/study/broken", headers={"Sec-Fetch-Mode": "navigate"})
    assert answer.status_code == 500 and answer.headers["content-type"].startswith("text/html")
    assert f"quote {answer.headers['x-request-id']} when" in answer.text and SECRET not in answer.text


def test_metrics_hear_of_templates_alone(browse, meter):
    client = browse()
    for path in ("/study/one/at", "/study/at/at", "/runs/abc/stop", "/nothing/here", "/study/one/at"):
        client.get(path)
    client.post("/study/one/at")
    assert meter.routes == [
        ("/study/{study}/at", "GET", 200), ("/study/{study}/at", "GET", 200), ("/runs/{run_id}/stop", "GET", 200),
        ("none", "GET", 404), ("/study/{study}/at", "GET", 200), ("/study/{study}/at", "POST", 405)]


@pytest.mark.parametrize(("path", "shown"), [
    ("/study/mine", "/study/mine"), ("/join/s3cr3t", "/join/…"), ("/join/s3cr3t/", "/join/…"),
    ("/runs/s3cr3t/stop", "/runs/…"), ("/gradio_api/heartbeat/s3cr3t", "/gradio_api/heartbeat/…"),
    ("/gradio_api/file=/etc/passwd", "/gradio_api/file=…"), ("/a\nINFO all is well", "/a%0AINFO%20all%20is%20well"),
    ("/" + "a" * 500, "/" + "a" * 199),
])
def test_a_path_tells_no_secret_and_ends_no_line(path, shown):
    assert shown_path(path) == shown


def record(message, **extra):
    made = logging.LogRecord("cirque.x", logging.INFO, "", 1, message, (), None)
    made.__dict__.update(extra)
    return made


def test_a_line_stays_a_line():
    line = TextLines().format(record("one\n2026 ERROR cirque made up"))
    assert line.endswith("Z INFO cirque.x one\\x0a2026 ERROR cirque made up") or "INFO cirque.x one\\x0a2026" in line
    assert "\n" not in line and "\n" not in JsonLines().format(record("one\ntwo"))


def test_an_error_is_told_with_what_it_came_from():
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as inner:
            raise ValueError(SECRET) from inner
    except ValueError:
        made = record("it failed")
        made.exc_info = sys.exc_info()
    said = json.loads(JsonLines().format(made))
    assert said["error"] == "ValueError" and SECRET not in json.dumps(said)
    assert [line for line in said["trace"] if not line.startswith((" ", "Traceback"))] == ["KeyError", "ValueError"]
    assert "Traceback (most recent call last):" in TextLines().format(made)


@pytest.fixture
def call():
    """Named calls of screens that fail in every way, over HTTP."""
    def at_once(text: str) -> str:
        raise ValueError(SECRET)

    async def later(text: str) -> str:
        _log.warning("in an event")
        raise ValueError(SECRET)

    def steps(text: str):
        yield text
        raise ValueError(SECRET)

    def ours(text: str) -> str:
        raise gr.Error("Say something.")

    async def page():
        with Screens() as demo:
            box = gr.Textbox()
            for event in (at_once, later, steps, ours):
                gr.Button().click(event, box, box, queue=False, api_name=event.__name__)
            gr.Button().click(lambda chosen: chosen, gr.Radio(["a"]), box, queue=False, api_name="choice")
        return gr.mount_gradio_app(app, demo, path="/", show_error=False, run_history=False, ssr_mode=False)

    app = FastAPI(openapi_url=None)
    app.add_middleware(RequestLog, meter=Meter(), templates={})
    app.add_middleware(with_request_ids)
    with TestClient(run(page())) as client:
        yield lambda name, *data: client.post(f"/gradio_api/run/{name}", json={"data": data, "session_hash": "abc"})


@pytest.mark.parametrize(("name", "data"), [("at_once", ["x"]), ("later", ["x"]), ("at_once", [SECRET] * 3)])
def test_events_of_gradio_say_the_same(call, caplog, capfd, name, data):
    answer = call(name, *data)
    assert answer.status_code == 500
    assert f"quote {answer.headers['x-request-id']} when you report it" in answer.json()["error"]
    (record,) = [it for it in caplog.records if it.levelno == logging.ERROR]
    assert answer.headers["x-request-id"] in record.getMessage()
    assert SECRET not in TextLines().format(record) + answer.text + "".join(capfd.readouterr())


def test_what_is_meant_for_people_is_said_and_not_printed(call, caplog, capfd):
    assert call("ours", "x").json()["error"] == "Say something."
    assert SECRET in call("choice", SECRET).json()["error"]   # to whom it was sent by
    assert not [it for it in caplog.records if it.levelno == logging.ERROR]
    assert "Traceback" not in "".join(capfd.readouterr())
