"""A whole story with everything logged that ``info`` logs: what people wrote and what lets them in is not there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from annotation.accounts.service import PeopleService
from storage.engine.database import open_database, writing
from storage.stores import open_stores
from tests.fakes.chat_server import ChatServer, refusal
from tests.fakes.databases import database_of, settings_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_study, valid
from tests.integration.processes import App

PASSWORD, WRONG, NEW = "a-right-password", "a-wrong-password", "a-new-password"
KEY, TOKEN = "sk-the-key-of-the-model", "the-token-of-the-metrics"
NOTE, DRAFT, WORDS, QUERY = "note-that-Ada-wrote", "draft-that-Ada-wrote", "velvet-with-lace", "asked-in-the-address"
STUDY = "Log"


@pytest.fixture
def logging(home: Path, tmp_path: Path) -> Iterator[App]:
    mine = tmp_path / "home"
    shutil.copytree(home, mine)
    stores = open_stores(settings_of(mine))
    PeopleService(stores.people).add("Ada", PASSWORD, "admin")
    make_study(stores.studies, mine, name=STUDY, items=3, seats=1, edge=16)
    stores.close()
    with ChatServer([refusal(500, "the server quotes: " + WORDS)]) as model:
        app = App(mine, tmp_path / "log", GALLERY="atelier", LOG="json", LOG_LEVEL="info",
                  LLM_BASE_URL=model.url, LLM_MODEL="m", LLM_API_KEY=KEY, LLM_RETRIES="0", METRICS="1",
                  METRICS_TOKEN=TOKEN)
        yield app
        app.end()


def test_a_story_leaves_no_secret_in_the_log(logging: App, tmp_path: Path) -> None:
    answers: list[httpx.Response] = []
    secrets = [PASSWORD, WRONG, NEW, KEY, TOKEN, NOTE, DRAFT, WORDS, QUERY]
    with (httpx.Client(base_url=logging.url, timeout=PATIENCE) as ada,
          httpx.Client(base_url=logging.url, timeout=PATIENCE) as bob):
        def call(who: httpx.Client, method: str, path: str, status: int = 200, **sent: object) -> httpx.Response:
            answers.append(who.request(method, path, **sent))  # type: ignore[arg-type]
            assert answers[-1].status_code == status, answers[-1].text
            return answers[-1]

        call(ada, "POST", "/sign-in", 401, json={"name": WRONG, "password": WRONG})
        call(ada, "POST", "/sign-in", 303, data={"name": "Ada", "password": PASSWORD})
        invited = call(ada, "POST", "/people/invite", json={"role": "annotator", "days": 1, "uses": 1}).json()
        link = invited["path"]
        call(bob, "GET", "/" + link.lstrip("/"))
        call(bob, "POST", "/" + link.lstrip("/"), 303, data={"name": "Bob", "password": NEW, "again": NEW})
        call(bob, "GET", f"/annotate?study={QUERY}")
        item = call(ada, "POST", "/study/join", json={"study": STUDY}).json()["item"]["id"]
        draft = {"study": STUDY, "item": item, "answer": valid(note=DRAFT)}
        call(ada, "POST", "/study/draft", json=draft)
        call(ada, "POST", "/study/save", json={**draft, "answer": valid(note=NOTE), "token": "token-0001"})
        images = call(ada, "GET", "/media/find?gallery=atelier").json()["images"]
        arguments = [images[0]["id"], None, WORDS, "", 5, "cirevl", [], []]
        found = call(ada, "POST", "/gradio_api/run/search", json={"data": arguments, "session_hash": "a-session"})
        assert any("built-in" in note or "rules" in note for note in found.json()["data"][0]["notes"]), "model away"
        call(ada, "POST", "/gradio_api/run/search", 500, json={"data": [WORDS] * 8, "session_hash": "a-session"})
        engine = open_database(database_of(tmp_path / "home"))
        with writing(engine) as connection:
            connection.exec_driver_sql("DROP TABLE drafts")   # nobody foresees that
        engine.dispose()
        call(ada, "POST", "/study/draft", 503, json=draft)
        numbers = call(ada, "GET", "/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
        secrets += [ada.cookies["cirque"], bob.cookies["cirque"], link.rpartition("/")[2]]
        call(ada, "POST", "/sign-out", json={})
    wait_for(lambda: answers[-1].headers["x-request-id"] in logging.said)   # written after the answer was sent
    log = logging.said
    assert [secret for secret in secrets if secret in log or secret in numbers] == []
    lines = [json.loads(line) for line in log.splitlines()[1:]]   # after the greeting
    requests = [line for line in lines if line["logger"] == "cirque.requests"]
    assert {line["request"] for line in requests} >= {answer.headers["x-request-id"] for answer in answers}
    assert {line["person"] for line in requests} == {None, "Ada", "Bob"}
    said = [(line["method"], line["path"], line["status"]) for line in requests]
    assert ("GET", "/join/…", 200) in said and ("POST", "/study/save", 200) in said
    assert ("GET", "/annotate", 200) in said
    assert 'cirque_judgements_saved_total{protocol="circus/1"} 1.0' in numbers
    assert 'cirque_language_model_calls_total{outcome="' in numbers and f"study={STUDY}" not in numbers
