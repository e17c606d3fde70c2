"""The plain routes of the calls for programs: every guard that a named call has, and their description."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from tests.fakes.people import PASSWORD
from tests.fakes.studies import make_study, valid
from web.http.calls import Call, Caller, threads
from web.http.visitor import LOCAL_VISITOR
from web.limits.gradio_limits import TooManyRequests
from web.limits.url_downloads import ImageFetcher
from web.server import create_app
from web.services import Services, open_services

PLAIN, NAMED = "/api/search", "/gradio_api/run/search"
WAYS = (PLAIN, NAMED)
CALLS = {"search", "thumb", "next_item", "save_judgement", "next_question", "save_rating", "pass_gate", "progress",
         "list_studies", "study_people", "study_results", "create_study", "open_study"}


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Services:
    home = tmp_path_factory.mktemp("plain")
    services = open_services(settings_of(home, uploads_per_day=0))
    for role in ("admin", "annotator", "analyst"):
        services.people.add(role.title(), PASSWORD, role)
    make_study(services.study_store, home, name="Valid")
    return services


@pytest.fixture(scope="module")
def app(services: Services) -> FastAPI:
    async def build() -> FastAPI:   # where no loop runs, Gradio makes its own and never closes them
        return create_app(services.settings, services)

    return run(build())


@pytest.fixture
def visit(app: FastAPI, services: Services) -> Any:
    def client(name: str = "") -> TestClient:
        made = TestClient(app, base_url="http://127.0.0.1:7860", follow_redirects=False, raise_server_exceptions=False)
        if name:
            made.cookies.set("cirque", services.people.sign_in(name, PASSWORD))
        return made

    return client


def sent(way: str, **given: Any) -> dict[str, Any]:
    """The body of a search by this way."""
    if way == PLAIN:
        return given
    image = {"path": given["image"], "meta": {"_type": "gradio.FileData"}} if "image" in given else None
    return {"data": ["", image, given.get("text", ""), "", given.get("k", 10), "", [], []]}


def said(answer: Any) -> str:
    told = answer.json()
    return str(told.get("problem") or told.get("error"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("who", "headers", "query", "given", "status", "sentence"), [
    ("", {}, "", {"text": "in red"}, 401, "not signed in"),
    ("Analyst", {}, "", {"text": "in red"}, (403, 500), "Analyst is signed in as analyst, and analysts may not "),
    ("Annotator", {}, "", {"text": "in red"}, (403, 500), "annotators may not search"),
    ("Annotator", {}, "", {"text": "in red", "image": "http://127.0.0.1:9/x.png"}, 403, "annotators may not search"),
    ("Admin", {"Sec-Fetch-Site": "cross-site"}, "", {"text": "in red"}, 403, "another site"),
    ("Admin", {"Origin": "http://evil.example"}, "", {"text": "in red"}, 403, "another site"),
    ("Admin", {}, "?x=" + "y" * 20_000, {"text": "in red"}, 414, "longer than 16 kB"),
    ("Admin", {}, "", {"text": "x" * 2**20}, 413, "larger than 1,024 kB"),
    ("Admin", {}, "", {"text": "in red"}, (400, 500), "Give a reference"),
    ("Admin", {}, "", {"text": "in red", "k": 0}, (400, 500), "it must be from 1 to 1000"),
    ("Admin", {}, "", {"text": "in red", "image": "/etc/passwd"}, (422, 500), ""),
    ("Admin", {}, "", {"text": "in red", "image": "http://127.0.0.1:9/x.png"}, 422, "no public address"),
])
def test_every_guard_of_a_named_call_guards_the_route(
    visit: Any, way: str, who: str, headers: dict[str, str], query: str, given: dict[str, Any], status: Any,
    sentence: str,
) -> None:
    answer = visit(who).post(way + query, json=sent(way, **given), headers=headers)
    wanted = status if isinstance(status, int) else status[WAYS.index(way)]
    assert answer.status_code == wanted, answer.text
    assert sentence in said(answer) and "Traceback" not in answer.text and "root:" not in answer.text
    assert answer.headers["x-request-id"] and answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("way", WAYS)
def test_nothing_new_is_let_in_during_a_stop(visit: Any, app: FastAPI, way: str) -> None:
    app.state.shutdown_state.closed = True
    try:
        answer = visit("Admin").post(way, json=sent(way, text="in red"))
    finally:
        app.state.shutdown_state.closed = False
    assert answer.status_code == 503 and answer.headers["retry-after"]


def test_what_is_no_json_object_with_these_arguments(visit: Any) -> None:
    admin = visit("Admin")
    for body, kind, status, sentence in (
        (b'{"text": "in red"}', "text/plain", 400, "Send this as JSON"),
        (b"{", "application/json", 400, "not valid JSON"), (b"[]", "application/json", 400, "must be a JSON object"),
        (b'{"colour": "red"}', "application/json", 422, "takes no “colour”"),
        (b'{"k": "many"}', "application/json", 422, "“k” does not fit the call search"),
        (b"[" * 5000 + b"]" * 5000, "application/json", 400, ""),
    ):
        answer = admin.post(PLAIN, content=body, headers={"Content-Type": kind})
        assert answer.status_code == status and sentence in said(answer), body[:30]
    for method, path in (("GET", PLAIN), ("POST", "/api/nothing")):
        assert admin.request(method, path).status_code in (404, 405)


def test_a_route_and_a_named_call_do_the_same(visit: Any) -> None:
    ann = visit("Annotator")
    plain = ann.post("/api/next_item", json={"study": "Valid"}).raise_for_status().json()
    [named] = ann.post("/gradio_api/run/next_item", json={"data": ["Valid", ""]}).raise_for_status().json()["data"]
    assert plain == named
    given = {"study": "Valid", "item": plain["item"]["id"], "answer": valid(), "token": "token-0001", "seconds": 2}
    saved = ann.post("/api/save_judgement", json=given).raise_for_status().json()
    [again] = ann.post("/gradio_api/run/save_judgement", json={"data": list(given.values())}).json()["data"]
    assert saved["saved"]["revision"] == 1 and again["saved"]["repeated"] is True
    assert saved["desk"] == again["desk"]
    asked = ann.post("/api/progress", json={"study": "Valid"}).json()
    assert [asked] == ann.post("/gradio_api/run/progress", json={"data": ["Valid"]}).json()["data"]


def test_the_description_has_the_calls_and_nothing_else(visit: Any) -> None:
    found = visit("Annotator").get("/api/openapi.json").raise_for_status().json()
    assert found["paths"].keys() == {f"/api/{name}" for name in CALLS}
    text = str(found)
    for name in re.findall(r"'\$ref': '#/components/schemas/(\w+)'", text):
        assert name in found["components"]["schemas"], name
    search = found["paths"]["/api/search"]["post"]
    taken = search["requestBody"]["content"]["application/json"]["schema"]
    taken = found["components"]["schemas"][taken["$ref"].rpartition("/")[2]] if "$ref" in taken else taken
    assert taken["properties"]["k"] == {
        "type": "number", "default": 10, "description": "Number of results, 1 to 1000."}
    assert visit().get("/api/openapi.json").status_code == 401
    assert visit("Analyst").get("/api/openapi.json").status_code == 403


def test_one_person_cannot_take_all_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.http.calls._EACH", 1)

    async def story() -> None:
        def again(visitor: Any) -> dict[str, Any]:
            """Call."""
            return {}

        async def place(work: Any, visitor: Any, given: Any) -> Any:
            if depth:
                return work()
            depth.append(1)
            with pytest.raises(TooManyRequests, match="1 of your calls are waiting"):
                await caller.answer(call, LOCAL_VISITOR, {})
            return work()

        depth: list[int] = []
        call = Call(again, "search", place)
        caller = Caller([call], ImageFetcher(1))
        assert await caller.answer(call, LOCAL_VISITOR, {}) == {}
        assert await caller.answer(call, LOCAL_VISITOR, {}) == {}   # the room is free again

    run(story())


def test_searches_run_in_bounded_room() -> None:
    at_work, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(2)

    def work() -> dict[str, Any]:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        both.wait()     # a third one would be here beside two
        with lock:
            at_work -= 1
        return {}

    async def story() -> None:
        place = threads(2)
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(place, work, LOCAL_VISITOR, {})

    run(story())
    assert most == 2


def test_a_public_demo_has_none_of_them(tmp_path: Path) -> None:
    async def build() -> FastAPI:
        settings = settings_of(tmp_path, public_demo=True, database_url="")
        return create_app(settings, open_services(settings))

    demo = TestClient(run(build()), base_url="https://somewhere.hf.space", raise_server_exceptions=False)
    for path in ("/api/openapi.json", *(f"/api/{name}" for name in sorted(CALLS))):
        assert demo.get(path).status_code == 404 and demo.post(path, json={}).status_code == 404, path
