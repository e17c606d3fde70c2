"""Session and target studies over HTTP: answering as an annotator, results and files for those who may see them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import event, update
from starlette.testclient import TestClient

from annotation.kinds.table import KINDS
from annotation.studies.service import StudyService
from cir_core.gallery.gallery import Gallery
from storage.mapping import tables
from storage.studies.store import SqlStudyStore
from tests.fakes.session_studies import make_session_study, session_rated
from tests.fakes.studies import make_study, valid
from tests.fakes.target_studies import all_marked, make_target_study

Open = Callable[..., TestClient]


class Told(NamedTuple):
    """What differs: the images of an item, the first preloaded ones, answers, what a half one lacks, the page."""

    make: Callable[..., Any]
    fields: set[str]
    images: Callable[[Any], list[Any]]
    ahead: str
    answer: Callable[[Any, int], Any]
    half: Callable[[Any], Any]
    says: str
    page: tuple[str, Any]                # a field of the rubric's answer
    source: list[list[str]]
    path: str                            # of results, by their earlier address
    rows: list[tuple[Any, ...]]
    forms: str
    table: str


def tokens(item: Any) -> list[str]:
    return [one["token"] for one in item["candidates"]]


TOLD = {
    "sessions": Told(
        lambda *given: make_session_study(*given, sample=3, seats=1), {"id", "position", "turns", "target"},
        lambda item: [item["target"], *(turn["image"] for turn in item["turns"])], "ll",
        lambda item, number: session_rated(*(1 + number % 5,) * 5),
        lambda item: {"ratings": {"overall": 2}, "reason": ""}, "“Session naturalness” has no answer yet",
        ("points", [1, 2, 3, 4, 5]), [["Sample", "3 sessions of each subset"]], "ratings",
        [("ours", None, 6, 6), ("ours", "cirr_val", 3, 3), ("ours", "fashioniq_dress_val", 3, 3),
         ("plain", None, 3, 3)], "csv, parquet, results", "items"),
    "targets": Told(
        lambda *given: make_target_study(*given, count=2, seats=1),
        {"id", "position", "text", "reference", "candidates"}, lambda item: [item["reference"], *item["candidates"]],
        "ls", lambda item, number: all_marked(tokens(item), ["yes", "no", "yes", "unsure"][number]),
        lambda item: all_marked(tokens(item)[1:]), "1 image has no mark yet", ("marks", ["yes", "no", "unsure"]),
        [["Files", "dress, shirt"], ["Gallery", "colours"], ["Threshold", "0.85"]], "targets",
        [("dress", 2, 2), ("shirt", 2, 2), (None, 4, 4)], "csv, parquet, results, soft", "images"),
}


def test_next_items_cost_a_save_no_statement_and_drafts_come_with_them(
    store: SqlStudyStore, visit: Open, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path, items=40, seats=1)
    ada = visit("annotator", "Ada")
    desk = ada.post("/study/join", json={"study": study.name, "ahead": 20}).json()
    assert len(desk["ahead"]) == 20 and desk["ahead"][4]["draft"] is None
    fifth = desk["ahead"][4]["item"]["id"]
    ada.post("/study/draft", json={"study": study.name, "item": fifth, "answer": {"note": "hm"}, "seconds": 7})
    statements: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    costs, asked = [], (0, 20, 2, 20)
    for number, ahead in enumerate(asked):
        before = len(statements)
        desk = ada.post("/study/save", json={
            "study": study.name, "item": desk["item"]["id"], "answer": valid(), "token": f"token-{number:03}",
            "ahead": ahead}).json()["desk"]
        costs.append(len(statements) - before)
        assert len(desk["ahead"]) == ahead
        if ahead == 20:
            begun = next(one["draft"] for one in desk["ahead"] if one["item"]["id"] == fifth)
            assert (begun["answer"]["note"], begun["seconds"]) == ("hm", 7)
    assert len(set(costs)) == 1, costs
    assert ada.post("/study/join", json={"study": study.name, "ahead": 21}).status_code == 400


@pytest.mark.parametrize("kind", TOLD)
def test_an_annotator_answers_and_others_see_what_came_of_it(
    kind: str, store: SqlStudyStore, visit: Open, tmp_path: Path, gallery: Gallery,
) -> None:
    told = TOLD[kind]
    study = told.make(store, tmp_path, gallery)
    ada, here = visit("annotator", "Ada"), f"?study={study.name}"
    assert ada.get("/study/mine").json()["studies"][0]["kind"] == kind
    assert ada.get(f"/study/rubric{here}").json()[told.page[0]] == told.page[1]
    desk = ada.post("/study/join", json={"study": study.name}).json()
    item = desk["item"]
    assert item.keys() == told.fields and len(desk["ahead"]) == 2
    for image in told.images(item):
        for size in ("small", "large"):
            assert ada.get("/" + image[size]).headers["content-type"] == "image/webp"
    assert visit("annotator", "Eve").get("/" + image["small"]).status_code == 404
    assert all(url.endswith(f"-{size}.webp") for url, size in zip(desk["ahead"][0]["images"], told.ahead, strict=False))

    sent = {"study": study.name, "item": item["id"], "answer": told.half(item), "seconds": 9}
    refused = ada.post("/study/save", json={**sent, "token": "token-half"})
    assert refused.status_code >= 400 and told.says in refused.json()["problem"]
    assert ada.post("/study/draft", json=sent).json() == {"kept": True}
    assert ada.get(f"/study/at{here}&item={item['id']}").json()["draft"]["seconds"] == 9
    total = desk["progress"]["total"]
    coming = ada.get(f"/study/at{here}&ahead=20").json()["ahead"]
    assert len(coming) == total - 1
    for number in range(total):
        sent |= {"item": desk["item"]["id"], "answer": told.answer(desk["item"], number)}
        saved = ada.post("/study/save", json={**sent, "token": f"token-{number:03}"}).json()
        assert saved["saved"] == {"revision": 1, "repeated": False, "overtook": False, "unsure": False}
        desk = saved["desk"]
        # What was sent before is the item as it comes, and nothing else of it.
        assert desk["item"] == (coming[number]["item"] if number < total - 1 else None)
    assert desk["item"] is None and desk["progress"]["done"] == total
    for path in ("all", f"one{here}", f"results{here}", f"{told.path}{here}", f"export{here}&form=csv"):
        assert ada.get(f"/studies/{path}").status_code == 403

    olga = visit("researcher", "Olga")
    one = olga.get(f"/studies/one{here}").json()
    assert (one["study"]["kind"], one["queue"]) == (kind, {"open": 0, "decided": 0})
    assert one["people"][0]["done"] == total and all(row in one["study"]["source"] for row in told.source)
    found = olga.get(f"/studies/results{here}").json()
    assert [tuple(row.values())[:len(told.rows[0])] for row in found["rows"]] == told.rows
    assert olga.get(f"/studies/{told.path}{here}").json() == found
    for form, table, ending in (("csv", "judgements", "judgements.csv"), ("parquet", told.table, ".parquet"),
                                ("results", "judgements", "results.json")):
        answer = olga.get(f"/studies/export{here}&form={form}&table={table}")
        assert answer.status_code == 200 and ending in answer.headers["content-disposition"]
    assert answer.json()["study"] == study.name
    assert f"exported as {told.forms};" in olga.get(f"/studies/export{here}&form=mbeir").json()["problem"]
    # No rule says what needs a decision; closing and opening work as for every study.
    make_study(store, tmp_path, name="Other")
    assert [it["name"] for it in olga.get("/adjudicate/studies").json()["studies"]] == ["Other"]
    assert olga.get(f"/adjudicate/queue{here}").json()["cases"] == []
    for path, accepting in (("close", False), ("open", True)):
        assert olga.post(f"/studies/{path}", json={"study": study.name}).json()["study"]["accepting"] is accepting
    if kind == "targets":
        names = zipfile.ZipFile(io.BytesIO(olga.get(f"/studies/export{here}&form=soft").content)).namelist()
        assert "NOTES.txt" in names and any(name.endswith("_multi_target_selection.json") for name in names)


def test_a_kind_of_which_no_code_knows_the_name(
    store: SqlStudyStore, visit: Open, services: Any, tmp_path: Path, gallery: Gallery, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(KINDS, "poems", replace(KINDS["targets"], one="poem", many="poems"))
    services.studies = StudyService(store, {name: kind.answers for name, kind in KINDS.items()})
    here = f"?study={make_target_study(store, tmp_path, gallery).name}"
    with store.engine.begin() as connection:
        connection.execute(update(tables.studies).values(kind="poems"))
    olga = visit("researcher")
    for path in ("studies/all", f"studies/one{here}", f"studies/results{here}", f"studies/export{here}&form=csv",
                 f"study/rubric{here}", "adjudicate/studies"):
        assert olga.get(path).status_code == 200, path
    assert olga.get("studies/all").json()["studies"][0]["kind"] == "poems"
    assert olga.post("study/join", json={"study": here.partition("=")[2]}).json()["item"]["candidates"]
