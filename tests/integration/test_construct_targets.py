"""SoFT's pipeline on the sample, as a person types it, with a language model that knows the garments."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from cir_core.construct.targets.provenance import read_provenance
from cir_core.datasets.readers.soft import read_multi_target, read_single_target
from cir_core.errors import DatasetError, SettingsError
from cir_core.gallery.gallery import open_gallery
from cir_core.registry.kinds import read_benchmark
from cir_core.sample.atelier.build import build_atelier
from cir_core.sample.atelier.ground_truth import read_attributes
from cir_core.settings import get_settings
from cli.main import app
from tests.fakes.attribute_person import AttributePerson
from tests.fakes.chat_server import ChatServer
from tests.fakes.databases import use_home

GARMENTS, QUERIES = 240, 30


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    from cir_core.encoders import load_encoder
    from cir_core.gallery.indexing import index_folder

    home = tmp_path_factory.mktemp("home")
    drawn = build_atelier(home / "drawn", limit=GARMENTS)
    index_folder(drawn.images, name="garments", encoder=load_encoder("atelier"), home=home, split="test")
    return home, drawn.folder


@pytest.fixture(scope="module")
def person(sample):
    home, folder = sample
    return AttributePerson(open_gallery("garments", home=home), read_benchmark("sample", folder),
                           read_attributes(folder, "test"))


@pytest.fixture
def cirque(sample, monkeypatch):
    use_home(monkeypatch, sample[0])
    monkeypatch.setattr("cli.console.out.width", 160)
    get_settings.cache_clear()

    def run(*arguments, **settings):
        for name, value in settings.items():
            monkeypatch.setenv(f"CIRQUE_{name}", value)
        get_settings.cache_clear()
        return CliRunner().invoke(app, [*map(str, arguments)])

    yield run
    get_settings.cache_clear()


def found(cirque, folder, out, server, *more):
    result = cirque("construct", "multi-target", "sample", folder, "--gallery", "garments", "--out", out, "--limit",
                    QUERIES, *more, LLM_BASE_URL=server.url, LLM_MODEL="m")
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def recall_at_1(cirque, file, split):
    result = cirque("evaluate", "soft-single-target", "--annotations", file, "--pool", split, "--gallery", "garments",
                    "--methods", "cirevl", "--no-intervals", "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    return json.loads(result.stdout)["recall"]["1"]


def test_both_stages_on_the_sample(cirque, sample, person, tmp_path):
    folder, one, two = sample[1], tmp_path / "one", tmp_path / "two"
    with ChatServer(person) as server:
        result = found(cirque, folder, one, server)
        print(result.output)
        sent = len(server.requests)
        again = found(cirque, folder, one, server, "--resume", "--threshold", 0.95)
        assert len(server.requests) == sent, "another threshold asks nothing again"
        strict = sum(len(record.target_ids) for path in (one / "multi_target_selection").iterdir()
                     for record in read_multi_target(path))
        found(cirque, folder, one, server, "--resume")
        assert "0 queries whose targets" in again.output

        # Against the truth: what the model was asked about it knows, so only the search can miss a target.
        benchmark = read_benchmark("sample", folder)
        hits = true = chosen = 0
        for name, pool in benchmark.pools.items():
            queries = [query for query in benchmark.queries if query.pool == name][:QUERIES]
            for query, record in zip(queries, read_provenance(one / f"provenance/{name}.jsonl"), strict=True):
                assert record.query_id == query.query_id and record.captions == query.captions
                truth, targets = person.answers(query, pool), set(record.targets(0.85))
                hits, true, chosen = hits + len(truth & targets), true + len(truth), chosen + len(targets)
        print(f"stage 1: recall {hits / true:.3f} of {true} true targets, precision {hits / chosen:.3f} of {chosen}")
        assert hits == chosen > strict and hits / true > 0.7

        # SoFT's own forms, and its evaluator.
        for kind, files in (
            ("soft-candidates", one / "multi_target_candidate"), ("soft-scores", one / "candidate_score"),
            ("soft-multi-target", one / "multi_target_selection"),
        ):
            for path in files.iterdir():
                checked = cirque("datasets", "check", kind, path)
                assert checked.exit_code == 0 and "No faults" in checked.output, (path, checked.output)
        split = folder / "image_splits/split.dress.test.json"
        evaluated = cirque("evaluate", "soft-multi-target", "--annotations",
                           one / "multi_target_selection/dress_multi_target_selection.json", "--pool", split,
                           "--gallery", "garments", "--methods", "cirevl", "--no-intervals", "--json")
        assert evaluated.exit_code == 0, evaluated.output
        assert json.loads(evaluated.stdout)["map_soft"].keys() >= {"5", "10", "25", "50"}

        result = cirque("construct", "single-target", one, "--gallery", "garments", "--out", two)
        assert result.exit_code == 0, (result.output, result.exception)
        print(result.output)
    before, after, queries = 0.0, 0.0, 0
    for path in sorted((two / "single_target_selection").iterdir()):
        checked = cirque("datasets", "check", "soft-single-target", path)
        records = read_single_target(path)
        assert not records or (checked.exit_code == 0 and "No faults" in checked.output), checked.output
        for record in records:
            assert len(record.distractor_ids) == 2 and record.target_id != record.reference_id
            assert {record.target_id, *record.distractor_ids} <= set(record.scores)
            assert record.scores[record.target_id] == record.target_confidence
        if records:
            name = path.name.partition("_")[0]
            split = folder / f"image_splits/split.{name}.test.json"
            before += len(records) * recall_at_1(cirque, two / "original_texts" / path.name, split)
            after += len(records) * recall_at_1(cirque, path, split)
            queries += len(records)
    print(f"stage 2: Recall@1 {before / queries:.2f} with the original texts, {after / queries:.2f} rewritten, "
          f"{queries} queries")
    assert queries >= 5 and after > before


def test_confidences_need_a_model_that_sees_and_that_is_said_before_anything_begins(cirque, sample, tmp_path):
    asked = ("construct", "multi-target", "sample", sample[1], "--gallery", "garments", "--out", tmp_path / "one")
    refused = cirque(*asked)
    assert isinstance(refused.exception, SettingsError)
    assert "need a language model that sees images: built-in/2 does not" in str(refused.exception)
    refused = cirque(*asked, LLM_BASE_URL="http://127.0.0.1:9/v1", LLM_MODEL="m", LLM_SEES="false")
    assert isinstance(refused.exception, SettingsError) and "m@127.0.0.1:9 does not" in str(refused.exception)
    ahead = cirque(*asked, "--limit", 2, "--dry-run", LLM_SEES="true")
    assert ahead.exit_code == 0 and re.search(r"two-sentences +6 +6 ", ahead.output), ahead.output
    assert re.search(r"confidence +18 +54 ", ahead.output) and not (tmp_path / "one").exists()
    free = cirque(*asked, "--limit", 2, "--dry-run", "--sentences", "built-in")
    assert free.exit_code == 0 and not re.search(r"two-sentences +6", free.output)


def test_candidates_of_others_instead_of_searches(cirque, sample, person, tmp_path):
    one, mixed = tmp_path / "one", tmp_path / "mixed"
    with ChatServer(person) as server:
        found(cirque, sample[1], one, server, "--limit", 3, "--sentences", "built-in")
        first = len(server.requests)
        assert first <= 3 * 9       # confidences alone: the built-in model wrote the sentences
        found(cirque, sample[1], mixed, server, "--limit", 3, "--candidates", one)
        assert len(server.requests) == first, "the same candidates have the same confidences"
        other = cirque("construct", "multi-target", "sample", sample[1], "--gallery", "garments", "--out",
                       tmp_path / "x", "--candidates", sample[0])
        assert isinstance(other.exception, DatasetError) and "holds no candidates of 'dress'" in str(other.exception)
    for path in (one / "multi_target_selection").iterdir():
        assert path.read_bytes() == (mixed / "multi_target_selection" / path.name).read_bytes()
    for path in (one / "multi_target_candidate").iterdir():
        assert path.read_bytes() == (mixed / "multi_target_candidate" / path.name).read_bytes()


def test_the_built_in_model_rewrites_and_what_it_cannot_tell_apart_is_listed(cirque, sample, person, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    with ChatServer(person) as server:
        found(cirque, sample[1], one, server)
    result = cirque("construct", "single-target", one, "--gallery", "garments", "--out", two, "--model", "built-in")
    assert result.exit_code == 0, (result.output, result.exception)
    records = [record for path in (two / "single_target_selection").iterdir() for record in read_single_target(path)]
    failures = json.loads((two / "failures.json").read_text())
    assert records and all(len(record.refined_caption) > len(" and ".join(record.original_captions))
                           for record in records)
    assert all("No rewritten text passed the check" in one["reason"] for one in failures)
    refused = cirque("construct", "single-target", one, "--gallery", "garments", "--out", tmp_path / "x", "--model",
                     "built-in", "--check", "confidence")
    assert isinstance(refused.exception, SettingsError) and "--check text" in str(refused.exception)
