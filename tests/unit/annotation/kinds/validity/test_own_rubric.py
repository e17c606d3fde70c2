"""A validity study with a rubric of its own: what is asked, stored, counted, exported and refused."""

from __future__ import annotations

import csv
import io
import json

import pytest
from PIL import Image

from annotation.analysis.records import Options
from annotation.kinds.reports import compose, load_answers, report_file
from annotation.kinds.table import KINDS
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.create import create_validity_study
from annotation.kinds.validity.exports.study_files import study_files
from annotation.kinds.validity.rubric import choose_rubric, parse_rubric, rubric_of
from annotation.records import StudyPlan
from annotation.sources import StudyQuery
from annotation.studies.protocols import OwnFile, newest_text
from annotation.studies.service import StudyService
from cir_core.errors import IncompleteJudgement, StudyError
from tests.fakes.databases import study_store as study_store
from tests.fakes.studies import flagged, valid

RUBRIC = """\
protocol = "my-rubric/1"
title = "Can this be searched?"
unsure_after = 30
broad_at = 4
intro = "A request, and an image."
flow = ["Is it one request?", "Is it about one thing?"]
about_severity = "The worst flag counts."
about_unsure = "Leave it."

[valid]
code = "VALIDATED"
key = "9"
name = "Fine"
short = "Nothing is wrong."
definition = "All is well."

[[flags]]
code = "TWO_REQUESTS"
key = "1"
severity = 2
name = "Two requests"
question = "Is it one request?"
definition = "It asks for two things."

[[flags.reasons]]
key = "a"
name = "One after the other"

[[flags.reasons]]
key = "b"
name = "At once"
needs_note = true

[[flags]]
code = "TWO_THINGS"
key = "2"
severity = 1
name = "Two things"
question = "Is it about one thing?"
definition = "The second request is about another thing."
show_if = { TWO_REQUESTS = true }

[[impossible]]
when = { 1b = true, TWO_THINGS = true }
says = "At once, and of two things? Remove one of them."
"""


@pytest.fixture
def study(store, tmp_path):
    for number in range(4):
        Image.new("RGB", (8, 8), (60 * number, 90, 90)).save(tmp_path / f"i{number}.png")
    queries = [StudyQuery(f"cirr::{n}", "cirr", n, f"8:{n}", "unresolved", "blue", f"i{2 * n}", f"i{2 * n + 1}",
                          (f"i{2 * n + 1}",)) for n in range(2)]
    return create_validity_study(
        store, tmp_path, "Own", queries, lambda image_id: tmp_path / f"{image_id}.png", StudyPlan(1, 1, 0, 3),
        created_by="local", source={"form": "test"}, questions=OwnFile("mine.toml", RUBRIC)).study


def test_the_study_has_the_rubric_and_its_numbers(store, study):
    assert study.protocol == "my-rubric/1" and store.study("Own").settings["questions"] == RUBRIC
    page = Validity().page(study)
    assert (page["unsure_after"], page["broad_at"], page["title"]) == (30, 4, "Can this be searched?")
    assert page["valid"]["short"] == "Nothing is wrong." and page["flags"][1]["show_if"] == {"TWO_REQUESTS": True}


def test_answers_tables_and_report_follow_it(store, study):
    service = StudyService(store, {"validity": Validity()})
    service.join("Own", "Ann")
    first, second = sorted(one.item_id for one in store.items(study.study_id))
    service.save("Own", "Ann", first, flagged("TWO_REQUESTS", "TWO_THINGS", reasons=("1a",)), "token-0001")
    service.save("Own", "Ann", second, valid(), "token-0002")
    files, _ = study_files(store, study, "csv")
    rows = list(csv.DictReader(io.StringIO(files["judgements.csv"].decode("utf-8-sig"))))
    assert sorted((row["TWO_REQUESTS"], row["TWO_THINGS"], row["primary"]) for row in rows) == [
        ("false", "false", "VALIDATED"), ("true", "true", "TWO_THINGS")]
    results = json.loads(study_files(store, study, "results")[0]["results.json"])
    assert results["total"]["flags"] == {"TWO_REQUESTS": 1, "TWO_THINGS": 1}
    assert parse_rubric(results["questions"], "again.toml") == rubric_of(study)
    report = report_file(compose(load_answers(store, study), options=Options(draws=0)), "json").decode()
    assert "TWO_THINGS" in report and "INVALID_TEXT_QUERY" not in report


@pytest.mark.parametrize(("answer", "says"), [
    (flagged("TWO_THINGS"), "Nothing is chosen yet"),      # it is not asked, so it is not set
    (flagged("TWO_REQUESTS", "TWO_THINGS", reasons=("1b",), note="so"), "At once, and of two things"),
    (flagged("INVALID_TEXT_QUERY", reasons=("1a",)), "not one of the rubric's flags: TWO_REQUESTS, TWO_THINGS"),
])
def test_what_is_missing_or_excluded_is_said(store, study, answer, says):
    item = store.items(study.study_id)[0]
    with pytest.raises(IncompleteJudgement, match=says):
        Validity().normalize({**answer, "validated": None}, item, study)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("{ TWO_REQUESTS = true }", "{ TWO_THINGS = true }", r"flags\.1\.show_if: TWO_THINGS is not an earlier flag"),
    ("{ TWO_REQUESTS = true }", "{ TWO_REQUESTS = 1 }", r"flags\.1\.show_if\.TWO_REQUESTS: .*boolean"),
    ("{ 1b = true, TWO", "{ 1z = true, TWO", r"impossible\.0\.when: '1z' is neither a flag nor a reason"),
    ("{ 1b = true, TWO_THINGS = true }", "{ 1b = false }", r"impossible\.0\.when: nothing in it is set"),
    ('code = "VALIDATED"', 'code = "GOOD"', r"valid\.code: it is GOOD. Write VALIDATED"),
    ("severity = 1", "severity = 0", r"flags\.1\.severity: .*greater than or equal to 1"),
])
def test_a_fault_is_named_with_its_line(old, new, said):
    line = 1 + RUBRIC[:RUBRIC.index(old)].count("\n")
    with pytest.raises(StudyError, match=rf"^mine\.toml, line {line}, {said}"):
        parse_rubric(RUBRIC.replace(old, new, 1), "mine.toml")


def test_the_default_is_a_file_to_begin_from(store):
    text = newest_text("rubrics", "circus")
    unchanged = choose_rubric(OwnFile("mine.toml", text), tuple)
    assert unchanged == (parse_rubric(text, "mine.toml"), {})
    with pytest.raises(StudyError, match="circus/1 is a file of cirque, and this one differs"):
        choose_rubric(OwnFile("mine.toml", text.replace("Unclear text", "Odd text")), tuple)


def test_a_language_model_is_asked_the_same(store, study):
    asking = KINDS["validity"].asking
    form = asking.asked(store.items(study.study_id)[0], study, {}).form
    codes = tuple(flag.code for flag in rubric_of(study).flags)
    assert form.fields[0].options == codes and all(code in form.instructions for code in codes)
    category = asking.questions(study)[1]
    assert category.categories(study)[0] == "Fine" and len(category.categories(study)) == len(codes) + 2
