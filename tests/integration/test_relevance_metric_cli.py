"""CIRQRS as a metric: ``cirque evaluate relevance sample``, ``--metric cirqrs`` and ``--compare``, over a small sample
gallery and relevance models of random weights."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from cir_core.datasets.readers.circled import CircledSession, CircledTurn, write_sessions
from cir_core.errors import DatasetError, RelevanceMismatch, RelevanceUnavailable
from cir_core.gallery.gallery import open_gallery
from cir_core.images.load import open_image
from cir_core.relevance.model import load_relevance
from cir_core.sample.benchmark import read_benchmark, redrawn
from cir_core.sample.gallery import sample_folder
from cir_core.settings import get_settings
from cli.main import app
from tests.fakes import drawn
from tests.fakes.databases import use_home
from tests.fakes.relevance import save_random

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database

QUICK = ("sample", "--no-sessions", "--no-requests", "--limit", "3", "--methods", "text-only,slerp")


@pytest.fixture(scope="module")
def sample_home(tmp_path_factory):
    return drawn.home(tmp_path_factory.mktemp("home"), 90, at="samples/atelier")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    for seed, folder in enumerate(folders):
        save_random(folder, seed=seed)
    return folders


@pytest.fixture
def evaluate(sample_home, monkeypatch):
    use_home(monkeypatch, sample_home)
    monkeypatch.setattr("cli.console.out.width", 250)
    get_settings.cache_clear()

    def run(*arguments):
        return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])

    yield run
    get_settings.cache_clear()


def test_metrics_are_compared_with_the_raters_on_one_query_a_category(evaluate, models, tmp_path):
    found = evaluate("relevance", "sample", "--relevance", models[0], "--limit", 1, "--json", tmp_path / "figures.json")
    assert found.exit_code == 0, found.output
    report = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    assert report["protocol"]["relevance"] == {"CIRQRS": load_relevance(str(models[0])).identity.revision}
    assert report["protocol"]["queries"] == 3 and [one["name"] for one in report["metrics"]][-1] == "CIRQRS"
    assert report["by_method"].keys() == report["protocol"]["methods"].keys() and "ceiling" in report
    target, request = report["raters"], report["request_raters"]["raters"]
    # A target has at most five of nine attributes of its own; a request gives the unchanged reference what stays.
    assert request["truth_of_unchanged_reference"] == 0.25 < 4 / 9 <= target["truth_of_unchanged_reference"]
    assert [one["name"] for one in report["request_raters"]["metrics"]] == [one["name"] for one in report["metrics"]]
    values = [of["CLIP similarity, reference alone"] for of in report["by_method"].values()]
    assert values[0] == max(values)   # image-only ranks by it


@pytest.mark.extended
def test_every_metric_is_compared_with_the_raters(evaluate, sample_home, models, tmp_path):
    path = tmp_path / "figures.json"
    found = evaluate("relevance", "sample", "--relevance", models[0], "--limit", 4, "--seed", 5, "--json", path)
    assert found.exit_code == 0, found.output
    report = json.loads(path.read_text("utf-8"))
    protocol, revision = report["protocol"], load_relevance(str(models[0])).identity.revision
    assert protocol["relevance"] == {"CIRQRS": revision} and protocol["queries"] == 12 and protocol["limit"] == 4
    assert list(protocol["methods"]) == ["image-only", "text-only", "slerp", "cirevl", "soft", "guided"]
    names = [one["name"] for one in report["metrics"]]
    assert names == ["Recall@5", "Recall@10", "reciprocal rank", "CLIP similarity, text",
                     "CLIP similarity, text and reference", "CLIP similarity, reference alone",
                     "CLIP similarity, CIReVL's merged text", "CIRQRS"]
    assert [one["other"] for one in report["differences"]] == names[:-1]
    assert all(0.2 < of["truth"] < 1 for of in report["by_method"].values())
    assert report["by_method"]["guided"]["truth"] > report["by_method"]["text-only"]["truth"]
    ceiling = {name: of["value"] for name, of in report["ceiling"]["measures"].items()}
    for one in report["metrics"]:
        for measure, share in one["of_ceiling"].items():
            assert share == pytest.approx(one["measures"][measure]["value"] / ceiling[measure])
    assert ceiling["spearman"] > 0.6 and "ceiling: noiseless truth" in found.output and revision in found.output
    again = evaluate("relevance", "sample", "--relevance", models[0], "--limit", 4, "--seed", 5)
    assert again.output == found.output


def test_redrawn_queries_are_other_ones_over_the_same_garments(sample_home):
    own = read_benchmark(sample_folder(sample_home))
    one, other = redrawn(own, 7), redrawn(own, 8)
    pairs = [{(query.reference_id, *query.target_ids) for query in of.queries} for of in (own, one, other)]
    assert pairs[1] and not pairs[0] & pairs[1] and pairs[1] != pairs[2]
    for query in one.queries:
        assert {query.reference_id, *query.target_ids} <= set(own.pools[query.pool])
        assert " and " in query.modification_text and query.caption_mode == own.queries[0].caption_mode


def test_single_turns_of_methods_get_cirqrs(evaluate, sample_home, models, tmp_path):
    path = tmp_path / "figures.json"
    found = evaluate(*QUICK, "--metric", "cirqrs", "--relevance", models[0], "--against", "slerp", "--json", path)
    assert found.exit_code == 0, found.output
    report = json.loads(path.read_text("utf-8"))
    model = load_relevance(str(models[0]))
    assert report["relevance"] == model.identity.revision and model.identity.revision in found.output
    text, slerp = report["single"]
    for one in (text, slerp):
        values = [np.mean(one["cirqrs"][name], axis=0) for name in one["cirqrs"]]
        for place, k in enumerate((10, 50)):
            figure = one["measures"][f"CIRQRS@{k}"]
            assert figure["value"] == pytest.approx(np.mean(values, axis=0)[place])
            assert figure["low"] < figure["value"] < figure["high"]
    difference = report["differences"][0]["measures"]["CIRQRS@10"]["value"]
    assert difference == pytest.approx(text["measures"]["CIRQRS@10"]["value"] - slerp["measures"]["CIRQRS@10"]["value"])
    without = evaluate(*QUICK, "--json", tmp_path / "without.json")
    plain = json.loads((tmp_path / "without.json").read_text("utf-8"))
    assert "CIRQRS" not in without.output and "CIRQRS@10" not in plain["single"][0]["measures"]
    assert plain["single"][0]["ranks"] == text["ranks"]   # more hits change no rank


@pytest.mark.extended
def test_a_run_of_the_sample_gets_cirqrs_and_is_compared_with_an_earlier_one(evaluate, sample_home, models, tmp_path):
    benchmark, gallery = read_benchmark(sample_folder(sample_home)), open_gallery("atelier", home=sample_home)
    answered = {name: [query for query in benchmark.queries if query.pool == name][:4] for name in benchmark.pools}
    listed = [query for queries in answered.values() for query in queries]
    first = {query.query_id: list(benchmark.pools[query.pool][:12]) for query in listed}
    target = {query.query_id: [query.target_ids[0]] for query in listed}
    for name, lists in (("first", first), ("target", target)):
        (tmp_path / f"{name}.json").write_text(json.dumps(lists))
    asked = ("--partial", "--metric", "cirqrs", "--relevance", models[0])
    found = evaluate("sample", "--run", tmp_path / "first.json", *asked, "--json", tmp_path / "one.json")
    assert found.exit_code == 0, found.output
    one = json.loads((tmp_path / "one.json").read_text("utf-8"))
    model = load_relevance(str(models[0]))
    assert one["protocol"]["relevance"] == model.identity.revision
    assert any("fewer than 50" in note for note in one["notes"])
    # One category by hand: the mean over its queries (0 without a list) of the mean over their first ten images.
    name = next(iter(benchmark.pools))
    total = 0.0
    for query in answered[name]:
        paths = [gallery.path_of(image_id) for image_id in (query.reference_id, *first[query.query_id][:10])]
        images = [open_image(path, max_megapixels=1) for path in paths]
        vector = model.encode_queries(images[:1], [query.modification_text])[0]
        tokens = model.encode_candidates(images[1:]).astype(np.float64)
        total += (tokens @ vector).mean()
    count = sum(query.pool == name for query in benchmark.queries)
    assert one["by_group"][name]["cirqrs"]["10"] == pytest.approx(total / count, rel=0.01)
    low, high = one["intervals"]["cirqrs"]["10"]
    assert low < one["cirqrs"]["10"] < high

    other = evaluate("sample", "--run", tmp_path / "target.json", *asked, "--compare", tmp_path / "one.json",
                     "--json", tmp_path / "two.json")
    assert other.exit_code == 0, other.output
    two = json.loads((tmp_path / "two.json").read_text("utf-8"))
    less = two["less_earlier"]["systems"]["target"]
    assert less["cirqrs@10"] == pytest.approx(two["cirqrs"]["10"] - one["cirqrs"]["10"])
    assert less["recall@1"] == pytest.approx(two["recall"]["1"] - one["recall"]["1"])
    assert "Less one.json" in other.output
    refused = evaluate("sample", "--run", tmp_path / "target.json", "--partial", "--metric", "cirqrs", "--relevance",
                       models[1], "--compare", tmp_path / "one.json")
    assert isinstance(refused.exception, RelevanceMismatch) and "one.json" in str(refused.exception)


@pytest.mark.extended
def test_methods_are_compared_with_methods(evaluate, models, tmp_path):
    path = tmp_path / "one.json"
    first = evaluate(*QUICK, "--metric", "cirqrs", "--relevance", models[0], "--json", path)
    assert first.exit_code == 0, first.output
    again = evaluate(*QUICK, "--metric", "cirqrs", "--relevance", models[0], "--compare", path)
    assert again.exit_code == 0 and "+0.00" in again.output
    assert evaluate(*QUICK, "--compare", path).exit_code == 0   # without CIRQRS nothing is mixed
    mixed = evaluate(*QUICK, "--metric", "cirqrs", "--relevance", models[1], "--compare", path)
    assert isinstance(mixed.exception, RelevanceMismatch)
    fewer = evaluate(*[2 if one == "3" else one for one in QUICK], "--compare", path)
    assert isinstance(fewer.exception, DatasetError) and "other data" in str(fewer.exception)
    (tmp_path / "list.json").write_text("[]")
    strange = evaluate(*QUICK, "--compare", tmp_path / "list.json")
    assert isinstance(strange.exception, DatasetError) and "--json" in str(strange.exception)


def test_without_a_model_or_images_it_says_what_to_do(evaluate, sample_home, tmp_path):
    for arguments in (("relevance", "sample"), (*QUICK, "--metric", "cirqrs")):
        gone = evaluate(*arguments, "--relevance", tmp_path / "nowhere")
        assert isinstance(gone.exception, RelevanceUnavailable) and "cirque relevance train" in str(gone.exception)
    alone = evaluate(*QUICK, "--relevance", tmp_path)
    assert alone.exit_code == 2 and "--metric cirqrs" in alone.output
    (tmp_path / "run.json").write_text("{}")
    blind = evaluate("fashioniq", "-a", tmp_path, "--run", tmp_path / "run.json", "--metric", "cirqrs")
    assert blind.exit_code == 2 and "--gallery" in blind.output


def test_turns_of_sessions_get_cirqrs_of_their_own_reference_and_text(evaluate, sample_home, models, tmp_path):
    benchmark, gallery = read_benchmark(sample_folder(sample_home)), open_gallery("atelier", home=sample_home)
    model, images = load_relevance(str(models[0])), [one.image_id for one in gallery.images]
    asked = benchmark.queries[:3]
    turns = [CircledTurn(query.reference_id, query.modification_text) for query in asked]
    write_sessions(tmp_path / "sessions.json", [
        CircledSession("s0", "one", asked[0].target_ids, tuple(turns[:2])),
        CircledSession("s1", "two", asked[2].target_ids, (turns[2],)),
    ])
    lists = {"s0/1": images[:50], "s0/2": images[40:90], "s1/1": images[7:19]}
    (tmp_path / "run.json").write_text(json.dumps(lists))

    def by_hand(turn, listed):
        pictures = [open_image(gallery.path_of(one), max_megapixels=1) for one in (turn.reference_id, *listed)]
        vector = model.encode_queries(pictures[:1], [turn.text])[0]
        return (model.encode_candidates(pictures[1:]).astype(np.float64) @ vector).mean()

    command = ("circled", "-a", tmp_path / "sessions.json", "--run", tmp_path / "run.json")
    found = evaluate(*command, "--gallery", "atelier", "--metric", "cirqrs", "--relevance", models[0], "--json")
    assert found.exit_code == 0, found.output
    report = json.loads(found.stdout)
    first, second, other = (by_hand(turn, lists[name][:10]) for turn, name in zip(turns, lists, strict=True))
    assert report["protocol"]["relevance"] == model.identity.revision
    assert report["cirqrs_at_10"] == pytest.approx({"1": (first + other) / 2, "2": second}, rel=0.01)
    assert report["by_group"]["one"]["cirqrs_at_10"] == pytest.approx({"1": first, "2": second}, rel=0.01)
    assert report["by_group"]["two"]["cirqrs_at_10"] == pytest.approx({"1": other}, rel=0.01)
    # 12 images are listed: of the first 50 there are 12.
    assert report["by_group"]["two"]["cirqrs_at_50"] == pytest.approx({"1": by_hand(turns[2], lists["s1/1"])}, rel=0.01)
    assert any(note.startswith("1 of 3 lists have fewer than 50 images") for note in report["notes"])

    (tmp_path / "earlier.json").write_text(found.stdout)
    again = evaluate(*command, "--gallery", "atelier", "--metric", "cirqrs", "--relevance", models[0], "--compare",
                     tmp_path / "earlier.json")
    assert again.exit_code == 0 and "CIRQRS by turn" in again.output and "+0.00" in again.output
    refused = evaluate(*command, "--gallery", "atelier", "--metric", "cirqrs", "--relevance", models[1], "--compare",
                       tmp_path / "earlier.json")
    assert isinstance(refused.exception, RelevanceMismatch)
    blind = evaluate(*command, "--metric", "cirqrs")
    assert blind.exit_code == 2 and "--gallery" in blind.output
