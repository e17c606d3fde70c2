"""SIGTERM: what has begun is finished and acknowledged, what comes is asked to come again, nothing is lost."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select, text

from storage import tables
from storage.database import open_database, reading
from storage.stores import open_stores
from tests.fakes.databases import check_sound, database_of, settings_of
from tests.fakes.studies import make_study, valid
from tests.integration.processes import App

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM")]
STUDY = "Stop"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., App]]:
    stores = open_stores(settings_of(tmp_path))
    make_study(stores.studies, tmp_path, name=STUDY, items=4, seats=1, edge=16)
    stores.close()
    started = []

    def run(**settings: str) -> App:
        started.append(App(tmp_path, tmp_path / f"{len(started)}.log", **settings))
        return started[-1]

    yield run
    for app in started:
        app.end()


class Saving:
    """A save that cannot end before ``let_go``: somebody else writes to the database."""

    def __init__(self, app: App) -> None:
        self.client = httpx.Client(base_url=app.url, timeout=60)
        item = self.client.post("/study/join", json={"study": STUDY}).raise_for_status().json()["item"]
        self.sent = {"study": STUDY, "item": item["id"], "answer": valid(note="in flight"), "token": "token-0001"}
        self._engine = open_database(database_of(app.home))
        self._lock = self._engine.connect().execution_options(cirque_writes=True)
        self._lock.begin()                    # SQLite: nobody else writes
        if self._engine.dialect.name == "postgresql":
            self._lock.execute(text("LOCK TABLE judgements IN EXCLUSIVE MODE"))
        self._threads = ThreadPoolExecutor(1)
        self.answer: Future[httpx.Response] = self._threads.submit(self.save)
        time.sleep(1)

    def save(self) -> httpx.Response:
        return self.client.post("/study/save", json=self.sent)

    def let_go(self) -> None:
        self._lock.rollback()

    def close(self) -> None:
        self._lock.close()
        self._engine.dispose()
        self._threads.shutdown()
        self.client.close()


@pytest.fixture
def hold() -> Iterator[Callable[[App], Saving]]:
    with contextlib.ExitStack() as held:
        yield lambda app: held.enter_context(contextlib.closing(Saving(app)))


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
    app = start(GRACE_SECONDS="20")
    with httpx.stream("GET", f"{app.url}/gradio_api/heartbeat/abcdef", timeout=60) as page:
        assert page.status_code == 200   # an open page, whose stream has no end
        saving = hold(app)
        asked = time.monotonic()
        app.terminate()
        while (late := httpx.get(f"{app.url}/study/mine")).status_code == 200:
            assert time.monotonic() - asked < 10
        assert late.status_code == 503 and int(late.headers["retry-after"]) > 0
        assert "try again in a few seconds" in late.json()["problem"] and late.headers["x-request-id"]
        ready = httpx.get(f"{app.url}/readyz")
        assert ready.status_code == 503 and ready.json()["checks"]["open"]["reason"] == "cirque is being stopped"
        assert httpx.get(f"{app.url}/healthz").status_code == 200
        assert not saving.answer.done()
        saving.let_go()
        assert saving.answer.result(30).json()["saved"]["revision"] == 1
        with pytest.raises(httpx.TransportError):
            for _ in page.iter_raw():
                pass
            raise httpx.ReadError("it was ended in order")
    assert app.process.wait(15) == 0
    assert time.monotonic() - asked < 20, "it waited for what had begun, not for the whole grace period"
    assert kept(app.home) == [("token-0001", 1)]
    assert "Traceback" not in app.said and len(app.said.splitlines()) == 2, app.said


def test_after_the_grace_period_it_ends_and_a_call_again_is_kept_once(
    start: Callable[..., App], hold: Callable[[App], Saving],
) -> None:
    app = start(GRACE_SECONDS="1")
    saving = hold(app)
    app.terminate()
    asked = time.monotonic()
    assert app.process.wait(15) == 0
    assert time.monotonic() - asked < 8   # a second of grace, one for what is cancelled, two at the end
    assert "1 request(s) were cut off" in app.said
    saving.let_go()
    with pytest.raises(httpx.TransportError):
        saving.answer.result(30)
    before = kept(app.home)
    assert before in ([], [("token-0001", 1)])
    again = start()
    answer = httpx.post(f"{again.url}/study/save", json=saving.sent, timeout=60)
    assert answer.raise_for_status().json()["saved"]["revision"] == 1
    assert kept(app.home) == [("token-0001", 1)]


def test_nobody_there_is_stopped_at_once(start: Callable[..., App]) -> None:
    app = start(GRACE_SECONDS="60")
    assert httpx.get(f"{app.url}/readyz").status_code == 200
    asked = time.monotonic()
    app.terminate()
    assert app.process.wait(15) == 0 and time.monotonic() - asked < 10
