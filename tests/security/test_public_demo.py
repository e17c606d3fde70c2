"""A public demo, asked for every address that cirque has: a visitor reaches the search screen and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from tests.fakes.routes import Address, addresses
from web.http.pages import SCREENS
from web.server import create_app
from web.services import open_services

# What a visitor may have, and why. Anything else on this list is a decision: write it down in docs/security.md.
FOR_VISITORS = {
    "/": "the page", "/me": "who the page is for", "/config": "the page", "/theme.css": "the page",
    "/assets/{path:path}": "the page", "/static/{path:path}": "the page", "/svelte/{path:path}": "the page",
    "/own/{version}/{path:path}": "the page", "/favicon.ico": "browsers ask for it",
    "/manifest.json": "browsers ask for it", "/robots.txt": "search engines ask for it",
    "/healthz": "monitoring", "/readyz": "monitoring",
    "/media/thumb": "pictures", "/media/full": "pictures", "/media/find": "the picker of references",
    "/media/suggestions": "suggested texts", "/media/upload": "one's own reference", "/media/region": "a part of it",
    "/export/{session_id}.json": "one's own session", "/runs/{run_id}/stop": "stopping one's own search",
    "/gradio_api/queue/join": "actions of the screen", "/gradio_api/queue/data": "what comes of them",
    "/gradio_api/heartbeat/{session_hash}": "an open page", "/gradio_api/startup-events": "the page",
    "/gradio_api/theme.css": "the page",
}
ENDLESS = {"/gradio_api/heartbeat/{session_hash}", "/gradio_api/queue/data"}


def built(home: Path, **values: object) -> FastAPI:
    async def build() -> FastAPI:   # where no loop runs, Gradio makes its own and never closes them
        settings = settings_of(home, **values)
        return create_app(settings, open_services(settings))

    return run(build())


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    return built(tmp_path_factory.mktemp("demo"), public_demo=True, database_url="", demo_searches_per_minute=1000)


@pytest.fixture(scope="module")
def known(demo: FastAPI, tmp_path_factory: pytest.TempPathFactory) -> list[Address]:
    """All that a whole cirque has, and what only the demo might."""
    whole = built(tmp_path_factory.mktemp("whole"), mcp=True)
    return list({(one.path, one.methods): one for one in (*addresses(whole), *addresses(demo))}.values())


@pytest.fixture
def visitor(demo: FastAPI) -> Iterator[TestClient]:
    yield TestClient(demo, base_url="https://somewhere.hf.space", follow_redirects=False,
                     raise_server_exceptions=False)


def test_every_address_that_is_not_for_visitors_is_not_there(known: list[Address], visitor: TestClient) -> None:
    assert len(known) > 120 and {one.path for one in known} >= FOR_VISITORS.keys()
    there = {(one.path, method) for one in known for method in one.methods}
    for address in known:
        for method in {"GET", "POST", *address.methods}:
            if address.path in FOR_VISITORS and (address.path, method) in there:
                continue
            answer = visitor.request(method, address.filled())
            assert answer.status_code == 404, (method, address, answer.status_code)


def test_what_is_for_visitors_is_there(known: list[Address], visitor: TestClient) -> None:
    for address in known:
        if address.path in FOR_VISITORS.keys() - ENDLESS:
            for method in address.methods:
                answer = visitor.request(method, address.filled())
                told = answer.text if answer.headers.get("content-type") == "application/json" else ""
                assert "for searching only" not in told, (method, address)
                assert answer.status_code not in (401, 403), (method, address)


@pytest.mark.parametrize("path", [
    "/gradio_api/call/search", "/gradio_api/run/search", "/gradio_api/api/search", "/gradio_api/info",
    "/gradio_api/upload", "/gradio_api/call/join_study", "/gradio_api/mcp/", "/gradio_api/queue/status",
    "/gradio_api/queue/join/x", "/gradio_api/cancel", "/gradio_api/reset", "/gradio_api/file=/etc/passwd",
    "/sign-in", "/login", "/join/secret", "/metrics", "/audit/a/b", "/judges/comparison", "/weights/fetch",
    "/media", "/media/", "/media/other", "/studies/all", "/me/", "/me/more", "/own", "/EXPORT/x.json",
    "/media/thumb/../../studies", "/export/../studies", "/own/../people",
    *(screen.path for screen in SCREENS if screen.path != "/"),
])
def test_other_addresses(visitor: TestClient, path: str) -> None:
    for method in ("GET", "POST"):
        assert visitor.request(method, path).status_code == 404, (method, path)


def test_no_call_of_programs_can_be_joined_by_its_number(demo: FastAPI, visitor: TestClient) -> None:
    config = visitor.get("/config").json()
    assert [one for one in config["dependencies"] if one["api_visibility"] != "private" and one["backend_fn"]] == []
    own = {one["id"] for one in config["dependencies"] if one["backend_fn"]}
    for index in (*set(range(50)) - own, 10_000, -1, None, "search", [0], {"a": 1}, 0.5):
        sent = {"data": [], "fn_index": index, "session_hash": "x"}
        assert visitor.post("/gradio_api/queue/join", json=sent).status_code == 404, index
    for sent in ([], "x", 0, {"data": []}, {"api_name": "search", "data": []}):
        assert visitor.post("/gradio_api/queue/join", json=sent).status_code == 404, sent


def test_it_answers_under_any_name_and_says_that_it_is_a_demo(visitor: TestClient) -> None:
    me = visitor.get("/me").json()
    assert (me["demo"], me["open"], me["may"]) == (True, False, ["search"])
    assert [page["title"] for page in me["pages"]] == ["Search"]


def test_another_site_s_page_can_do_nothing_in_a_visitor_s_name(visitor: TestClient) -> None:
    for path in ("/media/upload", "/media/region", "/runs/x/stop", "/gradio_api/queue/join"):
        assert visitor.post(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert visitor.post(path, headers={"Origin": "https://evil.example"}).status_code == 403


def test_the_cookie_is_new_for_each_browser_and_stays(demo: FastAPI) -> None:
    def handed(**cookies: str) -> str | None:
        visitor = TestClient(demo, base_url="https://somewhere.hf.space", cookies=cookies)
        return visitor.get("/").headers.get("set-cookie")

    first, second = handed(), handed()
    assert first and second and first.split(";")[0] != second.split(";")[0]
    for said in ("HttpOnly", "Secure", "Max-Age=86400", "SameSite=lax", "__Host-cirque-visitor="):
        assert said in first
    secret = first.split(";")[0].partition("=")[2]
    assert handed(**{"__Host-cirque-visitor": secret}) is None
    for forged in ("", "x", secret.upper() + "g", secret[:-1], "z" * 32):
        assert handed(**{"__Host-cirque-visitor": forged}) is not None
