"""Calls by which programs manage studies: made as the plain routes and tools make them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.kinds.validity.answers import Validity
from annotation.studies.guidelines import text_of
from annotation.studies.protocols import own_text
from annotation.studies.service import StudyService
from storage.studies.store import SqlStudyStore
from tests.fakes.colours import colour_gallery
from tests.fakes.databases import study_store as study_store
from tests.fakes.signed_in import SignedIn
from tests.fakes.studies import make_study, valid
from tests.fakes.target_studies import OWN_MARKS
from web.http.call_routes import call_routes
from web.http.calls import Caller
from web.studies.managing import managing_calls

PAIRS = [{"text": f"more {number}", "reference": "r0g0b0", "target": f"r{number}g0b0"} for number in range(4)]
TABLES: dict[str, list[dict[str, Any]]] = {
    "validity": PAIRS,
    "sessions": [{"session": "s", "turn": 1, **PAIRS[1]}, {"session": "s", "turn": 2, **PAIRS[1]}],
    "preference": [{"id": str(number), "text": "in blue", "reference": "r0g0b0",
                    "results one": [f"r1g{place}b{number}" for place in range(4)] + ["r3g3b3"],
                    "results two": [f"r2g{place}b{number}" for place in range(4)] + ["r3g3b3"]} for number in range(3)],
    "targets": [{"id": "1", "text": "in blue", "reference": "r0g0b0", "candidates": ["r0g0b1", "r0g0b2"]}],
}


@pytest.fixture
def visit(store: SqlStudyStore, tmp_path: Path) -> Any:
    colour_gallery(tmp_path)
    services: Any = SimpleNamespace(study_store=store, settings=SimpleNamespace(
        home=tmp_path / "home", seed=7, max_image_megapixels=64.0))
    images: Any = None   # no call takes one
    caller = Caller(managing_calls(services), images)

    def client(role: str) -> TestClient:
        app = FastAPI()
        app.include_router(call_routes(caller))
        app.add_middleware(SignedIn, role=role)
        return TestClient(app, headers={"x-test-name": "Olga"})

    return client


def created(client: TestClient, **given: Any) -> Any:
    return client.post("/api/create_study", json={"name": "Made", "gallery": "colours", **given})


@pytest.mark.parametrize("kind", TABLES)
def test_a_study_of_each_kind_is_made_of_rows_and_opened(visit: Any, store: SqlStudyStore, kind: str) -> None:
    program = visit("researcher")
    made = created(program, kind=kind, rows=TABLES[kind], guidelines="Look *twice*.")
    assert made.status_code == 200, made.text
    study = store.study("Made")
    assert made.json()["items"] == len(store.items(study.study_id)) and made.json()["study"] == "Made"
    assert (study.kind, study.accepting, study.created_by, text_of(study)) == (kind, False, "Olga", "Look *twice*.")
    for accepting in (True, False):
        answer = program.post("/api/open_study", json={"study": "made", "accepting": accepting})
        assert answer.json() == {"study": "Made", "accepting": accepting}
        assert store.study("Made").accepting is accepting


def test_columns_design_and_questions_are_as_given(visit: Any, store: SqlStudyStore) -> None:
    rows = [{"what": "in blue", "from": "r0g0b0", "any": ["r0g0b1", "r0g0b2"]}]
    made = created(visit("admin"), kind="targets", rows=rows, questions=OWN_MARKS, accepting=True, design={"people": 3},
                   columns={"text": ["what"], "reference": ["from"], "candidates": ["any"]})
    assert made.status_code == 200, made.text
    study = store.study("Made")
    assert study.accepting and study.plan.seats == 3 and own_text(study) == OWN_MARKS


@pytest.mark.parametrize(("given", "status", "problem"), [
    ({"kind": "verdicts"}, 400, "There is no kind of study 'verdicts'. There are: validity"),
    ({"gallery": "nowhere"}, 400, "nowhere"),
    ({"rows": []}, 400, "rows.json"),
    ({"rows": [{"text": "in red"}]}, 400, "no column for reference"),
    ({"rows": [{**PAIRS[0], "target": "r9g9b9"}]}, 400, "r9g9b9"),
    ({"design": {"speed": 1}}, 400, "no design field 'speed'"),
    ({"design": {"people": 0}}, 400, "must be a whole number from 1"),
    ({"questions": "protocol = "}, 400, "questions is not valid TOML"),
    ({"guidelines": "![x](x.png)"}, 400, "x.png"),
    ({"name": ""}, 400, "not a valid study name"),
    ({"rows": "many"}, 422, "“rows” does not fit the call create_study"),
    ({"speed": 1}, 422, "takes no “speed”"),
])
def test_what_cannot_be_made_says_why_and_leaves_nothing(
    visit: Any, store: SqlStudyStore, tmp_path: Path, given: dict[str, Any], status: int, problem: str,
) -> None:
    answer = created(visit("admin"), **{"kind": "validity", "rows": PAIRS, **given})
    assert answer.status_code == status and problem in answer.json()["problem"], answer.text
    assert str(tmp_path) not in answer.text and "(--" not in answer.text
    assert not store.studies() and not list((tmp_path / "home" / "studies").glob("*/*.webp"))


def test_people_and_results_are_read(visit: Any, store: SqlStudyStore, tmp_path: Path) -> None:
    study, reader = make_study(store, tmp_path, name="Judged", items=2, seats=2, overlap=1), visit("analyst")
    service = StudyService(store, {"validity": Validity()})
    item = service.join("Judged", "Ada").item
    assert item is not None
    service.save("Judged", "Ada", item.item_id, valid(), "token-of-ada", seconds=9)
    [listed] = reader.post("/api/list_studies", json={}).json()["studies"]
    assert (listed["name"], listed["items"], listed["assignments"], listed["done"], listed["people"]) == (
        "Judged", 2, 2, 1, 1)
    told = reader.post("/api/study_people", json={"study": study.study_id}).json()
    assert [(one["name"], one["done"], one["total"]) for one in told["people"]] == [("Ada", 1, 1), (None, 0, 1)]
    total = reader.post("/api/study_results", json={"study": "Judged"}).json()["results"]["total"]
    assert (total["validated"], total["audited"], total["unlabelled"]) == (1, 2, 1)
    assert reader.post("/api/study_people", json={"study": "Other"}).status_code == 404


def test_who_may_read_may_not_change_and_who_judges_may_do_neither(visit: Any, store: SqlStudyStore) -> None:
    assert created(visit("analyst"), kind="validity", rows=PAIRS).status_code == 403
    judge = visit("annotator")
    for name in ("list_studies", "study_people", "study_results", "create_study", "open_study"):
        given = {} if name == "list_studies" else {"study": "x"}
        assert judge.post(f"/api/{name}", json=given).status_code == 403, name
    assert not store.studies()
    described = visit("admin").get("/api/openapi.json").json()
    assert described["paths"].keys() == {f"/api/{name}" for name in (
        "list_studies", "study_people", "study_results", "create_study", "open_study")}
