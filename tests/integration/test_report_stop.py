"""The server is stopped while reports are made that take long."""

from __future__ import annotations

import re
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import numpy as np
import orjson
import pytest

from annotation.validity.circus import read_circus_users
from annotation.validity.circus.form import FLAGS
from annotation.validity.create import import_circus_study
from storage.stores import open_stores
from tests.fakes.databases import environment_of, settings_of
from tests.fakes.forked import start

ROOT = Path(__file__).resolve().parents[2]
PEOPLE, ITEMS, DRAWS = 40, 200, 10_000   # 780 pairs of people: a report takes a minute
GRACE = 10.0                             # seconds that whoever stops a service commonly gives it


@pytest.fixture
def home(tmp_path):
    """Everybody flags at random."""
    seen = np.random.default_rng(1).random((PEOPLE, ITEMS, len(FLAGS))) < 0.2
    folder = tmp_path / "files"
    folder.mkdir()
    for person in range(PEOPLE):
        said = [{
            "assignment_id": f"cirr::{item}", "dataset": "cirr", "query_idx": item, "hidden_category": "unresolved",
            "assigned_user": f"p{person}", "presentation_order": item + 1,
            "annotation": {"validated": not flags.any(), **dict(zip(FLAGS, flags.tolist(), strict=True)), "other": ""},
            "annotation_updated_at": "2026-01-02T00:00:00+00:00",
        } for item, flags in enumerate(seen[person])]
        (folder / f"p{person}.json").write_bytes(orjson.dumps({"username": f"p{person}", "assignments": said}))
    home = tmp_path / "home"
    with closing(open_stores(settings_of(home))) as stores:
        import_circus_study(stores.studies, "many", read_circus_users(sorted(folder.iterdir())), created_by="tests")
    return home


@pytest.fixture
def server(home, tmp_path):
    log = tmp_path / "log"
    environment = environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1")
    with log.open("w") as stream:
        process = start("app.py", environment=environment, output=stream)
    try:
        for _ in range(600):
            if found := re.search(r"http://\S+", log.read_text()):
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.2)
        else:
            pytest.fail(log.read_text())
        yield process, found[0], log
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_a_report_that_is_being_made_keeps_nobody_waiting(server):
    process, url, log = server
    points = httpx.get(f"{url}/analysis/report", params={"study": "many", "draws": 0}, timeout=120)
    assert points.status_code == 200
    ended = []

    def ask(seed):
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{url}/analysis/report", params={"study": "many", "draws": DRAWS, "seed": seed}, timeout=300)
        ended.append(seed)

    asking = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]   # two are made, one waits
    for one in asking:
        one.start()
    time.sleep(2)
    assert ended == []
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    assert process.wait(60) == 0
    assert time.monotonic() - began < GRACE
    for one in asking:
        one.join(10)
    assert sorted(ended) == [0, 1, 2]
    assert "Traceback" not in log.read_text(), log.read_text()
