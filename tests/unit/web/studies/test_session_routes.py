"""Session studies over HTTP: rating as an annotator, results and files for those who may see them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from annotation.records import Study
from cir_core.gallery.gallery import Gallery
from storage.studies.store import SqlStudyStore
from tests.fakes.session_studies import make_session_study, session_rated
from tests.fakes.studies import make_study

Open = Callable[..., TestClient]


@pytest.fixture
def study(store: SqlStudyStore, tmp_path: Path, gallery: Gallery) -> Study:
    return make_session_study(store, tmp_path, gallery, sample=3, seats=1)


def rate_all(ada: TestClient) -> None:
    desk = ada.post("/study/join", json={"study": "Dialogues"}).json()
    for number in range(9):
        sent = {"study": "Dialogues", "item": desk["item"]["id"], "answer": session_rated(*(1 + number % 5,) * 5),
                "token": f"token-{number:03}", "seconds": 20}
        told = ada.post("/study/save", json=sent).json()
        assert told["saved"] == {"revision": 1, "repeated": False, "overtook": False, "unsure": False}
        desk = told["desk"]
    assert desk["item"] is None and desk["progress"]["done"] == 9


def test_an_annotator_rates_sessions(study: Study, visit: Open) -> None:
    ada = visit("annotator", "Ada")
    assert ada.get("/study/mine").json()["studies"][0]["kind"] == "sessions"
    page = ada.get("/study/rubric?study=Dialogues").json()
    assert [one["title"] for one in page["questions"]][-2:] == ["Low redundancy", "Overall"]
    desk = ada.post("/study/join", json={"study": "Dialogues"}).json()
    item = desk["item"]
    assert item.keys() == {"id", "position", "turns", "target"} and len(item["turns"]) in (2, 3, 6)
    for image in (item["target"], *(turn["image"] for turn in item["turns"])):
        for size in ("small", "large"):
            answer = ada.get("/" + image[size])
            assert answer.status_code == 200 and answer.headers["content-type"] == "image/webp"
    assert len(desk["ahead"]) == 2 and all(one["images"][0].endswith("-l.webp") for one in desk["ahead"])
    half = {"ratings": {"overall": 2}, "reason": ""}
    refused = ada.post("/study/save", json={"study": "Dialogues", "item": item["id"], "answer": half,
                                            "token": "token-half"})
    assert refused.status_code >= 400 and "“Naturalness” has no answer yet" in refused.json()["problem"]
    assert ada.post("/study/draft", json={"study": "Dialogues", "item": item["id"], "answer": half,
                                          "seconds": 1}).json() == {"kept": True}
    assert ada.get(f"/study/at?study=Dialogues&item={item['id']}").json()["draft"]["answer"]["ratings"]["overall"] == 2
    for path in ("all", "one?study=Dialogues", "ratings?study=Dialogues", "export?study=Dialogues&form=csv"):
        assert ada.get(f"/studies/{path}").status_code == 403


def test_results_and_files_for_researchers(study: Study, store: SqlStudyStore, visit: Open, tmp_path: Path) -> None:
    rate_all(visit("annotator", "Ada"))
    olga = visit("researcher", "Olga")
    one = olga.get("/studies/one?study=Dialogues").json()
    assert (one["study"]["kind"], one["queue"]) == ("sessions", {"open": 0, "decided": 0})
    assert one["people"][0]["done"] == 9 and dict(one["study"]["source"])["Sample"] == "3 sessions of each subset"
    found = olga.get("/studies/ratings?study=Dialogues").json()
    assert [(row["source"], row["subset"], row["rated"], row["sessions"]) for row in found["rows"]] == [
        ("ours", None, 6, 6), ("ours", "cirr_val", 3, 3), ("ours", "fashioniq_dress_val", 3, 3), ("plain", None, 3, 3)]
    assert [one["name"] for one in found["questions"]][:1] == ["Naturalness"]
    for form, table, ending in (("csv", "judgements", "judgements.csv"), ("parquet", "items", "items.parquet"),
                                ("results", "", "results.json")):
        answer = olga.get(f"/studies/export?study=Dialogues&form={form}" + (f"&table={table}" if table else ""))
        assert answer.status_code == 200 and ending in answer.headers["content-disposition"]
    assert json.loads(answer.content)["study"] == "Dialogues"
    assert "exported as csv, parquet, results" in olga.get("/studies/export?study=Dialogues&form=mbeir").json()[
        "problem"]
    assert olga.get("/studies/results?study=Dialogues").json() == found
    make_study(store, tmp_path, name="Other")
    # Nothing to adjudicate; closing and opening work as for every study.
    assert [it["name"] for it in olga.get("/adjudicate/studies").json()["studies"]] == ["Other"]
    assert "nothing to adjudicate" in olga.get("/adjudicate/queue?study=Dialogues").json()["problem"]
    assert olga.post("/studies/close", json={"study": "Dialogues"}).json()["study"]["accepting"] is False
    assert olga.post("/studies/open", json={"study": "Dialogues"}).json()["study"]["accepting"] is True
