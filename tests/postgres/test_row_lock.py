"""A row that somebody holds in psql: whoever needs it is told in time, and nobody else notices."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from annotation.kinds.validity.answers import Validity
from annotation.studies.service import StudyService
from cir_core.errors import StorageError
from storage.engine import database
from storage.engine.database import open_database, raise_timeouts, reading, writing
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import database_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.signed_in import SignedIn
from tests.fakes.studies import make_study, valid
from web.http.meter import Meter
from web.http.visitor import StudyMembers
from web.studies.annotate import study_routes

LOCK_MS = 3000
AS_LONG_AS_IT_TAKES = 600_000
MANY = 20   # more than there are threads


@pytest.fixture
def lock_ms() -> int:
    return LOCK_MS


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock_ms: int) -> Iterator[SqlStudyStore]:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", lock_ms)
    store = SqlStudyStore(open_database(database_of(tmp_path)))
    yield store
    store.engine.dispose()


@pytest.fixture
def page(store: SqlStudyStore, tmp_path: Path) -> Iterator[TestClient]:
    make_study(store, tmp_path, name="Held", seats=12, items=12, panel=2)
    make_study(store, tmp_path, name="Free", seats=2, items=4, panel=2)
    services: Any = SimpleNamespace(studies=StudyService(store, {"validity": Validity()}), study_store=store,
                                    settings=SimpleNamespace(home=tmp_path, accel_redirect=""), meter=Meter(),
                                    study_members=StudyMembers(store))
    app = FastAPI()
    app.include_router(study_routes(services))
    app.add_middleware(SignedIn)
    with TestClient(app) as client:
        yield client


def join(page: TestClient, who: str, study: str) -> Any:
    return page.post("/study/join", json={"study": study}, headers={"x-test-name": who}).json()


def save(page: TestClient, who: str, study: str, item: str, token: str) -> Any:
    return page.post("/study/save", json={"study": study, "item": item, "answer": valid(), "token": token},
                     headers={"x-test-name": who})


HELD = pytest.mark.parametrize("held", [
    "SELECT 1 FROM study_seats WHERE annotator = 'Ann 0' FOR UPDATE",
    "SELECT 1 FROM study_seats WHERE annotator LIKE 'Ann %' FOR UPDATE",
])


class Crowd:
    """Saves of ``MANY`` requests at once by whoever the held rows are of; ``answers`` as they come, with seconds."""

    def __init__(self, page: TestClient, held: str) -> None:
        self._page = page
        self._people = [f"Ann {number}" if "LIKE" in held else "Ann 0" for number in range(12)]
        self._items = {who: join(page, who, "Held")["item"]["id"] for who in dict.fromkeys(self._people)}
        self._threads = [threading.Thread(target=self._try_it, args=(number,)) for number in range(MANY)]
        self.answers: list[tuple[int, Any, float]] = []

    def start(self, store: SqlStudyStore) -> None:
        """Until they wait."""
        for thread in self._threads:
            thread.start()
        with closing_engine(store) as engine:
            wait_for(lambda: waiting(engine))

    def join(self) -> None:
        for thread in self._threads:
            thread.join()

    def save(self, number: int) -> Any:
        who = self._people[number % len(self._people)]
        return save(self._page, who, "Held", self._items[who], f"held-token-{number:02d}")

    def _try_it(self, number: int) -> None:
        began = time.monotonic()
        answer = self.save(number)
        self.answers.append((answer.status_code, answer.json(), time.monotonic() - began))


@contextmanager
def closing_engine(store: SqlStudyStore) -> Iterator[Engine]:
    """Another one over the same database."""
    engine = open_database(store.engine.url.render_as_string(hide_password=False))
    yield engine
    engine.dispose()


def waiting(engine: Engine) -> int:
    """How many wait for a lock in this database."""
    with reading(engine) as connection:
        return connection.execute(text(
            "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) "
            "WHERE NOT granted AND datname = current_database()")).scalar_one()


@HELD
@pytest.mark.parametrize("lock_ms", [AS_LONG_AS_IT_TAKES])
def test_nobody_else_waits_for_what_is_held(page: TestClient, store: SqlStudyStore, held: str) -> None:
    crowd, other = Crowd(page, held), join(page, "Ben", "Free")["item"]["id"]

    def of_others() -> list[int]:
        looked = page.get("/study/overview", params={"study": "Free"}, headers={"x-test-name": "Ben"})
        return [looked.status_code, save(page, "Ben", "Free", other, "free-token-1").status_code]

    with closing_engine(store) as holder, ThreadPoolExecutor(1) as threads:
        with writing(holder) as connection:
            connection.execute(text(held))
            crowd.start(store)
            assert threads.submit(of_others).result(PATIENCE) == [200, 200]
            assert crowd.answers == []
        crowd.join()
    assert [status for status, _, _ in crowd.answers] == [200] * MANY


@HELD
def test_who_needs_what_is_held_is_told_meanwhile(page: TestClient, store: SqlStudyStore, held: str) -> None:
    crowd = Crowd(page, held)
    with closing_engine(store) as holder, writing(holder) as connection:
        connection.execute(text(held))
        crowd.start(store)
        wait_for(lambda: len(crowd.answers) >= 3)
    crowd.join()
    status, body, took = crowd.answers[0]
    assert status == 503 and body["kind"] == "storage" and "Try again in a moment" in body["problem"]
    assert took > LOCK_MS / 1000 * 0.9, "not at once"
    # Whoever waited until it was let go has saved; with the same tokens the others do now.
    for number in range(MANY):
        assert crowd.save(number).status_code == 200


def test_every_connection_has_its_limits_and_the_url_may_set_others(tmp_path: Path) -> None:
    url = database_of(tmp_path)
    names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")

    def limits(url: str, **how: Any) -> list[str]:
        engine = open_database(url)
        with reading(engine, **how) as connection:
            found = [connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in names]
        engine.dispose()
        return found

    assert limits(url) == ["10s", "5min", "2min"]
    assert limits(f"{url}&options=-c%20lock_timeout%3D3s") == ["3s", "5min", "2min"]
    assert limits(url, all_of_it=True) == ["2min", "6h", "6h"], "a backup has its time, and an end"
    engine = open_database(url)
    with writing(engine) as connection:
        raise_timeouts(connection, 1000)
    with reading(engine) as connection:   # the same connection again
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar_one() == "5min"
    engine.dispose()


def test_connections_that_are_all_taken_are_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 200)
    engine = open_database(database_of(tmp_path))
    taken = [engine.connect() for _ in range(20)]
    with (pytest.raises(StorageError, match=r"busy with other requests.*QueuePool limit of size 10") as refused,
          reading(engine)):
        pass
    assert "QueuePool" not in refused.value.told
    for connection in taken:
        connection.close()
    engine.dispose()
