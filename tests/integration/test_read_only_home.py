"""The home folder becomes read-only while the server runs: because its disk failed, or because it was mounted so."""

from __future__ import annotations

import contextlib
import io
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image
from sqlalchemy import text

from cir_core.errors import StorageError
from storage.engine.database import reading, writing
from tests.fakes.databases import open_migrated, sqlite_of
from tests.fakes.patience import PATIENCE
from tests.fakes.studies import valid
from tests.integration.crowd import PASSWORD, Judge, Server, one_judge, tokens_of
from tests.integration.disks import FrozenDisk, disk_that_fails, disk_that_is_protected

pytestmark = [pytest.mark.sqlite,
              pytest.mark.skipif(sys.platform == "win32", reason="no such mounts")]
STUDY = "Frozen"


@pytest.fixture(params=[disk_that_fails, pytest.param(disk_that_is_protected, marks=pytest.mark.extended)])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FrozenDisk]:
    with request.param(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def running(disk: FrozenDisk) -> Iterator[tuple[Server, Judge, list[str]]]:
    """And the items that the judge is to answer."""
    with one_judge(disk.folder / "home", disk.folder.parent / "logs", STUDY, 60) as running:
        yield running


def save(client: httpx.Client, item: str, number: int) -> httpx.Response:
    return client.post("/study/save", json={"study": STUDY, "item": item, "answer": valid(note=f"note {number}"),
                                            "token": f"read-only-{number:03d}"})


def a_picture() -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (40, 40), "red").save(content, "PNG")
    return content.getvalue()


def test_what_is_acknowledged_is_kept_and_the_rest_is_told(
    running: tuple[Server, Judge, list[str]], disk: FrozenDisk,
) -> None:
    server, judge, items = running
    client = httpx.Client(base_url=server.url, cookies=dict(judge.cookies), timeout=PATIENCE)
    admin = httpx.Client(base_url=server.url, timeout=PATIENCE)
    assert admin.post("/sign-in", json={"name": "Ada Min", "password": PASSWORD}).status_code == 200
    acknowledged = {f"read-only-{number:03d}" for number in range(10)
                    if save(client, items[number], number).status_code == 200}
    assert len(acknowledged) == 10

    disk.freeze()
    for number in range(10, 20):
        answer = save(client, items[number], number)
        if answer.status_code == 200:
            acknowledged.add(f"read-only-{number:03d}")
            assert disk.server_may_run_on, "nothing can be written at all"
            continue
        assert (answer.status_code, answer.json()["kind"]) == (503, "storage")
        assert answer.json()["problem"].startswith("Nothing can be saved at the moment") and (
            str(disk.folder) not in answer.text)
    picture = admin.post("/media/upload", content=a_picture())
    assert picture.status_code == 503 and picture.json()["error"].startswith("Nothing can be saved at the moment")
    ready = client.get("/readyz")
    assert ready.status_code == 503 and not ready.json()["checks"]["home"]["ok"]
    assert client.get("/healthz").status_code == 200
    assert client.get("/study/at", params={"study": STUDY}).status_code == 200, "looking goes on"

    if not disk.server_may_run_on:
        server.kill()
    disk.thaw()
    if not disk.server_may_run_on:
        server.start()
    for number in range(20, 30):
        assert save(client, items[number], number).status_code == 200
        acknowledged.add(f"read-only-{number:03d}")
    assert admin.post("/media/upload", content=a_picture()).status_code == 200
    client.close()
    admin.close()
    server.kill()
    assert acknowledged <= set(tokens_of(server.home, STUDY))
    with contextlib.closing(sqlite3.connect(server.home / "cirque.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert "Traceback" not in server.log(), server.log()


def test_no_connection_stays_read_only(tmp_path: Path) -> None:
    """SQLite opens a file to be read where it cannot be written, and a pool would keep such a connection."""
    with disk_that_is_protected(tmp_path / "disk") as disk:
        engine = open_migrated(sqlite_of(disk.folder))
        disk.freeze()
        with contextlib.ExitStack() as stack, contextlib.suppress(StorageError):
            for _ in range(6):
                stack.enter_context(reading(engine))
        disk.thaw()
        for _ in range(3):
            with contextlib.ExitStack() as stack:
                for _ in range(5):   # which one comes is the pool's choice
                    stack.enter_context(reading(engine))
                with writing(engine) as connection:
                    connection.execute(text("DELETE FROM answers"))
        engine.dispose()
