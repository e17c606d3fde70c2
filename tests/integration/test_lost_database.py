"""The database of the real app goes, while it runs and before it starts: nothing is acknowledged that is lost, no empty
database takes its place, and nobody comes in without a sign-in."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fakes.databases import environment_of
from tests.fakes.forked import run
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import valid
from tests.integration.crowd import Server, one_judge, tokens_of

pytestmark = [pytest.mark.sqlite,
              pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be moved there")]
STUDY, MANY = "Lost", 200


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Server, httpx.Client, list[str]]]:
    """A server, somebody who is signed in there, and the items that they are to answer."""
    with (one_judge(tmp_path / "home", tmp_path / "logs", STUDY, MANY) as (server, judge, items),
          httpx.Client(base_url=server.url, cookies=dict(judge.cookies), timeout=PATIENCE) as client):
        yield server, client, items


def save(client: httpx.Client, items: list[str], number: int) -> httpx.Response:
    return client.post("/study/save", json={"study": STUDY, "item": items[number], "answer": valid(),
                                            "token": f"lost-or-not-{number:04d}"})


def start(home: Path) -> subprocess.CompletedProcess[str]:
    """One that must not come up."""
    return run("app.py", environment=environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1",
                                                    CIRQUE_GALLERY="none"))


def test_of_what_was_acknowledged_nothing_is_missing_in_the_file_that_was_moved(
    running: tuple[Server, httpx.Client, list[str]], tmp_path: Path,
) -> None:
    """It is moved while somebody saves as fast as they can; then it is put back, and work goes on."""
    server, client, items = running
    acknowledged: list[int] = []
    first_refusal = threading.Event()

    def work() -> None:
        for number in range(MANY - 50):
            answer = save(client, items, number)
            if answer.status_code != 200:
                assert answer.status_code == 503 and "moved, replaced or deleted" in answer.json()["problem"]
                first_refusal.set()
                return
            acknowledged.append(number)

    worker = threading.Thread(target=work)
    worker.start()
    wait_for(lambda: len(acknowledged) >= 20, going=worker.is_alive, pause=0.001)
    (server.home / "cirque.db").rename(tmp_path / "moved.db")
    worker.join(PATIENCE)
    assert first_refusal.is_set(), "the next save after it"
    ready = client.get("/readyz")
    assert ready.status_code == 503 and "moved" in ready.json()["checks"]["database"]["reason"]
    assert str(tmp_path) not in ready.text
    assert not (server.home / "cirque.db").exists()

    (tmp_path / "moved.db").rename(server.home / "cirque.db")
    after = MANY - 1
    assert save(client, items, after).status_code == 200
    wait_for(lambda: client.get("/readyz").json()["checks"]["database"]["ok"], pause=0.1)   # it looks once a second
    server.kill()
    assert {f"lost-or-not-{number:04d}" for number in [*acknowledged, after]} <= set(tokens_of(server.home, STUDY))
    log = server.log()
    assert "Nothing is saved any more. Put the same file back" in log and "is back in its place" in log
    assert "Traceback" not in log, log


def test_a_start_without_the_database_is_refused(
    running: tuple[Server, httpx.Client, list[str]], tmp_path: Path,
) -> None:
    server, client, items = running
    assert save(client, items, 0).status_code == 200
    server.kill()   # its log of four megabytes and less stays
    home = server.home
    shutil.copytree(home, tmp_path / "copy")
    log = (home / "cirque.db-wal").read_bytes()
    assert log
    (home / "cirque.db").unlink()
    refused = start(home)
    assert refused.returncode == 1
    assert "cirque cannot start. There is no database at" in refused.stderr and "cirque.db-wal" in refused.stderr
    assert (home / "cirque.db-wal").read_bytes() == log and not (home / "cirque.db").exists()

    for left in home.glob("cirque.db-*"):
        left.unlink()
    refused = start(home)
    assert refused.returncode == 1 and "which had accounts" in refused.stderr
    assert "studies/ contains images" in refused.stderr and not (home / "cirque.db").exists()

    shutil.copy(tmp_path / "copy" / "cirque.db", home)
    for left in (tmp_path / "copy").glob("cirque.db-*"):
        shutil.copy(left, home)
    assert tokens_of(home, STUDY) == ["lost-or-not-0000"]
    server.start()
    assert httpx.get(f"{server.url}/", follow_redirects=False, timeout=PATIENCE).status_code == 303, "to the sign-in"


def test_after_a_stop_the_database_is_one_file(running: tuple[Server, httpx.Client, list[str]]) -> None:
    """So that nobody copies it without its log, or puts another one beside an old log."""
    server, client, items = running
    assert save(client, items, 0).status_code == 200
    assert (server.home / "cirque.db-wal").stat().st_size
    server.stop()
    assert [path.name for path in server.home.glob("cirque.db*")] == ["cirque.db"]
    assert tokens_of(server.home, STUDY) == ["lost-or-not-0000"]
