"""Files in another form: copies in the form of their release, and benchmarks as M-BEIR and qrels."""

from __future__ import annotations

import json

import pytest

from cir_core.datasets.readers import soft_constraints
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.registry.constructing import refuse_unsuitable
from cir_core.registry.converting import convert, forms_of
from cir_core.registry.kinds import KINDS, read_benchmark
from tests.fakes.fashioniq_folder import write_fashioniq
from tests.unit.cir_core.datasets.test_circled_files import PUBLIC, RAW
from tests.unit.cir_core.datasets.test_hp_fashioniq import RELEASED
from tests.unit.cir_core.datasets.test_soft_files import CANDIDATES, MULTI, SCORES, SINGLE

CONSTRAINTS = {
    "model_name": "m", "input_token": 5, "output_token": 2,
    "all_queries": [{"prescriptive_query": "blue", "proscriptive_query": ["red", "dots"]}],
    "all_attributes": [{"keep": [], "add": ["blue"], "remove": ["red"]}],
}
RELEASES = {
    "circled": json.dumps([PUBLIC], indent=2),
    "soft-multi-target": json.dumps(MULTI, indent=2),
    "soft-single-target": json.dumps(SINGLE, indent=4),
    "soft-candidates": json.dumps(CANDIDATES, indent=2),
    "soft-scores": json.dumps(SCORES, indent=2),
    "soft-constraints": json.dumps(CONSTRAINTS, indent=2),
    "hp-fashioniq": json.dumps(RELEASED, indent=2),
    "trec-run": "q1 Q0 x 1 2.0 tag\nq1 Q0 y 2 1.0 tag\n",
    "trec-qrels": "q1 0 x 1\nq2 0 y 0\n",
}


@pytest.fixture
def saved(tmp_path):
    def save(text):
        path = tmp_path / "given"
        path.write_text(text, "utf-8")
        return path

    return save


@pytest.mark.parametrize("kind", RELEASES)
def test_a_copy_is_the_released_form_again(saved, tmp_path, kind):
    converted = convert(kind, saved(RELEASES[kind]), kind, tmp_path / "new/copy")
    assert (converted.written, converted.notes) == ((tmp_path / "new/copy",), ())
    assert (tmp_path / "new/copy").read_text("utf-8") == RELEASES[kind]


def test_raw_sessions_become_public_ones_with_what_there_is_to_know(saved, tmp_path):
    converted = convert("circled", saved(json.dumps(RAW)), "circled", tmp_path / "public.json")
    first, _ = json.loads((tmp_path / "public.json").read_text())
    assert first["session_id"] == "circo_val_0000" and first["turns"][1] == {
        "turn": 2, "reference_image_id": "000000000044", "relative_caption": "Add a dog"}
    assert "did not reach their target" in " ".join(converted.notes)


def test_any_benchmark_in_m_beir_s_form(tmp_path):
    root = write_fashioniq(tmp_path / "fiq")
    converted = convert("fashioniq", root, "mbeir", tmp_path / "mbeir", caption_mode="first")
    assert [path.name for path in converted.written] == [
        "mbeir_fashioniq_task7_val.jsonl", "mbeir_fashioniq_task7_val_cand_pool.jsonl",
        "mbeir_fashioniq_task7_val_qrels.tsv"]
    there = read_benchmark("mbeir", tmp_path / "mbeir")
    assert [query.modification_text for query in there.queries] == ["is green", "is white"]
    assert there.name == "mbeir-fashioniq-val" and there.pools == {"fashioniq": ("B01", "B02", "B03", "B04")}
    # Once more, in its own form: the same queries and pools under the same name.
    convert("mbeir", tmp_path / "mbeir", "mbeir", tmp_path / "again")
    assert read_benchmark("mbeir", tmp_path / "again").digest == there.digest


def test_any_benchmark_s_targets_as_qrels(tmp_path):
    convert("fashioniq", write_fashioniq(tmp_path / "fiq"), "trec-qrels", tmp_path / "qrels.txt")
    assert (tmp_path / "qrels.txt").read_text() == "dress:0 0 B02 1\ndress:1 0 B04 1\n"


def test_every_kind_says_what_it_can_become():
    assert forms_of("cirr") == ("mbeir", "trec-qrels")
    assert forms_of("circled") == ("circled", "mbeir", "trec-qrels")
    assert forms_of("trec-qrels") == ("trec-qrels",) and forms_of("circus-audit") == ()
    assert {kind for kind in KINDS if kind in forms_of(kind)} == {*RELEASES, "mbeir"}


@pytest.mark.parametrize(("kind", "form", "out", "options", "sentence"), [
    ("soft-multi-target", "circled", "x", {}, "It can be written as: soft-multi-target, mbeir, trec-qrels."),
    ("circus-audit", "trec-run", "x", {}, "Its files have no other form."),
    ("nope", "mbeir", "x", {}, "no kind of data set 'nope'"),
    ("soft-multi-target", "soft-multi-target", "given", {}, "would be overwritten. Choose another place."),
    ("soft-multi-target", "mbeir", ".", {}, "would be overwritten. Choose another place."),
    ("soft-multi-target", "soft-multi-target", "x", {"split": "val"}, "takes no split. Leave it out."),
    ("soft-candidates", "soft-candidates", "x", {}, "given, record 0: 'ref_image_name' is missing"),
    ("soft-multi-target", "soft-multi-target", "given/x", {}, "given/x cannot be written: "),
    ("soft-multi-target", "mbeir", "x", {}, "do not list the images of the pool 'gallery'"),
])
def test_what_cannot_be_is_a_sentence(saved, tmp_path, kind, form, out, options, sentence):
    given = saved(RELEASES["soft-multi-target"])
    with pytest.raises(DatasetError) as raised:
        convert(kind, given, form, tmp_path / out, **options)
    assert sentence in str(raised.value)
    assert [path.name for path in tmp_path.iterdir()] == ["given"] and given.read_text() == RELEASES[
        "soft-multi-target"]


@pytest.mark.parametrize("inside", ["captions/cap.dress.val.json", "image_splits"])
def test_what_lies_in_the_folder_that_is_read_stays(tmp_path, inside):
    root = write_fashioniq(tmp_path / "fiq")
    before = (root / "captions/cap.dress.val.json").read_bytes()
    with pytest.raises(DatasetError, match="contains the input"):
        convert("fashioniq", root, "trec-qrels", root / inside)
    assert (root / "captions/cap.dress.val.json").read_bytes() == before
    assert convert("fashioniq", root, "trec-qrels", root / "qrels.txt").written == (root / "qrels.txt",)


def test_a_split_that_hides_its_targets_has_no_qrels(saved, tmp_path):
    hidden = saved(json.dumps([{**PUBLIC, "ground_truth_ids": []}]))
    with pytest.raises(DatasetError, match="circled-val hides its targets"):
        convert("circled", hidden, "trec-qrels", tmp_path / "x")


def test_constraints_keep_model_and_tokens(saved, tmp_path):
    convert("soft-constraints", saved(RELEASES["soft-constraints"]), "soft-constraints", tmp_path / "x")
    cache = soft_constraints.read_constraints(tmp_path / "x")
    assert (cache.model, cache.input_tokens, cache.output_tokens) == ("m", 5, 2)


# --- what nothing is constructed from --------------------------------------------------------

def benchmark(*targets, pool="all"):
    queries = tuple(BenchmarkQuery(f"q{number}", "r", "red", one, pool=pool) for number, one in enumerate(targets))
    return Benchmark("mbeir", "val", queries, {pool: ("r", "t")}, lambda image_id: ())


def test_queries_with_targets_and_a_common_gallery_are_suitable():
    refuse_unsuitable(benchmark(("t",), ("t",)), "targets")


@pytest.mark.parametrize(("of", "says"), [
    (benchmark(), "mbeir-val has no queries"),
    (benchmark(("t",), (), ()), r"2 queries of 3 in mbeir-val have no target, such as 'q1'; targets are constructed"),
    (benchmark(("t",), pool="focus_object/0"), "small gallery of its own; targets need one"),
])
def test_others_are_refused_with_what_to_do(of, says):
    with pytest.raises(DatasetError, match=says) as caught:
        refuse_unsuitable(of, "targets")
    assert "--submission" not in str(caught.value)
