"""SIGTERM: what has begun is finished and acknowledged, what comes is asked to come again, nothing is lost."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, text

from storage.engine.database import open_database, reading
from storage.mapping import tables
from storage.stores import open_stores
from tests.fakes.databases import check_sound, database_of, settings_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_study, valid
from tests.integration.processes import App

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM")
STUDY = "Stop"
LONG = "600"     # seconds of grace, more than any test waits: who ends before did not wait for them to pass
WAITS = """
from storage.engine import database
database.BUSY_TIMEOUT_MS = 600_000     # what is held here is never refused as busy
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., App]]:
    stores = open_stores(settings_of(tmp_path))
    make_study(stores.studies, tmp_path, name=STUDY, items=4, seats=1, edge=16)
    stores.close()
    started = []

    def run(**settings: str) -> App:
        settings = {"METRICS": "1", "METRICS_FROM": "127.0.0.1", **settings}
        started.append(App(tmp_path, tmp_path / f"{len(started)}.log", first=WAITS, **settings))
        return started[-1]

    yield run
    for app in started:
        app.end()


class Held:
    """Nobody can save anything before ``let_go``: somebody else writes to the database."""

    def __init__(self, app: App) -> None:
        self.client = httpx.Client(base_url=app.url, timeout=PATIENCE)
        item = self.client.post("/study/join", json={"study": STUDY}).raise_for_status().json()["item"]
        self.sent = {"study": STUDY, "item": item["id"], "answer": valid(note="in flight"), "token": "token-0001"}
        self._engine = open_database(database_of(app.home))
        self._lock = self._engine.connect().execution_options(cirque_writes=True)
        self._lock.begin()                    # SQLite: nobody else writes
        if self._engine.dialect.name == "postgresql":
            self._lock.execute(text("LOCK TABLE judgements IN EXCLUSIVE MODE"))

    def call(self, name: str, data: list[object]) -> str:
        """The address of what comes of a named call, which was accepted."""
        accepted = self.client.post(f"/gradio_api/call/{name}", json={"data": data}).raise_for_status().json()
        return f"/gradio_api/call/{name}/{accepted['event_id']}"

    def call_save(self, token: str) -> str:
        return self.call("save_judgement", [STUDY, self.sent["item"], self.sent["answer"], token, 1.0])

    def wait_for_unfinished(self, least: int) -> None:
        """Until the app would wait for so many when it is stopped."""
        wait_for(lambda: self._unfinished() >= least, told=self._unfinished)

    def let_go(self) -> None:
        self._lock.rollback()

    def close(self) -> None:
        self._lock.close()
        self._engine.dispose()
        self.client.close()

    def _unfinished(self) -> int:
        page = httpx.get(self.client.base_url.join("/metrics"), timeout=PATIENCE).raise_for_status().text
        found = re.search(r"^cirque_unfinished_requests (\d+)", page, re.MULTILINE)
        assert found, page
        return int(found[1]) - 1   # it counts the one that asks


class Saving(Held):
    """A save that is being worked on, and cannot end before ``let_go``."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._threads = ThreadPoolExecutor(1)
        self.answer: Future[httpx.Response] = self._threads.submit(self.save)
        self.wait_for_unfinished(1)

    def save(self) -> httpx.Response:
        return self.client.post("/study/save", json=self.sent)

    def close(self) -> None:
        super().close()
        self._threads.shutdown()


@pytest.fixture
def hold() -> Iterator[Callable[[App], Saving]]:
    with contextlib.ExitStack() as held:
        yield lambda app: held.enter_context(contextlib.closing(Saving(app)))


@pytest.fixture
def hold_all() -> Iterator[Callable[[App], Held]]:
    with contextlib.ExitStack() as held:
        yield lambda app: held.enter_context(contextlib.closing(Held(app)))


def kept(home: Path) -> list[tuple[str, int]]:
    check_sound(database_of(home))
    engine = open_database(database_of(home))
    with reading(engine) as connection:
        found = connection.execute(select(tables.judgements.c.token, tables.judgements.c.revision)).all()
    engine.dispose()
    return [(token, revision) for token, revision in found]


def test_a_save_in_flight_is_acknowledged_and_new_requests_come_again(
    start: Callable[..., App], hold: Callable[[App], Saving],
) -> None:
    app = start(GRACE_SECONDS=LONG)
    with httpx.stream("GET", f"{app.url}/gradio_api/heartbeat/abcdef", timeout=PATIENCE) as page:
        assert page.status_code == 200   # an open page, whose stream has no end
        saving = hold(app)
        app.terminate()
        late = wait_until_closed(app)
        assert int(late.headers["retry-after"]) > 0
        assert "try again in a few seconds" in late.json()["problem"] and late.headers["x-request-id"]
        ready = httpx.get(f"{app.url}/readyz", timeout=PATIENCE)
        assert ready.status_code == 503 and ready.json()["checks"]["open"]["reason"] == "cirque is being stopped"
        assert httpx.get(f"{app.url}/healthz", timeout=PATIENCE).status_code == 200
        assert not saving.answer.done()
        saving.let_go()
        assert saving.answer.result(PATIENCE).json()["saved"]["revision"] == 1
        with pytest.raises(httpx.TransportError):
            for _ in page.iter_raw():
                pass
            raise httpx.ReadError("it was ended in order")
    assert app.process.wait(PATIENCE) == 0, "it waits for what has begun, not for the whole grace period"
    assert kept(app.home) == [("token-0001", 1)]
    assert "Traceback" not in app.said and len(app.said.splitlines()) == 2, app.said


@pytest.mark.extended
def test_after_the_grace_period_it_ends_and_a_call_again_is_kept_once(
    start: Callable[..., App], hold: Callable[[App], Saving],
) -> None:
    app = start(GRACE_SECONDS="1")
    saving = hold(app)
    app.terminate()
    assert app.process.wait(PATIENCE) == 0, "it ends although the save cannot"
    assert "1 request(s) and 0 accepted call(s) were cut off" in app.said
    saving.let_go()
    with pytest.raises(httpx.TransportError):
        saving.answer.result(PATIENCE)
    before = kept(app.home)
    assert before in ([], [("token-0001", 1)])
    again = start()
    answer = httpx.post(f"{again.url}/study/save", json=saving.sent, timeout=PATIENCE)
    assert answer.raise_for_status().json()["saved"]["revision"] == 1
    assert kept(app.home) == [("token-0001", 1)]


def wait_until_closed(app: App) -> httpx.Response:
    """What it answers to new requests from then on."""
    def refused() -> httpx.Response | None:
        answer = httpx.get(f"{app.url}/study/mine", timeout=PATIENCE)
        return answer if answer.status_code == 503 else None

    return wait_for(refused)


def test_a_named_call_that_was_accepted_is_finished_and_its_result_can_be_fetched(
    start: Callable[..., App], hold_all: Callable[[App], Held],
) -> None:
    app = start(GRACE_SECONDS=LONG)
    held = hold_all(app)
    with contextlib.ExitStack() as streams:
        before = held.call_save("token-0001")
        early = streams.enter_context(held.client.stream("GET", before))
        held.wait_for_unfinished(2)
        later = held.call_save("token-0002")
        app.terminate()
        wait_until_closed(app)
        late = streams.enter_context(held.client.stream("GET", later))
        held.let_go()
        for stream in (early, late):
            told = stream.read().decode()
            assert "event: complete" in told and '"revision": 1' in told, told
    assert app.process.wait(PATIENCE) == 0, "it waits for the calls, not for the whole grace period"
    # The same answer again is no new revision, whatever its token; which of two calls at once is first is not promised.
    assert kept(app.home) in ([("token-0001", 1)], [("token-0002", 1)])
    assert "Traceback" not in app.said and len(app.said.splitlines()) == 2, app.said


@pytest.mark.extended
def test_a_named_call_is_finished_also_where_nobody_has_come_for_its_result(
    start: Callable[..., App], hold_all: Callable[[App], Held],
) -> None:
    app = start(GRACE_SECONDS=LONG)
    held = hold_all(app)
    held.call_save("token-0001")
    app.terminate()
    wait_until_closed(app)
    held.let_go()
    assert app.process.wait(PATIENCE) == 0
    assert kept(app.home) == [("token-0001", 1)]
    assert len(app.said.splitlines()) == 2, app.said


@pytest.mark.extended
def test_a_named_call_that_takes_longer_than_the_grace_period_is_said_to_be_cut_off(
    start: Callable[..., App], hold_all: Callable[[App], Held],
) -> None:
    app = start(GRACE_SECONDS="1")
    held = hold_all(app)
    held.call_save("token-0001")
    app.terminate()
    assert app.process.wait(PATIENCE) == 0
    assert "0 request(s) and 1 accepted call(s) were cut off after the 1 seconds" in app.said


@pytest.mark.extended
def test_a_tool_in_flight_is_finished_and_new_ones_come_again(
    start: Callable[..., App], hold_all: Callable[[App], Held],
) -> None:
    app = start(GRACE_SECONDS=LONG, MCP="1")
    held = hold_all(app)

    def save() -> httpx.Response:
        called = {"name": "save_judgement", "arguments": {**held.sent, "seconds": 1}}
        return held.client.post("/gradio_api/mcp/", headers={"Accept": "application/json"}, json={
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called})

    with ThreadPoolExecutor(1) as threads:
        saving = threads.submit(save)
        held.wait_for_unfinished(1)
        app.terminate()
        wait_until_closed(app)
        late = save()
        assert late.status_code == 503 and int(late.headers["retry-after"]) > 0
        assert not saving.done()
        held.let_go()
        assert saving.result(PATIENCE).json()["result"]["structuredContent"]["saved"]["revision"] == 1
    assert app.process.wait(PATIENCE) == 0, "it waits for the call, not for the whole grace period"
    assert kept(app.home) == [("token-0001", 1)]
    assert "Traceback" not in app.said and len(app.said.splitlines()) == 2, app.said


@pytest.mark.extended
def test_nobody_there_is_stopped_at_once(start: Callable[..., App]) -> None:
    app = start(GRACE_SECONDS=LONG)
    assert httpx.get(f"{app.url}/readyz", timeout=PATIENCE).status_code == 200
    app.terminate()
    assert app.process.wait(PATIENCE) == 0
