"""Constructions for tests that read as stories: a home whose sample can be constructed from, the app over it, and what
a language model says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from cir_core.construct.judging.sample import content_digest
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession
from cir_core.datasets.readers.circled import session_of_raw
from cir_core.datasets.readers.circled_raw import open_raw
from cir_core.gallery.gallery import open_gallery
from cir_core.registry.kinds import read_benchmark
from cir_core.sample.atelier.ground_truth import read_attributes
from tests.fakes import forked
from tests.fakes.attribute_person import AttributePerson
from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.databases import environment_of
from tests.fakes.forked import Running, start
from tests.web.browsing import at_rest, new_context
from tests.web.conftest import wait_for_address


class App:
    """The app over ``home``, with the language model at ``model``; it can be stopped and started again."""

    def __init__(self, home: Path, model: str) -> None:
        self.home, self._model = home, model
        self._process: Running | None = None
        self.url = ""
        self.starts = 0

    def start(self) -> None:
        self.starts += 1
        log = self.home.parent / f"app-{self.starts}.log"
        environment = environment_of(
            self.home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1", CIRQUE_LLM_BASE_URL=self._model,
            CIRQUE_LLM_MODEL="m", CIRQUE_LLM_SEES="true", CIRQUE_LLM_CONCURRENCY="2", CIRQUE_GRACE_SECONDS="5")
        with log.open("w") as stream:
            self._process = start("app.py", environment=environment, output=stream)
        self.url = wait_for_address(self._process, log)

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(30)
        assert "Traceback" not in (self.home.parent / f"app-{self.starts}.log").read_text()


def constructing_home(home: Path, own: Path) -> Path:
    """A copy of ``home`` at ``own`` whose sample is where cirque draws it."""
    shutil.copytree(home, own)
    shutil.copytree(own / "sample", own / "samples" / "atelier")
    return own


def construct(home: Path, name: str, *options: str) -> Path:
    """The benchmark ``name``, by the command."""
    folder = home / "benchmarks" / name
    done = forked.run("-m", "cli.main", "construct", "sessions", "sample", "--gallery", "atelier", "--model",
                      "built-in", "--out", str(folder), *options, environment=environment_of(home))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def construct_targets(home: Path, name: str, *options: str) -> Path:
    """The benchmark ``name`` of queries with targets, by the command and a model that knows the garments."""
    folder, sample = home / "benchmarks" / name, home / "samples" / "atelier"
    knowing = AttributePerson(open_gallery("atelier", home=home), read_benchmark("sample", sample),
                              read_attributes(sample, "test"))
    with ChatServer(knowing) as server:
        done = forked.run("-m", "cli.main", "construct", "multi-target", "sample", "--gallery", "atelier", "--out",
                          str(folder), *options, environment=environment_of(
                              home, CIRQUE_LLM_BASE_URL=server.url, CIRQUE_LLM_MODEL="m", CIRQUE_LLM_SEES="true"))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def judge(folder: Path) -> dict[str, int]:
    """Scores of every tenth session of a construction, as the judge command writes them; overall by query id."""
    judged, overall = [], {}
    for path in sorted((folder / "raw").glob("*.json")):
        raw = open_raw(path)
        for number, record, result in list(raw.results())[::10]:
            session, score = session_of_raw(record, raw.subset, number), 1 + number // 10 % 5
            judged.append(JudgedSession("first", raw.subset, f"other-{number}", len(session.turns),
                                        dict.fromkeys(DIMENSIONS, score), f"Reason {score}.", (),
                                        content_digest(session)).as_json())
            overall[str(result.query_id)] = score
    (folder / "judged").mkdir()
    (folder / "judged" / "judged.json").write_text(json.dumps({"sessions": judged}), "utf-8")
    return overall


def person(request: dict[str, Any]) -> Reply:
    """Short answers of a language model, by what the request asks for."""
    [wanted] = request["response_format"]["json_schema"]["schema"]["required"]
    said = {"caption": "a red dress with short sleeves", "query": "a blue dress with long sleeves",
            "instruction": f"Make it number {len(json.dumps(request['messages'])) % 97}"}
    return Reply(json.dumps({wanted: said[wanted]}))


@pytest.fixture
def page(browser: Browser, app: App) -> Iterator[Page]:
    """Of the test file's ``app``."""
    context = new_context(browser)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []


def look(page: Page, app: App, query: str = "") -> None:
    page.goto(f"{app.url}/benchmarks{query}")
    at_rest(page)
