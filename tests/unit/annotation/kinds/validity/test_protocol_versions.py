"""Versions of a rubric or survey side by side: a study keeps its own, a new one takes the newest."""

from __future__ import annotations

import csv
import inspect
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image

from annotation.analysis.records import Options
from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.survey.texts import load_survey, newest_survey
from annotation.kinds.reports import compose, load_answers, report_file
from annotation.kinds.validity import answers, labels
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.circus import circus_files
from annotation.kinds.validity.create import create_validity_study
from annotation.kinds.validity.exports.study_files import FORMS, study_files
from annotation.kinds.validity.rubric import CIRCUS, Example, as_page, load_rubric, newest_rubric, parse_rubric
from annotation.records import StudyPlan
from annotation.sources import StudyQuery
from annotation.studies.protocols import known_protocols, newest_protocol
from annotation.studies.service import StudyService
from cir_core.errors import IncompleteJudgement, StudyError
from cir_core.types.records import new_id
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import study_store as study_store
from tests.fakes.protocol_versions import NEW_FLAG, raise_versions
from tests.fakes.signed_in import SignedIn
from tests.fakes.studies import flagged, make_preference_study, make_study, rated, solved, valid
from web.http.meter import Meter
from web.http.visitor import StudyMembers
from web.studies.adjudicate import adjudicate_routes
from web.studies.annotate import study_routes
from web.studies.manage import studies_routes

KINDS = {"validity": Validity(), "preference": Preference()}


def page_of(store: SqlStudyStore, home: Path) -> TestClient:
    services: Any = SimpleNamespace(
        studies=StudyService(store, KINDS), study_store=store, study_members=StudyMembers(store),
        settings=SimpleNamespace(home=home, accel_redirect=""), meter=Meter())
    app = FastAPI()
    for routes in (study_routes, studies_routes, adjudicate_routes):
        app.include_router(routes(services))
    app.add_middleware(SignedIn, role="researcher")
    return TestClient(app)


def new_study(store: SqlStudyStore, home: Path, name: str):
    """As ``cirque study create validity`` makes it, of two queries."""
    pictures = home / "pictures"
    pictures.mkdir(exist_ok=True)
    for number in range(4):
        Image.new("RGB", (8, 8), (60 * number, 90, 90)).save(pictures / f"i{number}.png")
    queries = [StudyQuery(f"cirr::{n}", "cirr", n, f"8:{n}", "unresolved", "make it blue", f"i{2 * n}", f"i{2 * n + 1}",
                          (f"i{2 * n + 1}",)) for n in range(2)]
    return create_validity_study(store, home, name, queries, lambda image_id: pictures / f"{image_id}.png",
                                 StudyPlan(1, 1, 0, 3), created_by="local", source={"form": "test"}).study


def test_a_study_of_an_earlier_version_goes_on_and_a_new_one_takes_the_newest(store, tmp_path, monkeypatch):
    old = make_study(store, tmp_path, name="Old", items=4, seats=2, overlap=2)
    raise_versions(tmp_path, monkeypatch)
    new = new_study(store, tmp_path, "New")
    assert (old.protocol, new.protocol) == ("circus/1", "circus/2")
    page = page_of(store, tmp_path)

    def told(path: str, who: str = "Ada", **sent: Any) -> Any:
        headers = {"x-test-name": who}
        answer = page.post(path, json=sent, headers=headers) if sent.get("token") or path == "/study/join" else \
            page.get(path, params=sent, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    # The screen: what is asked, and what it is called.
    asked = {name: told("/study/rubric", study=name) for name in ("Old", "New")}
    assert [asked[name]["protocol"] for name in asked] == ["circus/1", "circus/2"]
    assert [[flag["code"] for flag in asked[name]["flags"]][3] for name in asked] == ["QUERY_TOO_BROAD", NEW_FLAG]
    assert asked["New"]["unsure_after"] == 120, "a study's own settings come before the file's"

    # Judging: each study takes the flags of its own version. On "Old", Ada and Ben disagree on flags.
    both = {"Ada": flagged("QUERY_TOO_BROAD"),
            "Ben": flagged("INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD", reasons=("3a",))}
    for who, answer in both.items():
        workspace = told("/study/join", who, study="Old")
        for number in range(4):
            given = answer if number == 0 else valid()
            item = sorted(it.item_id for it in store.items(old.study_id))[number]
            told("/study/save", who, study="Old", item=item, answer=given, token=f"old-{who}-{number:04}")
        assert workspace["study"]["protocol"] == "circus/1"
    told("/study/join", study="New")
    first, second = (item.item_id for item in store.items(new.study_id))
    told("/study/save", study="New", item=first, answer=flagged("INVALID_TARGET_IMAGE", NEW_FLAG, reasons=("3b",)),
         token="new-ada-0001")
    told("/study/save", study="New", item=second, answer=valid(), token="new-ada-0002")
    service = StudyService(store, KINDS)
    for name, item, flag in (("Old", sorted(it.item_id for it in store.items(old.study_id))[0], NEW_FLAG),
                             ("New", first, "QUERY_TOO_BROAD")):
        with pytest.raises(IncompleteJudgement, match=f"“{flag}” is not one of the rubric's flags"):
            service.save(name, "Ada", item, flagged(flag), "other-version-01")
    protocols = {study.name: {one.protocol for one in store.judgements(study.study_id)} for study in (old, new)}
    assert protocols == {"Old": {"circus/1"}, "New": {"circus/2"}}

    # Severity: in circus/1 the target is worst, in circus/2 the new flag.
    assert [load_rubric(one.protocol).severity[0] for one in (old, new)] == ["INVALID_TARGET_IMAGE", NEW_FLAG]
    found = {name: told("/studies/results", study=name) for name in ("Old", "New")}
    assert NEW_FLAG not in json.dumps(found["Old"]) and "QUERY_TOO_BROAD" not in json.dumps(found["New"])
    for study, worst in ((old, "QUERY_TOO_BROAD"), (new, NEW_FLAG)):
        results = json.loads(study_files(store, study, "results")[0]["results.json"])
        assert results["protocol"] == study.protocol
        assert [label["primary"] for label in results["labels"].values()].count(worst) == 1
        assert set(results["total"]["flags"]) == set(load_rubric(study.protocol).severity)
        table = csv.DictReader(io.StringIO(study_files(store, study, "csv")[0]["judgements.csv"].decode("utf-8-sig")))
        assert {flag.code for flag in load_rubric(study.protocol).flags} <= set(table.fieldnames or ())
        report = report_file(compose(load_answers(store, study), options=Options(draws=0)), "json").decode()
        assert worst in report and ({NEW_FLAG, "QUERY_TOO_BROAD"} - {worst}).pop() not in report
        assert told("/studies/one", study=study.name)["study"]["protocol"] == study.protocol

    # Adjudication: by the study's own flags too.
    [case] = told("/adjudicate/queue", study="Old")["cases"]
    assert case["why"] is None
    decided = told("/adjudicate/decide", study="Old", item=case["item"], answer=flagged("QUERY_TOO_BROAD"),
                   reason="dozens fit", token="decision-0001")
    assert decided["decision"]["answer"]["flags"] == ["QUERY_TOO_BROAD"]
    after = told("/adjudicate/queue", study="Old")
    assert after["counts"]["decided"] == 1 and after["cases"][0]["why"] == "flags"

    # All forms of export; the form of CIRCUS has no place for the new flag, and says so.
    for form in FORMS:
        assert study_files(store, old, form)[0]
    assert all(study_files(store, new, form)[0] for form in FORMS if form != "circus")
    with pytest.raises(StudyError, match=rf"'New' was judged by circus/2, .* flags {NEW_FLAG}\. .*csv or parquet"):
        circus_files(store, new)


def test_surveys_of_two_versions(store, tmp_path, monkeypatch):
    make_preference_study(store, tmp_path, name="Old", questions=4, settings={"check": "none"})
    raise_versions(tmp_path, monkeypatch)
    assert newest_survey().protocol == "hs-fashioniq/2" and newest_rubric().protocol == "circus/2"
    page, service = page_of(store, tmp_path), StudyService(store, KINDS)
    asked = page.get("/study/rubric", params={"study": "Old"}, headers={"x-test-name": "Ada"}).json()
    assert asked["protocol"] == "hs-fashioniq/1" and asked["scale"][4]["name"] == "Matches very well"
    assert load_survey("hs-fashioniq/2").scale[4] == "Matches perfectly"
    workspace = service.join("Old", "Ada")
    while workspace.survey is not None and workspace.survey.gate is not None:
        gate = solved(workspace.survey.gate)
        _, workspace = service.pass_gate("Old", "Ada", gate.pop("kind"), new_id(), **gate)
    assert workspace.item is not None
    saved, _ = service.save("Old", "Ada", workspace.item.item_id, rated(), "token-0001")
    assert saved.judgement.protocol == "hs-fashioniq/1"


def test_the_newest_is_by_number_and_not_by_letters(tmp_path):
    for name in ("circus-2", "circus-10", "circus-9", "circus-x", "circus", "circus-two-11", "circus-01"):
        (tmp_path / f"{name}.toml").touch()
    assert known_protocols(tmp_path) == ["circus/2", "circus/9", "circus/10", "circus-two/11"]
    assert newest_protocol(tmp_path, CIRCUS) == "circus/10"
    with pytest.raises(StudyError, match=r"no file potato-1\.toml"):
        newest_protocol(tmp_path, "potato")


def test_a_file_states_the_version_in_its_name(tmp_path, monkeypatch):
    raise_versions(tmp_path, monkeypatch)
    folder = tmp_path / "rubrics"
    (folder / "circus-3.toml").write_text((folder / "circus-2.toml").read_text("utf-8"), "utf-8")
    with pytest.raises(StudyError, match=r"rubrics/circus-3.toml, protocol: it is 'circus/2'.*'circus/3'"):
        newest_rubric()


@pytest.mark.parametrize("function", [
    labels.final_labels, answers.disputes, labels.count_subset, answers.primary, answers.signature, load_rubric,
    load_survey])
def test_nothing_takes_a_version_silently(function):
    """What belongs to a study is told which version, for the newest may not be the study's."""
    parameters = inspect.signature(function).parameters
    asked = [parameters[name] for name in ("rubric", "protocol") if name in parameters]
    assert len(asked) == 1 and asked[0].default is inspect.Parameter.empty


# --- the rubric ------------------------------------------------------------------------------

TEXT = (Path(__file__).parents[5] / "assets" / "rubrics" / "circus-1.toml").read_text("utf-8")


def test_flags_have_the_keys_and_severities_of_the_protocol():
    rubric = load_rubric("circus/1")
    # CIRCUS: target before image before text before breadth; asked in the order text, image, target, breadth.
    assert [(flag.key, flag.code, flag.severity) for flag in rubric.flags] == [
        ("1", "INVALID_TEXT_QUERY", 3), ("2", "INVALID_IMAGE_QUERY", 2), ("3", "INVALID_TARGET_IMAGE", 1),
        ("4", "QUERY_TOO_BROAD", 4)]
    assert (rubric.valid.key, rubric.valid.code) == ("5", "VALIDATED")
    assert rubric.severity == ("INVALID_TARGET_IMAGE", "INVALID_IMAGE_QUERY", "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD")
    codes = [(reason.code, reason.needs_note) for flag in rubric.flags for reason in flag.reasons]
    assert codes == [(f"{key}{letter}", letter == "c") for key in "123" for letter in "abc"]
    assert (rubric.unsure_after, rubric.broad_at, len(rubric.flow)) == (120, 10, 4)


def test_there_are_two_worked_examples_of_each_category():
    rubric = newest_rubric()
    for category in (*rubric.flags, rubric.valid):
        assert sum(example.verdict == category.code for example in category.examples) >= 2
    given = [(example, flag) for flag in rubric.flags for example in flag.examples if example.verdict == flag.code]
    assert all(bool(example.reasons) == bool(flag.reasons) for example, flag in given)


def test_the_primary_category_is_the_most_severe():
    rubric = newest_rubric()
    assert rubric.category(False, ["QUERY_TOO_BROAD", "INVALID_TEXT_QUERY"]) == "INVALID_TEXT_QUERY"
    assert rubric.category(False, []) == "INVALID_UNSPECIFIED"
    assert rubric.category(None, ["QUERY_TOO_BROAD"]) == "UNLABELLED"
    assert rubric.category(True, []) == "VALIDATED"


def test_texts_name_the_studys_own_number_of_images():
    page = as_page(newest_rubric(), {"broad_at": 7})
    assert page["flow"][3] == page["flags"][3]["question"]
    assert "fewer than 7 other images" in page["flow"][3] and page["flags"][3]["definition"].startswith("7 or more")
    assert "broad_at}" not in json.dumps(page)


def test_the_page_has_all_and_the_studys_own_numbers():
    page = as_page(newest_rubric(), {"unsure_after": 30, "broad_at": "ten"})
    assert (page["unsure_after"], page["broad_at"]) == (30, 10)
    first = page["flags"][0]
    assert (first["code"], first["key"], first["severity"]) == ("INVALID_TEXT_QUERY", "1", 3)
    assert first["reasons"][2] == {"key": "c", "code": "1c", "name": "Something else", "needs_note": True}
    assert set(first["examples"][0]) == set(Example.model_fields)
    assert {"intro", "flow", "valid", "about_severity", "about_unsure"} <= set(page)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('severity = 4', 'severity = 2', r"flags.severity: 2 occurs twice. Give each category its own severity"),
    ('key = "5"', 'key = "4"', r"flags.key: 4 occurs twice"),
    ('code = "QUERY_TOO_BROAD"', 'code = "INVALID_TEXT_QUERY"', r"flags.code: INVALID_TEXT_QUERY occurs twice"),
    ('key = "b"', 'key = "a"', r"flags.0.reasons.key: a occurs twice. Give each reason its own letter"),
    ('key = "b"', 'key = "d"', r"flags.0.reasons.key: d is a key of the screen. Choose a letter other than d, j"),
    ('key = "b"', 'key = "b"\ncode = "9b"', r"'9b' is not '1b'. Leave the code out"),
    ('needs_note = true', 'needs_note = "yes"', r"flags.0.reasons.2.needs_note: .*boolean"),
    ('broad_at = 10', 'broad_at = 0', r"broad_at: .*greater than or equal to 1.*Correct the field"),
    ('broad_at = 10', 'broad = 10', r"broad_at: this field is missing, and broad is not a field\. Rename broad"),
    ('unsure_after = 120', 'unsure_after = 120\ncolour = "red"', r"colour: there is no field of this name\. Correct"),
    ('name = "Too broad"', 'name = ""', r"flags.3.name: "),
    ('reasons = ["1b"]', 'reasons = ["1z"]', r"examples of INVALID_TEXT_QUERY: '1z' is not a reason"),
    ('verdict = "QUERY_TOO_BROAD"', 'verdict = "TOO_BROAD"', r"the verdict TOO_BROAD is not a category"),
    ('verdict = "QUERY_TOO_BROAD"', 'verdict = "VALIDATED"', r"examples of QUERY_TOO_BROAD: 1 of them"),
    ('  "Do you understand what the text asks for?",\n', '', r"flow: it has 3 questions for 4 flags"),
    ('protocol = "circus/1"', 'protocol = "circus"', r"protocol: "),
    ('protocol = "circus/1"', 'protocol = ', r"is not valid TOML"),
    ('protocol = "circus/1"', 'protocol = 2026-01-01', r"protocol: "),
])
def test_a_broken_file_names_field_and_remedy(old, new, said):
    assert old in TEXT
    with pytest.raises(StudyError, match=rf"^mine.toml.*{said}"):
        parse_rubric(TEXT.replace(old, new, 1), "mine.toml")


def test_flags_stand_in_the_order_of_their_questions():
    swapped = TEXT.replace('key = "1"', 'key = "9"', 1)
    with pytest.raises(StudyError, match="not in order of their keys"):
        parse_rubric(swapped.replace('reasons = ["1a"]', "").replace('reasons = ["1b"]', ""), "mine.toml")


@pytest.mark.parametrize(("protocol", "said"), [
    ("potato/1", "no rubric 'potato/1'"), ("../circus/1", "no rubric"), ("", "no rubric"),
    ("circus/9", "no rubric 'circus/9' here, only .*'circus/1'"), ("circus/01", "no rubric"),
])
def test_an_unknown_protocol_says_which_there_is(protocol, said):
    with pytest.raises(StudyError, match=said):
        load_rubric(protocol)
