"""``cirque study`` as a person types it, from a real audit of a small sample gallery to an export."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotation.kinds.validity.answers import Validity
from annotation.records import Judgement
from annotation.studies.service import StudyService
from cir_core.errors import DatasetError, GalleryError, StudyError, UnknownStudy
from cir_core.gallery.gallery import open_gallery
from cir_core.sample.gallery import NAME
from cir_core.types.records import Hit, new_id
from cli import console
from cli.main import app
from tests.fakes import drawn
from tests.fakes.studies import flagged, valid
from tests.fakes.turns import a_session, a_turn
from tests.integration.homes import command_stores, commands_at  # noqa: F401


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    """A home with the gallery of the drawn garments, the drawing, and an audit of some of its queries."""
    root = tmp_path_factory.mktemp("prepared")
    drawn.home(root / "home", 90, at="../drawn")
    with commands_at(root / "home"):
        result = CliRunner().invoke(app, ["audit", "sample", "--annotations", str(root / "drawn"), "--gallery", NAME,
                                          "--limit", "6", "--k", "2", "--retrievers", "slerp,text-only", "--out",
                                          str(root / "audit")])
    assert result.exit_code == 0, result.output
    return root


@pytest.fixture
def home(prepared, tmp_path):
    """A copy of that."""
    with commands_at(shutil.copytree(prepared / "home", tmp_path / "home")) as home:
        yield home


@pytest.fixture
def study(home):
    """Runs ``cirque study``; raises what the command raises."""
    def run(*arguments: object):
        return CliRunner().invoke(app, ["study", *map(str, arguments)], catch_exceptions=False)
    return run


def labels(prepared: Path) -> dict[str, str]:
    """The hidden category of each audited query by its key."""
    records = map(json.loads, (prepared / "audit/sample-test_queries.jsonl").read_text().splitlines())
    return {f"{one['dataset']}::{one['query_idx']}": one["hidden_category"] for one in records}


def judge(stores, name: str, person: str, *answers: dict[str, object]) -> None:
    found = stores.studies.study(name)
    stores.studies.join(found.study_id, person, datetime.now(UTC), lambda work: ())
    mine = stores.studies.overview(found.study_id, person)
    for assignment, answer in zip(mine, answers, strict=False):
        stores.studies.save(Judgement(new_id(), found.study_id, assignment.item_id, person, 0, new_id(), "circus/1",
                                      answer, 12.0, datetime.now(UTC)), unsure=bool(answer["unsure"]))


def test_from_an_audit_to_a_study_its_results_and_its_files(study, stores, prepared, home, tmp_path):
    categories = labels(prepared)
    everything = [part for name in sorted(set(categories.values())) for part in ("--category", name)]
    options = ("--from-audit", prepared / "audit", *everything, "--people", 2, "--overlap", 2, "--sample", 6)
    tried = study("create", "validity", "first", *options, "--dry-run")
    assert "Nothing was created" in tried.output and "hours per person" in tried.output
    assert stores.studies.studies() == () and not (home / "studies").exists()

    made = study("create", "validity", "first", *options)
    assert "Created first: 6 items" in made.output and "Cohen's kappa" in made.output and "± " in made.output
    found = stores.studies.study("first")
    items = stores.studies.items(found.study_id)
    assert {item.key: item.hidden["hidden_category"] for item in items}.items() <= categories.items()
    assert all(item.hidden["reference_id"] and len(item.shown["panel"]) > 5 for item in items)
    assert found.source["selection"] == "sample" and found.source["file"] == "sample-test_queries.jsonl"
    assert str(tmp_path) not in json.dumps(dict(found.source))

    judge(stores, "first", "Ada", *[valid()] * 5, flagged("INVALID_TEXT_QUERY", reasons=("1a",)))
    assert "Ada" in study("show", "first").output and "6 of 6" in study("show", "first").output
    shown = json.loads(study("show", "first", "--json").output)
    assert [(one["annotator"], one["done"]) for one in shown["people"]] == [("Ada", 6), (None, 0)]
    results = json.loads(study("results", "first", "--json").output)
    assert results["total"]["validated"] == 5 and results["total"]["primary"]["INVALID_TEXT_QUERY"] == 1
    assert results["total"]["audited"] == 6 and len(results["labels"]) == 6
    assert "Rule: single_kept" in study("results", "first", "--rule", "single_kept").output

    assert "Ada.json" in study("export", "circus", "first", "--out", tmp_path / "circus").output
    ada = json.loads((tmp_path / "circus/Ada.json").read_text("utf-8"))
    assert ada["assignment_count"] == 6 and sum(one["annotation"]["validated"] for one in ada["assignments"]) == 5
    study("export", "mbeir", "first", "--out", tmp_path / "valid.zip")
    with zipfile.ZipFile(tmp_path / "valid.zip") as archive:
        lines = archive.read("sample-test_validated.jsonl").decode().splitlines()
    assert len(lines) == 5 and json.loads(lines[0])["query_text"] in {item.shown["text"] for item in items}
    study("export", "csv", "first", "--out", tmp_path / "csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "csv/judgements.csv").read_text("utf-8-sig"))))
    assert len(rows) == 6 and {row["annotator"] for row in rows} == {"Ada"}
    study("export", "parquet", "first", "--out", tmp_path / "parquet")
    assert {path.name for path in (tmp_path / "parquet").iterdir()} == {"judgements.parquet", "items.parquet"}
    study("export", "results", "first", "--out", tmp_path / "csv")
    assert json.loads((tmp_path / "csv/results.json").read_text("utf-8")) == results


def test_shortcut_free_queries_are_taken_unless_categories_are_named(study, stores, prepared):
    categories = labels(prepared)
    free = {key for key, label in categories.items() if label != "shortcut_solvable"}
    assert free and len(free) < len(categories), "the audit must hold both for this test"
    made = json.loads(study("create", "validity", "free", "--from-audit", prepared / "audit", "--json").output)
    assert made["counts"]["items"] == len(free) and made["plan"]["people"] == 1
    found = stores.studies.study("free")
    assert {item.key for item in stores.studies.items(found.study_id)} == free


def test_a_study_is_closed_opened_and_work_released(study, stores, prepared):
    study("create", "validity", "one", "--from-audit", prepared / "audit", "--people", 2, "--order", "disputed")
    assert stores.studies.study("one").plan.order == "disputed"
    judge(stores, "one", "Ada", valid())
    open_items = stores.studies.counts(stores.studies.study("one").study_id)["assignments"]
    assert "is closed for answers" in study("close", "ONE").output and not stores.studies.study("one").accepting
    assert "closed" in study("list").output
    assert ", circus/1, closed" in study("show", "one").output
    assert "one is open for answers" in study("open", "one").output and stores.studies.study("one").accepting
    assert ", circus/1, open" in study("show", "one").output
    [listed] = json.loads(study("list", "--json").output)
    assert listed["study"] == "one" and listed["counts"]["done"] == 1 and listed["counts"]["assignments"] == open_items
    assert "of Ada can go to whoever joins one or asks for more" in study("release", "one", "Ada").output
    StudyService(stores.studies, {"validity": Validity()}).join("one", "Cy")
    assert re.search(r"Cy has no answers: the seat in one is free again, with its \d+ open items?\.",
                     " ".join(study("release", "one", "Cy").output.split()))
    with pytest.raises(StudyError, match="Bob"):
        study("release", "one", "Bob")
    with pytest.raises(UnknownStudy, match="No study 'two'"):
        study("show", "two")


def test_a_study_gets_another_name(study, stores, prepared):
    for name in ("one", "two"):
        study("create", "validity", name, "--from-audit", prepared / "audit", "--sample", 1)
    assert study("rename", "ONE", "First hundred").output == "one is now called First hundred.\n"
    assert {one.name for one in stores.studies.studies()} == {"First hundred", "two"}
    assert "1 item, circus/1" in study("show", "first hundred").output
    assert study("rename", "first hundred", "FIRST hundred").output == "First hundred is now called FIRST hundred.\n"
    with pytest.raises(StudyError, match="'two' is already taken"):
        study("rename", "first hundred", "Two")
    with pytest.raises(UnknownStudy, match="No study 'one'"):
        study("rename", "one", "three")


def test_a_study_is_removed_by_who_types_its_name(study, stores, prepared, home):
    study("create", "validity", "First", "--from-audit", prepared / "audit", "--sample", 2)
    judge(stores, "First", "Ada", valid())
    folder = home / "studies" / stores.studies.study("First").study_id
    pictures = len(list(folder.iterdir()))

    def remove(*arguments: str, typed: str = ""):
        return CliRunner().invoke(app, ["study", "remove", *arguments], input=typed)

    for typed in ("first\n", "y\n", "\n"):
        refused = remove("first", typed=typed)
        assert "This deletes First: 2 items, 1 judgement by 1 person, 0 decisions, and its images." in refused.output
        assert isinstance(refused.exception, StudyError) and "First was not deleted" in str(refused.exception)
    assert remove("first").exit_code == 1, "nobody typed anything"
    assert stores.studies.counts(stores.studies.study("First").study_id)["done"] == 1
    assert len(list(folder.iterdir())) == pictures > 0

    removed = remove("first", typed="First\n")
    assert removed.exit_code == 0 and "Removed First: 2 items, 1 judgement by 1 person, 0 decisions." in removed.output
    assert stores.studies.studies() == () and list((home / "studies").iterdir()) == []
    assert isinstance(remove("First", "--yes").exception, UnknownStudy)
    study("create", "validity", "First", "--from-audit", prepared / "audit", "--sample", 1)
    told = remove("First", "--yes").output
    assert told.startswith("Removed First: 1 item, 0 judgements by 0 people, 0 decisions. The database as it was")
    backups = [path for path in (home / "backups").iterdir() if "before-removal-" in path.name]
    assert len([path for path in backups if path.is_file()]) == 2                 # one for each removal
    assert sorted(len(list(path.glob("*/*"))) for path in backups if path.is_dir())[-1] == pictures


def test_a_study_is_copied_put_away_and_has_guidelines(study, stores, prepared, home, tmp_path):
    study("create", "validity", "First", "--from-audit", prepared / "audit", "--sample", 2)
    (tmp_path / "guide.md").write_text("# Look\n\n![No](no.png)", "utf-8")
    with pytest.raises(StudyError, match=r"no\.png is unavailable"):
        study("guidelines", "First", tmp_path / "guide.md")
    (tmp_path / "guide.md").write_text("# Look", "utf-8")
    study("guidelines", "First", tmp_path / "guide.md")
    assert study("guidelines", "First").output == "# Look\n"
    study("duplicate", "First", "Second")
    second = stores.studies.study("Second")
    assert not second.accepting and stores.studies.counts(second.study_id)["items"] == 2
    assert "is archived" in study("archive", "Second").output
    assert "is back, closed" in study("archive", "Second", "--back").output


def annotator_file(folder: Path, username: str, *assignments: dict[str, object]) -> Path:
    path = folder / f"{username}.json"
    path.write_text(json.dumps({"username": username, "assignments": list(assignments)}), "utf-8")
    return path


def an_assignment(number: int, **changes: object) -> dict[str, object]:
    return {"assignment_id": f"cirr::{number}", "dataset": "cirr", "query_idx": number, "hidden_category": "unresolved",
            "presentation_order": number + 1, "annotation": {"validated": True, "other": "gut"}, **changes}


def test_annotator_files_are_imported_and_given_back(study, stores, tmp_path):
    paths = [annotator_file(tmp_path, "a", an_assignment(0), an_assignment(1, annotation=None)),
             annotator_file(tmp_path, "b", an_assignment(0, annotation={"validated": False, "QUERY_TOO_BROAD": True}))]
    result = study("import", "circus", "released", *paths)
    assert "Created released: 2 judgements of 2 items by 2 people. It takes no answers." in result.output
    assert "1 assignment has no annotation." in result.output
    study("export", "circus", "released", "--out", tmp_path / "out")
    assert {path.name: json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()} == {
        path.name: json.loads(path.read_text()) for path in paths}
    # One says valid, one too broad: a tie is undecided by majority, and valid where the first one is kept.
    assert json.loads(study("results", "released", "--json").output)["total"]["undecided"] == 1
    kept = json.loads(study("results", "released", "--rule", "single_kept", "--json").output)
    assert kept["total"]["validated_unsolved"] == 1
    with pytest.raises(StudyError, match="released was imported from files without images"):
        study("open", "released")
    assert not stores.studies.study("released").accepting


def test_results_fit_a_terminal_of_eighty_columns(study, tmp_path, monkeypatch):
    """Numbers are never cut; of a long name of a data set only the name goes over two lines."""
    long = "a-data-set-with-a-long-name"
    kinds = ("composition_required", "unresolved", "shortcut_solvable")
    records = [an_assignment(number, assignment_id=f"{name}::{number}", dataset=name, hidden_category=kind,
                             annotation={"validated": number % 2 == 0, "INVALID_TARGET_IMAGE": number % 2 == 1})
               for name in ("cirr", long) for number, kind in enumerate(kinds * 400)]
    study("import", "circus", "wide", annotator_file(tmp_path, "a", *records))
    monkeypatch.setattr(console.out, "width", 80)
    printed = study("results", "wide").output
    assert max(map(len, printed.splitlines())) <= 80
    # 400 of each kind and data set, every other one valid.
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert "data set required unresolved other all" in lines
    assert "cirr 200 of 400 200 of 400 200 of 400 600 of 1,200" in lines
    assert "Total 400 of 800 400 of 800 400 of 800 1,200 of 2,400" in lines
    assert "VALIDATED 1,200" in lines and "INVALID_TARGET_IMAGE 1,200" in lines
    assert not any(line.startswith(("data set not judged", "reason")) for line in lines), "there is nothing to say"


def test_broken_annotator_files_change_nothing_and_every_fault_is_listed(study, stores, tmp_path):
    bad = [an_assignment(number, query_idx="x") for number in range(30)]
    paths = [annotator_file(tmp_path, "a", an_assignment(0)), annotator_file(tmp_path, "b", *bad)]
    with pytest.raises(DatasetError) as raised:
        study("import", "circus", "released", *paths)
    assert str(raised.value).count("'query_idx' cannot be used") == 30 and str(paths[1]) in str(raised.value)
    assert stores.studies.studies() == ()


def test_the_plan_alone_is_forecast(study):
    plan = json.loads(study("plan", "--people", 8, "--items", 2000, "--overlap", 2, "--agreement-items", 50,
                            "--json").output)
    # 1,950 items twice and 50 for all eight: 3,900 + 400 judgements of a minute.
    assert plan["judgements"] == 4300 and plan["hours_total"] == pytest.approx(4300 / 60)
    assert "hours per person" in study("plan", "--items", 100).output
    with pytest.raises(StudyError, match="overlap of 3"):
        study("plan", "--items", 10, "--people", 2, "--overlap", 3)


def test_sources_are_one_at_a_time_and_pictures_must_be_somewhere(study, prepared, tmp_path):
    with pytest.raises(StudyError, match="Name a source of queries"):
        study("create", "validity", "x")
    with pytest.raises(StudyError, match="--from-audit and --from-sessions cannot go together"):
        study("create", "validity", "x", "--from-audit", prepared / "audit", "--from-sessions")
    with pytest.raises(GalleryError, match=r"Where are the images.*atelier"):
        study("create", "validity", "x", "--from-mbeir", tmp_path / "queries.jsonl")
    with pytest.raises(StudyError, match="No search session is stored"):
        study("create", "validity", "x", "--from-sessions")


def test_turns_of_searches_are_a_source(study, stores, home):
    ids = open_gallery(NAME, home=home).ids
    for target in (ids[3], None):
        session = a_session(gallery=NAME, target_id=target, target_revealed=target is not None)
        stores.sessions.create_session(session)
        hits = tuple(Hit(image_id, 1.0, rank) for rank, image_id in enumerate(ids[3:15], 1))
        first = stores.sessions.add_turn(a_turn(
            session.session_id, None, reference_id=ids[0], hits=hits, modification_text="in red"))
        stores.sessions.add_turn(a_turn(
            session.session_id, first.turn_id, reference_id=ids[5], hits=hits, modification_text="longer"))
        other = stores.sessions.add_turn(a_turn(
            session.session_id, None, reference_id=ids[7], hits=hits, modification_text="striped"))
        stores.sessions.remove_branch(session.session_id, other.branch_id)   # off the screen alone, as is
        stores.sessions.remove_session(session.session_id)
    result = study("create", "validity", "asked", "--from-sessions")
    assert "Created asked: 4 items" in result.output and "2 turns have no known target" in result.output
    items = stores.studies.items(stores.studies.study("asked").study_id)
    # Oldest session first: its target for both turns; of the other, what the search went on from.
    assert [(item.shown["text"], item.hidden["target_id"]) for item in items] == [
        ("in red", ids[3]), ("longer", ids[3]), ("striped", ids[3]), ("in red", ids[5])]
    assert {len(item.shown["panel"]) for item in items} == {10}, "the ten best that are neither reference nor target"


def test_an_aggregate_of_an_audit_is_a_source_too(study, stores, prepared):
    [aggregate] = (prepared / "audit").glob("*_aggregated_*.json")
    made = json.loads(study("create", "validity", "x", "--from-circus", aggregate, "--gallery", NAME, "--json").output)
    free = [label for label in labels(prepared).values() if label != "shortcut_solvable"]
    assert made["counts"]["items"] == len(free) and made["counts"]["missing"] == 0
