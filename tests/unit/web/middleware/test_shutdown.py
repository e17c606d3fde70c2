"""A stop that waits for what has begun."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from tests.fakes.loops import run
from web.middleware.shutdown import DrainMiddleware, ShutdownState


class Slow:
    """An app that answers when it is told to."""

    def __init__(self):
        self.go = asyncio.Event()
        self.asked = []

    async def __call__(self, scope, receive, send):
        self.asked.append(scope["path"])
        if not scope["path"].startswith("/quick"):
            await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})


async def until(holds):
    """Let the others of this loop go on until that is so."""
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0)


def within(story):
    """``story`` with the app, its shutdown_state and a client, in one event loop."""

    async def told():
        app, shutdown_state = Slow(), ShutdownState()
        transport = httpx.ASGITransport(app=DrainMiddleware(app, shutdown_state))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            await story(app, shutdown_state, client)

    run(told())


def test_what_has_begun_is_finished_and_what_comes_is_refused():
    async def story(app, shutdown_state, client):
        begun = asyncio.create_task(client.post("/study/save"))
        await until(lambda: app.asked)
        stopping = asyncio.create_task(shutdown_state.close(60))
        await until(lambda: shutdown_state.closed)
        late = await client.get("/quick")
        assert late.status_code == 503 and int(late.headers["retry-after"]) > 0
        assert late.headers["connection"] == "close" and late.json()["kind"] == "storage"
        assert "Nothing that was saved is lost" in late.json()["problem"]
        assert not stopping.done()
        app.go.set()
        assert await stopping is True
        assert (await begun).text == "done" and app.asked == ["/study/save"]

    within(story)


def test_the_patience_ends():
    async def story(app, shutdown_state, client):
        begun = asyncio.create_task(client.post("/study/save"))
        await until(lambda: app.asked)
        assert await shutdown_state.close(0.1) is False and shutdown_state.inside == 1
        assert await shutdown_state.close(60, interrupted=lambda: True) is False
        app.go.set()
        await begun
        assert shutdown_state.inside == 0 and await shutdown_state.close(0) is True

    within(story)


def test_what_a_request_leaves_behind_is_waited_for_too():
    async def story(app, shutdown_state, client):
        left, looks = ["an event that was accepted"], []
        shutdown_state.background_work = lambda: looks.append(1) or len(left)
        assert await shutdown_state.close(0.1) is False and shutdown_state.unfinished == 1
        stopping, before = asyncio.create_task(shutdown_state.close(60)), len(looks)
        await until(lambda: len(looks) > before + 2)
        assert not stopping.done()
        left.clear()
        assert await stopping is True and shutdown_state.unfinished == 0

    within(story)


@pytest.mark.parametrize(("method", "path", "let_in"), [
    ("GET", "/healthz", True), ("GET", "/readyz", True), ("GET", "/gradio_api/queue/data", True),
    ("GET", "/gradio_api/call/search/abc", True), ("POST", "/gradio_api/call/search", False),
    ("POST", "/gradio_api/queue/join", False), ("GET", "/", False), ("POST", "/study/save", False),
])
def test_once_closed_results_can_be_fetched_and_no_work_brought(method, path, let_in):
    async def story(app, shutdown_state, client):
        app.go.set()
        await shutdown_state.close(0)
        assert ((await client.request(method, path)).status_code == 200) is let_in

    within(story)


def test_who_runs_an_older_version_lets_nobody_in_but_says_how_it_is():
    async def story(app, shutdown_state, client):
        app.go.set()
        outdated = True
        shutdown_state.outdated = lambda: outdated
        for method, path in (("GET", "/"), ("POST", "/study/save"), ("GET", "/gradio_api/queue/data")):
            answer = await client.request(method, path)
            assert answer.status_code == 503 and "updated" in answer.text
            assert path == "/" or answer.json()["kind"] == "storage"   # a person gets a page
        assert [(await client.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]
        outdated = False
        assert (await client.get("/")).status_code == 200

    within(story)


def test_a_stream_that_never_ends_is_not_waited_for():
    async def story(app, shutdown_state, client):
        stream = asyncio.create_task(client.get("/gradio_api/heartbeat/abc"))
        await until(lambda: app.asked)
        assert await shutdown_state.close(60) is True
        app.go.set()
        await stream

    within(story)


PAGE = {"Accept": "text/html,application/xhtml+xml", "Sec-Fetch-Mode": "navigate"}
PLAIN_HTTP = {"Accept": "text/html,application/xhtml+xml"}   # where browsers leave Sec-Fetch-Mode out


@pytest.mark.parametrize(("method", "path", "headers", "again"), [
    ("GET", "/annotate?study=A", PAGE, "5"), ("GET", "/annotate", PLAIN_HTTP, "5"), ("GET", "/", {}, "5"),
    ("HEAD", "/log", PAGE, "5"), ("GET", "/media/x/a.jpg", PAGE, "5"),
    ("GET", "/sign-in?next=/log", PLAIN_HTTP, "5"), ("GET", "/join/secret", PLAIN_HTTP, "5"),
    ("POST", "/sign-in?next=/log", PAGE, "5"), ("POST", "/join/secret", PLAIN_HTTP, "5"),
    ("POST", "/sign-out", PAGE, "5; url=/"),   # looking at that address again would be 405
])
def test_a_person_gets_a_page_that_asks_again_by_itself(method, path, headers, again):
    async def story(app, shutdown_state, client):
        await shutdown_state.close(0)
        answer = await client.request(method, path, headers=headers)
        assert answer.status_code == 503 and not app.asked
        assert answer.headers["content-type"].startswith("text/html")
        assert (answer.headers["retry-after"], answer.headers["refresh"]) == ("5", again)
        assert (answer.headers["connection"], answer.headers["cache-control"]) == ("close", "no-store")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        if method != "HEAD":
            assert "Nothing that was saved is lost" in answer.text and "<script" not in answer.text
            assert f'href="{again.partition("url=")[2]}">Try again' in answer.text

    within(story)


@pytest.mark.parametrize(("method", "path", "headers"), [
    ("GET", "/study/mine", {"Accept": "application/json", "Sec-Fetch-Mode": "cors"}),
    ("POST", "/study/save", {"Accept": "application/json", "Sec-Fetch-Mode": "cors"}),
    ("POST", "/sign-in", {"Accept": "application/json"}), ("POST", "/login", {"Accept": "*/*"}),
    ("GET", "/config", {"Accept": "*/*"}),
])
def test_scripts_and_programs_get_json(method, path, headers):
    async def story(app, shutdown_state, client):
        await shutdown_state.close(0)
        answer = await client.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["kind"], answer.headers["retry-after"]) == (503, "storage", "5")
        assert "refresh" not in answer.headers

    within(story)
