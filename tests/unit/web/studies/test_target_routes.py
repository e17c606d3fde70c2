"""Target studies over HTTP: marking as an annotator, counts and files for those who may see them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotation.records import Study
from cir_core.gallery.gallery import Gallery
from storage.studies.store import SqlStudyStore
from tests.fakes.target_studies import all_marked, make_target_study

Open = Callable[..., TestClient]
HERE = "?study=Which fit"


@pytest.fixture
def study(store: SqlStudyStore, tmp_path: Path, gallery: Gallery) -> Study:
    return make_target_study(store, tmp_path, gallery, count=2, seats=1)


def tokens(desk: dict[str, Any]) -> list[str]:
    return [one["token"] for one in desk["item"]["candidates"]]


def test_an_annotator_marks_and_others_see_what_came_of_it(study: Study, visit: Open) -> None:
    ada = visit("annotator", "Ada")
    assert ada.get(f"/study/rubric{HERE}").json()["marks"] == ["yes", "no", "unsure"]
    desk = ada.post("/study/join", json={"study": study.name}).json()
    shown = desk["item"]["candidates"]
    assert desk["ahead"][0]["images"][0].endswith("-l.webp") and desk["ahead"][0]["images"][1].endswith("-s.webp")
    assert ada.get("/" + shown[0]["small"]).headers["content-type"] == "image/webp"
    assert visit("annotator", "Eve").get("/" + shown[0]["small"]).status_code == 404
    lacking = ada.post("/study/save", json={"study": study.name, "item": desk["item"]["id"], "token": "token-lack",
                                            "answer": all_marked(tokens(desk)[1:])})
    assert lacking.status_code >= 400 and "1 image has no mark yet" in lacking.json()["problem"]
    for number in range(4):
        sent = {"study": study.name, "item": desk["item"]["id"], "token": f"token-{number:03}", "seconds": 9,
                "answer": all_marked(tokens(desk), ["yes", "no", "yes", "unsure"][number])}
        told = ada.post("/study/save", json=sent).json()
        assert told["saved"] == {"revision": 1, "repeated": False, "overtook": False, "unsure": False}
        desk = told["desk"]
    assert desk["item"] is None
    assert ada.get(f"/studies/targets{HERE}").status_code == 403

    boss = visit("researcher", "Boss")
    about = boss.get(f"/studies/one{HERE}").json()["study"]
    assert about["source"] == [["Files", "dress, shirt"], ["Gallery", "colours"], ["Threshold", "0.85"]]
    found = boss.get(f"/studies/targets{HERE}").json()
    assert found["threshold"] == 0.85 and [row["dataset"] for row in found["rows"]] == ["dress", "shirt", None]
    assert found["rows"][-1]["marked"] == found["rows"][-1]["queries"] == 4
    got = boss.get(f"/studies/export{HERE}&form=soft")
    assert got.headers["content-type"] == "application/zip"
    names = zipfile.ZipFile(io.BytesIO(got.content)).namelist()
    assert "NOTES.txt" in names and any(name.endswith("_multi_target_selection.json") for name in names)
    assert boss.get(f"/studies/export{HERE}&form=csv&table=images").text.count("\n") > 4
    assert "exported as csv, parquet, results, soft" in boss.get(f"/studies/export{HERE}&form=circus").json()["problem"]
    assert boss.get(f"/studies/results{HERE}").json() == found
