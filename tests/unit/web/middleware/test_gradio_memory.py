"""What a named call costs and leaves behind in the app as it is served: sessions, states, results."""

from __future__ import annotations

import asyncio
import gc
import sys
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from gradio.queueing import Queue
from gradio.routes import App
from gradio.state_holder import SessionState
from starlette.testclient import TestClient

from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from web.limits.gradio_limits import ConnectionTable, Limits, TooManyRequests
from web.middleware import gradio_connections
from web.middleware.gradio_connections import GradioConnections
from web.server import create_app


class Asked:
    """The app, everybody in it being the local person, and Gradio's own part of it."""

    def __init__(self, client: TestClient, gradio: App) -> None:
        self.client, self.gradio, self.queue = client, gradio, gradio.get_blocks()._queue

    @property
    def sessions(self) -> int:
        return len(self.gradio.state_holder.session_data)

    @property
    def kept(self) -> int:
        """Entries by session or event, of all kinds; of the statistics one is kept always."""
        return (self.sessions + len(self.gradio.state_holder.time_last_used) + len(self.queue.event_analytics)
                + len(self.queue.pending_messages_per_session) + len(self.queue.pending_event_ids_session)
                + len(self.queue.event_ids_to_events) + len(self.gradio.iterators))

    def run(self, **more: Any) -> Any:
        """A direct call that is refused in a sentence, since there is no such study."""
        return self.client.post("/gradio_api/run/progress", json={"data": ["no study"], **more})

    def begin(self, session: str = "none", **more: Any) -> str:
        """A search, refused when its turn comes with a sentence that names ``session``; the id of its event."""
        sent = {"data": ["", None, "in red", session, 10, "", [], []], **more}
        return str(self.client.post("/gradio_api/call/search", json=sent).json()["event_id"])

    def fetch(self, event: str) -> str:
        return self.client.get(f"/gradio_api/call/search/{event}").text


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))

    async def made() -> Any:
        return create_app(settings_of(tmp_path))

    app = run(made())
    gradio = next(route.app for route in app.routes if isinstance(getattr(route, "app", None), App))
    with TestClient(app, base_url="http://localhost") as client:
        yield Asked(client, gradio)


def test_an_idle_queue_is_looked_at_fifty_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradio looks a thousand times, which takes a tenth of a core for as long as the server runs. Nothing serves this
    app: the queue is looked at here alone."""
    slept: dict[str, float] = {}

    async def looked_at() -> None:
        with gr.Blocks(analytics_enabled=False) as demo:
            pass
        app = gr.mount_gradio_app(FastAPI(), demo, path="/", ssr_mode=False)
        queue = gradio_connections.GradioMemory.of(app)._queue
        for look in (queue.start_processing, queue.start_progress_updates):
            async def sleep(seconds: float, of: str = look.__name__) -> None:
                slept[of], queue.stopped = seconds, True

            queue.stopped = False
            with monkeypatch.context() as patch:
                patch.setattr("gradio.queueing.asyncio", SimpleNamespace(sleep=sleep))
                await look()

    run(looked_at())
    assert slept == {"start_processing": 1 / 50, "start_progress_updates": 1.0}


def test_calls_without_a_session_leave_none_behind(asked: Asked) -> None:
    answer = asked.run()
    assert answer.status_code == 500 and "no study" in answer.json()["error"]
    for _ in range(12):
        asked.run()
        assert "event: error" in asked.fetch(asked.begin())
        body = {"session_id": "none", "text": "in red"}
        event = asked.client.post("/gradio_api/call/v2/search", json=body).json()["event_id"]
        assert "event: error" in asked.client.get(f"/gradio_api/call/v2/search/{event}").text
    wait_until_ended(asked)
    assert asked.sessions == 0 and asked.kept <= 1


def test_no_call_builds_the_configuration_of_every_component(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []
    config = type(asked.gradio.get_blocks().default_config)
    genuine = config.config_for_block
    monkeypatch.setattr(config, "config_for_block", lambda self, key, *rest: built.append(key) or genuine(
        self, key, *rest))
    asked.run()
    asked.run(session_hash="mine")
    asked.fetch(asked.begin())
    assert built == []


def test_a_session_costs_a_small_part_of_gradios_own(asked: Asked) -> None:
    holder, blocks = asked.gradio.state_holder, asked.gradio.get_blocks()
    names = (f"session {number}" for number in range(10_000))

    def cost(make: Any) -> tuple[int, int]:
        """Calls of functions, and bytes, of five."""
        calls = 0

        def called(*_: object) -> None:
            nonlocal calls
            calls += 1

        make()
        gc.collect()
        tracemalloc.start()
        kept = [make() for _ in range(5)]
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        before = sys.getprofile()
        sys.setprofile(called)
        try:
            kept += [make() for _ in range(5)]
        finally:
            sys.setprofile(before)
        return calls, held

    genuine, ours = cost(lambda: SessionState(blocks)), cost(lambda: holder[next(names)])
    assert ours[0] < genuine[0] / 10 and ours[1] < genuine[1] / 10


def test_no_statistics_are_made_of_events(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradio's are computed after every event over the last 10,000 of them."""
    made: list[int] = []
    monkeypatch.setattr(Queue, "_get_df", staticmethod(lambda records: made.append(len(records))))
    for _ in range(3):
        asked.fetch(asked.begin())
    assert made == [] and len(asked.queue.event_analytics) <= 1


@pytest.mark.parametrize("more", [{}, {"session_hash": "mine"}], ids=["without a session", "of one session"])
def test_calls_side_by_side_get_their_own_answers(asked: Asked, more: dict[str, str]) -> None:
    def own(name: str, told: str) -> bool:
        return told.count("event: ") == told.count("event: error") == 1 and f"{name!r}" in told

    begun = {f"session-{number}": asked.begin(f"session-{number}", **more) for number in range(6)}
    for name, event in reversed(begun.items()):
        assert own(name, asked.fetch(event)), name
    with ThreadPoolExecutor(8) as threads:
        names = [f"other-{number}" for number in range(24)]
        for name, told in zip(names, threads.map(lambda it: asked.fetch(asked.begin(it, **more)), names), strict=True):
            assert own(name, told), name


def test_sessions_begun_without_end_are_refused_and_bounded(asked: Asked) -> None:
    limits = Limits(begun=8, each=6)
    sessions_of(asked)._table = ConnectionTable(limits)
    for number in range(limits.begun):
        assert asked.run(session_hash=f"session {number}").status_code == 500
    refused = asked.run(session_hash="one more")
    assert refused.status_code == 429 and 0 < int(refused.headers["retry-after"]) <= 60
    assert f"{limits.begun} sessions within a minute" in refused.json()["error"] == refused.json()["problem"]
    assert asked.sessions <= limits.each
    # What needs none, or goes on in one that is there, goes on.
    assert asked.run().status_code == 500 and asked.run(session_hash=f"session {limits.begun - 1}").status_code == 500
    assert "event: error" in asked.fetch(asked.begin())


def test_a_session_that_is_let_go_leaves_nothing(asked: Asked) -> None:
    sessions = sessions_of(asked)
    sessions._table = ConnectionTable(Limits(begun=100, each=3, in_all=3))
    search = next(one["id"] for one in asked.client.get("/config").json()["dependencies"]
                  if one["api_name"] == "search")
    for number in range(12):
        joined = {"data": ["", None, "in red", "none", 10, "", [], []], "fn_index": search,
                  "session_hash": f"session {number}"}
        asked.client.post("/gradio_api/queue/join", json=joined)
        asked.client.get("/gradio_api/queue/data", params={"session_hash": f"session {number}"})
    assert asked.sessions == 3
    assert len(asked.queue.pending_messages_per_session) == len(asked.queue.pending_event_ids_session) == 3


def test_results_that_nobody_fetches_are_let_go_after_a_thousand(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.middleware.gradio_connections._MOST", 5)
    events = []
    for _ in range(9):
        events.append(asked.begin())
        wait_until_ended(asked)
    assert len(asked.queue.pending_messages_per_session) == 5 and asked.sessions <= 5
    assert asked.client.get(f"/gradio_api/call/search/{events[0]}").status_code == 404
    assert "event: error" in asked.fetch(events[-1])


def test_a_person_has_so_many_unfinished_calls_and_no_more() -> None:
    class Memory:
        def __init__(self) -> None:
            self.running = {"event 0"}

        def is_running(self, event: str) -> bool:
            return event in self.running

        def release(self, session: str) -> None:
            released.append(session)

    released: list[str] = []
    sessions, memory = GradioConnections(), Memory()
    sessions.memory = memory  # type: ignore[assignment]
    for number in range(1000):
        sessions.check_room("Ann")
        sessions.began("Ann", f"event {number}")
    sessions.began("Ann", "event 1000")
    assert released == ["event 1"], "the oldest one that has ended"
    assert sessions.has("Ann", "event 0") and not sessions.has("Ann", "event 1")
    memory.running = {f"event {number}" for number in range(1001)}
    with pytest.raises(TooManyRequests, match="1,000 of your calls"):
        sessions.check_room("Ann")
    sessions.check_room("Bob")
    memory.running.remove("event 500")
    sessions.check_room("Ann")


def test_the_unfetched_results_of_all_people_leave_the_queues_of_open_pages(
    asked: Asked, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("web.middleware.gradio_connections._MOST_UNFETCHED", 5)
    search = next(one["id"] for one in asked.client.get("/config").json()["dependencies"]
                  if one["api_name"] == "search")
    page = {"data": ["", None, "in red", "page", 10, "", [], []], "fn_index": search, "session_hash": "page"}
    asked.client.post("/gradio_api/queue/join", json=page)
    queue = next(iter(asked.queue.pending_messages_per_session))
    sessions, events = sessions_of(asked), list[tuple[str, str]]()
    for number in range(9):
        event = asked.begin()
        events.append((sessions._unfetched[event], event))
        wait_until_ended(asked)
        if number == 6:
            assert "event: error" in asked.fetch(event)     # fetched: it takes no place
    assert [event in asked.queue.pending_messages_per_session for _, event in events] == 3 * [False] + 3 * [True] + [
        False] + 2 * [True], "the last five that were not fetched"
    assert [sessions.has(*one) for one in events[:4]] == 3 * [False] + [True]
    assert queue in asked.queue.pending_messages_per_session


def test_unfinished_calls_of_all_people_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.middleware.gradio_connections._MOST_UNFETCHED", 12)
    running, released = set[str](), list[str]()
    sessions = GradioConnections()
    sessions.memory = SimpleNamespace(is_running=running.__contains__, release=released.append)  # type: ignore
    events = [(f"person {number % 4}", f"event {number}") for number in range(12)]
    running.update(event for _, event in events)
    for person, event in events:
        sessions.check_room(person)
        sessions.began(person, event, own_session=True)
    sessions.began("person 0", "of a page")
    with pytest.raises(TooManyRequests, match="12 calls of all people"):
        sessions.check_room("somebody else")
    running.remove("event 5")
    sessions.check_room("somebody else")
    sessions.began("somebody else", "event 12", own_session=True)
    assert released == ["event 5"] and not sessions.has("person 1", "event 5") and sessions.has("person 0", "of a page")


def sessions_of(asked: Asked) -> GradioConnections:
    """Those of the middleware that stands in front of Gradio."""
    here: Any = asked.client.app.middleware_stack  # type: ignore[attr-defined]
    while not hasattr(here, "_sessions"):
        here = getattr(here, "_app", None) or here.app
    found: GradioConnections = here._sessions
    return found


def wait_until_ended(asked: Asked) -> None:
    async def ended() -> None:
        async with asyncio.timeout(60):
            while asked.queue.event_ids_to_events:
                await asyncio.sleep(0.005)

    asked.client.portal.call(ended)  # type: ignore[union-attr]


def test_visitors_who_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradio_connections, "_MOST_PEOPLE", 50)
    sessions = gradio_connections.GradioConnections()
    for number in range(200):
        sessions.began(f"visitor-{number}", f"event-{number}", own_session=True)
        sessions.began("visitor-0", f"again-{number}")
    assert len(sessions._events) <= 50 and len(sessions._unfetched) <= 50
    assert sessions.has("visitor-199", "event-199") and not sessions.has("visitor-1", "event-1")
    assert sessions.has("visitor-0", "again-199")
