"""The benchmarks screen's calls about queries with targets: pages, pictures, downloads, opening one in search."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from annotation.records import Role
from cir_core.construct.targets.files import selection_of
from cir_core.construct.targets.multi_target import find_targets
from cir_core.construct.targets.settings import TargetSettings
from cir_core.jobs.job import JobOptions
from tests.fakes.colour_targets import ColourAssessor, colour_targets
from tests.fakes.colours import colour_gallery
from tests.unit.web.benchmarks.asking import get, problem
from web.benchmarks.shelf import FOLDER
from web.services import Services

COUNT = 12
SMALL = TargetSettings(keep=6, scored=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    about = colour_targets(colour_gallery(folder), ColourAssessor(), COUNT, settings=SMALL)
    find_targets(about, folder / "home" / FOLDER / "built")
    find_targets(about, folder / "strict", threshold=0.67)
    return folder / "home"


def test_a_page_of_queries(rosa: TestClient, home: Path) -> None:
    lines = [json.loads(line) for line in (home / FOLDER / "built/provenance/cirr.jsonl").read_text().splitlines()]
    [listed] = get(rosa, "all")["benchmarks"]
    assert (listed["kind"], listed["state"], listed["queries"], listed["sessions"]) == (
        "targets", "finished", COUNT, None)
    assert get(rosa, "run?name=built") == {"kind": "targets", "state": "finished", "run": None}
    found = get(rosa, "targets?name=built&threshold=0.67&limit=5")
    about, page = found["about"], found["page"]
    assert about["queries"] == COUNT and about["subsets"] == ["cirr"] and about["can_open"]
    assert about["download_problem"] == "" == about["gallery_problem"] and about["encoder"]
    assert len(page["queries"]) == 5 and page["total"] == page["all"] == COUNT
    numbers = [sum((one["confidence"] or 0) >= 0.67 for one in line["candidates"]) for line in lines]
    assert [bar["queries"] for bar in page["histogram"]] == [
        numbers.count(number) for number in range(len(page["histogram"]))]
    assert page["summary"]["targets"] == sum(numbers) and page["summary"]["kept"] == COUNT - numbers.count(0)
    for query, line in zip(page["queries"], lines, strict=False):
        known = {one["image"]: one for one in line["candidates"] if one["confidence"] is not None}
        assert (query["id"], query["text"], query["reference"]["id"]) == (
            line["query_id"], line["text"], line["reference"])
        assert len(query["candidates"]) == len(known) and query["more"] == 0
        assert query["unscored"] == len(line["candidates"]) - len(known)
        for shown in query["candidates"]:
            one = known[shown["image"]["id"]]
            assert shown["confidence"] == one["confidence"]
            assert shown["original"] == (one["image"] == line["original_target"])
            assert [(at["group"], at["rank"]) for at in shown["found"]] == [
                (at["group"], at["rank"]) for at in one["found"]]
        sure = [one["confidence"] for one in query["candidates"]]
        assert sure == sorted(sure, reverse=True) == query["confidences"][::-1]


def test_a_histogram_ends_with_a_bar_for_all_further_ones(rosa: TestClient, home: Path) -> None:
    path = home / FOLDER / "built/provenance/cirr.jsonl"
    line = json.loads(path.read_text().splitlines()[0])
    at = {"group": "tg_img", "rank": 1, "similarity": 0.5, "confidence": 0.9}
    for number, count in enumerate((150, 30, 29)):
        found = [{"image": f"{number}-{n}", "confidence": 0.9, "found": [at]} for n in range(count)]
        with path.open("a") as file:
            file.write(json.dumps(line | {"query_id": f"long-{number}", "candidates": found}) + "\n")
    page = get(rosa, "targets?name=built&q=long-0")["page"]
    last, before = page["histogram"][30], page["histogram"][29]
    assert last == {"targets": 30, "and_more": True, "queries": 2} and before["queries"] == 1
    assert sum(bar["queries"] for bar in page["histogram"]) == COUNT + 3
    [query] = page["queries"]
    assert len(query["candidates"]) == 100 and query["more"] == 50 and len(query["confidences"]) == 150


def test_only_pictures_of_this_benchmark(open_as: Callable[[Role], TestClient], services: Services) -> None:
    analyst = open_as("analyst")
    queries = get(analyst, "targets?name=built&limit=100")["page"]["queries"]
    shown = {one["id"]: one for query in queries for one in (
        query["reference"], query["original"], *(candidate["image"] for candidate in query["candidates"]))}
    for one in list(shown.values())[:5]:
        assert one["thumb"].startswith("benchmarks/thumb?name=built&image=")
        answer = analyst.get(f"/{one['thumb']}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("image/")
    hidden = next(one for one in services.search.gallery("colours").ids if one not in shown)
    for path in (f"thumb?name=built&image={hidden}", f"full?name=built&image={hidden}", "full?name=built&image=x"):
        assert analyst.get(f"/benchmarks/{path}").status_code == 404
    annotator = open_as("annotator")
    for path in ("targets?name=built", "download?name=built"):
        assert annotator.get(f"/benchmarks/{path}").status_code == 403


@pytest.mark.parametrize("query", [
    "threshold=-0.1", "threshold=1.1", "threshold=nan", "threshold=", "show=kept", "sort=rank", "order=left",
    "offset=-5", "limit=101",
])
def test_values_that_cannot_be(rosa: TestClient, query: str) -> None:
    assert "must be" in problem(rosa, f"targets?name=built&{query}")


def test_each_kind_has_its_own_page(rosa: TestClient, home: Path) -> None:
    assert "contains queries with their targets, not multi-turn sessions" in problem(rosa, "sessions?name=built")
    (home / FOLDER / "raw" / "raw").mkdir(parents=True)
    (home / FOLDER / "raw" / "raw" / "a.json").write_text('{"dataset_name": "x", "results": []}')
    assert "contains multi-turn sessions, not queries with their targets" in problem(rosa, "targets?name=raw")


def test_the_download_is_what_the_command_writes(rosa: TestClient, services: Services, made: Path, home: Path) -> None:
    answer = rosa.get("/benchmarks/download?name=built&threshold=0.67")
    assert answer.status_code == 200 and "built threshold 0.67.zip" in answer.headers["content-disposition"]
    files = zipfile.ZipFile(io.BytesIO(answer.content))
    usual = selection_of(home / FOLDER / "built", "cirr").read_bytes()
    assert files.namelist() == ["multi_target_selection/cirr_multi_target_selection.json"]
    assert files.read(files.namelist()[0]) == selection_of(made.parent / "strict", "cirr").read_bytes() != usual
    [act] = [entry.act for entry in services.log.acts()]
    assert (act.kind, act.details) == ("benchmark.downloaded", {"threshold": 0.67})
    path = home / FOLDER / "built/provenance/cirr.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b"not json\n" + whole.splitlines()[0].replace(b'"similarity":', b'"similarity":1e999,"x":')
                     + b"\n")
    said = "2 lines are not queries with candidates and are left out. Construct the files again."
    assert get(rosa, "targets?name=built")["about"]["notes"] == [said]
    files = zipfile.ZipFile(io.BytesIO(rosa.get("/benchmarks/download?name=built&threshold=0.67").content))
    assert files.read("NOTES.txt").decode() == f"cirr: {said}\n"
    assert files.read("multi_target_selection/cirr_multi_target_selection.json") == selection_of(
        made.parent / "strict", "cirr").read_bytes()
    shutil.rmtree(home / FOLDER / "built" / "provenance")
    assert "is not finished" in problem(rosa, "download?name=built")
    about = get(rosa, "targets?name=built")["about"]
    assert about["state"] == "stopped" and "when all queries are done" in about["download_problem"]
    assert about["run"]["done"] == COUNT == about["run"]["total"] and not about["run"]["resumable"]
    assert "cirque construct multi-target with --resume" in about["run"]["why_not"]
    assert "cirque construct multi-target" in problem(rosa, "resume", name="built")


def test_a_query_goes_on_in_search(rosa: TestClient, open_as: Callable[[Role], TestClient], services: Services,
                                   home: Path) -> None:
    [query] = get(rosa, "targets?name=built&limit=1&offset=3")["page"]["queries"]
    opened = rosa.post("/benchmarks/open", json={"name": "built", "key": query["key"]})
    assert opened.status_code == 200, opened.text
    session = services.search.session(opened.json()["session"])
    [turn] = session.turns
    assert (turn.reference_id, turn.modification_text) == (query["reference"]["id"], query["text"])
    assert session.target_id is None and query["id"] in session.title
    assert "analysts may not" in problem(open_as("analyst"), "open", name="built", key=query["key"])
    for key in ("", "0", ".", "0.0", "x" * 1000):
        assert "this query is no longer in them" in problem(rosa, "open", name="built", key=key)
    shutil.rmtree(home / "galleries" / "colours")
    found = get(rosa, "targets?name=built")
    assert not found["about"]["can_open"] and found["page"]["queries"][0]["reference"]["thumb"] == ""
    assert "cannot be opened" in problem(rosa, "open", name="built", key=query["key"])


def test_no_answer_names_a_folder_of_the_server(rosa: TestClient, home: Path) -> None:
    built = home / FOLDER / "built"
    for name, change in (("cut", lambda path: path.write_text('{"query_id"')),
                         ("gone", lambda path: path.chmod(0)), ("wrong", lambda path: path.write_bytes(b"\xff\n"))):
        folder = Path(shutil.copytree(built, home / FOLDER / name))
        change(folder / "provenance" / "cirr.jsonl")
    (home / FOLDER / "linked").mkdir()
    (home / FOLDER / "linked" / "provenance").symlink_to(built / "provenance")
    for path in ("all", *(f"{what}?name={name}" for name in ("cut", "gone", "wrong", "linked")
                          for what in ("targets", "download", "run"))):
        answer = rosa.get(f"/benchmarks/{path}")
        assert answer.status_code in (200, 400), (path, answer.text)
        assert str(home).encode() not in answer.content and b"/home/" not in answer.content, path
    assert get(rosa, "targets?name=cut")["page"]["total"] == 0
    assert "1 line is not a query" in get(rosa, "targets?name=cut")["about"]["notes"][0]


def test_a_run_elsewhere_is_followed(rosa: TestClient, home: Path, made: Path) -> None:
    heading, *lines = (home / FOLDER / "built" / "journal.jsonl").read_text("utf-8").splitlines(keepends=True)
    folder = home / FOLDER / "growing"
    folder.mkdir()
    for count in (0, 2, 5):
        (folder / "journal.jsonl").write_text(heading + "".join(lines[:count]), "utf-8")
        page = get(rosa, "targets?name=growing")["page"]
        assert page["total"] == count and page["summary"]["mean"] == (
            page["summary"]["targets"] / page["summary"]["kept"] if page["summary"]["kept"] else None)


def test_options_of_the_run_are_recorded(made: Path) -> None:
    """What the page says of a run's end is what the last run was to do."""
    run = json.loads((made / FOLDER / "built" / "run.json").read_text())
    assert (run["total"], run["complete"], run["others"], run["workers"]) == (COUNT, True, 0, JobOptions().workers)
