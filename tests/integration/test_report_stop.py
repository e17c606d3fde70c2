"""The server is stopped while reports are made that take long."""

from __future__ import annotations

import threading
from contextlib import closing

import httpx
import numpy as np
import orjson
import pytest

from annotation.kinds.validity.circus import read_circus_users
from annotation.kinds.validity.circus.form import FLAGS
from annotation.kinds.validity.create import import_circus_study
from storage.stores import open_stores
from tests.fakes.databases import settings_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.integration.processes import App

PEOPLE, ITEMS, DRAWS = 10, 100, 500
# Reports with draws are made again and again, without an end.
ENDLESS = """
from web.analysis import report_cache
compose = report_cache.compose
def without_end(answers, selection, options, **more):
    while True:
        made = compose(answers, selection, options, **more)
        if not options.draws:
            return made
report_cache.compose = without_end
"""


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
def app(home, tmp_path):
    app = App(home, tmp_path / "log", first=ENDLESS, GRACE_SECONDS="1", METRICS="1", METRICS_FROM="127.0.0.1")
    yield app
    app.end()


def test_a_report_that_is_being_made_keeps_nobody_waiting(app):
    """The reports never end, so that the process ends shows that nobody waits for them."""
    url = app.url
    points = httpx.get(f"{url}/analysis/report", params={"study": "many", "draws": 0}, timeout=PATIENCE)
    assert points.status_code == 200
    cut_off = []

    def ask(seed):
        with pytest.raises(httpx.HTTPError):
            httpx.get(f"{url}/analysis/report", params={"study": "many", "draws": DRAWS, "seed": seed}, timeout=None)
        cut_off.append(seed)

    asking = [threading.Thread(target=ask, args=(seed,)) for seed in range(3)]   # two are made, one waits
    for one in asking:
        one.start()
    # The one that asks for the number counts as well.
    wait_for(lambda: "\ncirque_unfinished_requests 4" in httpx.get(f"{url}/metrics", timeout=PATIENCE).text)
    assert cut_off == []
    app.terminate()
    assert app.process.wait(PATIENCE) == 0
    for one in asking:
        one.join(PATIENCE)
    assert sorted(cut_off) == [0, 1, 2]
    assert "3 request(s) and 0 accepted call(s) were cut off after the 1 seconds" in app.said, app.said
    assert "Traceback" not in app.said, app.said
