"""The studies and the adjudication screens' calls: who may, what is in the answers, files to download."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.hp_fashioniq import import_hp_study
from annotation.kinds.table import KINDS
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.circus import read_circus_users
from annotation.kinds.validity.create import import_circus_study
from annotation.kinds.validity.exports.study_files import FORMS, TABLES, study_files
from annotation.kinds.validity.labels import LabelRule
from annotation.records import PlannedAssignment, Role, Study
from annotation.studies.service import StudyService
from annotation.tables import as_zip
from cir_core.datasets.readers.hp_fashioniq import Question, ShownSet, write_questions
from cir_core.errors import StudyError
from storage.studies.store import SqlStudyStore
from tests.fakes.preferences import a_check, a_judgement, a_study, an_answer, an_item, keep, seats_of
from tests.fakes.studies import flagged, make_study, valid
from web.http.json_api import disposition, file_stem

ODD = 'études/../"größe" ملابس 👗\x07<b>'
MARKERS = ("composition_required", "unresolved", "picture-0", "marker-dataset", "q-marker")
BROAD = flagged("QUERY_TOO_BROAD")
Open = Callable[..., TestClient]


@pytest.fixture
def study(store: SqlStudyStore, tmp_path: Path) -> Study:
    """Of four items the first is valid to both, the second a tie, the third not valid; the fourth is open."""
    made = make_study(store, tmp_path, name=ODD, items=4, seats=2, overlap=2, pictures=4, panel=2,
                      strata=("composition_required", "unresolved"),
                      hidden={"dataset": "marker-dataset", "query_id": "q-marker"})
    service = StudyService(store, {"validity": Validity()})
    items = store.items(made.study_id)
    for who, answers in (("Ada", (valid(note="=1+1"), valid(), BROAD)), ("Bea", (valid(), BROAD, BROAD))):
        service.join(made.study_id, who)
        for item, answer in zip(items, answers, strict=False):
            service.save(made.study_id, who, item.item_id, answer, f"{who}-{item.item_id}", seconds=30)
    return made


READS = ("studies/all", "studies/one", "studies/counts", "studies/results", "studies/export", "studies/plan")
CHANGES = ("studies/close", "studies/open", "studies/release")
ADJUDICATES = ("adjudicate/studies", "adjudicate/queue", "adjudicate/case")


@pytest.mark.parametrize(("role", "reads", "changes", "adjudicates"), [
    ("admin", True, True, True), ("researcher", True, True, True), ("analyst", True, False, False),
    ("annotator", False, False, False), (None, False, False, False),
])
def test_who_may_do_what(
    visit: Open, study: Study, store: SqlStudyStore, role: Role | None, reads: bool, changes: bool, adjudicates: bool,
) -> None:
    client = visit(role)
    refused = 401 if role is None else 403
    item = store.items(study.study_id)[1].item_id
    about = {"study": study.name, "item": item, "form": "csv", "people": "2", "items": "4"}
    for paths, allowed in ((READS, reads), (ADJUDICATES, adjudicates)):
        for path in paths:
            assert client.get(path, params=about).status_code == (200 if allowed else refused), path
    for path in CHANGES:
        answer = client.post(path, json={"study": study.name} | ({"annotator": "Ada"} if "release" in path else {}))
        assert answer.status_code == (200 if changes else refused), path
    if not changes:
        assert store.study(study.study_id).accepting and answer.json()["kind"] in ("forbidden", "signed-out")
    sent = {"study": study.name, "item": item, "answer": BROAD, "reason": "too many", "token": "token-01"}
    assert client.post("adjudicate/decide", json=sent).status_code == (200 if adjudicates else refused)
    assert bool(store.decisions(study.study_id)) == adjudicates


def test_a_person_is_known_however_their_name_is_written(visit: Open, study: Study, store: SqlStudyStore) -> None:
    composed, decomposed = "J\u00fcrgen", "Ju\u0308rgen"
    StudyService(store, {"validity": Validity()}).join(study.study_id, decomposed)
    manager = visit("researcher", composed)
    assert manager.get("studies/one", params={"study": study.name}).json()["you_judge"]
    assert manager.post("studies/release", json={"study": study.name, "annotator": composed}).status_code == 200
    assert not visit("researcher").get("studies/one", params={"study": study.name}).json()["you_judge"]


def test_a_page_that_somebody_else_opened_decides_nothing(visit: Open, study: Study, store: SqlStudyStore) -> None:
    """Petra has signed in, in another tab, since Olga opened the page."""
    item = store.items(study.study_id)[1].item_id
    about, opener = {"study": study.name, "item": item}, {"x-cirque-person": "Olga"}
    sent = {**about, "answer": BROAD, "reason": "too many", "token": "token-01"}
    petra = visit("researcher", "Petra")
    answers = [*(petra.get(path, params=about, headers=opener) for path in ADJUDICATES),
               petra.post("adjudicate/decide", json=sent, headers=opener),
               petra.post("studies/close", json={"study": study.name}, headers=opener)]
    assert {(answer.status_code, answer.json()["kind"]) for answer in answers} == {(403, "forbidden")}
    assert "opened by Olga, but you are now signed in as Petra" in answers[0].json()["problem"]
    assert not store.decisions(study.study_id) and store.study(study.study_id).accepting
    assert visit("researcher", "Olga").post("adjudicate/decide", json=sent, headers=opener).status_code == 200


def test_a_change_must_say_that_it_is_json(visit: Open, study: Study, store: SqlStudyStore) -> None:
    answer = visit("admin").post("studies/close", content=json.dumps({"study": study.name}))
    assert answer.status_code == 400 and store.study(study.study_id).accepting
    for path in ("studies/close", "adjudicate/decide"):
        assert visit("admin").post(path, json={"study": study.name, "more": 1}).status_code == 400


def test_an_adjudicator_sees_nobody_s_name_and_nothing_hidden(visit: Open, study: Study) -> None:
    client = visit("researcher")
    queue = client.get("adjudicate/queue", params={"study": study.name})
    (case,) = queue.json()["cases"]
    assert case["why"] is None and queue.json()["counts"] == {"open": 1, "decided": 0}
    about = {"study": study.name, "item": case["item"]}
    blind = client.get("adjudicate/case", params=about)
    assert blind.json().keys() == {"item", "number", "decided", "first"} and blind.json()["first"] is None
    before = client.post("adjudicate/answer", json={**about, "answer": valid()})
    assert before.json() == client.get("adjudicate/case", params=about).json() and before.json()["why"] == "tie"
    sent = {**about, "answer": BROAD, "reason": "too many", "token": "token-01", "seen_revision": 0}
    decided = client.post("adjudicate/decide", json=sent)
    assert decided.json() == {"decision": {"answer": BROAD, "reason": "too many", "revision": 1, "by_you": True},
                              "overtook": False}
    for who, changes in (("Olga", {"reason": "far too many"}), ("Olga", {"answer": valid()}), ("Petra", {})):
        other = visit("researcher", who).post("adjudicate/decide", json=sent | changes)
        assert (other.status_code, other.json()["kind"]) == (409, "token")
        assert "another decision on this item. Send a new token" in other.json()["problem"]
    again = visit("researcher", "Petra").post("adjudicate/decide", json=sent | {"token": "token-02"})
    assert again.json()["decision"]["revision"] == 2 and again.json()["overtook"] is True
    client.post("adjudicate/decide", json=sent | {"token": "token-03", "seen_revision": 2})
    after = visit("researcher", "Petra").get("adjudicate/case", params=about)
    assert after.json()["decision"]["by_you"] is False
    for answer in (queue, blind, before, decided, after):
        assert answer.headers["cache-control"] == "no-store"
        assert not any(word in answer.text for word in ("Ada", "Bea", "Olga", *MARKERS)), answer.text
    shown = before.json()
    assert set(shown["item"]) == {"id", "position", "text", "reference", "target", "panel"}
    assert [it["label"] for it in shown["judgements"]] == ["Judge A", "Judge B"] and not shown["judged_by_you"]
    ada = visit("researcher", "ada").post("adjudicate/answer", json={**about, "answer": valid()})
    assert ada.json()["judged_by_you"]


def test_one_study_its_people_and_its_counts(visit: Open, study: Study) -> None:
    client = visit("analyst", "Anna")
    about = {"study": study.name.upper()}   # names are compared without regard to case
    one = client.get("studies/one", params=about).json()
    assert [(it["name"], it["done"], it["total"], it["median_seconds"]) for it in one["people"]] == [
        ("Ada", 3, 4, 30.0), ("Bea", 3, 4, 30.0)]
    assert one["queue"] == {"open": 1, "decided": 0} and one["you_judge"] is False
    counts = client.get("studies/counts", params=about).json()
    assert counts["counts"] == one["study"]["counts"] and counts["counts"]["done"] == 6 and counts["accepting"]
    assert visit("admin", "bea").get("studies/one", params=about).json()["you_judge"]
    assert not any(word in json.dumps(one) for word in MARKERS)   # results are asked for on their own


def test_results_are_table_2_by_either_rule(visit: Open, study: Study) -> None:
    client = visit("analyst")
    found = client.get("studies/results", params={"study": study.name}).json()
    # Items 0 and 2 require composition: one valid. Items 1 and 3 are unresolved: a tie, and one not judged.
    (row,) = found["rows"]
    assert (row["dataset"], row["audited_required"], row["validated_solved"], row["audited_unresolved"],
            row["validated_unsolved"], row["validated"]) == ("marker-dataset", 2, 1, 2, 0, 1)
    assert (row["undecided"], row["unlabelled"], row["primary"]["QUERY_TOO_BROAD"]) == (1, 1, 1)
    assert [it["code"] for it in found["categories"]][:2] == ["VALIDATED", "INVALID_TARGET_IMAGE"]
    kept = client.get("studies/results", params={"study": study.name, "rule": "single_kept"}).json()
    assert kept["total"]["validated_unsolved"] == 1 and kept["total"]["undecided"] == 0   # Ada's seat comes first
    wrong = client.get("studies/results", params={"study": study.name, "rule": "loudest"})
    assert wrong.status_code == 400 and "majority, single_kept" in wrong.json()["problem"]


def test_closing_opening_and_handing_on(visit: Open, study: Study, store: SqlStudyStore) -> None:
    client = visit("researcher")
    assert client.post("studies/close", json={"study": study.name}).json()["study"]["accepting"] is False
    assert client.post("studies/open", json={"study": study.name}).json()["study"]["accepting"] is True
    released = client.post("studies/release", json={"study": study.name, "annotator": "bea"})
    assert released.json() == {"released": 1, "block": 0, "freed": False}
    StudyService(store, {"validity": Validity()}).join(study.study_id, "Cem")   # has a seat of all that is open
    released = client.post("studies/release", json={"study": study.name, "annotator": "Cem"}).json()
    assert released == {"released": ANY, "block": 0, "freed": True} and released["released"] > 0
    assert [seat.annotator for seat in store.seats(study.study_id)] == ["Ada", "Bea", None]
    for nobody in ("Zoe", "", None, 7):
        assert client.post("studies/release", json={"study": study.name, "annotator": nobody}).status_code == 400
    for unknown in ("nosuch", "", 7, None, "x" * 300):
        assert client.post("studies/close", json={"study": unknown}).status_code == 404
        assert client.get("studies/one", params={"study": str(unknown)}).status_code == 404


def test_an_imported_study_cannot_be_opened(visit: Open, store: SqlStudyStore, tmp_path: Path) -> None:
    circus, hp = tmp_path / "annotator_01.json", tmp_path / "hpfiq.json"
    circus.write_text(json.dumps({"username": "a", "assignments": [
        {"assignment_id": "cirr::5", "dataset": "cirr", "query_idx": 5, "annotation": {"validated": True}}]}))
    import_circus_study(store, "Circus", read_circus_users([circus]), created_by="local")
    sets = ShownSet(("B", "C", "D", "E", "F"), 4), ShownSet(("G", "H", "I", "J", "K"), 2)
    write_questions(hp, [Question("user_1", "question_set_1", 0, "A", "B", "shirt", "is blue", sets, 1)])
    import_hp_study(store, "HP", hp, created_by="local")
    for name in ("Circus", "HP"):
        answer = visit("admin").post("studies/open", json={"study": name})
        assert answer.status_code == 400 and f"{name} was imported" in answer.json()["problem"]
        assert not store.study(name).accepting
        assert visit("admin").post("studies/close", json={"study": name}).status_code == 200
        seats = store.seats(store.study(name).study_id)
        released = visit("admin").post("studies/release", json={"study": name, "annotator": seats[0].annotator})
        assert released.status_code == 400 and store.seats(store.study(name).study_id) == seats
        service = StudyService(store, {"validity": Validity(), "preference": Preference()})
        assert seats[0].annotator and service.assigned_studies(seats[0].annotator) == []
        with pytest.raises(StudyError, match=f"{name} was imported"):
            service.workspace(name, seats[0].annotator)


def test_the_plan_of_a_study_that_is_not_there_yet(visit: Open) -> None:
    client = visit("researcher")
    asked = {"people": "4", "items": "100", "overlap": "2", "block": "20", "seconds": "60"}
    plan = client.get("studies/plan", params=asked).json()
    # 80 items by two people each and 20 by all four: 240 judgements of a minute, 60 for each.
    assert (plan["judgements"], plan["items_per_person"], plan["hours_total"]) == (240, 60, 4.0)
    for wrong in ({"people": "many"}, {"items": "-3"}, {"overlap": "9"}, {"seconds": ""}, {"people": "12345678"}):
        answer = client.get("studies/plan", params=asked | wrong)
        assert answer.status_code == 400 and answer.json()["problem"].endswith("."), wrong


def test_exports_hold_what_was_judged(visit: Open, study: Study, store: SqlStudyStore) -> None:
    client = visit("analyst")

    def fetch(form: str, **more: str) -> bytes:
        answer = client.get("studies/export", params={"study": study.study_id, "form": form, **more})
        assert answer.status_code == 200 and answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        return answer.content

    with zipfile.ZipFile(io.BytesIO(fetch("circus"))) as archive:
        assert sorted(archive.namelist()) == ["Ada.json", "Bea.json"]
        ada = json.loads(archive.read("Ada.json"))
    verdicts = {it["assignment_id"]: (it["annotation"] or {}).get("validated") for it in ada["assignments"]}
    assert [verdicts[f"sample::{number}"] for number in range(3)] == [True, True, False]

    with zipfile.ZipFile(io.BytesIO(fetch("mbeir"))) as archive:
        trace, = map(json.loads, archive.read("all_validated_queries.jsonl").splitlines())
    assert (trace["dataset"], trace["query_idx"], trace["validated"]) == ("marker-dataset", 0, True)

    table = fetch("csv").decode("utf-8-sig")
    assert table.count("\n") == 7 and "'=1+1" in table    # a header and six judgements; no formula
    assert fetch("csv", table="items").decode("utf-8-sig").count("\n") == 5
    rows = pq.read_table(io.BytesIO(fetch("parquet", table="items"))).to_pylist()
    assert [row["by"] for row in rows] == ["majority", "undecided", "majority", "none"]

    sent = {"study": study.name, "item": store.items(study.study_id)[1].item_id, "answer": valid(),
            "reason": "one can tell", "token": "token-01"}
    assert visit("admin").post("adjudicate/decide", json=sent).status_code == 200
    rows = pq.read_table(io.BytesIO(fetch("parquet", table="items"))).to_pylist()
    assert (rows[1]["validated"], rows[1]["by"], rows[1]["decision_reason"]) == (True, "adjudicated", "one can tell")
    for wrong in ({"form": "xlsx"}, {"form": "csv", "table": "people"}, {"form": "csv", "rule": "x"}):
        assert client.get("studies/export", params={"study": study.name} | wrong).status_code == 400


def test_a_validated_subset_without_a_query_is_said(visit: Open, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path, name="Empty", items=2, pictures=4, panel=1)
    answer = visit("analyst").get("studies/export", params={"study": "Empty", "form": "mbeir"})
    assert answer.status_code == 400 and "valid so far" in answer.json()["problem"]


def test_annotators_files_that_nobody_has_are_said(visit: Open, store: SqlStudyStore, tmp_path: Path) -> None:
    made = make_study(store, tmp_path, name="Empty", items=2, pictures=4, panel=1)
    with pytest.raises(StudyError, match="Nobody has joined 'Empty' yet"):   # and so says the command
        study_files(store, made, "circus")
    answer = visit("analyst").get("studies/export", params={"study": "Empty", "form": "circus"})
    assert answer.status_code == 400 and "Nobody has joined 'Empty' yet" in answer.json()["problem"]


@pytest.mark.parametrize("rule", ["majority", "single_kept"])
def test_a_download_is_what_the_command_writes(
    visit: Open, study: Study, store: SqlStudyStore, rule: LabelRule,
) -> None:
    def fetch(form: str, table: str = "judgements") -> bytes:
        about = {"study": study.study_id, "form": form, "table": table, "rule": rule}
        answer = visit("analyst").get("studies/export", params=about)
        assert answer.status_code == 200, answer.text
        return answer.content

    for form in FORMS:
        files, notes = study_files(store, study, form, rule)
        if form in ("circus", "mbeir"):
            assert fetch(form) == as_zip(files) and not notes
        elif form == "results":
            assert fetch(form) == files["results.json"] and json.loads(fetch(form))["rule"] == rule
        else:
            assert {f"{table}.{form}": fetch(form, table) for table in TABLES} == files


def test_file_names_of_odd_studies(visit: Open, study: Study) -> None:
    answer = visit("analyst").get("studies/export", params={"study": study.name, "form": "csv"})
    header = answer.headers["content-disposition"]
    plain, encoded = header.split("; ")[1:]
    assert plain == 'filename="etudes .. groe b judgements.csv"'
    assert unquote(encoded.removeprefix("filename*=UTF-8''")) == "études .. größe ملابس 👗 b judgements.csv"


@pytest.mark.parametrize(("name", "stem"), [
    ("...", "study"), ("", "study"), ("a/b\\c:d", "a b c d"), ("con\r\nSet-Cookie: x", "con Set-Cookie x"),
    ("x" * 200, "x" * 80), (" . hidden", "hidden"), ("a\u202egpj.exe", "a gpj.exe"),
])
def test_a_stem_that_every_file_system_takes(name: str, stem: str) -> None:
    assert file_stem(name) == stem
    header = disposition(file_stem(name))
    assert header.isascii() and header.isprintable() and header.count('"') == 2


# --- quality ---------------------------------------------------------------------------------

FLAGGED = an_answer(1, 2, 2, irrelevant={"image": False, "text": True})
# Ada prefers the set that stood first in all three, flags the last; Bea answers one of hers, against her ratings.
JUDGEMENTS = [
    a_judgement(0, "Ada", an_answer(4, 2, 1)), a_judgement(1, "Ada", an_answer(4, 2, 1)),
    a_judgement(2, "Ada", FLAGGED | {"first": 2}), a_judgement(0, "Bea", an_answer(5, 1, 2, first=1)),
]


@pytest.fixture
def survey(store: SqlStudyStore) -> Study:
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
def test_who_may_see_the_quality(visit: Open, survey: Study, role: Role | None, reads: int, changes: int) -> None:
    client = visit(role)
    for path in ("studies/quality", "studies/methods", "studies/one", "studies/export"):
        answer = client.get(path, params={"study": survey.name, "form": "csv"})
        assert answer.status_code == reads, path
        if reads != 200:
            assert "slerp" not in answer.text
    assert client.post("studies/rules", json={"study": survey.name, "rules": []}).status_code == changes


def test_how_people_answered_and_what_a_rule_takes_out(visit: Open, survey: Study) -> None:
    client = visit("analyst")
    found = client.get("studies/quality", params={"study": survey.name}).json()
    ada, bea = found["people"]
    assert (ada["name"], ada["answers"], ada["checks"], ada["failed_checks"], ada["median_seconds"]) == (
        "Ada", 3, 2, 1, 10.0)
    assert (ada["first_side"]["count"], ada["first_side"]["n"], ada["flagged"], ada["left"]) == (3, 3, 1, 3)
    assert (bea["contradictions"], bea["contradictable"], bea["agreement"], bea["shared"]) == (1, 1, 0.0, 1)
    assert (found["rules"], found["removed"], found["answers"], found["left"]) == ([], [], 4, 4)
    assert found["sides"]["first"]["count"] == 3 and found["sides"]["first"]["n"] == 4

    rules = {"study": survey.name, "rules": "irrelevant,one-side=0.9"}
    found = client.get("studies/quality", params=rules).json()
    # One side: Ada's three of three, and Bea's one of one, the second.
    assert found["removed"] == [{"rule": "irrelevant", "answers": 1, "people": []},
                                {"rule": "one-side", "answers": 4, "people": ["Ada", "Bea"]}]
    assert (found["together"], found["left"], found["kept_rules"]) == ({"answers": 4, "people": ["Ada", "Bea"]}, 0, [])
    assert [one["left"] for one in found["people"]] == [0, 0]
    for wrong in ("loudest", "one-side=3", "irrelevant=1"):
        answer = client.get("studies/quality", params={"study": survey.name, "rules": wrong})
        assert answer.status_code == 400 and "rule" in answer.json()["problem"]


def test_rules_are_kept_and_followed(visit: Open, survey: Study, store: SqlStudyStore) -> None:
    client = visit("researcher")
    sent = {"study": survey.name, "rules": ["irrelevant", "median-seconds=2.5"]}
    assert client.post("studies/rules", json=sent).json() == {"rules": ["irrelevant", "median-seconds=2.5"]}
    kept = store.study(survey.study_id).settings
    assert kept["exclude"] == {"irrelevant": True, "median_seconds": 2.5} and kept["set_names"] == ["Mall 1", "Mall 2"]
    found = client.get("studies/quality", params={"study": survey.name}).json()
    assert found["rules"] == found["kept_rules"] == ["irrelevant", "median-seconds=2.5"] and found["left"] == 3
    without = client.get("studies/quality", params={"study": survey.name, "rules": "none"}).json()
    assert (without["rules"], without["left"]) == ([], 4)
    # Methods: text's only other preference is Bea's.
    methods = client.get("studies/methods", params={"study": survey.name}).json()
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
        answer = client.post("studies/rules", json={"study": survey.name, "rules": wrong})
        assert answer.status_code == 400, wrong
    assert store.study(survey.study_id).settings == kept


def test_the_studies_screen_shows_it(visit: Open, survey: Study) -> None:
    client = visit("admin", "Bea")
    one = client.get("studies/one", params={"study": survey.name}).json()
    assert one["you_judge"] and one["queue"] == {"open": 0, "decided": 0}
    assert (one["study"]["kind"], one["study"]["survey"]["set_names"], one["study"]["survey"]["consent"]) == (
        "preference", ["Mall 1", "Mall 2"], True)
    assert [(it["name"], it["done"], it["open"]) for it in one["people"]] == [("Ada", 3, 0), ("Bea", 1, 0)]
    assert client.get("studies/results", params={"study": survey.name}).status_code == 400
    assert client.post("studies/close", json={"study": survey.name}).json()["study"]["accepting"] is False


def test_files_to_download(visit: Open, survey: Study) -> None:
    client = visit("analyst")

    def fetch(form: str) -> Any:
        answer = client.get("studies/export", params={"study": survey.name, "form": form})
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
    visit("admin").post("studies/rules", json={"study": survey.name, "rules": ["irrelevant"]})
    with zipfile.ZipFile(io.BytesIO(fetch("preferences").content)) as archive:
        assert "exclude 1 of 4 answers" in archive.read("NOTES.txt").decode()
        assert len(archive.read("preferences.jsonl").splitlines()) == 3
    refused = client.get("studies/export", params={"study": survey.name, "form": "circus"})
    assert refused.status_code == 400 and "hp-fashioniq" in refused.json()["problem"]


def test_other_kinds_have_quality_and_rules_but_no_methods(
    visit: Open, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """Ada gives the same answer five times in 10 s each; Bea two different ones in 2 s each."""
    study, admin = make_study(store, tmp_path, name="Validity", items=5, seats=2, overlap=2), visit("admin")
    service = StudyService(store, {name: kind.answers for name, kind in KINDS.items()})
    for name, seconds, answers in (("Ada", 10, [valid()] * 5), ("Bea", 2, [valid(), flagged("QUERY_TOO_BROAD")])):
        workspace = service.join("Validity", name)
        for number, answer in enumerate(answers):
            assert workspace.item is not None
            _, workspace = service.save("Validity", name, workspace.item.item_id, answer, f"{name}-token-{number}",
                                        seconds=seconds)
    here = {"study": "Validity"}
    found = admin.get("studies/quality", params=here).json()
    assert [(one["name"], one["answers"], one["longest_run"], one["median_seconds"], one["gold"])
            for one in found["people"]] == [("Ada", 5, 5, 10, None), ("Bea", 2, 1, 2, None)]
    assert found["sides"] == {} and found["left"] == 7
    for rules, left in (("straight-lining=5", 2), ("median-seconds=5", 5), ("gold=0.5", 7), ("contradictions=0.1", 7)):
        assert admin.get("studies/quality", params=here | {"rules": rules}).json()["left"] == left
    # A rule that is saved with the study holds for its results and exports.
    admin.post("studies/rules", json=here | {"rules": ["median-seconds=5"]})
    table = admin.get("studies/export", params=here | {"form": "csv", "table": "judgements"}).text
    assert "Ada" in table and "Bea" not in table
    assert len(store.judgements(study.study_id)) == 7
    answer = admin.get("studies/methods", params=here)
    assert answer.status_code == 400 and "validity study" in answer.json()["problem"]
    assert visit("admin").get("studies/quality", params={"study": "nosuch"}).status_code == 404
