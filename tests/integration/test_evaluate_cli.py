"""``cirque evaluate DATASET`` as a person types it, on files small enough to count by hand."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from cir_core.datasets.readers.soft_constraints import write_constraints
from cir_core.errors import (
    CirqueError,
    DatasetError,
    GalleryError,
    LanguageModelRefused,
    LanguageModelUnavailable,
    MethodError,
    SearchError,
    SettingsError,
)
from cir_core.evaluation.runs.records import Run
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.language.tasks import ReflectAnswer
from cir_core.sample.atelier.build import build_atelier
from cir_core.sample.benchmark import read_benchmark
from cir_core.types.composition import Constraints
from cli.evaluate.answers import SystemRun, collect
from cli.main import app
from tests.fakes.benchmark_files import genecis
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel, SilentLanguageModel
from tests.integration.homes import command_home  # noqa: F401

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database


@pytest.fixture
def evaluate(home):
    return lambda *arguments: CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


def write(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def circo_record(number: int, reference: int, targets: list[int], aspects=()) -> dict:
    return {"id": number, "reference_img_id": reference, "relative_caption": "is outdoors", "shared_concept": "a dog",
            "target_img_id": targets[0], "gt_img_ids": targets, "semantic_aspects": list(aspects)}


@pytest.fixture
def circo(tmp_path) -> Path:
    return write(tmp_path / "circo/annotations/val.json", [
        circo_record(0, 1, [22, 33, 44], ["viewpoint"]), circo_record(1, 1, [55], ["viewpoint", "addition"]),
    ])


# Query 0 (n = 3): 22 at 1, 44 at 3: AP@5 = (1 + 2/3)/3 = 5/9. Query 1: 55 at 2: AP@5 = 1/2.
# mAP@5 = 19/36; R@5 = 1 (22 and 55 are found); aspects: viewpoint 19/36, addition 1/2.
LISTS = {"0": [22, 7, 44, 8], "1": ["000000000009", "55"]}


def test_circo_as_json_is_json_alone_at_full_precision(evaluate, circo, tmp_path):
    run = write(tmp_path / "mine.json", LISTS)
    result = evaluate("circo", "--annotations", circo, "--run", run, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["map"] == dict.fromkeys(("5", "10", "25", "50"), pytest.approx(19 / 36, abs=1e-15))
    assert found["recall"] == dict.fromkeys(("5", "10", "25", "50"), 1.0)
    assert found["semantic_map_at_10"] == {"addition": 0.5, "viewpoint": pytest.approx(19 / 36, abs=1e-15)}
    assert found["system"] == "mine" and found["queries"] == 2
    assert found["protocol"]["dataset"] == "circo" and len(found["protocol"]["dataset_digest"]) == 16
    assert found["source"]["run_file"] == "mine.json" and len(found["source"]["run_digest"]) == 16
    assert set(found["intervals"]["map"]) == {"5", "10", "25", "50"}


def test_the_table_for_people(evaluate, circo, tmp_path):
    result = evaluate("circo", "-a", circo, "-r", write(tmp_path / "mine.json", LISTS))
    assert result.exit_code == 0, result.output
    assert "circo, val: 2 queries" in result.output and "52.78 [50.0, 55.6]" in result.output
    assert "addition (n 1)" in result.output
    assert "Note: The files do not list the pool" in result.output
    beside = evaluate("circo", "-a", circo, "-r", tmp_path / "mine.json", "--json", "--tables", tmp_path / "tables")
    assert json.loads(beside.stdout)["queries"] == 2
    head, mine = (tmp_path / "tables/map.csv").read_text("utf-8-sig").splitlines()
    assert head.startswith("system,map_5,map_5_low,map_5_high,") and float(mine.split(",")[1]) == pytest.approx(19 / 36)
    bare = evaluate("circo", "-a", circo, "-r", tmp_path / "mine.json", "--no-intervals")
    assert "52.78" in bare.output and "[" not in bare.output.split("mAP@k")[1].split("Recall@k")[0]


def test_several_runs(evaluate, circo, tmp_path):
    runs = [write(tmp_path / f"{name}/run.json", LISTS) for name in ("one", "two")]
    result = evaluate("circo", "-a", circo, "-r", runs[0], "-r", runs[1], "--json")
    found = json.loads(result.stdout)
    assert set(found) == {"protocol", "systems"}
    assert [system["system"] for system in found["systems"]] == ["run", "run (2)"]
    assert [system["source"]["run_file"] for system in found["systems"]] == ["run.json", "run.json"]
    assert found["systems"][0]["map"] == found["systems"][1]["map"]


def test_runs_of_one_name_far_down_a_path_are_written(evaluate, circo, tmp_path):
    runs = [write(tmp_path.joinpath(*[name * 50] * 5, "run.json"), LISTS) for name in "ab"]
    tagged = write(tmp_path / "long.trec", f"0 Q0 22 1 1 {'tag' * 100}\n1 Q0 55 1 1 {'tag' * 100}\n")
    result = evaluate("circo", "-a", circo, *(f"-r{path}" for path in (*runs, tagged)), "--write-run", tmp_path / "out",
                      "--no-intervals")
    assert result.exit_code == 0, (result.output, result.exception)
    first, second, third = sorted((tmp_path / "out").iterdir(), key=lambda path: len(path.name))
    assert (first.name, second.name) == ("run.trec", "run__2.trec")
    assert third.name.startswith("tagtag") and len(third.name) < 140


@pytest.mark.parametrize("where", ["file", "file/below"])
@pytest.mark.parametrize("option", ["--write-run", "--submission"])
def test_a_folder_that_cannot_be_is_refused_before_anything_is_ranked(evaluate, circo, tmp_path, where, option):
    (tmp_path / "file").write_text("mine")
    run = tmp_path / "broken.json"
    run.write_text("{")  # would be refused if it were looked at
    result = evaluate("circo", "-a", circo, "-r", run, option, tmp_path / where)
    assert result.exit_code == 1 and isinstance(result.exception, SettingsError)
    assert str(tmp_path / where) in str(result.exception) and option in str(result.exception)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_run_that_cannot_be_written_costs_no_figures(evaluate, circo, tmp_path):
    (tmp_path / "out/mine.trec").mkdir(parents=True)  # in the way of the file
    (tmp_path / "out/mine.trec/x").touch()
    runs = [write(tmp_path / name, LISTS) for name in ("mine.json", "other.json")]
    result = evaluate("circo", "-a", circo, "-r", runs[0], "-r", runs[1], "--write-run", tmp_path / "out", "--json")
    assert result.exit_code == 1 and isinstance(result.exception, SettingsError)
    assert f"'mine' could not be written to {tmp_path / 'out'}" in str(result.exception)
    assert "--write-run" in str(result.exception)
    assert [system["recall"]["5"] for system in json.loads(result.stdout)["systems"]] == [1, 1]
    assert (tmp_path / "out/other.trec").is_file()


def test_a_file_is_not_measured_as_another_split(evaluate, circo, tmp_path):
    run = write(tmp_path / "mine.json", LISTS)
    result = evaluate("circo", "-a", circo, "--split", "test", "-r", run)
    assert result.exit_code == 1 and "is of the split 'val'" in str(result.exception)


def test_an_empty_list_is_noted(evaluate, circo, tmp_path):
    run = write(tmp_path / "mine.json", {"0": [22], "1": []})
    found = json.loads(evaluate("circo", "-a", circo, "-r", run, "--json").stdout)
    assert found["map"]["5"] == pytest.approx(1 / 6)  # (1/3 + 0)/2
    assert found["notes"][0] == "EMPTY: 1 of 2 queries have a list without images and count as 0 ('1')."


def test_runs_that_are_refused_say_which_query_and_what_to_do(evaluate, circo, tmp_path):
    def refusal(lists, *more) -> str:
        run = write(tmp_path / "bad.json", lists)
        result = evaluate("circo", "-a", circo, "-r", run, "--json", *more)
        assert result.exit_code == 1 and isinstance(result.exception, CirqueError) and result.stdout == ""
        return str(result.exception)

    assert "lacks 1 of 2 queries ('1')" in refusal({"0": [22]})
    assert "'2'" in refusal({**LISTS, "2": [1]})
    assert "'22' occurs twice" in refusal({**LISTS, "0": [22, "0022"]})
    assert "bad.json" in refusal('{"0": [22')
    partial = evaluate("circo", "-a", circo, "-r", write(tmp_path / "part.json", {"0": LISTS["0"]}), "--partial")
    assert "INCOMPLETE: 1 of 2 queries" in partial.output and "27.78" in partial.output


def test_a_hidden_split_is_for_the_server(evaluate, tmp_path):
    record = circo_record(0, 1, [22])
    test = write(tmp_path / "circo/annotations/test.json", [
        {key: record[key] for key in ("id", "reference_img_id", "relative_caption", "shared_concept")}])
    run = write(tmp_path / "mine.json", {"0": list(range(100, 150))})
    refused = evaluate("circo", "-a", test, "-r", run)
    assert refused.exit_code == 1 and "--submission" in str(refused.exception)
    result = evaluate("circo", "-a", test, "-r", run, "--submission", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out/circo.json").read_text()) == {"0": list(range(100, 150))}
    assert "nothing to measure" in result.output
    as_json = evaluate("circo", "-a", test, "-r", run, "--submission", tmp_path / "out", "--json")
    assert json.loads(as_json.stdout)["system"] == "mine"


@pytest.fixture
def cirr(tmp_path) -> Path:
    names = [f"dev-{set_}-{number}-img0" for set_ in range(10) for number in range(6)]
    write(tmp_path / "cirr/image_splits/split.rc2.val.json", {name: f"./dev/{name}.png" for name in names})
    write(tmp_path / "cirr/captions/cap.rc2.val.json", [{
        "pairid": 12, "reference": names[0], "target_hard": names[2], "caption": "add a dog",
        "target_soft": {names[2]: 1.0},
        "img_set": {"id": 1, "members": names[:6], "reference_rank": 3, "target_rank": 4},
    }])
    return tmp_path / "cirr"


def test_cirr_its_submission_and_the_way_back(evaluate, cirr, tmp_path):
    names = list(json.loads((cirr / "image_splits/split.rc2.val.json").read_text()))
    # The reference leads; without it the target is third, and second of its set.
    ranking = [names[0], names[10], names[1], names[2], *names[3:10], *names[11:]]
    run = write(tmp_path / "mine.trec", "".join(
        f"12 Q0 {name} {rank} {-rank} tag\r\n" for rank, name in enumerate(ranking, 1)))
    result = evaluate("cirr", "-a", cirr, "-r", run, "--json", "--submission", tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["recall"] == {"1": 0, "5": 1, "10": 1, "50": 1}
    assert found["recall_subset"] == {"1": 0, "2": 1, "3": 1}
    assert found["average"] == 0.5 and found["full_catalogue"]["mrr"] == pytest.approx(1 / 3)
    recall, subset = (json.loads((tmp_path / "out" / name).read_text()) for name in (
        "recall.json", "recall_subset.json"))
    assert len(recall["12"]) == 50 and names[0] not in recall["12"] and subset["12"] == [names[1], names[2], names[3]]
    again = json.loads(evaluate("cirr", "-a", cirr, "-r", tmp_path / "out", "--json").stdout)
    assert (again["recall"], again["recall_subset"]) == (found["recall"], found["recall_subset"])


def test_fashioniq_from_one_file_per_category(evaluate, tmp_path):
    root = tmp_path / "fiq"
    for category in ("dress", "shirt", "toptee"):
        ids = [f"{category}{number}" for number in range(60)]
        write(root / f"image_splits/split.{category}.val.json", ids)
        write(root / f"captions/cap.{category}.val.json", [
            {"target": ids[9], "candidate": ids[0], "captions": ["is red", "has a hood"]}])
        write(tmp_path / f"runs/{category}.json", {f"{category}:0": ids if category == "dress" else ids[10:]})
    # dress: rank 10. shirt and toptee: not in the list.
    result = evaluate("fashioniq", "-a", root, "-r", tmp_path / "runs", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["recall"] == {"10": pytest.approx(1 / 3), "50": pytest.approx(1 / 3)}
    assert found["by_group"]["dress"]["recall"] == {"10": 1, "50": 1} and found["by_group"]["shirt"]["average"] == 0
    shown = evaluate("fashioniq", "-a", root, "-r", tmp_path / "runs").output
    assert "runs, mean of 3" in shown and "  toptee" in shown


def test_soft_multi_target(evaluate, tmp_path):
    annotations = write(tmp_path / "multi.json", [{
        "reference_image_name": "B01", "threshold": 0.85, "target_image_name": "B02", "relative_captions": ["a", "b"],
        "confidence_scores": {"B03": 0.9, "B02": 0.85}}])
    run = write(tmp_path / "mine.json", {"0": ["B09", "B03"]})
    found = json.loads(evaluate("soft-multi-target", "-a", annotations, "-r", run, "--json").stdout)
    # One hit at 2 of two targets: SoFT 1/2, CIRCO 1/4.
    assert found["map_soft"]["5"] == 0.5 and found["map"]["5"] == 0.25


def test_soft_single_target(evaluate, tmp_path):
    annotations = write(tmp_path / "single.json", [{
        "reference_image_name": "B01", "target_image_name": "B03", "original_target": "B02",
        "original_captions": ["a"], "refined_caption": "b", "comparison_images": ["B02"], "target_confidence": 0.9,
        "original_confidence_scores": {"B03": 0.9, "B02": 0.9}}])
    run = write(tmp_path / "mine.json", {"0": ["B09", "B03", *(f"C{n}" for n in range(8))]})
    found = json.loads(evaluate("soft-single-target", "-a", annotations, "-r", run, "--json").stdout)
    assert found["recall"]["1"] == 0 and found["recall"]["5"] == 1 and found["queries"] == 1
    assert found["protocol"]["dataset"] == "soft-single-target"


def test_m_beir_says_which_data_set(evaluate, tmp_path):
    annotations = write(tmp_path / "cirr_val.jsonl", json.dumps({
        "qid": "1", "query_txt": "red", "query_img_path": "a.jpg", "pos_cand_list": ["b"]}))
    run = write(tmp_path / "mine.json", {"1": ["b"]})
    found = json.loads(evaluate("mbeir", "-a", annotations, "-r", run, "--json").stdout)
    assert found["protocol"]["dataset"] == "mbeir-cirr" and found["recall"]["1"] == 1


def test_runs_over_the_sample_benchmark(evaluate, tmp_path, monkeypatch):
    paths = build_atelier(tmp_path / "drawn", sizes={"test": 30})
    monkeypatch.setattr("cir_core.sample.gallery.ensure_drawn", lambda home, progress: (paths, False))
    benchmark = read_benchmark(paths.folder)
    first, *others = benchmark.queries
    lists = {query.query_id: [query.target_ids[0]] for query in others}
    run = write(tmp_path / "mine.json", {first.query_id: [first.reference_id], **lists})
    result = evaluate("sample", "--run", run, "--json", tmp_path / "figures.json")
    assert result.exit_code == 0, (result.output, result.exception)
    assert f"sample, test: {len(benchmark.queries)} queries" in result.output
    found = json.loads((tmp_path / "figures.json").read_text())
    # All but one query are found; each category counts the same.
    size = sum(query.pool == first.pool for query in benchmark.queries)
    assert found["recall"]["1"] == pytest.approx(1 - 1 / size / len({query.pool for query in benchmark.queries}))
    assert found["protocol"]["dataset_digest"] == benchmark.digest
    lacking = evaluate("sample", "--run", write(tmp_path / "part.json", lists))
    assert isinstance(lacking.exception, DatasetError)
    assert "INCOMPLETE" in evaluate("sample", "--run", tmp_path / "part.json", "--partial").output


@pytest.mark.parametrize("more", [["--methods", "slerp"], ["--encoder", "atelier"], ["--no-sessions"]])
def test_a_run_of_the_sample_takes_nothing_of_methods(evaluate, tmp_path, more):
    result = evaluate("sample", "--run", write(tmp_path / "mine.json", {}), *more)
    assert result.exit_code == 2 and "is for methods" in result.output
    assert evaluate("sample", "--partial").exit_code == 2


def test_circled(evaluate, tmp_path):
    sessions = write(tmp_path / "cirr_val.json", [{
        "session_id": "cirr_val_0000", "subset": "cirr_val", "ground_truth_ids": ["dev-5-0-img1"], "num_turns": 2,
        "turns": [{"turn": 1, "reference_image_id": "dev-9-1-img0", "relative_caption": "make it snow"},
                  {"turn": 2, "reference_image_id": "dev-7-2-img1", "relative_caption": "add a red sled"}]}])
    run = write(tmp_path / "latest.json", {
        "cirr_val_0000/1": [f"dev-1-{number}-img0" for number in range(10)], "cirr_val_0000/2": ["dev-5-0-img1"]})
    found = json.loads(evaluate("circled", "-a", sessions, "-r", run, "--json").stdout)
    # hits 0, 1: AUC 1/2
    assert found["hits_at_10"] == {"1": 0, "2": 1} and found["auc"] == 0.5 and found["longest_session"] == 2
    assert found["final_recall_at_10"] == 1
    shown = evaluate("circled", "-a", sessions, "-r", run).output
    assert "1 sessions" in shown and "longest session 2" in shown


def test_trec(evaluate, tmp_path):
    qrels = write(tmp_path / "qrels.txt", "q1 0 x 1\nq1 0 y 1\nq2 0 z 2\n")
    run = write(tmp_path / "run.txt", "q1 Q0 u 1 3 tag\nq1 Q0 x 2 2 tag\nq2 Q0 z 1 9 tag\n")
    found = json.loads(evaluate(
        "trec", "-a", qrels, "-r", run, "--measures", "R@1,RR,AP(rel=1,judged_only=False)@10", "--json").stdout)
    # q1: x at 2 of two; q2: z at 1. R@1 (0 + 1)/2, RR (1/2 + 1)/2, AP (1/4 + 1)/2
    assert found["measures"] == {"R@1": 0.5, "RR": 0.75, "AP(rel=1,judged_only=False)@10": 0.625}
    wrong = evaluate("trec", "-a", qrels, "-r", run, "--measures", "R@0")
    assert isinstance(wrong.exception, DatasetError) and "start at 1" in str(wrong.exception)
    for none in ("", ",", " , "):
        unnamed = evaluate("trec", "-a", qrels, "-r", run, "--measures", none)
        assert isinstance(unnamed.exception, DatasetError) and "No measure is named" in str(unnamed.exception)


@pytest.mark.parametrize("arguments", [[], ["--run", "x", "--methods", "slerp"], ["--methods", "slerp"]])
def test_runs_or_methods(evaluate, circo, arguments):
    assert evaluate("circo", "-a", circo, *arguments).exit_code == 2


def test_only_two_have_a_server(evaluate, tmp_path):
    assert evaluate("lasco", "-a", tmp_path, "-r", tmp_path, "--submission", tmp_path).exit_code == 2


def test_a_run_that_is_not_there(evaluate, circo, tmp_path):
    result = evaluate("circo", "-a", circo, "-r", tmp_path / "nope.json")
    assert result.exit_code == 1 and "nope.json is missing" in str(result.exception)


# ---- Methods over a gallery -----------------------------------------------------------------------

BLUES = (250, 200, 160, 120, 90, 70, 50, 40, 20, 0)  # the reference first, the target last
NAMES = [f"dev-1-{number}-img0" for number in range(10)]


@pytest.fixture
def painted(tmp_path, monkeypatch, evaluate) -> Path:
    """A CIRR whose ten images go from blue, the reference, to red, the target; the image set is
    the reference, the four that follow it, and the target."""
    photos = tmp_path / "photos"
    photos.mkdir()
    for name, blue in zip(NAMES, BLUES, strict=True):
        Image.new("RGB", (9, 9), (250 - blue, 0, blue)).save(photos / f"{name}.png")
    manifest = write(tmp_path / "manifest.jsonl", "".join(
        json.dumps({"id": name, "path": f"{name}.png"}) + "\n" for name in NAMES))
    index_folder(photos, name="painted", encoder=FakeEncoder(), home=tmp_path / "home", manifest=manifest)
    monkeypatch.setattr("cli.evaluate.answers.open_encoder", lambda spec: FakeEncoder())
    root = tmp_path / "cirr"
    write(root / "image_splits/split.rc2.val.json", {name: f"./dev/{name}.png" for name in NAMES})
    write(root / "captions/cap.rc2.val.json", [{
        "pairid": 7, "reference": NAMES[0], "target_hard": NAMES[9], "target_soft": {NAMES[9]: 1.0}, "caption": "red",
        "img_set": {"id": 1, "members": [*NAMES[:5], NAMES[9]], "reference_rank": 1, "target_rank": 2},
    }])
    return root


def test_methods_rank_the_whole_gallery_and_the_image_set(evaluate, painted, tmp_path):
    runs = tmp_path / "runs"
    result = evaluate("cirr", "-a", painted, "--methods", "text-only,image-only", "--gallery", "painted", "--json",
                      "--write-run", runs)
    assert result.exit_code == 0, (result.output, result.exception)
    text, image = json.loads(result.stdout)["systems"]
    # "red" finds the target first. The blue reference finds it last: ninth of nine without the
    # reference, fifth of the five in its set.
    assert text["recall"]["1"] == 1 and text["recall_subset"]["1"] == 1 and text["full_catalogue"]["mrr"] == 1
    assert image["recall"] == {"1": 0, "5": 0, "10": 1, "50": 1}
    assert image["recall_subset"] == {"1": 0, "2": 0, "3": 0}
    assert image["full_catalogue"]["mrr"] == pytest.approx(1 / 9)
    assert not any("lower bound" in note for note in image["notes"])
    assert image["source"]["gallery"] == "painted" and image["source"]["protocol"] != text["source"]["protocol"]
    for system, folder in ((text, "text-only"), (image, "image-only")):
        again = json.loads(evaluate("cirr", "-a", painted, "--run", runs / folder, "--json").stdout)
        assert (again["recall"], again["recall_subset"]) == (system["recall"], system["recall_subset"])


def test_a_gallery_that_lacks_the_benchmarks_images(evaluate, painted, circo):
    result = evaluate("circo", "-a", circo, "--methods", "text-only", "--gallery", "painted")
    assert result.exit_code == 1 and isinstance(result.exception, GalleryError)
    missing = evaluate("cirr", "-a", painted, "--methods", "text-only", "--gallery", "nope")
    assert missing.exit_code == 1 and "nope" in str(missing.exception)


def test_sessions_with_a_method(evaluate, painted, tmp_path):
    sessions = write(tmp_path / "cirr_val.json", [{
        "session_id": "cirr_val_0000", "subset": "cirr_val", "ground_truth_ids": [NAMES[9]], "num_turns": 2,
        "turns": [{"turn": number, "reference_image_id": NAMES[number], "relative_caption": "red"}
                  for number in (1, 2)],
    }])
    result = evaluate("circled", "-a", sessions, "--methods", "text-only", "--gallery", "painted", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    found = json.loads(result.stdout)
    assert found["hits_at_10"] == {"1": 1, "2": 1} and found["protocol"]["history_images"] == "kept"
    split = write(tmp_path / "split.json", NAMES[:9])  # without the target
    without = evaluate("circled", "-a", sessions, "--methods", "text-only", "--gallery", "painted", "--pool", split)
    assert without.exit_code == 1 and f"{NAMES[9]!r} is not among the 9" in str(without.exception)


def test_a_sweep_chooses_on_one_half_and_reports_the_other(evaluate, painted, tmp_path):
    [one] = json.loads((painted / "captions/cap.rc2.val.json").read_text())
    write(painted / "captions/cap.rc2.val.json", [
        {**one, "pairid": number, "reference": NAMES[number], "img_set": {
            **one["img_set"], "members": [*NAMES[number:number + 5], NAMES[9]]}} for number in range(5)] + [
        {**one, "pairid": 5}])   # of the first one's reference, so in its half
    figure = tmp_path / "curve.html"
    arguments = ("cirr", "-a", painted, "--methods", "slerp", "--gallery", "painted", "--sweep", "text_weight=0:1:0.5")
    result = evaluate(*arguments, "--figure", figure, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    content = json.loads(result.stdout)
    [sweep] = content["sweeps"]
    # The reference alone finds the target last; the text alone first, and so does the half of both: "red" and blue.
    first, *_, last = sweep["values"]
    assert (first["reporting"]["recall"]["1"], last["reporting"]["recall"]["1"]) == (0, 1)
    assert sweep["chosen_by"] == "average" and sorted(sweep["queries"].values()) == [0, 3, 3]
    assert sweep["best"]["value"] == 1 and sweep["best"]["reporting"]["intervals"]["average"] == [1, 1]
    assert len({value["protocol"] for value in sweep["values"]}) == 3 and content["protocol"]["queries"] == 6
    assert "average by text_weight (text versus image)" in figure.read_text("utf-8")
    shown = evaluate(*arguments, "--choose-by", "recall@1").output
    assert "was chosen by recall@1 on 3 queries and is reported on the other 3" in shown
    none = evaluate(*arguments, "--choose-by", "map@10")
    assert isinstance(none.exception, DatasetError) and "There are: recall@1" in str(none.exception)


@pytest.mark.parametrize("more", [
    ["--run", "x", "--sweep", "lambda=0,1"], ["--methods", "soft", "--choose-by", "recall@1"],
    ["--methods", "soft", "--figure", "x.html"], ["--methods", "soft", "--sweep", "lambda=0,1", "--compare", "x"],
    ["--methods", "soft", "--sweep", "lambda=0,1", "--no-intervals"],
])
def test_options_that_do_not_go_with_a_sweep(evaluate, circo, more):
    assert evaluate("circo", "-a", circo, "--gallery", "g", *more).exit_code == 2


@pytest.mark.parametrize("more", [("--turns", "3"), ("--no-sessions",), ("--no-requests",), ("--turns", "4")])
def test_a_sweep_of_the_sample_is_over_its_single_turns(evaluate, more):
    result = evaluate("sample", "--methods", "soft", "--sweep", "lambda=0,1", *more)
    assert result.exit_code == 2 and "cannot be combined with --sweep" in result.output


def test_a_sweep_is_checked_before_anything_is_opened(evaluate, circo):
    wrong = evaluate("circo", "-a", circo, "--gallery", "none", "--methods", "soft", "--sweep", "lambda=0:1:0")
    assert isinstance(wrong.exception, MethodError) and "the step is 0" in str(wrong.exception)


def test_sessions_as_curves(evaluate, painted, tmp_path):
    sessions = write(tmp_path / "cirr_val.json", [{
        "session_id": f"cirr_val_{number:04}", "subset": "cirr_val", "ground_truth_ids": [NAMES[9]], "num_turns": 2,
        "turns": [{"turn": turn, "reference_image_id": NAMES[turn + number], "relative_caption": "red"}
                  for turn in (1, 2)],
    } for number in range(4)])
    by_turn = tmp_path / "turns.html"
    given = ("circled", "-a", sessions, "--methods", "weighted", "--gallery", "painted", "--figure", by_turn)
    assert evaluate(*given).exit_code == 0
    # Ten images: every target is among the first ten.
    assert "Hits@10 by turn, All sessions. weighted: 100.0 %, 100.0 %" in by_turn.read_text("utf-8")
    result = evaluate(*given, "--sweep", "decay=0,0.5,1", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    [sweep] = json.loads(result.stdout)["sweeps"]
    assert sweep["chosen_by"] == "auc" and sweep["best"]["value"] == 1   # equal ones: the nearest to 0.8
    assert sweep["notes"] == ["a changes auc of no query."]
    assert "weighted" in by_turn.read_text("utf-8") and "auc by a (weight of each earlier turn)" in by_turn.read_text()


def test_an_image_that_a_method_cannot_read_costs_its_query_and_says_why(evaluate, painted, tmp_path):
    root = tmp_path / "two"
    first = json.loads((painted / "captions/cap.rc2.val.json").read_text())[0]
    write(root / "image_splits/split.rc2.val.json", {name: f"./dev/{name}.png" for name in NAMES})
    write(root / "captions/cap.rc2.val.json", [first, {**first, "pairid": 8, "caption": "red " * 3_000}])
    result = evaluate("cirr", "-a", root, "--methods", "text-only", "--gallery", "painted", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    found = json.loads(result.stdout)
    # One of two is answered, and found first; the other counts as 0.
    assert found["recall"]["1"] == 0.5 and found["full_catalogue"]["mrr"] == 0.5
    assert any(note.startswith("INCOMPLETE: 1 of 2") for note in found["notes"])
    assert any(note.startswith("1 could not be answered: ") for note in found["notes"])


def test_what_was_finished_before_a_server_went_away_is_kept(tmp_path):
    def answers():
        yield SystemRun(Run("first", {"q": ("a",)}), {})
        raise LanguageModelUnavailable("The server is away.")

    done, early = collect(answers(), tmp_path, lambda line: None)
    assert [one.run.system for one in done] == ["first"] and isinstance(early, LanguageModelUnavailable)
    assert (tmp_path / "first.trec").read_text() == "q Q0 a 1 1 first\n"
    with pytest.raises(LanguageModelUnavailable):
        collect((one for one in answers() if one.run.system == "second"), None, lambda line: None)


# ---- Stored constraints, captions beforehand, refusals --------------------------------------------


def asked_of(monkeypatch, language):
    """Evaluations ask ``language``, whatever model they name."""
    @contextmanager
    def given(model, encoder):
        yield language

    monkeypatch.setattr("cli.evaluate.answers.language_model", given)


def test_a_constraint_file_takes_the_place_of_the_language_model(evaluate, painted, tmp_path, monkeypatch):
    asked_of(monkeypatch, SilentLanguageModel())
    # What must show is blue: of the reds, which all are, the bluer ones rise. λ = 1: s (r + 1 − p) / 2.
    file = tmp_path / "cirr_const_gpt-4o.json"
    write_constraints(file, [Constraints(prescriptive=("blue",), proscriptive=("red",))], model="gpt-4o")
    options = ("cirr", "-a", painted, "--gallery", "painted", "--json")
    result = evaluate(*options, "--methods", "slerp,slerp-soft", "--constraints", file)
    assert result.exit_code == 0, (result.output, result.exception)
    plain, soft = json.loads(result.stdout)["systems"]
    assert soft["full_catalogue"]["mrr"] < plain["full_catalogue"]["mrr"]
    assert soft["source"]["constraints"].endswith(" by gpt-4o") and "constraints" not in plain["source"]
    write_constraints(file, [Constraints(proscriptive=("red",))], model="gpt-4o")
    other = json.loads(evaluate(*options, "--methods", "slerp-soft", "--constraints", file).stdout)
    assert other["source"]["protocol"] != soft["source"]["protocol"], "other constraints are another protocol"
    write_constraints(file, [Constraints()], model="gpt-4o")
    unfiltered = json.loads(evaluate(*options, "--methods", "slerp-soft", "--constraints", file).stdout)
    assert "the constraint file has no text for 1 queries, which are not filtered" in unfiltered["notes"]


def test_a_sweep_takes_constraints_from_a_file(evaluate, painted, tmp_path, monkeypatch):
    asked_of(monkeypatch, SilentLanguageModel())
    [one] = json.loads((painted / "captions/cap.rc2.val.json").read_text())
    write(painted / "captions/cap.rc2.val.json", [{**one, "pairid": 1}, {**one, "pairid": 2, "reference": NAMES[1]}])
    file = tmp_path / "cirr_const_gpt-4o.json"
    write_constraints(file, [Constraints(prescriptive=("blue",)), Constraints()], model="gpt-4o")
    options = ("cirr", "-a", painted, "--gallery", "painted", "--sweep", "lambda=0,1", "--constraints", file, "--json")
    result = evaluate(*options, "--methods", "slerp-soft")
    assert result.exit_code == 0, (result.output, result.exception)
    content = json.loads(result.stdout)
    assert content["protocol"]["constraints"].endswith(" by gpt-4o")
    assert "the constraint file has no text for 1 queries, which are not filtered" in content["protocol"]["notes"]
    alone = evaluate("cirr", "-a", painted, "--gallery", "painted", "--constraints", file, "--json",
                     "--methods", "slerp-soft")
    own = json.loads(alone.stdout)["source"]["protocol"]
    assert own in [value["protocol"] for value in content["sweeps"][0]["values"]], "λ = 1 is the method's own"
    none = evaluate(*options[:-3], "--constraints", file, "--methods", "slerp", "--sweep", "text_weight=0,1")
    assert isinstance(none.exception, MethodError) and "such as soft" in str(none.exception)


def test_constraint_files_that_do_not_fit_are_refused(evaluate, painted, tmp_path):
    file = tmp_path / "c.json"
    write_constraints(file, [Constraints(), Constraints()], model="gpt-4o")
    options = ("cirr", "-a", painted, "--gallery", "painted", "--constraints", file)
    refused = evaluate(*options, "--methods", "slerp-soft")
    assert isinstance(refused.exception, DatasetError)
    assert "have 2 entries, and cirr-val has 1" in str(refused.exception)
    write_constraints(file, [Constraints()], model="gpt-4o")
    refused = evaluate(*options, "--methods", "slerp")
    assert isinstance(refused.exception, MethodError) and "such as soft" in str(refused.exception)
    run = write(tmp_path / "run.json", {"7": NAMES[1:]})
    assert "--constraints are for methods" in evaluate("cirr", "-a", painted, "-r", run, "--constraints", file).output


def test_a_refusal_says_how_to_evaluate_by_rules(evaluate, painted, monkeypatch):
    asked_of(monkeypatch, ReplayingLanguageModel({"merge": [LanguageModelRefused("The model declined.")]}))
    result = evaluate("cirr", "-a", painted, "--methods", "cirevl", "--gallery", "painted")
    assert isinstance(result.exception, SearchError)
    assert "The model declined. For all queries: --model built-in. The built-in rules" in str(result.exception)


@pytest.mark.parametrize(("answer", "options", "built"), [
    (None, (), False), (None, ("--yes",), True), (True, (), True), (False, (), False)])
def test_captions_are_offered_once_before_a_long_evaluation(evaluate, painted, monkeypatch, answer, options, built):
    """``answer``: what a person says at a terminal; None: there is none."""
    language = ReplayingLanguageModel({"reflect": [ReflectAnswer(intent="i", query="red")]}, sees=True)
    asked_of(monkeypatch, language)
    monkeypatch.setattr("cli.evaluate.captions_first.LONG", 1)
    monkeypatch.setattr("cli.evaluate.captions_first._at_a_terminal", lambda: answer is not None)
    questions = []
    monkeypatch.setattr("cli.evaluate.captions_first.typer.confirm",
                        lambda text, **how: questions.append(text) or answer)
    command = ("cirr", "-a", painted, "--gallery", "painted", "--methods", "slerp-corr,corr-prf", *options)
    result = evaluate(*command)
    assert result.exit_code == 0, (result.output, result.exception)
    assert len(questions) == (answer is not None)
    said = " ".join(result.output.split())
    assert "slerp-corr: the language model is shown captions" in said and "10 of the 10 images" in said
    assert ("--yes builds the captions first" in said) == (answer is None and not options)
    (task,) = language.asked_as("reflect")[:1]
    assert bool(task.captions) is built
    again = evaluate(*command)
    assert ("is shown captions" in again.output) is not built


@pytest.mark.parametrize(("sweep", "built"), [("alpha=0.5,1", True), ("captions=0,1", True), ("captions=0", False)])
def test_a_sweep_builds_captions_first(evaluate, painted, monkeypatch, sweep, built):
    language = ReplayingLanguageModel({"reflect": [ReflectAnswer(intent="i", query="red")]}, sees=True)
    asked_of(monkeypatch, language)
    monkeypatch.setattr("cli.evaluate.captions_first.LONG", 1)
    [one] = json.loads((painted / "captions/cap.rc2.val.json").read_text())
    write(painted / "captions/cap.rc2.val.json", [{**one, "pairid": 1}, {**one, "pairid": 2, "reference": NAMES[1]}])
    result = evaluate("cirr", "-a", painted, "--gallery", "painted", "--methods", "slerp-corr", "--yes",
                      "--sweep", sweep)
    assert ("slerp-corr: the language model is shown captions" in " ".join(result.output.split())) is built
    if built:
        assert result.exit_code == 0, (result.output, result.exception)
        assert any(task.captions for task in language.asked_as("reflect"))


def test_nobody_is_asked_where_no_captions_would_be_shown(evaluate, painted, monkeypatch):
    monkeypatch.setattr("cli.evaluate.captions_first.LONG", 1)
    said = {"reflect": [ReflectAnswer(intent="i", query="red")]}
    for sees, methods in ((False, "slerp-corr"), (True, "corr-prf,slerp")):
        asked_of(monkeypatch, ReplayingLanguageModel(said, sees=sees))
        result = evaluate("cirr", "-a", painted, "--gallery", "painted", "--methods", methods)
        assert result.exit_code == 0 and "captions" not in result.output


def test_genecis_from_its_files_to_its_figures(evaluate, tmp_path, monkeypatch):
    """Boxes are cut out at indexing; each query is ranked among its own gallery, each task counts the same."""
    monkeypatch.setattr("cli.galleries.datasets.open_encoder", lambda spec: FakeEncoder())
    monkeypatch.setattr("cli.evaluate.answers.open_encoder", lambda spec: FakeEncoder())
    root = genecis(tmp_path / "genecis")
    for number, colour in {7: "blue", 8: "red", 9: "green", 10: "blue", 11: "green"}.items():
        for name in (f"VG_100K/{number}.jpg", f"val2017/{number:012d}.jpg"):
            path = tmp_path / "images" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (80, 120), colour).save(path)
    indexed = CliRunner().invoke(app, ["datasets", "index", "genecis", str(root), "--images", str(tmp_path / "images")])
    assert indexed.exit_code == 0, (indexed.output, indexed.exception)
    gallery = open_gallery("genecis", home=tmp_path / "home")
    assert len(gallery) == 10 and gallery.load_image("8_10_20_30.5_40").size == (68, 68)  # 52 × 68, padded
    result = evaluate("genecis", "-a", root, "--methods", "image-only", "--gallery", "genecis", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    found = json.loads(result.stdout)
    # The reference is blue like 10; of the others of each gallery, red 8, green 9 and 11, none is
    # nearer than the others, so their order by id decides.
    assert found["recall"]["1"] == 0 and set(found["recall"]) == {"1", "2", "3"}
    assert set(found["by_group"]) == {"focus_attribute", "change_attribute", "focus_object", "change_object"}
    assert found["protocol"]["dataset"] == "genecis" and found["queries"] == 8
    swept = evaluate("genecis", "-a", root, "--methods", "slerp", "--gallery", "genecis", "--sweep", "text_weight=0,1",
                     "--json")
    assert "all 2 of 'focus_attribute' belong to one reference image" in str(swept.exception)
