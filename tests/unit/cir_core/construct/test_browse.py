"""Constructions read from a folder: what is there, what is damaged, filters, search and order."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest

from cir_core.construct.browse.folders import (
    ConstructionFolder,
    folder_of,
    list_constructions,
    name_problem,
    open_construction,
)
from cir_core.construct.browse.journal import JournalFollower, JournalReader
from cir_core.construct.browse.query import SORTS, SessionQuery, find_sessions
from cir_core.construct.browse.sessions import SessionReader, judged_files, read_scores
from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.construct.judging.sample import content_digest
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession
from cir_core.construct.sessions.run import construct_sessions
from cir_core.datasets.readers.circled import session_of_raw
from cir_core.datasets.readers.circled_raw import open_raw
from cir_core.errors import DatasetError, UnknownBenchmark
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.paths import locked
from cir_core.jobs.job import JobOptions, RunRecord, read_run, write_run
from cir_core.jobs.spending import Spending
from tests.fakes.colour_person import ColourPerson
from tests.fakes.construction import colour_construction

COUNT = 40


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, gallery: Gallery) -> Path:
    root = tmp_path_factory.mktemp("benchmarks")
    construct_sessions(colour_construction(gallery, ColourPerson(), COUNT), root / "built")
    return root


@pytest.fixture(scope="module")
def built(root: Path) -> ConstructionFolder:
    return open_construction(root, "built")


def ids(folder: ConstructionFolder, **query: Any) -> list[str]:
    page = find_sessions(SessionReader().read(folder), SessionQuery(limit=1000, **query), {})
    return [str(one.result.query_id) for one, _ in page.shown]


def test_a_finished_construction_is_listed(root: Path, built: ConstructionFolder) -> None:
    [one] = list_constructions(root)
    assert (one.name, one.state, one.problem) == ("built", "finished", "") and one.gallery == "colours"
    assert one.run == RunRecord((), None, COUNT, complete=True) and one.changed > 0
    found = SessionReader().read(one)
    records = [record for raw in raw_files(one.path) for _, record, _ in raw.results()]
    assert [str(one.result.query_id) for one in found.sessions] == [record["query_id"] for record in records]
    assert len(found.sessions) + found.failures == COUNT and found.notes == ()


@pytest.mark.parametrize(("epsilon", "tau"), list(itertools.product((0, 3, 30, 1000), (0.0, 0.3, 0.8, 2.0))))
def test_the_waterfall_is_that_of_the_filter(
    built: ConstructionFolder, tmp_path: Path, epsilon: int, tau: float,
) -> None:
    settings, found = FilterSettings(epsilon, tau), SessionReader().read(built)
    found.verdicts(FilterSettings())    # what other settings have left behind changes nothing
    page = find_sessions(found, SessionQuery(settings, show="kept", limit=1000), {})
    filter_sessions(raw_files(built.path), tmp_path, settings, explain=True)
    [subset] = json.loads((tmp_path / "stages.json").read_text("utf-8"))["subsets"]
    assert {stage.name: stage.removed for stage in page.waterfall} == subset["removed"]
    assert page.waterfall[-1].left == subset["kept"] == page.total and page.sessions == subset["sessions"]
    kept = [record["query_id"] for raw in raw_files(tmp_path) for _, record, _ in raw.results()]
    assert [str(one.result.query_id) for one, _ in page.shown] == kept
    dropped = [json.loads(line) for line in (tmp_path / "dropped.jsonl").read_text("utf-8").splitlines()]
    everything = find_sessions(found, SessionQuery(settings, limit=1000), {}).shown
    assert [(str(one.result.query_id), verdict.stage, verdict.number, verdict.why)
            for one, verdict in everything if verdict] == [
        (one["query_id"], one["stage"], one["number"], one["why"]) for one in dropped]


def test_stages_pages_and_searches(built: ConstructionFolder) -> None:
    everything = ids(built)
    shown = {name: ids(built, show=name, settings=FilterSettings(0, 0.3))
             for name in ("kept", "success", "multi-turn", "redundancy", "rank margin")}
    assert all(len(set(names)) == len(names) for names in shown.values())
    assert sorted(itertools.chain(*shown.values())) == sorted(everything) and shown["kept"] and shown["multi-turn"]
    read = SessionReader().read(built)
    pages = [find_sessions(read, SessionQuery(offset=at, limit=7), {}).shown for at in range(0, 42, 7)]
    assert [str(one.result.query_id) for page in pages for one, _ in page] == everything
    first = read.sessions[0]
    assert str(first.result.query_id) in ids(built, text=f" {first.result.original_query.upper()} ")
    assert ids(built, text=f"{first.result.query_id} {first.result.reference_image_id}")[0] == first.result.query_id
    assert ids(built, text="red surely-not-there") == [] and ids(built, subset="another") == []
    assert ids(built, subset=first.subset) == everything


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("descending", [False, True])
def test_orders(built: ConstructionFolder, sort: str, descending: bool) -> None:
    found = SessionReader().read(built)
    judged = {number: JudgedSession("a", "", "", 2, dict.fromkeys(DIMENSIONS, number % 4), "") for number in range(6)}

    def value(one: Any) -> float:
        ranks = [turn.best_gt_rank for turn in one.result.turns]
        cosines = [turn.text_similarity for turn in one.result.turns if turn.text_similarity is not None]
        backwards = [b - a for a, b in itertools.pairwise(ranks)]
        worth = {"constructed": one.number, "turns": len(ranks), "rank": ranks[-1],
                 "regression": max(backwards, default=math.nan), "similarity": max(cosines, default=math.nan),
                 }.get(sort, judged[one.number].scores.get(sort, math.nan) if one.number in judged else math.nan)
        return float(worth)

    shown = find_sessions(found, SessionQuery(sort=sort, descending=descending, limit=1000), judged).shown
    values = [value(one) for one, _ in shown]
    known = [one for one in values if not math.isnan(one)]
    assert known == sorted(known, reverse=descending) and known == values[:len(known)] and len(shown) == len(
        found.sessions)


def test_an_interrupted_construction_is_read_from_its_journal(root: Path, tmp_path: Path) -> None:
    lines = (root / "built" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    folder = tmp_path / "cut"
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(b"".join(lines[:12]) + lines[12][:40])
    one = open_construction(tmp_path, "cut")
    assert one.state == "stopped" and one.run is None and one.gallery == "colours"
    found = SessionReader().read(one)
    assert 0 < len(found.sessions) + found.failures <= 11
    with locked(folder):
        assert open_construction(tmp_path, "cut").state == "running"
    follower = JournalFollower(iter(range(0, 1000, 10)).__next__)
    assert follower.look(one.journal) == (len(found.sessions) + found.failures, None)
    with one.journal.open("ab") as file:
        file.write(lines[12][40:] + lines[13])
    done, rate = follower.look(one.journal)
    assert done == len(found.sessions) + found.failures + 2 and rate == pytest.approx(2 / 10)
    one.journal.unlink()
    assert follower.look(one.journal) == (0, None)
    with pytest.raises(DatasetError, match="The construction of 'cut' ended before anything was saved"):
        open_construction(tmp_path, "cut")


def test_a_run_hands_over_what_stops_it(tmp_path: Path, gallery: Gallery) -> None:
    spendings = list[Spending]()

    def stop(done: int, total: int, usage: object) -> None:
        if done == 3:
            spendings[0].stop("enough")

    report = construct_sessions(colour_construction(gallery, ColourPerson(), COUNT), tmp_path / "one",
                                options=JobOptions(progress=stop, started=spendings.append))
    assert report.stopped == "enough" and 3 <= report.done < 10 and not report.outputs
    one = open_construction(tmp_path, "one")
    assert one.state == "stopped" and one.run is not None and (one.run.total, one.run.complete) == (COUNT, False)
    construct_sessions(colour_construction(gallery, ColourPerson(), COUNT), tmp_path / "one",
                       options=JobOptions(resume=True))
    assert open_construction(tmp_path, "one").state == "finished"


@pytest.mark.parametrize(
    "name", ["", " ", "..", ".", "a/b", "a\\b", "../x", "\0", "a\nb", "x" * 81, "con:", " a", "a."])
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    assert name_problem(name)
    with pytest.raises(UnknownBenchmark):
        folder_of(tmp_path, name)
    assert name_problem("Größe 2 (ε 30)") == ""


def test_what_is_damaged_says_so_and_hides_nothing_else(root: Path, tmp_path: Path) -> None:
    assert list_constructions(tmp_path / "nowhere") == []
    for name, file, content in (
        ("wrong", "journal.jsonl", b"[1, 2"), ("list", "raw/a.json", b"[]"), ("empty", "raw/a.json", b""),
        ("deep", "raw/a.json", b'{"dataset_name": ' + b"[" * 100_000), ("other", "notes.txt", b"hello"),
        ("nameless", "raw/a.json", b'{"results": []}'), ("binary", "journal.jsonl", bytes(range(256))),
    ):
        (tmp_path / name / file).parent.mkdir(parents=True)
        (tmp_path / name / file).write_bytes(content)
    (tmp_path / "link").symlink_to(root / "built")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "raw").symlink_to(root / "built" / "raw")
    (tmp_path / "file").write_text("not a folder")
    found = {one.name: one for one in list_constructions(tmp_path)}
    assert found.keys() == {"wrong", "list", "empty", "deep", "nameless", "binary", "link", "inside"}
    assert all(one.state == "unreadable" and one.problem for one in found.values())
    assert "symbolic link" in found["link"].problem and "symbolic link" in found["inside"].problem
    for name in found:
        with pytest.raises(DatasetError):
            open_construction(tmp_path, name)


def test_records_of_another_form_are_left_out_and_counted(built: ConstructionFolder, tmp_path: Path) -> None:
    [raw] = raw_files(built.path)
    lines = raw.path.read_text("utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith('{"query_id"'))
    lines[first] = '{"query_id": 3, "turns": "none"},'
    lines[first + 1] = "7,"
    (tmp_path / "odd" / "raw").mkdir(parents=True)
    (tmp_path / "odd" / "raw" / raw.path.name).write_text("\n".join(lines[:-12]), "utf-8")
    one = open_construction(tmp_path, "odd")
    found = SessionReader().read(one)
    assert 0 < len(found.sessions) < COUNT - 2 and "are not of CIRCLED's raw format" in found.notes[0]


def test_a_file_of_the_release_has_no_similarities(built: ConstructionFolder, tmp_path: Path) -> None:
    [raw] = raw_files(built.path)
    content = json.loads(raw.path.read_bytes())
    for result in content["results"]:
        for turn in result["turns"]:
            for key in ("text_similarity", "similar_turn", "image_sha256"):
                turn.pop(key, None)
    (tmp_path / "released" / "raw").mkdir(parents=True)
    (tmp_path / "released" / "raw" / "a.json").write_text(json.dumps(content), "utf-8")
    found = SessionReader().read(open_construction(tmp_path, "released"))
    short = sum(len(one.result.turns) == 1 for one in found.sessions)
    assert 0 < short == found.compared < len(found.sessions) and "--encoder" in found.notes[0]
    page = find_sessions(found, SessionQuery(FilterSettings(30, 0.0)), {})
    assert {one.name: one.removed for one in page.waterfall}["redundancy"] == 0


def test_a_session_without_similarities_leaves_the_others_filtered(
    built: ConstructionFolder, tmp_path: Path
) -> None:
    [raw] = raw_files(built.path)
    content = json.loads(raw.path.read_bytes())
    settings = FilterSettings(1000, -1.0)
    before = SessionReader().read(built)
    drops = [at for at, verdict in enumerate(before.verdicts(settings)) if verdict and verdict.stage == "redundancy"]
    assert len(drops) > 1
    content["results"][drops[0]]["turns"][1].pop("text_similarity")
    (tmp_path / "one" / "raw").mkdir(parents=True)
    (tmp_path / "one" / "raw" / "a.json").write_text(json.dumps(content), "utf-8")
    found = SessionReader().read(open_construction(tmp_path, "one"))
    assert found.compared == len(found.sessions) - 1 and f"1 of {len(found.sessions)} sessions" in found.notes[0]
    after = [at for at, verdict in enumerate(found.verdicts(settings)) if verdict and verdict.stage == "redundancy"]
    assert after == drops[1:]


def test_a_journal_is_read_on_from_where_it_ended(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heading, *lines = (root / "built" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "growing" / "journal.jsonl"
    path.parent.mkdir()
    parsed = list[int]()
    read = JournalReader.read

    def counted(self: Any, path: Path, parse: Any) -> Any:
        return read(self, path, lambda at, *line: parsed.append(at) or parse(at, *line))

    monkeypatch.setattr(JournalReader, "read", counted)
    reader = SessionReader()
    for count in (0, 5, 6, 6, len(lines)):
        path.write_bytes(heading + b"".join(lines[:count]) + b'{"at": 3, "resu')
        found, again = reader.read(open_construction(tmp_path, "growing")), len(parsed)
        assert SessionReader().read(open_construction(tmp_path, "growing")).sessions == found.sessions
        del parsed[again:]
    places = [json.loads(line)["at"] for line in lines if b'"result"' in line]
    assert parsed == places     # each line once
    path.write_bytes(heading + lines[0])    # another, shorter one
    assert len(reader.read(open_construction(tmp_path, "growing")).sessions) <= 1


def test_circo_ids_of_a_journal_are_those_of_the_gallery(root: Path, tmp_path: Path) -> None:
    heading, *lines = (root / "built" / "journal.jsonl").read_text("utf-8").splitlines()
    card, line = json.loads(heading), next(found for found in map(json.loads, lines) if "result" in found)
    card["card"]["dataset"] = "circo"
    line["result"] |= {"reference_image_id": "000000000042", "ground_truth_ids": ["000000000007"]}
    (tmp_path / "circo").mkdir()
    (tmp_path / "circo" / "journal.jsonl").write_text(f"{json.dumps(card)}\n{json.dumps(line)}\n", "utf-8")
    [one] = SessionReader().read(open_construction(tmp_path, "circo")).sessions
    assert one.gallery_id(one.result.reference_image_id) == "42" and {"42", "7"} <= one.gallery_ids()


def test_scores_are_recognized_by_content(built: ConstructionFolder, tmp_path: Path) -> None:
    out = tmp_path / "kept"
    filter_sessions(raw_files(built.path), out, FilterSettings(1000, 2.0))
    found = SessionReader().read(built)
    [path] = (out / "raw").iterdir()
    raw = open_raw(path)
    judged = []
    for number, record, result in raw.results():
        session = session_of_raw(record, raw.subset, number)
        judged.append(JudgedSession("kept", raw.subset, session.session_id, len(session.turns), dict.fromkeys(
            DIMENSIONS, 1 + number % 5), str(result.query_id), (), content_digest(session)).as_json())
    (out / "judged.json").write_text(json.dumps(
        {"sessions": [*judged, {"source": 3}, None, "x", {**judged[0], "subset": ["a"]}]}), "utf-8")
    (out / "broken").mkdir()
    (out / "broken" / "judged.json").write_text("{", "utf-8")
    scores = read_scores(judged_files(out), found)
    assert len(scores) == len(judged) > 3
    assert all(str(found.sessions[number].result.query_id) == score.reason for number, score in scores.items())
    page = find_sessions(found, SessionQuery(sort="overall", descending=True), scores)
    assert page.judged == len(judged) and page.means["overall"] == pytest.approx(
        sum(one["overall"] for one in judged) / len(judged))


def test_the_record_of_a_run(tmp_path: Path) -> None:
    assert read_run(tmp_path) is None
    write_run(tmp_path, RunRecord(("dress",), 5, 10, 2))
    assert read_run(tmp_path) == RunRecord(("dress",), 5, 10, 2)
    for wrong in ("{", "[]", '{"total": "many"}', '{"budget": 3}'):
        (tmp_path / "run.json").write_text(wrong)
        assert read_run(tmp_path) is None
