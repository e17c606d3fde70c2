"""A row that somebody holds in psql: whoever needs it is told in time, and nobody else notices."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import text

from annotation.studies.service import StudyService
from annotation.validity.answers import Validity
from cir_core.errors import StorageError
from storage.engine import database
from storage.engine.database import open_database, reading, without_hurry, writing
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import database_of
from tests.fakes.signed_in import SignedIn
from tests.fakes.studies import make_study, valid
from web.http.meter import Meter
from web.http.study_members import StudyMembers
from web.studies.annotate import study_routes

LOCK_MS = 3000
MANY = 20   # more than there are threads


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlStudyStore]:
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", LOCK_MS)
    store = SqlStudyStore(open_database(database_of(tmp_path)))
    yield store
    store.engine.dispose()


@pytest.fixture
def page(store: SqlStudyStore, tmp_path: Path) -> Iterator[TestClient]:
    make_study(store, tmp_path, name="Held", seats=12, items=12, panel=2)
    make_study(store, tmp_path, name="Free", seats=2, items=4, panel=2)
    services: Any = SimpleNamespace(studies=StudyService(store, {"validity": Validity()}),
                                    settings=SimpleNamespace(home=tmp_path), meter=Meter(),
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


@pytest.mark.parametrize("held", [
    "SELECT 1 FROM study_seats WHERE annotator = 'Ann 0' FOR UPDATE",
    "SELECT 1 FROM study_seats WHERE annotator LIKE 'Ann %' FOR UPDATE",
])
def test_a_held_row_is_told_in_time_and_others_go_on(page: TestClient, store: SqlStudyStore, held: str) -> None:
    people = [f"Ann {number}" if "LIKE" in held else "Ann 0" for number in range(12)]
    items = {who: join(page, who, "Held")["item"]["id"] for who in dict.fromkeys(people)}
    other = join(page, "Ben", "Free")["item"]["id"]
    answers: list[tuple[int, Any, float]] = []

    def try_it(number: int) -> None:
        began, who = time.monotonic(), people[number % len(people)]
        answer = save(page, who, "Held", items[who], f"held-token-{number:02d}")
        answers.append((answer.status_code, answer.json(), time.monotonic() - began))

    threads = [threading.Thread(target=try_it, args=(number,)) for number in range(MANY)]
    holder = open_database(str(store.engine.url.render_as_string(hide_password=False)))
    with writing(holder) as connection:
        connection.execute(text(held))
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        began = time.monotonic()
        assert page.get("/study/overview", params={"study": "Free"}, headers={"x-test-name": "Ben"}).status_code == 200
        assert save(page, "Ben", "Free", other, "free-token-1").status_code == 200
        assert time.monotonic() - began < LOCK_MS / 2000, "nobody else waits for what is held"
        while len(answers) < 3:
            time.sleep(0.02)
        assert time.monotonic() - began < 3 * LOCK_MS / 1000
    for thread in threads:
        thread.join()
    status, body, took = answers[0]
    assert status == 503 and body["kind"] == "storage" and "Try again in a moment" in body["problem"]
    assert LOCK_MS / 1000 * 0.9 < took < LOCK_MS / 1000 * 2
    # Whoever waited until it was let go has saved; with the same tokens the others do now.
    for number in range(MANY):
        who = people[number % len(people)]
        assert save(page, who, "Held", items[who], f"held-token-{number:02d}").status_code == 200
    holder.dispose()


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
        without_hurry(connection, 1000)
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
