"""The benchmarks screen's calls: who may, what they answer, what is damaged, a construction in the background."""

from __future__ import annotations

import io
import json
import shutil
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotation.records import Role
from cir_core.construct.sessions.run import Construction, construct_sessions
from cir_core.errors import LanguageModelError
from cir_core.gallery.gallery import Gallery
from tests.fakes.colour_person import ColourPerson
from tests.fakes.colours import colour_gallery
from tests.fakes.construction import colour_construction
from tests.fakes.patience import wait_for
from tests.unit.web.benchmarks.asking import get, problem
from web.benchmarks import requests
from web.benchmarks.jobs import STOPPED, ConstructionJobs
from web.benchmarks.requests import ConstructionRequest
from web.benchmarks.shelf import FOLDER
from web.services import Services

COUNT = 30
READS = ("all", "sessions?name=built", "download?name=built", "run?name=built", "thumb?name=built&image=x",
         "full?name=built&image=x", "choices")
FORM = {"name": "new", "dataset": "sample", "gallery": "colours", "model": "built-in"}
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the colour gallery, and a construction over it."""
    folder = tmp_path_factory.mktemp("made")
    gallery, home = colour_gallery(folder), folder / "home"
    construct_sessions(colour_construction(gallery, ColourPerson(), COUNT), home / FOLDER / "built")
    return home


def test_each_role_may_what_its_capabilities_say(open_as: Callable[[Role], TestClient]) -> None:
    analyst = open_as("analyst")
    for path in ("all", "sessions?name=built", "run?name=built"):
        assert analyst.get(f"/benchmarks/{path}").status_code == 200
    for path, sent in (("start", FORM), ("estimate", FORM), ("stop", {"name": "built"}), ("resume", {"name": "built"}),
                       ("open", {"name": "built", "key": "0.0"})):
        assert "analysts may not" in problem(analyst, path, **sent)
    assert "may not run studies" in problem(analyst, "choices")
    annotator = open_as("annotator")
    for path in READS:
        if not path.startswith(("thumb", "full")):    # which the guard in front of all routes refuses
            assert annotator.get(f"/benchmarks/{path}").status_code == 403


def test_a_page_of_sessions(rosa: TestClient) -> None:
    [listed] = get(rosa, "all")["benchmarks"]
    assert (listed["name"], listed["state"], listed["queries"], listed["gallery"]) == (
        "built", "finished", COUNT, "colours")
    found = get(rosa, "sessions?name=built&sort=turns&order=down&limit=5")
    about, page = found["about"], found["page"]
    assert about["sessions"] + about["failures"] == COUNT and about["can_open"] and about["gallery_problem"] == ""
    assert len(page["sessions"]) == 5 and page["total"] == about["sessions"]
    first = page["sessions"][0]
    assert len(first["turns"]) == max(len(one["turns"]) for one in page["sessions"]) > 1
    assert [turn["rank"] for turn in first["turns"]] and first["targets"]
    pictures = [turn["image"] for turn in first["turns"]] + first["targets"]
    assert all(one["thumb"].startswith("media/thumb?gallery=colours&image=") for one in pictures)
    kept = get(rosa, "sessions?name=built&show=kept&epsilon=0&tau=2")["page"]
    assert all(one["dropped"] is None for one in kept["sessions"])
    assert kept["total"] == kept["waterfall"][-1]["left"]


def test_an_analyst_sees_pictures_of_this_benchmark_only(
    open_as: Callable[[Role], TestClient], services: Services, made: Path
) -> None:
    analyst = open_as("analyst")
    [session] = get(analyst, "sessions?name=built&limit=1")["page"]["sessions"]
    address = session["targets"][0]["thumb"]
    assert address.startswith("benchmarks/thumb?name=built&image=")
    answer = analyst.get(f"/{address}")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("image/")
    assert analyst.get("/benchmarks/full?name=built&image=nothing").status_code == 404
    every = {picture["id"] for session in get(analyst, "sessions?name=built&limit=100")["page"]["sessions"]
             for picture in (*session["targets"], *(turn["image"] for turn in session["turns"]))}
    hidden = next(one for one in services.search.gallery("colours").ids if one not in every)
    assert analyst.get(f"/benchmarks/thumb?name=built&image={min(every)}").status_code == 200
    assert analyst.get(f"/benchmarks/thumb?name=built&image={hidden}").status_code == 404
    assert analyst.get("/benchmarks/full?name=other&image=x").status_code == 404


@pytest.mark.parametrize("query", [
    "epsilon=-1", "epsilon=x", "epsilon=1000001", "epsilon=1.5", "tau=nan", "tau=-0.1", "tau=3", "tau=", "show=some",
    "sort=name", "order=left", "offset=-5", "limit=101",
])
def test_values_that_cannot_be(rosa: TestClient, query: str) -> None:
    assert "must be" in problem(rosa, f"sessions?name=built&{query}")


@pytest.mark.parametrize("name", ["", "none", "../built", "%2Fetc", "built%2Fraw", ".", "a" * 300, "%00"])
def test_names_that_are_none(rosa: TestClient, home: Path, name: str) -> None:
    for path in ("sessions", "download", "run"):
        answer = rosa.get(f"/benchmarks/{path}?name={name}")
        assert answer.status_code == 404 and "There is no benchmark" in answer.json()["problem"]
        assert str(home) not in answer.text


def test_no_answer_names_a_folder_of_the_server(rosa: TestClient, home: Path) -> None:
    for name, file, content in (("wrong", "journal.jsonl", "[1"), ("list", "raw/a.json", "[]"),
                                ("cut", "raw/a.json", '{"dataset_name": "x", "results": [{"query_id": ')):
        (home / FOLDER / name / file).parent.mkdir(parents=True)
        (home / FOLDER / name / file).write_text(content)
    (home / FOLDER / "link").symlink_to(home / FOLDER / "built")
    answer = rosa.get("/benchmarks/all")
    assert answer.status_code == 200 and str(home) not in answer.text and "/home/" not in answer.text
    states = {one["name"]: one["state"] for one in answer.json()["benchmarks"]}
    assert states == {"built": "finished", "wrong": "unreadable", "list": "unreadable", "link": "unreadable",
                      "cut": "finished"}
    assert all(one["problem"] for one in answer.json()["benchmarks"] if one["state"] == "unreadable")
    for name in states:
        found = rosa.get(f"/benchmarks/sessions?name={name}")
        assert found.status_code in (200, 400) and str(home) not in found.text and "/home/" not in found.text
    assert get(rosa, "sessions?name=cut")["page"]["total"] == 0


def test_damaged_values_are_shown_and_hide_nothing_else(rosa: TestClient, home: Path) -> None:
    half = "\ud83d"
    path = home / FOLDER / "built" / "journal.jsonl"
    heading, *lines = path.read_text("utf-8").splitlines()
    card = json.loads(heading)
    card["card"]["language_model"] = f"model {half}"
    path.write_text("\n".join([json.dumps(card), *lines]) + "\n", "utf-8")
    [raw] = (home / FOLDER / "built" / "raw").glob("*.json")
    content = json.loads(raw.read_bytes())
    content["data_completeness"] = "x"
    raw.write_text(json.dumps(content), "utf-8")
    scored = {"subset": ["a"], "content": "x", "reason": half}
    (home / FOLDER / "built" / "judged.json").write_text(json.dumps({"sessions": [scored]}), "utf-8")
    line = next(found for found in map(json.loads, lines) if "result" in found)
    line["result"]["turns"][0] |= {"similar_turn": 10**30, "best_gt_rank": 10**25}
    (home / FOLDER / "huge").mkdir()
    (home / FOLDER / "huge" / "journal.jsonl").write_text(f"{heading}\n{json.dumps(line)}\n", "utf-8")
    assert get(rosa, "sessions?name=huge")["page"]["total"] == 1
    assert {one["model"] for one in get(rosa, "all")["benchmarks"]} > {"model ?"}
    assert get(rosa, "sessions?name=built")["page"]["total"] == len(content["results"])


def test_files_without_similarities_are_not_offered_for_download(rosa: TestClient, home: Path) -> None:
    assert get(rosa, "sessions?name=built")["about"]["download_problem"] == ""
    [raw] = (home / FOLDER / "built" / "raw").glob("*.json")
    content = json.loads(raw.read_bytes())
    for result in content["results"]:
        for turn in result["turns"]:
            turn.pop("text_similarity", None)
    raw.write_text(json.dumps(content), "utf-8")
    assert "--encoder" in get(rosa, "sessions?name=built")["about"]["download_problem"]


def test_a_turn_that_cannot_be_searched_names_the_session_with_the_others(
    rosa: TestClient, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = get(rosa, "sessions?name=built&sort=turns&order=down")["page"]["sessions"]
    run_turn, calls = services.search.run_turn, []

    def fails(*args: Any, **named: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise LanguageModelError("The language model does not answer.")
        return run_turn(*args, **named)

    monkeypatch.setattr(services.search, "run_turn", fails)
    said = problem(rosa, "open", name="built", key=sessions[0]["key"])
    assert "Turn 2 could not be searched again: The language model" in said
    [kept] = services.search.sessions()
    assert len(services.search.session(kept.session_id).turns) == 1 and kept.title in said


def test_one_person_opens_one_session_at_a_time(
    open_as: Callable[[Role], TestClient], services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Searching again takes long: reads of the results go on meanwhile."""
    rosa = open_as("researcher")
    key = get(rosa, "sessions?name=built")["page"]["sessions"][0]["key"]
    run_turn, most, at_work = services.search.run_turn, [0], [0]
    begun, held = threading.Event(), threading.Event()

    def slow(*args: Any, **named: Any) -> Any:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        begun.set()
        held.wait(60)
        try:
            return run_turn(*args, **named)
        finally:
            at_work[0] -= 1

    monkeypatch.setattr(services.search, "run_turn", slow)
    with rosa, ThreadPoolExecutor(4) as threads:
        opened = [threads.submit(rosa.post, "/benchmarks/open", json={"name": "built", "key": key}) for _ in range(4)]
        assert begun.wait(60), [one.result().text for one in opened]
        assert get(rosa, "sessions?name=built")["page"]["total"] > 0
        held.set()
        assert [one.result().status_code for one in opened] == [200] * 4
    assert most == [1]


def test_without_its_gallery_a_session_is_read_but_not_opened(rosa: TestClient, home: Path) -> None:
    key = get(rosa, "sessions?name=built")["page"]["sessions"][0]["key"]
    assert "must be a text" in problem(rosa, "open", name="built", key=1)
    shutil.rmtree(home / "galleries" / "colours")
    found = get(rosa, "sessions?name=built")
    assert "cannot be opened" in found["about"]["gallery_problem"] and not found["about"]["can_open"]
    assert found["page"]["sessions"][0]["targets"][0]["thumb"] == ""
    assert "cannot be opened" in problem(rosa, "open", name="built", key=key)


def test_a_session_keeps_its_key_while_others_finish(rosa: TestClient, home: Path) -> None:
    """Sessions finish out of order: one that comes in front of another moves its number, not its key."""
    heading, *lines = (home / FOLDER / "built" / "journal.jsonl").read_text("utf-8").splitlines(keepends=True)
    journal = home / FOLDER / "growing" / "journal.jsonl"
    journal.parent.mkdir()
    early, late = [line for line in lines if "result" in json.loads(line)][:2]
    journal.write_text(heading + late, "utf-8")
    [before] = get(rosa, "sessions?name=growing")["page"]["sessions"]
    with journal.open("a", encoding="utf-8") as file:
        file.write(early)
    first, second = get(rosa, "sessions?name=growing")["page"]["sessions"]
    assert (before["number"], second["number"]) == (0, 1) and first["key"] != before["key"] == second["key"]
    assert (before["id"], before["turns"]) == (second["id"], second["turns"])
    changed = json.loads(late)
    changed["result"]["original_query"] = "another text"
    journal.write_text(heading + early + json.dumps(changed) + "\n", "utf-8")
    assert "Reload the page" in problem(rosa, "open", name="growing", key=before["key"])
    for key in ("", "0", ".", "0.0", "x" * 1000):
        assert "Reload the page" in problem(rosa, "open", name="growing", key=key)


def test_another_encoder_or_other_images_are_said(rosa: TestClient, home: Path) -> None:
    path = home / FOLDER / "built" / "journal.jsonl"
    lines = path.read_text("utf-8").splitlines()
    for key, said in (("gallery_digest", "other images"), ("revision", "another encoder")):
        heading = json.loads(lines[0])
        card = heading["card"] if key == "gallery_digest" else heading["card"]["encoders"]["search"]
        card[key] = "0" * 16
        path.write_text("\n".join([json.dumps(heading), *lines[1:]]) + "\n", "utf-8")
        assert said in get(rosa, "sessions?name=built")["about"]["gallery_problem"]


def test_the_download(rosa: TestClient, services: Services, home: Path) -> None:
    answer = rosa.get("/benchmarks/download?name=built&epsilon=5&tau=0.9")
    assert answer.status_code == 200 and "built epsilon 5 tau 0.9.zip" in answer.headers["content-disposition"]
    files = zipfile.ZipFile(io.BytesIO(answer.content))
    assert set(files.namelist()) == {"public/cirr_val.json", "raw/cirr_val.json", "stages.json", "dropped.jsonl"}
    kept = json.loads(files.read("public/cirr_val.json"))
    page = get(rosa, "sessions?name=built&epsilon=5&tau=0.9&show=kept")["page"]
    assert len(kept) == page["total"]
    assert [entry.act.kind for entry in services.log.acts()] == ["benchmark.downloaded"]
    shutil.rmtree(home / FOLDER / "built" / "raw")
    assert "is not finished" in problem(rosa, "download?name=built")


def test_what_the_form_cannot_send(rosa: TestClient) -> None:
    for change, said in (
        ({"name": ""}, "Give the benchmark a name"), ({"name": "../x"}, "A name"), ({"name": "built"}, "already"),
        ({"dataset": "cirr"}, "cirque construct sessions"), ({"gallery": "nowhere"}, "There is no gallery"),
        ({"model": "settings"}, "not a language model"), ({"limit": 0}, "limit"), ({"limit": "5"}, "limit"),
        ({"max_turns": 99}, "max turns is 99"), ({"budget": -1}, "budget"), ({"budget": True}, "budget"),
        ({"subsets": "dress"}, "subsets"), ({"subsets": [3]}, "subsets"), ({"name": 7}, "name"),
    ):
        for path in ("estimate", "start"):
            assert said in problem(rosa, path, **{**FORM, **change}), (path, change)
    assert "has not been drawn" in problem(rosa, "estimate", **FORM)
    [dataset] = get(rosa, "choices")["datasets"]
    assert dataset["name"] == "sample" and "has not been drawn" in dataset["problem"]


class Slow(ColourPerson):
    """Waits for ``go`` after some answers."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.answers, self.reached = threading.Event(), 0, threading.Event()

    def complete(self, *given: Any, **more: Any) -> Any:
        self.answers += 1
        if self.answers > 60:
            self.reached.set()
            self.go.wait(60)
        return super().complete(*given, **more)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, services: Services, made: Path) -> Slow:
    """The form constructs over the colour gallery, with a language model that can be waited for."""
    model = Slow()

    def construction(self: ConstructionRequest, services: Services) -> Construction:
        gallery: Gallery = services.search.gallery("colours")
        return colour_construction(gallery, model, COUNT)

    monkeypatch.setattr(requests.ConstructionRequest, "construction", construction)
    return model


def state(client: TestClient, name: str, until: Callable[[Any], bool]) -> Any:
    def found() -> Any:
        told = get(client, f"run?name={name}")
        return told if until(told) else None

    return wait_for(found)


def test_a_construction_runs_stops_and_resumes(
    rosa: TestClient, slow: Slow, services: Services, home: Path, made: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert rosa.post("/benchmarks/start", json=FORM).json() == {"name": "new"}
    assert slow.reached.wait(60), get(rosa, "run?name=new")
    run = get(rosa, "run?name=new")
    assert run["state"] == "running" and run["run"]["here"] and run["run"]["total"] == COUNT
    assert {one["name"]: one["state"] for one in get(rosa, "all")["benchmarks"]} == {
        "new": "running", "built": "finished"}
    assert "constructing 'new'" in problem(rosa, "start", **FORM | {"name": "second"})
    assert rosa.post("/benchmarks/stop", json={"name": "built"}).json() == {"stopping": False}
    assert rosa.post("/benchmarks/stop", json={"name": "new"}).json() == {"stopping": True}
    slow.go.set()
    stopped = state(rosa, "new", lambda it: it["state"] == "stopped")
    assert stopped["run"]["problem"] == "" and 0 < stopped["run"]["done"] < COUNT
    # Its data set is none that a server reads by itself: not from here.
    assert not stopped["run"]["resumable"] and "command line" in stopped["run"]["why_not"]
    assert "command line" in problem(rosa, "resume", name="new")
    monkeypatch.setattr(requests, "WITHOUT_PATH", ("cirr",))
    assert get(rosa, "run?name=new")["run"]["resumable"]
    assert rosa.post("/benchmarks/resume", json={"name": "new"}).json() == {"name": "new"}
    state(rosa, "new", lambda it: it["state"] == "finished")
    for path in (made / FOLDER / "built" / "raw").iterdir():
        assert (home / FOLDER / "new" / "raw" / path.name).read_bytes() == path.read_bytes()
    kinds = [(entry.act.kind, entry.act.about) for entry in services.log.acts()]
    assert kinds == [("benchmark.started", "new"), ("benchmark.stopped", "new"), ("benchmark.started", "new")]


def test_what_cannot_begin_says_why_and_leaves_no_folder(
    rosa: TestClient, home: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    rosa.post("/benchmarks/start", json=FORM)
    found = state(rosa, "new", lambda it: it["state"] != "running")
    assert "has not been drawn" in found["run"]["problem"]
    starting = get(rosa, "all")["starting"]
    assert starting["name"] == "new" and not starting["run"]["running"]
    assert not (home / FOLDER / "new").exists()


def test_a_server_that_ends_leaves_what_is_finished(rosa: TestClient, slow: Slow, jobs: ConstructionJobs) -> None:
    rosa.post("/benchmarks/start", json=FORM)
    assert slow.reached.wait(60), get(rosa, "run?name=new")
    jobs.shutdown()
    slow.go.set()
    found = state(rosa, "new", lambda it: it["state"] == "stopped")
    assert found["run"]["problem"] == "Stopped: the server was stopped." and found["run"]["done"] > 0
    assert STOPPED not in found["run"]["problem"]
