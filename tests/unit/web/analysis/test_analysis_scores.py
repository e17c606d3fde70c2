"""Scores of metrics over HTTP: from a file, from a method in a gallery while one looks on, and taken away again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.accounts.roles import may
from annotation.records import Item, PlannedAssignment, Role, Study
from annotation.records.studies import NAME_LIMIT
from cir_core.errors import EncoderUnavailable
from cir_core.methods.declared import Method
from cir_core.search.searcher import Searcher
from cir_core.types.records import MethodSettings
from storage.studies.store import SqlStudyStore
from tests.fakes.colours import colour_gallery
from tests.fakes.databases import study_store as study_store
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import SilentLanguageModel
from tests.fakes.patience import wait_for
from tests.fakes.preferences import a_judgement, a_study, an_answer, an_item, keep, seats_of
from tests.fakes.session_ratings import a_session, judged_file, keep_sessions
from tests.fakes.studies import make_study
from web.analysis.routes import analysis_routes
from web.http.long_actions import Runs
from web.http.visitor import Visitor
from web.search.routes import live_routes

REDS = ["r1g0b0", "r2g0b0", "r3g0b0", "r3g1b0", "r2g1b0"]
GREENS = ["r0g1b0", "r0g2b0", "r0g3b0", "r1g3b0", "r1g2b0"]
TEXT = Method("text-only", "Text only", "", MethodSettings(base="text-only"))
Open = Callable[..., TestClient]


class Search:
    """The gallery of plain colours. Opening its encoder waits for ``go``, and fails with ``error``."""

    def __init__(self, tmp_path: Path) -> None:
        self._gallery = colour_gallery(tmp_path)
        self.go = threading.Event()
        self.go.set()
        self.error: Exception | None = None
        self.opened = 0

    def galleries(self) -> list[Any]:
        return [SimpleNamespace(name="colours", size=64, status="complete"),
                SimpleNamespace(name="half", size=3, status="partial")]

    def gallery(self, name: str) -> Any:
        from cir_core.gallery.gallery import open_gallery
        return self._gallery if name == "colours" else open_gallery(name, home=Path("nowhere"))

    def searcher(self, name: str) -> Searcher:
        self.opened += 1
        assert self.go.wait(60)
        if self.error is not None:
            raise self.error
        return Searcher(self._gallery, FakeEncoder(), SilentLanguageModel())


@pytest.fixture
def search(tmp_path: Path) -> Search:
    return Search(tmp_path)


def question(number: int) -> Item:
    return an_item(number, text="red", set_ids=[REDS, GREENS], reference_id="r0g0b3")


@pytest.fixture
def study(store: SqlStudyStore) -> Study:
    made = a_study()
    items = [question(number) for number in range(4)]
    places = [PlannedAssignment(f"i{number}", 1, number, {"first": 1, "form": 1,
                                                          "reason": False}) for number in range(4)]
    answers = [an_answer(4, 2, 1), an_answer(5, 1, 1), an_answer(1, 3, 2), an_answer(3, 2, 1)]
    keep(store, made, items, places, seats_of("Ada"),
         [a_judgement(number, "Ada", answer) for number, answer in enumerate(answers)])
    return made


@pytest.fixture
def visit(store: SqlStudyStore, search: Search, tmp_path: Path) -> Open:
    services: Any = SimpleNamespace(
        study_store=store, runs=Runs(),
        settings=SimpleNamespace(home=tmp_path, domain="garment", seed=7, relevance="off"),
        methods={"text-only": TEXT}, search=search)
    app = FastAPI()
    app.include_router(analysis_routes(services))
    app.include_router(live_routes(services.runs))

    def open_as(role: Role = "researcher", name: str = "Olga") -> TestClient:
        async def with_visitor(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                scope["state"] = {"visitor": Visitor(name, role, may(role), open=False)}
            await app(scope, receive, send)

        return TestClient(with_visitor)

    return open_as


def metrics(client: TestClient, study: Study) -> dict[str, Any]:
    answer = client.get("analysis/report", params={"study": study.name, "draws": "0"})
    return answer.json()["report"]["metrics"]


def finished(client: TestClient, run_id: str) -> dict[str, Any]:
    def state() -> dict[str, Any] | None:
        told: dict[str, Any] = client.get("analysis/scores/run", params={"id": run_id}).json()
        return told if told["finished"] else None

    return wait_for(state)


FILE = "item,set,clip,blip\n" + "".join(f"q{number},{which},{which / 4},{number}\n" for number in range(4)
                                        for which in (1, 2))


def test_columns_of_a_file_become_metrics_at_once(visit: Open, study: Study) -> None:
    client = visit()
    assert set(metrics(client, study)) == {"recall@5"}   # the study was looked at a moment ago
    added = client.post("analysis/scores", json={"study": study.name, "content": FILE, "name": "mine.csv"})
    assert added.status_code == 200 and added.json()["added"] == ["clip", "blip"]
    assert added.json()["scores"] == [{"name": name, "description": f"Column {name} of mine.csv.", "notes": []}
                                      for name in ("blip", "clip")]
    assert set(metrics(client, study)) == {"recall@5", "clip", "blip"}
    seen = visit("analyst").get("analysis/report", params={"study": study.name, "draws": "0"}).json()
    assert [one["name"] for one in seen["scores"]] == ["blip", "clip"]
    left = client.post("analysis/scores/drop", json={"study": study.name, "name": "CLIP"})
    assert [one["name"] for one in left.json()["scores"]] == ["blip"]
    assert set(metrics(client, study)) == {"recall@5", "blip"}
    gone = client.post("analysis/scores/drop", json={"study": study.name, "name": "clip"})
    assert gone.status_code == 404 and "It has blip." in gone.json()["problem"]


def test_a_file_that_cannot_be_used_changes_nothing(visit: Open, study: Study, store: SqlStudyStore) -> None:
    client = visit()
    for content in ("", "item,set\nq0,1\n", "item,set,clip\nnosuch,1,2\n", 7, None):
        answer = client.post("analysis/scores", json={"study": study.name, "content": content, "name": "mine.csv"})
        assert answer.status_code == 400 and answer.json()["problem"].endswith("."), content
    large = client.post("analysis/scores", json={"study": study.name, "content": "x" * 9_000_000})
    assert large.status_code == 422 and "larger than 8 MB" in large.json()["problem"]
    text = "x" * 100_000
    wide = "item,set,note,more,rest\n" + "".join(f"q{number},1,{text},{text},{text}\n" for number in range(4))
    roomy = client.post("analysis/scores", json={"study": study.name, "content": wide})
    assert roomy.status_code == 400 and "note" in roomy.json()["problem"]   # 1.2 MB are read, and are no numbers
    assert list(store.scores(study.study_id)) == []


def test_scores_are_for_preference_studies(visit: Open, store: SqlStudyStore, tmp_path: Path) -> None:
    validity = make_study(store, tmp_path, name="Validity", items=1, pictures=4, panel=1)
    client, about = visit(), {"study": validity.name}
    answers = [client.get("analysis/scores/choices", params=about),
               client.post("analysis/scores", json={**about, "content": FILE}),
               client.post("analysis/scores/compute", json={**about, "gallery": "colours", "method": "text-only"}),
               client.post("analysis/scores/drop", json={**about, "name": "clip"})]
    assert {answer.status_code for answer in answers} == {400}
    assert all("validity study" in answer.json()["problem"] for answer in answers)


def test_a_language_model_rates_the_sessions_of_a_session_study(visit: Open, store: SqlStudyStore) -> None:
    items = [a_session(number) for number in range(4)]
    study = keep_sessions(store, items, {"Ada": {0: 1, 1: 2, 2: 4, 3: 5}})
    client = visit()
    assert client.get("analysis/report", params={"study": study.name, "draws": "0"}).json()["report"]["models"] == {}
    content = json.dumps(judged_file(items, {0: 2, 1: 3, 2: 5, 3: 5}, "gpt-x"))
    added = client.post("analysis/scores", json={"study": study.name, "content": content, "name": "judged.json"})
    assert added.status_code == 200 and added.json()["added"] == ["gpt-x"]
    seen = visit("analyst").get("analysis/report", params={"study": study.name, "draws": "0"}).json()
    overall = seen["report"]["models"]["gpt-x"]["questions"]["overall"]
    # 2 - 1, 3 - 2, 5 - 4, 5 - 5
    assert overall["difference"]["value"] == 0.75 and overall["krippendorff_alpha"]["n"] == 4
    assert [section["key"] for section in seen["sections"]][:4] == ["glance", "ratings", "agreement", "model-1"]
    for call, more in (("", {"content": FILE}), ("/compute", {"gallery": "colours", "method": "text-only"})):
        refused = client.post(f"analysis/scores{call}", json={"study": study.name, **more})
        assert refused.status_code == 400 and refused.json()["problem"].endswith("."), call
    left = client.post("analysis/scores/drop", json={"study": study.name, "name": "gpt-x"})
    assert left.json() == {"scores": []}


def test_a_method_scores_a_gallery_while_one_looks_on(
    visit: Open, study: Study, store: SqlStudyStore, search: Search,
) -> None:
    client = visit()
    there = client.get("analysis/scores/choices", params={"study": study.name}).json()
    assert there == {"galleries": [{"name": "colours", "size": 64}], "gallery": None,
                     "methods": [{"name": "text-only", "title": "Text only"}], "name_limit": NAME_LIMIT,
                     "cirqrs": {"problem": "Needs a relevance model. Set CIRQUE_RELEVANCE to bundled, or to a folder "
                                           "written by `cirque relevance train`."}}
    search.go.clear()
    wanted = {"study": study.name, "gallery": "colours", "method": "text-only", "name": "cosine"}
    run = client.post("analysis/scores/compute", json=wanted).json()["run"]
    assert client.post("analysis/scores/compute", json=wanted | {"name": " Cosine"}).json()["run"] == run
    second = client.post("analysis/scores/compute", json=wanted | {"name": "second"})
    assert second.status_code == 400 and "“cosine” is being computed for this study" in second.json()["problem"]
    state = visit("analyst").get("analysis/scores/run", params={"id": run}).json()
    assert state == {"text": "Opening the gallery colours", "done": 0, "total": 0, "finished": False, "problem": ""}
    assert set(metrics(client, study)) == {"recall@5"}
    search.go.set()
    # The four questions are about one query.
    assert finished(client, run) == {"text": "Text only", "done": 1, "total": 1, "finished": True, "problem": ""}
    (scores,) = store.scores(study.study_id)
    assert scores.name == "cosine" and len(scores.scores) == 8 and scores.scores["i0", 1] > scores.scores["i0", 2]
    # Red is the better set in three of four answers, and always the higher score.
    rate = metrics(client, study)["cosine"]["preference_rate_symmetric"]
    assert (rate["rate"], rate["n"]) == (0.75, 4) and search.opened == 1


def test_cirqrs_scores_the_sets_when_there_is_a_model(
    visit: Open, study: Study, store: SqlStudyStore, search: Search, monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Redness:
        revision, gallery = "f" * 16, search.gallery("colours")

        def query(self, reference: Any, text: str) -> Any:
            return np.zeros(3, np.float32)

        def scores_of(self, query: Any, rows: Any) -> Any:
            return np.array([int(self.gallery.ids[row][1]) / 3 for row in rows], np.float32)

    client, wanted = visit(), {"study": study.name, "gallery": "colours", "metric": "cirqrs"}
    refused = client.post("analysis/scores/compute", json=wanted)
    assert refused.status_code in (400, 503) and "CIRQUE_RELEVANCE" in refused.json()["problem"]
    monkeypatch.setattr("web.analysis.metric_scores.problem_of", lambda settings: "")
    monkeypatch.setattr("web.analysis.metric_scores.configured_scorer", lambda gallery, settings: Redness())
    there = client.get("analysis/scores/choices", params={"study": study.name}).json()
    assert there["cirqrs"] == {"problem": ""}
    state = finished(client, client.post("analysis/scores/compute", json=wanted).json()["run"])
    assert state == {"text": "CIRQRS", "done": 1, "total": 1, "finished": True, "problem": ""}
    (scores,) = store.scores(study.study_id)
    # Reds: (1 + 2 + 3 + 3 + 2) / 15; greens: 2 / 15.
    assert scores.name == "CIRQRS" and scores.scores["i3", 1] == pytest.approx(11 / 15)
    assert scores.scores["i3", 2] == pytest.approx(2 / 15)
    rate = metrics(client, study)["CIRQRS"]["preference_rate_symmetric"]
    assert (rate["rate"], rate["n"]) == (0.75, 4) and search.opened == 0
    for wrong in ({"metric": "nosuch"}, {"method": "text-only"}):
        answer = client.post("analysis/scores/compute", json=wanted | wrong)
        assert answer.status_code == 400 and "“cirqrs”" in answer.json()["problem"]
    nothing = client.post("analysis/scores/compute", json={"study": study.name, "gallery": "colours"})
    assert nothing.status_code in (400, 404, 422) and nothing.json()["problem"].endswith(".")
    analyst = visit("analyst").post("analysis/scores/compute", json=wanted)
    assert analyst.status_code == 403


def test_what_went_wrong_is_kept_for_whoever_asks(
    visit: Open, study: Study, store: SqlStudyStore, search: Search,
) -> None:
    client = visit()
    wanted = {"study": study.name, "gallery": "colours", "method": "text-only"}
    for error, said in ((EncoderUnavailable("The weights are not here. Fetch them."), "The weights are not here."),
                        (ZeroDivisionError("x"), "ZeroDivisionError). See the server's log.")):
        search.error = error
        state = finished(client, client.post("analysis/scores/compute", json=wanted).json()["run"])
        assert said in state["problem"]
    assert list(store.scores(study.study_id)) == []
    search.error = None
    assert finished(client, client.post("analysis/scores/compute", json=wanted).json()["run"])["problem"] == ""
    assert [one.name for one in store.scores(study.study_id)] == ["text-only in colours"]
    unknown = client.get("analysis/scores/run", params={"id": "nosuch"})
    assert unknown.status_code == 400 and unknown.json()["problem"].endswith(".")


def test_a_computation_can_be_stopped(visit: Open, study: Study, store: SqlStudyStore, search: Search) -> None:
    client = visit()
    search.go.clear()
    wanted = {"study": study.name, "gallery": "colours", "method": "text-only"}
    run = client.post("analysis/scores/compute", json=wanted).json()["run"]
    wait_for(lambda: search.opened)
    assert client.post(f"runs/{run}/stop").status_code == 204
    search.go.set()
    assert "stopped" in finished(client, run)["problem"] and list(store.scores(study.study_id)) == []
    assert client.post(f"runs/{run}/stop").status_code == 404


@pytest.mark.parametrize(("wrong", "said"), [
    ({"method": "nosuch"}, "No method 'nosuch'"), ({"gallery": "nosuch"}, "nosuch"),
    ({"name": "recall@5"}, "is reserved"),
    ({"name": "x" * 61}, "1 to 60 characters"), ({"name": 7}, "must be a text"), ({"study": "nosuch"}, "nosuch"),
])
def test_what_cannot_be_computed_is_said_before_it_begins(
    visit: Open, study: Study, search: Search, wrong: dict[str, Any], said: str,
) -> None:
    sent = {"study": study.name, "gallery": "colours", "method": "text-only", "name": "cosine"} | wrong
    answer = visit().post("analysis/scores/compute", json=sent)
    assert answer.status_code in (400, 404) and said in answer.json()["problem"] and search.opened == 0
