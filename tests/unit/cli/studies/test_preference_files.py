"""The commands of preference studies' files, as a person types them."""

import csv
import io
import json
import zipfile
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from annotation.records import Decision, PlannedAssignment
from cir_core.errors import DatasetError, StudyError
from cli import console
from cli.studies.studies import app
from tests.fakes.preferences import a_judgement, a_study, an_answer, an_item, keep, seats_of
from tests.fakes.studies import make_study, valid
from tests.integration.homes import command_home, command_stores  # noqa: F401
from tests.unit.annotation.kinds.preference.test_hp_studies import released as released


def run(*arguments):
    """What the command prints; raises what it raises."""
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False).output


@pytest.fixture
def shops(stores):
    """Ada answered three questions, all with 4 and 2, flagged one and tied on one; Ben answered one of them."""
    items = [an_item(number) for number in range(3)]
    places = [PlannedAssignment(f"i{number}", 1, number, {"first": 1, "form": 1,
                                                          "reason": False}) for number in range(3)]
    places.append(PlannedAssignment("i0", 2, 0, {"first": 2, "form": 1, "reason": False}))
    judgements = [
        a_judgement(0, "Ada", an_answer(irrelevant={"image": False, "text": True})), a_judgement(1, "Ada", an_answer()),
        a_judgement(2, "Ada", an_answer(preferred=0)), a_judgement(0, "Ben", an_answer(1, 5, 2, first=2), seconds=3.0)]
    study = a_study(allow_tie=True)
    keep(stores.studies, study, items, places, seats_of("Ada", "Ben"), judgements)
    return study


def test_a_released_file_goes_in_and_comes_out(home, released, tmp_path):
    printed = run("import", "hp-fashioniq", "HP", released)
    assert "Created HP: 5 questions to 2 people, 10 rated sets. It takes no answers." in printed
    assert "Note: The file does not record which set was shown first" in printed
    assert "Wrote hpfiq.json" in run("export", "hp-fashioniq", "HP", "--out", tmp_path / "out")
    assert (tmp_path / "out/hpfiq.json").read_bytes() == released.read_bytes()
    with pytest.raises(StudyError, match="The study name 'HP' is already taken"):
        run("import", "hp-fashioniq", "hp", released)


def test_an_import_as_json(home, released):
    found = json.loads(run("import", "hp-fashioniq", "HP", released, "--json"))
    assert (found["kind"], found["accepting"], found["counts"]["items"], len(found["notes"])) == (
        "preference", False, 5, 2)


def test_a_broken_file_is_refused(home, tmp_path):
    (tmp_path / "broken.json").write_text("[1]")
    with pytest.raises(DatasetError, match=r"broken\.json"):
        run("import", "hp-fashioniq", "HP", tmp_path / "broken.json")


def test_what_rules_leave_out_is_shown_and_nothing_changes(shops, stores):
    printed = " ".join(run("quality", "shops", "--rule", "irrelevant", "--rule", "straight-lining=3").split())
    assert "straight-lining=3 3 Ada all together 3 Ada Answers left: 1." in printed
    found = json.loads(run("quality", "shops", "--rule", "irrelevant", "--rule", "straight-lining=3", "--json"))
    assert found["removed"] == {"irrelevant": {"judgements": 1, "people": []},
                                "straight_lining": {"judgements": 3, "people": ["Ada"]}}
    assert (found["together"], found["kept"]) == ({"judgements": 3, "people": ["Ada"]}, 1)
    ada, ben = found["people"]
    assert (ada["longest_run"], ada["flagged"], ada["agreement"], ada["shared"]) == (3, 1, 0.0, 1)
    assert (ben["median_seconds"], ben["first_side"]["count"], ben["contradiction_rate"]) == (3.0, 1, 0.0)
    # Sides and pairs are of what is left, Ben's answer: the second set, of text, stood first and is preferred.
    assert found["sides"]["first"]["n"] == 1
    (pair,) = found["pairs"]
    assert (pair["first_led"], pair["second_led"], pair["second_leading"]["n"], pair["adjusted"]) == (0, 1, 1, None)
    assert "where slerp was shown first" in pair["unadjusted"] and "Sides, of the 1 answer left" in printed
    assert stores.studies.study("Shops").settings["exclude"] == {}
    assert "No rule: every answer counts." in run("quality", "Shops")


def test_rules_that_are_kept_hold_for_exports(shops, stores, tmp_path):
    assert "Stored with Shops: irrelevant." in run("quality", "Shops", "--rule", "irrelevant", "--keep")
    kept = stores.studies.study("Shops").settings
    assert kept["exclude"] == {"irrelevant": True} and kept["allow_tie"] is True
    assert json.loads(run("quality", "Shops", "--json"))["rules"] == {"irrelevant": True}

    printed = run("export", "preferences", "Shops", "--out", tmp_path)
    assert "exclude 1 of 4 answers" in printed and "Ties left out: 1." in printed
    lines = [json.loads(line) for line in (tmp_path / "preferences.jsonl").read_text().splitlines()]
    assert [(line["query_id"], line["annotator"]) for line in lines] == [("query-0", "Ben"), ("query-1", "Ada")]
    run("export", "preferences", "Shops", "--all", "--out", tmp_path)
    assert len((tmp_path / "preferences.jsonl").read_text().splitlines()) == 3

    run("export", "csv", "Shops", "--out", tmp_path / "tables.zip")
    with zipfile.ZipFile(tmp_path / "tables.zip") as archive:
        tables = {name: list(csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"), newline="")))
                  for name in archive.namelist()}
    # Tables keep every answer, and say which rule takes it out.
    assert [len(tables[name]) for name in ("judgements.csv", "sets.csv")] == [4, 8]
    excluded = {(row["item"], row["annotator"]): row["excluded"] for row in tables["judgements.csv"]}
    assert excluded[("q0", "Ada")] == '["irrelevant"]' and list(excluded.values()).count("[]") == 3

    run("quality", "Shops", "--rule", "none", "--keep")
    assert stores.studies.study("Shops").settings["exclude"] == {}


def test_the_form_of_the_release_says_what_it_cannot_hold(shops, tmp_path):
    exported = run("export", "hp-fashioniq", "Shops", "-o", tmp_path)
    assert "Answers left out because the format has no ties: 1." in exported
    found = json.loads((tmp_path / "hpfiq.json").read_text())
    assert [one["user_score"] for one in found["Ada"]["question_set_1"]["retrieved_set1"]] == ["4", "4"]


def test_each_kind_of_study_has_its_own_forms(home, stores, shops, tmp_path):
    make_study(stores.studies, home, name="Valid")
    with pytest.raises(StudyError, match="is exported as hp-fashioniq, csv, parquet, preferences"):
        run("export", "mbeir", "Shops", "--out", tmp_path)
    with pytest.raises(StudyError, match=r"Valid is a validity study\. It is exported as circus, mbeir, csv"):
        run("export", "preferences", "Valid", "--out", tmp_path)
    assert "No rule: every answer counts." in run("quality", "Valid")
    with pytest.raises(StudyError, match="has no labels, ratings or marks of items"):
        run("results", "Shops")


def test_what_nobody_recorded_is_not_printed_as_nought(home, released):
    run("import", "hp-fashioniq", "HP", released)
    lines = run("quality", "HP", "--rule", "irrelevant", "--rule", "failed-checks=1").splitlines()
    people = [line for line in lines if line.count("not recorded") == 2]
    assert len(people) == 2, "checks and flags of both"
    rules = [line.split() for line in lines if line.strip().startswith(("irrelevant", "failed-checks=1"))]
    assert [line[1:] for line in rules] == [["not", "recorded"]] * 2
    found = json.loads(run("quality", "HP", "--rule", "irrelevant", "--json"))
    assert found["removed"] == {"irrelevant": {"judgements": None, "people": []}} and found["pairs"] == []
    assert {(one["flagged"], one["checks"], one["failed_checks"]) for one in found["people"]} == {(None, None, None)}


def test_quality_in_a_narrow_terminal(shops, monkeypatch):
    monkeypatch.setattr(console.out, "width", 80)
    printed = run("quality", "Shops")
    table, side = (next(line for line in printed.splitlines() if head in line) for head in ("wrong checks", "95 %"))
    assert table.split("  ")[0].strip() == side.split("  ")[0].strip() == "person"
    for head in ("answers", "median", "longest run", "flagged"):
        assert head in table
    for head in ("contradictions", "first side", "agrees"):
        assert head in side
    # Ada's 1 and 1 and Ben's 2 are for what stood first; slerp led in three answers, one of them a tie.
    (pair,) = [line.split() for line in printed.splitlines() if line.strip().startswith("slerp and text ")]
    assert " ".join(pair) == "slerp and text 3 (100 %) 1 (0 %) 67 % 50 %"
    long = "Adjusted: the mean of both shares."
    assert any(line.startswith("Led: ") and line.endswith(long) for line in printed.splitlines()), "no line is broken"


def test_a_preference_study_is_described_in_its_own_words(shops, stores):
    printed = run("show", "Shops")
    assert "Shops: 3 questions, hs-fashioniq/1, open" in printed
    assert ("Planned for 2 people: 1 question shared by up to 2 people, up to 3 questions per person in one form, a "
            "check (sum) after every 5 questions and each form, seed 7.") in printed
    assert "per item" not in printed and "unsure" not in printed
    assert json.loads(run("show", "Shops", "--json"))["survey"] == {
        "questions": 3, "people": 2, "shared": 1, "shared_by": 2, "per_person": 3, "forms": 1, "form_size": 3,
        "check": "sum", "check_every": 5}


def test_without_a_study_the_list_names_both_kinds(home):
    printed = run("list")
    assert "cirque study create validity NAME" in printed and "cirque study create preference NAME" in printed


def test_two_sets_of_the_same_images_are_counted(stores, home, tmp_path):
    same = [["x", "y", "z"], ["z", "x", "y"]]
    keep(stores.studies, a_study(), [an_item(0, set_ids=same)], [PlannedAssignment("i0", 1, 0, {"first": 1,
                                                                                                "form": 1})],
         seats_of("Ada"), [a_judgement(0, "Ada", an_answer())])
    printed = run("export", "preferences", "Shops", "--out", tmp_path)
    assert "Note: Answers left out because both sets have the same images: 1." in printed
    assert (tmp_path / "preferences.jsonl").read_bytes() == b""


def test_gold_is_made_of_what_was_decided(home, stores):
    study = make_study(stores.studies, home, name="Valid", items=6, seats=2)
    with pytest.raises(StudyError, match="has no adjudicated item that is not gold already"):
        run("gold", "Valid")
    for number, one in enumerate(stores.studies.assignments(study.study_id)[:3]):
        stores.studies.decide(Decision(
            f"d{number}", study.study_id, one.item_id, "Ada", 0, f"decided-{number}", valid(), "it is",
            datetime(2026, 1, 2, tzinfo=UTC)))
    printed = run("gold", "Valid", "--training", 1, "--mark", 0.5, "--below", "train")
    assert "2 gold items and 1 training item, dealt to 1 seat with open work." in " ".join(printed.split())
    assert stores.studies.study("Valid").settings["care"] == {
        "training_mark": 0.0, "training_tries": 2, "mark": 0.5, "least": 5, "below": "train"}
    found = json.loads(run("quality", "Valid", "--json"))
    assert found["people"] == [] and found["kept"] == 0
