"""What the studies screen asks of preference studies: who may, quality, rules, methods, files to download."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotation.records import PlannedAssignment, Role, Study
from storage.studies.store import SqlStudyStore
from tests.fakes.preferences import a_check, a_judgement, a_study, an_answer, an_item, keep, seats_of
from tests.fakes.studies import make_study

Open = Callable[..., TestClient]
FLAGGED = an_answer(1, 2, 2, irrelevant={"image": False, "text": True})
# Ada prefers the set that stood first in all three, flags the last; Bea answers one of hers, against her ratings.
JUDGEMENTS = [
    a_judgement(0, "Ada", an_answer(4, 2, 1)), a_judgement(1, "Ada", an_answer(4, 2, 1)),
    a_judgement(2, "Ada", FLAGGED | {"first": 2}), a_judgement(0, "Bea", an_answer(5, 1, 2, first=1)),
]


@pytest.fixture
def study(store: SqlStudyStore) -> Study:
    made = a_study(set_names=["Mall 1", "Mall 2"], consent="Agreed.")
    items = [an_item(number) for number in range(3)]
    places = [PlannedAssignment(f"i{number}", 1, number, {"first": 1, "form": 1,
                                                          "reason": False}) for number in range(3)]
    places.append(PlannedAssignment("i0", 2, 0, {"first": 1, "form": 1, "reason": False}))
    keep(store, made, items, places, seats_of("Ada", "Bea"), JUDGEMENTS)
    for event in (a_check("Ada", 1, False), a_check("Ada", 2, True)):
        store.note(event)
    return made


@pytest.mark.parametrize(("role", "reads", "changes"), [
    ("admin", 200, 200), ("researcher", 200, 200), ("analyst", 200, 403), ("annotator", 403, 403), (None, 401, 401),
])
def test_who_may_do_what(visit: Open, study: Study, role: Role | None, reads: int, changes: int) -> None:
    client = visit(role)
    for path in ("studies/quality", "studies/methods", "studies/one", "studies/export"):
        answer = client.get(path, params={"study": study.name, "form": "csv"})
        assert answer.status_code == reads, path
        if reads != 200:
            assert "slerp" not in answer.text
    assert client.post("studies/rules", json={"study": study.name, "rules": []}).status_code == changes


def test_how_people_answered_and_what_a_rule_takes_out(visit: Open, study: Study) -> None:
    client = visit("analyst")
    found = client.get("studies/quality", params={"study": study.name}).json()
    ada, bea = found["people"]
    assert (ada["name"], ada["answers"], ada["checks"], ada["failed_checks"], ada["median_seconds"]) == (
        "Ada", 3, 2, 1, 10.0)
    assert (ada["first_side"]["count"], ada["first_side"]["n"], ada["flagged"], ada["left"]) == (3, 3, 1, 3)
    assert (bea["contradictions"], bea["contradictable"], bea["agreement"], bea["shared"]) == (1, 1, 0.0, 1)
    assert (found["rules"], found["removed"], found["answers"], found["left"]) == ([], [], 4, 4)
    assert found["sides"]["first"]["count"] == 3 and found["sides"]["first"]["n"] == 4

    rules = {"study": study.name, "rules": "irrelevant,one-side=0.9"}
    found = client.get("studies/quality", params=rules).json()
    # One side: Ada's three of three, and Bea's one of one, the second.
    assert found["removed"] == [{"rule": "irrelevant", "answers": 1, "people": []},
                                {"rule": "one-side", "answers": 4, "people": ["Ada", "Bea"]}]
    assert (found["together"], found["left"], found["kept_rules"]) == ({"answers": 4, "people": ["Ada", "Bea"]}, 0, [])
    assert [one["left"] for one in found["people"]] == [0, 0]
    for wrong in ("loudest", "one-side=3", "irrelevant=1"):
        answer = client.get("studies/quality", params={"study": study.name, "rules": wrong})
        assert answer.status_code == 400 and "rule" in answer.json()["problem"]


def test_rules_are_kept_and_followed(visit: Open, study: Study, store: SqlStudyStore) -> None:
    client = visit("researcher")
    sent = {"study": study.name, "rules": ["irrelevant", "median-seconds=2.5"]}
    assert client.post("studies/rules", json=sent).json() == {"rules": ["irrelevant", "median-seconds=2.5"]}
    kept = store.study(study.study_id).settings
    assert kept["exclude"] == {"irrelevant": True, "median_seconds": 2.5} and kept["set_names"] == ["Mall 1", "Mall 2"]
    found = client.get("studies/quality", params={"study": study.name}).json()
    assert found["rules"] == found["kept_rules"] == ["irrelevant", "median-seconds=2.5"] and found["left"] == 3
    without = client.get("studies/quality", params={"study": study.name, "rules": "none"}).json()
    assert (without["rules"], without["left"]) == ([], 4)
    # Methods: text's only other preference is Bea's.
    methods = client.get("studies/methods", params={"study": study.name}).json()
    assert [(one["method"], one["rated"], one["preferred"]["count"]) for one in methods["methods"]] == [
        ("slerp", 3, 2), ("text", 3, 1)]
    (pair,) = methods["pairs"]
    assert pair["first_preferred"]["n"] == 3
    # slerp stood first in all three that are left, and is preferred in Ada's two.
    assert (pair["first_led"], pair["second_led"], pair["adjusted"]) == (3, 0, None)
    assert (pair["first_leading"]["count"], pair["first_leading"]["n"]) == (2, 3)
    assert pair["unadjusted"].endswith("where text was shown first")
    # And so are the sides, of what is left.
    assert (found["sides"]["first"]["n"], without["sides"]["first"]["n"]) == (3, 4)
    for wrong in ("irrelevant", [1], [["irrelevant"]], ["failed-checks"], ["irrelevant"] * 50):
        answer = client.post("studies/rules", json={"study": study.name, "rules": wrong})
        assert answer.status_code == 400, wrong
    assert store.study(study.study_id).settings == kept


def test_the_studies_screen_shows_it(visit: Open, study: Study) -> None:
    client = visit("admin", "Bea")
    one = client.get("studies/one", params={"study": study.name}).json()
    assert one["you_judge"] and one["queue"] == {"open": 0, "decided": 0}
    assert (one["study"]["kind"], one["study"]["survey"]["set_names"], one["study"]["survey"]["consent"]) == (
        "preference", ["Mall 1", "Mall 2"], True)
    assert [(it["name"], it["done"], it["open"]) for it in one["people"]] == [("Ada", 3, 0), ("Bea", 1, 0)]
    assert client.get("studies/results", params={"study": study.name}).status_code == 400
    assert client.post("studies/close", json={"study": study.name}).json()["study"]["accepting"] is False


def test_files_to_download(visit: Open, study: Study) -> None:
    client = visit("analyst")

    def fetch(form: str) -> Any:
        answer = client.get("studies/export", params={"study": study.name, "form": form})
        assert answer.status_code == 200, answer.text
        assert answer.headers["cache-control"] == "no-store"
        return answer

    assert "Shops%20preferences.jsonl" in fetch("preferences").headers["content-disposition"]
    lines = [json.loads(line) for line in fetch("preferences").content.splitlines()]
    assert sorted((line["annotator"], line["chosen_score"], line["rejected_score"]) for line in lines) == [
        ("Ada", 2, 1), ("Ada", 4, 2), ("Ada", 4, 2), ("Bea", 1, 5)]
    with zipfile.ZipFile(io.BytesIO(fetch("csv").content)) as archive:
        assert sorted(archive.namelist()) == [
            "events.csv", "judgements.csv", "people.csv", "sets.csv"]
    with zipfile.ZipFile(io.BytesIO(fetch("parquet").content)) as archive:
        assert sorted(archive.namelist()) == [
            "events.parquet", "judgements.parquet", "people.parquet", "sets.parquet"]
    visit("admin").post("studies/rules", json={"study": study.name, "rules": ["irrelevant"]})
    with zipfile.ZipFile(io.BytesIO(fetch("preferences").content)) as archive:
        assert "exclude 1 of 4 answers" in archive.read("NOTES.txt").decode()
        assert len(archive.read("preferences.jsonl").splitlines()) == 3
    refused = client.get("studies/export", params={"study": study.name, "form": "circus"})
    assert refused.status_code == 400 and "hp-fashioniq" in refused.json()["problem"]


def test_other_kinds_have_no_quality(visit: Open, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path, name="Validity", items=2, pictures=4, panel=1)
    for path in ("studies/quality", "studies/methods"):
        answer = visit("admin").get(path, params={"study": "Validity"})
        assert answer.status_code == 400 and "validity study" in answer.json()["problem"]
    assert visit("admin").get("studies/quality", params={"study": "nosuch"}).status_code == 404
