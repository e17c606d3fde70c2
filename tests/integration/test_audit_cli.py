"""``cirque audit`` as a person types it, on a small sample benchmark."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cir_core.encoders import load_encoder
from cir_core.errors import CirqueError, DatasetError, GalleryError, MethodError
from cir_core.gallery.indexing import index_folder
from cir_core.registry.kinds import read_benchmark
from cir_core.sample.atelier.build import AtelierPaths
from cir_core.sample.gallery import NAME
from cir_core.settings import get_settings
from cli import console
from cli.main import app
from tests.fakes.databases import use_home
from tests.fakes.drawn import home as indexed
from tests.fakes.undrawn import without_images

RETRIEVERS = "text-only,image-only,slerp,cirevl,soft"
GARMENTS, QUERIES = 90, 6


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    """Garments, and a home with a gallery of them beside."""
    return indexed(tmp_path_factory.mktemp("prepared") / "home", GARMENTS, at="../drawn").with_name("drawn")


@pytest.fixture
def cirque(drawn, tmp_path, monkeypatch):
    """Runs ``cirque audit`` in a copy of that home."""
    shutil.copytree(drawn.with_name("home"), tmp_path / "home")
    use_home(monkeypatch, tmp_path / "home")
    monkeypatch.setattr(console.out, "width", 200)
    without_images(monkeypatch)

    def run(*arguments):
        get_settings.cache_clear()
        return CliRunner().invoke(app, ["audit", *map(str, arguments)])

    yield run
    get_settings.cache_clear()


@pytest.fixture
def sample(cirque, drawn):
    """An audit of the first queries of the sample benchmark."""
    return lambda *arguments: cirque("sample", "--annotations", drawn, "--gallery", NAME, "--limit", 2, *arguments)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_from_one_command_to_labels_that_add_up(sample, drawn, tmp_path):
    result = sample("--retrievers", RETRIEVERS, "--out", tmp_path / "out", "--tables", tmp_path / "tables")
    assert result.exit_code == 0, result.output
    assert f"sample-test: {QUERIES} of {QUERIES} queries, 5 retrievers, {GARMENTS} images" in result.output
    assert "are shortcut-free" in result.output and "CompGap nDCG" in result.output
    assert {path.stem for path in (tmp_path / "tables").iterdir()} == {
        "labels", "support", "inputs", "gaps", "preamble", "report", "figures"}
    assert {"figures/gaps-ndcg.svg", "figures/labels.pdf"} <= set(contents(tmp_path / "out"))
    assert f"files in {tmp_path / 'out'}" in result.output
    summary = json.loads((tmp_path / "out/summary.json").read_text())["summary"]
    assert sum(summary["labels"].values()) == sum(summary["details"].values()) == summary["labelled"] == QUERIES
    assert summary["shortcut_free"] == QUERIES - summary["labels"]["shortcut_solvable"]
    queries = (tmp_path / "out/sample-test_queries.jsonl").read_text().splitlines()
    whole = [query.query_id for query in read_benchmark("sample", drawn).queries]  # the audit has two of each category
    lines = [json.loads(line) for line in queries]
    assert len(lines) == QUERIES and [whole[line["query_idx"]] for line in lines] == [q["query_id"] for q in lines]
    assert str(tmp_path) not in "".join(map(str, contents(tmp_path / "out").values()))


@pytest.mark.extended
def test_again_and_in_a_fresh_home_the_bytes_are_the_same(sample, drawn, tmp_path, monkeypatch):
    names = ("--retrievers", "slerp,cirevl", "--retrievers", "soft")
    assert sample(*names, "--out", tmp_path / "first").exit_code == 0
    assert sample(*names, "--out", tmp_path / "again").exit_code == 0
    use_home(monkeypatch, tmp_path / "fresh")
    get_settings.cache_clear()
    copied = AtelierPaths(shutil.copytree(drawn, tmp_path / "elsewhere"))
    index_folder(copied.images, name=NAME, encoder=load_encoder("atelier"), home=tmp_path / "fresh", split="test")
    assert sample(*names, "--out", tmp_path / "other").exit_code == 0
    first = contents(tmp_path / "first")
    assert first == contents(tmp_path / "again") == contents(tmp_path / "other") and len(first) >= 8


def test_json_alone_and_a_folder_of_its_own_for_each_audit(sample, tmp_path):
    one = sample("--retrievers", "slerp", "--json")
    assert one.exit_code == 0
    content = json.loads(one.stdout)
    assert content["dataset"] == "sample-test" and content["retrievers"][0]["retriever"] == "slerp"
    assert sample("--retrievers", "slerp", "--k", 5).exit_code == 0
    folders = sorted((tmp_path / "home/audits").iterdir())
    assert len(folders) == 2 and all(path.name.startswith("sample-test-") for path in folders)
    assert not (folders[0] / "figures").exists()     # nobody asked for files
    assert (folders[0] / "summary.json").read_text() != (folders[1] / "summary.json").read_text()


def test_ranks_from_a_file_are_a_retriever_too(sample, tmp_path):
    assert sample("--retrievers", "slerp", "--out", tmp_path / "one").exit_code == 0
    [file] = (tmp_path / "one").glob("*_slerp.json")
    result = sample("--retrievers", f"elsewhere=ranks:{file},slerp", "--out", tmp_path / "two")
    assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "two/summary.json").read_text())["summary"]
    mine, theirs = content["retrievers"]
    assert (mine["retriever"], theirs["retriever"]) == ("elsewhere", "slerp") and mine["means"] == theirs["means"]
    assert set(content["support"]["multimodal"][1:2]) == {0}, "both find a query or neither does"

    copy = tmp_path / "copy.json"
    copy.write_bytes(file.read_bytes())
    refused = sample("--retrievers", f"a=ranks:{file},b=ranks:{copy}")
    assert refused.exit_code == 1 and "'a' and 'b' have the same ranks" in str(refused.exception)


def test_no_label_at_all_is_a_failure(sample, tmp_path):
    assert sample("--retrievers", "slerp", "--out", tmp_path / "one").exit_code == 0
    [file] = (tmp_path / "one").glob("*_slerp.json")
    samples = json.loads(file.read_text())["samples"]
    ranks = {"retriever": "none", "dataset": "sample-test",
             "ranks": {one["query_id"]: {"problem": "no picture"} for one in samples}}
    (tmp_path / "none.json").write_text(json.dumps(ranks))
    result = sample("--retrievers", f"ranks:{tmp_path / 'none.json'}")
    assert result.exit_code == 1 and "No query has a label" in str(result.exception)
    assert list((tmp_path / "home/audits").iterdir()), "the files say why"


def unlisted(drawn, folder: Path, **queries: object) -> Path:
    """Some of the drawn queries in CIRCO's form, whose file lists no images."""
    asked = json.loads(min((drawn / "captions").glob("cap.dress.*.json")).read_text())[:3]
    gallery = [line.split(",")[0] for line in (drawn / "manifest.csv").read_text().splitlines()[1:]]
    place = {image_id: number for number, image_id in enumerate(gallery)}
    records = [{"id": n, "reference_img_id": place[one["candidate"]], "target_img_id": place[one["target"]],
                "gt_img_ids": [place[one["target"]]], "relative_caption": one["captions"][0], "shared_concept": "",
                "semantic_aspects": []} for n, one in enumerate(asked)]
    folder.mkdir()
    (folder / "val.json").write_text(json.dumps(records))
    return folder / "val.json"


def test_files_of_an_audit_are_ranks_again_also_where_no_images_are_listed(cirque, drawn, tmp_path):
    """With ``ranks:`` alone: the usual gallery is the one that they were made over."""
    annotations = unlisted(drawn, tmp_path / "circo")
    lines = (drawn / "manifest.csv").read_text().splitlines(keepends=True)
    numbered = [lines[0], *(f"{n},{line.partition(',')[2]}" for n, line in enumerate(lines[1:]))]
    manifest = drawn / "numbered.csv"
    manifest.write_text("".join(numbered))
    index_folder(drawn, name="circo-val", encoder=load_encoder("atelier"), home=tmp_path / "home", manifest=manifest,
                 split="test")
    manifest.unlink()
    first = cirque("circo", "--annotations", annotations, "--retrievers", "slerp", "--out", tmp_path / "one")
    assert first.exit_code == 0, first.exception or first.output
    [file] = (tmp_path / "one").glob("*_slerp.json")
    again = cirque("circo", "--annotations", annotations, "--retrievers", f"ranks:{file}", "--out", tmp_path / "two")
    assert again.exit_code == 0, again.exception or again.output
    assert (tmp_path / "two" / file.name).read_bytes() == file.read_bytes()


def test_validated_positions_are_those_of_the_whole_data_set(sample, cirque, drawn, tmp_path):
    """With --limit the third query is the second category's first, and stands much later in the whole."""
    whole = read_benchmark("sample", drawn).queries
    second = next(place for place, query in enumerate(whole) if query.pool != whole[0].pool)
    (tmp_path / "index.json").write_text(json.dumps({"dataset": "sample", "query_indices": [0, second]}))
    done = sample("--retrievers", "slerp", "--validated", tmp_path / "index.json", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.exception or done.output
    lines = [json.loads(line) for line in (tmp_path / "out/sample-test_queries.jsonl").read_text().splitlines()]
    assert [line["query_id"] for line in lines if line["validated"]] == [whole[0].query_id, whole[second].query_id]
    assert [line["query_idx"] for line in lines][:3] == [0, 1, second]
    (tmp_path / "index.json").write_text(json.dumps({"dataset": "sample", "query_indices": [second - 1]}))
    assert "Raise --limit" in str(sample("--retrievers", "slerp", "--validated", tmp_path / "index.json").exception)


def test_a_name_and_a_rule_for_validated_queries(sample, drawn, tmp_path):
    texts = [query.modification_text for query in read_benchmark("sample", drawn).queries[:2]]
    votes = [(0, True), (0, False), (1, True)]
    (tmp_path / "v.jsonl").write_text("".join(json.dumps(
        {"dataset": name, "query_idx": n, "query_text": texts[n] if name == "mine" else "else", "validated": vote},
    ) + "\n" for n, vote in votes for name in ("mine", "other")))

    def accepted(*arguments):
        done = sample("--retrievers", "slerp", "--validated", tmp_path / "v.jsonl", "--json", *arguments)
        return done.exception or json.loads(done.stdout)["composition_gap"]["subsets"]["validated"]

    assert "--validated-dataset" in str(accepted())
    assert accepted("--validated-dataset", "mine") == 1   # a tie is not most
    assert accepted("--validated-dataset", "mine", "--rule", "single-kept") == 2


def test_a_failure_is_told_though_the_report_fails_too(sample, tmp_path, monkeypatch):
    monkeypatch.setenv("CIRQUE_LLM_BASE_URL", "http://127.0.0.1:9/v1")  # nobody answers there
    monkeypatch.setenv("CIRQUE_LLM_MODEL", "m")
    monkeypatch.setenv("CIRQUE_LLM_RETRIES", "0")
    result = sample("--retrievers", "cirevl,slerp", "--model", "settings", "--min-support", 2)
    assert isinstance(result.exception, DatasetError) and "give 1, the number of retrievers" in str(result.exception)
    assert "cirevl stopped" in result.stderr


def test_ranks_of_another_ablation_are_found_before_the_work(sample, tmp_path):
    assert sample("--retrievers", "slerp", "--out", tmp_path / "one").exit_code == 0
    [file] = (tmp_path / "one").glob("*_slerp.json")
    result = sample("--retrievers", f"text-only,old=ranks:{file}", "--ablation", "drop")
    assert "differ in how an input was ablated" in str(result.exception)
    assert "text-only" not in sample("--list").output


def test_what_an_earlier_pool_left_is_removed_and_sources_are_not(sample, tmp_path):
    out = tmp_path / "out"
    assert sample("--retrievers", "slerp,cirevl", "--out", out).exit_code == 0
    [gone], [source] = out.glob("*_cirevl.json"), out.glob("*_slerp.json")
    assert sample("--retrievers", f"text-only,mine=ranks:{source}", "--out", out).exit_code == 0
    assert source.exists() and not gone.exists() and len(list(out.glob("*_mine.json"))) == 1


def test_another_seed_has_another_folder(sample, tmp_path, monkeypatch):
    assert sample("--retrievers", "slerp").exit_code == 0
    monkeypatch.setenv("CIRQUE_SEED", "7")
    assert sample("--retrievers", "slerp").exit_code == 0
    assert len(list((tmp_path / "home/audits").iterdir())) == 2


def test_what_is_stored_is_listed(sample, cirque):
    assert "No audit yet" in cirque("--list").output
    assert sample("--retrievers", "slerp,image-only").exit_code == 0
    listed = cirque("--list").output
    assert listed.count(f"{QUERIES} of {QUERIES}") == 2 and listed.count("complete") == 2 and "image-only" in listed
    assert {run["card"]["retriever"] for run in json.loads(cirque("--list", "--json").stdout)} == {
        "slerp", "image-only"}


def test_a_retriever_that_fails_leaves_the_others_their_files(sample, tmp_path, monkeypatch):
    monkeypatch.setenv("CIRQUE_LLM_BASE_URL", "http://127.0.0.1:9/v1")  # nobody answers there
    monkeypatch.setenv("CIRQUE_LLM_MODEL", "m")
    monkeypatch.setenv("CIRQUE_LLM_RETRIES", "0")
    result = sample("--retrievers", "cirevl,slerp", "--model", "settings", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "cirevl stopped" in result.stderr and "the same command continues" in result.stderr
    summary = json.loads((tmp_path / "out/summary.json").read_text())["summary"]
    assert [row["retriever"] for row in summary["retrievers"]] == ["slerp"] and summary["labelled"] == QUERIES
    for name in ("CIRQUE_LLM_BASE_URL", "CIRQUE_LLM_MODEL", "CIRQUE_LLM_RETRIES"):
        monkeypatch.delenv(name)
    assert sample("--retrievers", "cirevl,slerp", "--out", tmp_path / "out").exit_code == 0


@pytest.mark.extended
def test_a_missing_photo_costs_its_query_and_no_other(sample, drawn, cirque, tmp_path):
    """Text-only needs no pixels; for slerp under black neither: the gallery has the vectors."""
    elsewhere = shutil.copytree(drawn, tmp_path / "fewer")
    names = sorted(path.name for path in (elsewhere / "captions").glob("cap.dress.*.json"))
    first = json.loads((elsewhere / "captions" / names[0]).read_text())[0]
    shutil.copytree(tmp_path / "home", tmp_path / "kept")
    lines = (elsewhere / "manifest.csv").read_text().splitlines(keepends=True)
    lines = [line for line in lines if not line.startswith(f"{first['target']},")]
    (elsewhere / "manifest.csv").write_text("".join(lines))
    index_folder(elsewhere, name="fewer", encoder=load_encoder("atelier"), home=tmp_path / "home",
                 manifest=elsewhere / "manifest.csv", split="test")
    result = cirque("sample", "--annotations", drawn, "--limit", 2, "--gallery", "fewer", "--retrievers",
                    "text-only,slerp", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "lacks 1 images" in result.output and "QUERIES WITHOUT A LABEL" in result.output
    assert f"the target '{first['target']}' is not among" in result.output
    summary = json.loads((tmp_path / "out/summary.json").read_text())["summary"]
    assert summary["labelled"] + sum(summary["skipped"].values()) == QUERIES and summary["labelled"] >= QUERIES - 2


@pytest.mark.parametrize(("arguments", "kind", "message"), [
    (("--retrievers", "slurp"), MethodError, "no retriever 'slurp'"),
    ((), MethodError, "No retriever is named"),
    (("--retrievers", "joint", "--ablation", "drop"), MethodError, "cannot be audited with --ablation drop"),
    (("--retrievers", "slerp", "--min-support", "2"), DatasetError, "is 2, but only 1 retrievers are named"),
    (("--retrievers", "slerp", "--gallery", "nowhere"), GalleryError, "No gallery 'nowhere'"),
    (("--retrievers", "slerp", "--validated", "gone.jsonl"), CirqueError, "gone.jsonl"),
    (("--retrievers", "ranks:gone.json"), CirqueError, "gone.json"),
])
def test_what_cannot_be_audited_has_a_sentence(sample, arguments, kind, message):
    result = sample(*arguments)
    assert result.exit_code == 1 and isinstance(result.exception, kind), result.output
    assert message in str(result.exception)


def test_other_data_sets_need_their_files_and_a_gallery(cirque, drawn):
    assert "Name a data set" in str(cirque("--retrievers", "slerp").exception)
    assert "--annotations PATH" in str(cirque("fashioniq", "--retrievers", "slerp").exception)
    assert "nonsense" in str(cirque("nonsense", "--retrievers", "slerp").exception)
    failed = cirque("fashioniq", "--annotations", drawn, "--split", "test", "--retrievers", "slerp").exception
    assert isinstance(failed, GalleryError) and "--gallery" in str(failed)


@pytest.mark.extended
def test_audits_are_joined_in_one_table(sample, cirque, tmp_path):
    for name, mode in (("one", "joined"), ("other", "first")):
        result = sample("--retrievers", "text-only,slerp,cirevl", "--caption-mode", mode, "--out", tmp_path / name)
        assert result.exit_code == 0, result.output
    summary = json.loads((tmp_path / "one/summary.json").read_text())
    assert "Mean of those that compose" in result.output and summary["composition_gap"]["one_input"] == ["text-only"]

    result = cirque("join", tmp_path / "one", f"Short={tmp_path / 'other'}", "--out", tmp_path / "joined")
    assert result.exit_code == 0, result.output
    assert "Queries by label" in result.output and "Short" in result.output and "Recall@10" in result.output
    assert "Left out of mean gaps, as they take one input alone: text-only." in result.output
    joined = json.loads((tmp_path / "joined/joined.json").read_text())
    assert [one["name"] for one in joined["audits"]] == ["sample-test", "Short"]
    assert joined["audits"][0]["labels"] == summary["summary"]["labels"]
    [mean] = [one["gap"]["value"] for one in summary["composition_gap"]["means"]
              if (one["subset"], one["measure"]) == ("full", "ndcg")]
    assert joined["audits"][0]["composition_gap"]["full"]["ndcg"]["value"] == mean
    page = (tmp_path / "joined/joined.html").read_text("utf-8")
    assert "Shortcut audits" in page and "https://" not in page.replace("https://plotly", "").split("<script")[0]
    assert cirque("join", tmp_path / "one", tmp_path / "one", "--json").exit_code == 1
    assert "Usage" in cirque("--help").output and "Usage" in cirque("join", "--help").output
