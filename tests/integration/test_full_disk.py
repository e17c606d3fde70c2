"""The disk is full, or the database can only be read: a sentence for whoever asks, nothing acknowledged is lost, and
work goes on once there is room."""

from __future__ import annotations

import contextlib
import io
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image
from sqlalchemy import Engine, event

from annotation.kinds.validity.answers import Validity
from annotation.studies.service import StudyService
from cir_core.errors import nothing_saved
from tests.fakes.databases import environment_of
from tests.fakes.patience import PATIENCE
from tests.fakes.signed_in import SignedIn
from tests.fakes.studies import make_study, valid
from tests.integration.crowd import PASSWORD, ROOT, Judge, Refused, Server, one_judge, stores_of, tokens_of
from tests.integration.disks import Disk, LimitedDisk, small_disk
from web.http.meter import Meter
from web.http.visitor import StudyMembers
from web.studies.annotate import study_routes

pytestmark = [pytest.mark.sqlite,
              pytest.mark.skipif(sys.platform == "win32", reason="no such limits")]
STUDY, NAME = "Full", "Judge 01"
MANY = 3000      # saves that no 64 MB log of a database takes


@pytest.fixture(params=["as the machine allows", pytest.param("by a limit", marks=pytest.mark.extended)])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param == "by a limit":
        (tmp_path / "disk").mkdir()
        yield LimitedDisk(tmp_path / "disk")
        return
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def full(disk: Disk) -> Iterator[tuple[Server, Judge, Disk]]:
    """A server whose disk is full, and somebody who has saved ten answers before."""
    with one_judge(disk.folder / "home", disk.folder.parent / "logs", STUDY, 400) as (server, judge, _):
        for number in range(10):
            save_next(judge, number)
        disk.fill(server.pid)
        yield server, judge, disk


def save_next(judge: Judge, number: int) -> None:
    workspace = judge.call("next_item", STUDY, "")
    judge.save(workspace["item"]["id"], valid(note=f"note {number}"), token(number))


def a_picture() -> bytes:
    """Another one each time, that cannot be made smaller."""
    content = io.BytesIO()
    Image.frombytes("RGB", (300, 300), os.urandom(270_000)).save(content, "PNG")
    return content.getvalue()


def token(number: int) -> str:
    return f"full-disk-{number:05d}"


def test_a_full_disk(full: tuple[Server, Judge, Disk]) -> None:
    server, judge, disk = full
    client = httpx.Client(base_url=server.url, cookies=dict(judge.cookies), timeout=PATIENCE)
    item = client.get("/study/at", params={"study": STUDY}).json()["item"]["id"]   # looking needs no room
    body = {"study": STUDY, "item": item, "answer": valid(note="the one"), "token": "the-one-that-waits"}

    # The log of the database may still have room in it: so many go through as it takes.
    number = 10
    while (answer := client.post("/study/save", json=body | {"token": token(number), "then": "stay",
                                                             "answer": valid(note=f"{number} " * 900)})
           ).status_code == 200:
        number += 1
        assert number < MANY
    refusals = [answer, client.post("/study/save", json=body), client.post("/study/draft", json={
        "study": STUDY, "item": item, "answer": {"note": "begun " * 900}})]
    for refused in refusals:
        assert (refused.status_code, refused.json()["kind"]) == (503, "storage")
        assert refused.json()["problem"] == nothing_saved(disk.why) and "is lost" in refused.json()["problem"]
    with pytest.raises(Refused, match="is lost") as said:
        judge.save(item, valid(note="by the named call"), "the-one-by-name")
    told = [str(said.value), *(refused.text for refused in refusals)]

    admin = httpx.Client(base_url=server.url, timeout=PATIENCE)
    entered = admin.post("/sign-in", json={"name": "Ada Min", "password": PASSWORD})
    assert entered.status_code == 503 and entered.json()["kind"] == "storage", "a sign-in is kept, too"
    told.append(entered.text)
    for secret in ("Traceback", str(disk.folder), "cirque.db", "CIRQUE_", "Free some"):   # of no use to them
        assert all(secret not in one for one in told)
    assert client.get("/study/at", params={"study": STUDY}).status_code == 200
    assert client.get("/healthz").status_code == 200

    disk.free(server.pid)
    saved = client.post("/study/save", json=body).json()["saved"]       # the same press again
    assert not saved["repeated"]
    assert admin.post("/sign-in", json={"name": "Ada Min", "password": PASSWORD}).status_code == 200
    assert admin.post("/media/upload", content=a_picture()).status_code == 200
    disk.fill(server.pid)
    refused = admin.post("/media/upload", content=a_picture())
    assert refused.status_code == 503 and refused.json()["error"].startswith("Nothing can be saved at the moment: ")
    assert str(disk.folder) not in refused.text
    disk.free(server.pid)
    client.close()
    admin.close()

    assert tokens_of(server.home, STUDY) == sorted([*map(token, range(number)), "the-one-that-waits"])
    with contextlib.closing(sqlite3.connect(server.home / "cirque.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    log = server.log()
    assert "Traceback" not in log, log
    if not isinstance(disk, LimitedDisk):    # under a limit the log is full as well
        assert f"{server.home / 'cirque.db'} " in log, "the log says which database, in full"
        assert "Free some space" in log and "SQLITE_FULL" in log, "and the remedy, and what SQLite calls it"


@contextlib.contextmanager
def routes(home: Path) -> Iterator[TestClient]:
    """The screen's routes over ``home``, for one person."""
    stores = stores_of(home)
    services: Any = SimpleNamespace(studies=StudyService(stores.studies, {"validity": Validity()}), meter=Meter(),
                                    study_store=stores.studies, settings=SimpleNamespace(home=home, accel_redirect=""),
                                    study_members=StudyMembers(stores.studies))
    app = FastAPI()
    app.include_router(study_routes(services))
    app.add_middleware(SignedIn)
    with TestClient(app, headers={"x-test-name": NAME}) as client:
        yield client
    stores.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With ten answers in it."""
    home = tmp_path / "home"
    stores = stores_of(home)
    make_study(stores.studies, home, name=STUDY, items=20, seats=1, panel=4, edge=16)
    stores.close()
    with routes(home) as client:
        workspace = client.post("/study/join", json={"study": STUDY}).json()
        for number in range(10):
            workspace = client.post("/study/save", json={
                "study": STUDY, "item": workspace["item"]["id"], "answer": valid(note=f"{number}"),
                "token": token(number),
            }).json()["desk"]
    return home


def test_a_database_that_becomes_read_only(home: Path) -> None:
    """As when its file system is mounted anew, read only, after an error of the disk."""
    frozen = False

    def freeze(connection: Any) -> None:
        connection.exec_driver_sql(f"PRAGMA query_only = {'ON' if frozen else 'OFF'}")

    event.listen(Engine, "begin", freeze)
    try:
        with routes(home) as client:
            item = client.get("/study/at", params={"study": STUDY}).json()["item"]["id"]
            body = {"study": STUDY, "item": item, "answer": valid(), "token": "the-one-that-waits"}
            frozen = True
            refused = client.post("/study/save", json=body)
            assert refused.status_code == 503
            assert refused.json()["problem"] == nothing_saved("the database cannot be written")
            assert client.get("/study/at", params={"study": STUDY}).json()["progress"]["done"] == 10
            frozen = False
            assert client.post("/study/save", json=body).json()["saved"]["revision"] == 1
    finally:
        event.remove(Engine, "begin", freeze)
    assert tokens_of(home, STUDY) == sorted([*map(token, range(10)), "the-one-that-waits"])


def test_a_read_only_database_is_refused_at_the_start_and_left_as_it_is(home: Path) -> None:
    database = home / "cirque.db"
    before = database.read_bytes()
    database.chmod(0o400)
    # Root may write what it likes, so it goes without that right.
    plain = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*plain, sys.executable, "app.py"], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
        env=environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1"))
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"cirque cannot start. The database {database} cannot be written." in done.stderr
    assert database.read_bytes() == before
    database.chmod(0o600)
    assert tokens_of(home, STUDY) == sorted(map(token, range(10)))
