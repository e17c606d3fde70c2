import json

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.soft import (
    MultiTarget,
    read_candidates,
    read_multi_target,
    read_single_target,
    write_candidates,
    write_multi_target,
    write_single_target,
)
from cir_core.datasets.readers.soft_benchmark import multi_target_benchmark, single_target_benchmark
from cir_core.datasets.readers.soft_constraints import constraints_of, read_constraints, write_constraints
from cir_core.datasets.readers.soft_scores import read_scores, write_scores
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.types.composition import Constraints

MULTI = [
    {"reference_image_name": "B01", "threshold": 0.85, "target_image_name": "B02",
     "relative_captions": ["is red", "has a hood"], "confidence_scores": {"B04": 0.9, "B03": 0.9, "B02": 0.85}},
    {"reference_image_name": "B05", "threshold": 0.85, "target_image_name": "B06",
     "relative_captions": ["", " is longer"], "confidence_scores": {"B05": 1.0, "B07": 0.84}},
]
SINGLE = [
    {"reference_image_name": "B01", "target_image_name": "B03", "original_target": "B02",
     "original_captions": ["is red", "has a hood"], "refined_caption": "Is red with a \u2665.",
     "comparison_images": ["B04", "B02"], "target_confidence": 0.9,
     "original_confidence_scores": {"B03": 0.9, "B02": 0.85, "B04": 0.88}},
]
CANDIDATES = [
    {"ref_image_name": "B01", "relative_captions": ["is red", "has a hood"], "target_image_name": "B02",
     "query": "a red shirt", "top_k_names": ["B02", "B03"], "top_k_scores": [0.31, 0.3]},
    {"ref_image_name": "B05", "relative_captions": ["is longer", ""], "target_image_name": "B06",
     "top_k_names": ["B06"], "top_k_scores": [-0.1]},
]
SCORES = [
    {"success": True, "result": {
        "reference_image_name": "B01", "relative_captions": ["is red", "has a hood"],
        "confidence_scores": {"B02": 0.9, "B03": 0.4, "B04": 0.9, "B05": 0.5}, "selected_top_3": ["B02", "B04", "B05"],
        "target_image": "B02", "item_index": 0}, "item_index": 0},
    {"success": True, "result": {
        "reference_image_name": "dev-1-0-img0", "relative_captions": "add a dog", "confidence_scores": {},
        "selected_top_3": [], "target_image": "dev-2-0-img1", "item_index": 3}, "item_index": 3},
]
CIRR = {"reference_image_name": "dev-1-0-img0", "threshold": 0.85, "target_image_name": "dev-2-0-img1",
        "relative_captions": "add a dog", "confidence_scores": {"dev-1-0-img0": 0.95, "dev-3-0-img0": 0.9}}


@pytest.fixture
def saved(tmp_path):
    def save(content, indent=2):
        path = tmp_path / "soft.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=indent))
        return path

    return save


def changed(record, **values):
    return [{**record, **values}]


@pytest.mark.parametrize(("read", "write", "content", "indent"), [
    (read_multi_target, write_multi_target, [*MULTI, CIRR], 2),
    (read_single_target, write_single_target, SINGLE, 4),
    (read_candidates, write_candidates, CANDIDATES, 2),
    (read_scores, write_scores, SCORES, 2),
])
def test_what_was_read_is_written_byte_for_byte(saved, tmp_path, read, write, content, indent):
    path = saved(content, indent)
    write(tmp_path / "again.json", read(path))
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_targets_are_those_at_the_threshold_by_score_then_name(saved):
    first, second = read_multi_target(saved(MULTI))
    # 0.9, 0.9 and 0.85 are all at least 0.85; the equal ones by name.
    assert first.target_ids == ("B03", "B04", "B02")
    assert second.target_ids == ("B05",) and second.captions == ("", " is longer")


def test_a_cirr_caption_is_a_text_and_padding_is_no_target(saved):
    record = read_multi_target(saved([CIRR]))[0]
    assert record.captions == ("add a dog",)
    assert MultiTarget("r", "t", ("x",), 0.5, {"": 0.9, "a": 0.9}).target_ids == ("a",)


def test_a_fashioniq_file_as_a_benchmark(saved):
    benchmark = multi_target_benchmark(saved(MULTI), pool=["B01", "B02", "B03", "B04", "B05"])
    first, second = benchmark.queries
    assert (benchmark.kind, benchmark.name) == ("soft-multi-target", "soft-multi-target-val")
    assert (first.query_id, first.reference_id, first.modification_text) == ("0", "B01", "is red and has a hood")
    assert first.target_ids == ("B03", "B04", "B02") and first.caption_mode == "joined" and not first.excluded_ids
    # FashionIQ's gallery keeps the reference, so it stays a target; the empty caption is dropped.
    assert second.target_ids == ("B05",) and second.modification_text == "is longer"
    assert benchmark.pools == {"gallery": ("B01", "B02", "B03", "B04", "B05")}
    assert "images/B01.jpg" in benchmark.image_paths("B01")
    # B06 is not among the second record's scores; B05 is, and is its reference; B07 is below.
    assert benchmark.notes == (
        "The original target is not among the targets of 1 of 2 records.",
        "The reference is among the targets of 1 records; it remains a target.",
        "1 images with a confidence below the threshold are not targets.",
    )


def test_where_the_gallery_drops_the_reference_so_do_the_targets(saved):
    alone = {**CIRR, "confidence_scores": {"dev-1-0-img0": 0.95}}
    benchmark = multi_target_benchmark(saved([alone, CIRR]))
    (query,) = benchmark.queries
    assert query.query_id == "1"  # its place in the file, whatever was left out
    assert query.target_ids == ("dev-3-0-img0",) and query.excluded_ids == ("dev-1-0-img0",)
    assert query.caption_mode == "single" and query.modification_text == "add a dog"
    assert benchmark.image_paths("dev-1-0-img0")[0] == "dev/dev-1-0-img0.png"
    assert "The reference is among the targets of 2 records; it was removed" in benchmark.notes[1]
    assert "1 queries without any target are left out." in benchmark.notes


def test_the_caller_may_decide_about_the_reference(saved):
    kept = multi_target_benchmark(saved([CIRR]), exclude_reference=False).queries[0]
    assert kept.target_ids == ("dev-1-0-img0", "dev-3-0-img0") and not kept.excluded_ids
    assert not multi_target_benchmark(saved(MULTI[1:]), exclude_reference=True).queries


def test_caption_modes(saved):
    path = saved(MULTI[:1])
    assert [(query.query_id, query.modification_text)
            for query in multi_target_benchmark(path, caption_mode="separate").queries] == [
        ("0:0", "is red"), ("0:1", "has a hood")]
    with pytest.raises(DatasetError, match=r"record 0: .*caption mode"):
        multi_target_benchmark(path, caption_mode="single")


@pytest.mark.parametrize(("content", "problem"), [
    (changed(MULTI[0], confidence_scores={"B03": 1.2}), "record 0: 'confidence_scores.B03' cannot be used"),
    (changed(MULTI[0], confidence_scores={"B03": -0.1}), "confidence_scores.B03"),
    (changed(MULTI[0], confidence_scores={"B03": "0.9"}), "confidence_scores.B03"),
    (changed(MULTI[0], confidence_scores={"B03": True}), "confidence_scores.B03"),
    (changed(MULTI[0], confidence_scores={"B03": float("nan")}), r"record 0: it is not valid JSON"),
    (changed(MULTI[0], threshold=None), "'threshold' cannot be used"),
    (changed(MULTI[0], relative_captions=[1, 2]), "relative_captions"),
    ([{key: value for key, value in MULTI[0].items() if key != "threshold"}], "'threshold' is missing"),
    (SINGLE, "record 0: 'threshold' is missing"),
    ('[{"reference_image_name": "B01", "thres', "record 0: the file ends in the middle of it"),
    ('{"0": ["B01"]}', "does not contain a JSON array"),
])
def test_faults_of_multi_target_files(saved, content, problem):
    path = saved(content)
    with pytest.raises(DatasetError, match=problem) as raised:
        read_multi_target(path)
    assert str(path) in str(raised.value)


def test_a_repeated_key_is_a_fault_of_its_record(tmp_path):
    good = json.dumps({"reference_image_name": "r", "threshold": 0.85, "target_image_name": "t",
                       "relative_captions": "red", "confidence_scores": {"t": 0.9, "u": 0.9}})
    twice = good.replace('"u"', '"t"')
    path = tmp_path / "shirt_multi_target_selection.json"
    path.write_text(f"[{good}, {twice}, {good}, {good[:-1]}, \"threshold\": 0.1}}, {twice}]")
    with pytest.raises(DatasetError, match="record 1: the key 't' occurs twice in one object"):
        read_multi_target(path)
    faults = ValidationIssues(collect=True)
    assert len(read_multi_target(path, faults)) == 5
    assert [(one.record, one.problem) for one in faults.found] == [
        ("record 1", "the key 't' occurs twice in one object"),
        ("record 3", "the key 'threshold' occurs twice in one object"),
        ("record 4", "the key 't' occurs twice in one object")]
    # An object that a repeated key puts out of sight.
    path.write_text(f'[{{"confidence_scores": {{"a": 1, "a": 1}}, {good[1:]}, {good}]')
    faults = ValidationIssues(collect=True)
    assert len(read_multi_target(path, faults)) == 2
    assert [(one.record, one.problem) for one in faults.found] == [
        ("record 0", "the key 'confidence_scores' occurs twice in one object")]


def test_faults_of_a_benchmark(saved):
    faults = ValidationIssues(collect=True)
    empty = {**MULTI[0], "relative_captions": ["", " "]}
    broken = {**MULTI[0], "threshold": 2}
    benchmark = multi_target_benchmark(saved([MULTI[0], empty, broken, MULTI[1]]), pool=["B01", "B02", "B03", "B04"],
                                       faults=faults)
    assert [query.query_id for query in benchmark.queries] == ["0"]
    assert [(fault.record, fault.problem.partition(" (")[0]) for fault in faults.found] == [
        ("record 2", "'threshold' cannot be used"),
        ("record 1", "its captions are empty"),
        ("record 3", "image 'B05' is not in the pool"),
    ]


def test_a_single_target_file_as_a_benchmark(saved):
    (query,) = single_target_benchmark(saved(SINGLE, 4), pool=["B01", "B03"]).queries
    assert (query.modification_text, query.target_ids, query.caption_mode) == ("Is red with a ♥.", ("B03",), "single")
    itself = {**SINGLE[0], "target_image_name": "B01"}
    kept = single_target_benchmark(saved([itself]))
    assert len(kept.queries) == 1 and "In 1 records the target is the reference itself (record 0)." in kept.notes
    dropped = single_target_benchmark(saved([itself]), exclude_reference=True)
    assert not dropped.queries and any("1 queries are left out" in note for note in dropped.notes)


@pytest.mark.parametrize(("text", "named"), [
    ("a, d, d,  , a,  , r, e, d,  , d, o, g (refined)", True),
    ("A d d a r e d", False),     # seven letters are too few to tell
    ("a, d, d,  , a,  , r, e, d,  , h, a, t", True),
    ("Make it longer (refined)", True),
    ("Is a I V X 2 t shirt with a plain longer sleeve and hem.", False),
])
def test_a_text_that_came_out_letter_by_letter_is_named_and_kept(saved, text, named):
    benchmark = single_target_benchmark(saved(changed(SINGLE[0], refined_caption=text)))
    assert benchmark.queries[0].modification_text == text
    assert any(note.startswith("Record 0 (reference B01, target B03)") for note in benchmark.notes) is named


@pytest.mark.parametrize(("read", "content", "problem"), [
    (read_single_target, changed(SINGLE[0], comparison_images=["B04", "B03"]), "'B03' occurs twice"),
    (read_single_target, changed(SINGLE[0], target_confidence=1.01), "'target_confidence'"),
    (read_single_target, changed(SINGLE[0], refined_caption=""), "'refined_caption'"),
    (read_candidates, changed(CANDIDATES[0], top_k_scores=[0.3]), "2 top_k_names and 1 top_k_scores"),
    (read_candidates, changed(CANDIDATES[0], top_k_names=["B02", "B02"]), "'B02' occurs twice"),
    (read_candidates, changed(CANDIDATES[0], top_k_scores=[0.3, None]), "'top_k_scores.1'"),
])
def test_faults_of_single_targets_and_candidates(saved, read, content, problem):
    path = saved(content)
    with pytest.raises(DatasetError, match=f"record 0: .*{problem}"):
        read(path)
    faults = ValidationIssues(collect=True)
    assert read(path, faults) == () and faults.count == 1


def test_constraints_round_trip(tmp_path):
    entries = (
        Constraints(("t-shirt",), ("black",), ("white",), ("a black t-shirt",), ("a white t-shirt",)),
        Constraints(),  # a request that failed
        Constraints(prescriptive=("a dog", "on grass")),
    )
    write_constraints(tmp_path / "c.json", entries, model="m", input_tokens=9, output_tokens=2)
    cache = read_constraints(tmp_path / "c.json")
    assert cache.constraints == entries
    assert (cache.model, cache.input_tokens, cache.output_tokens) == ("m", 9, 2)
    released = json.loads((tmp_path / "c.json").read_text())
    assert released["all_queries"] == [
        {"prescriptive_query": "a black t-shirt", "proscriptive_query": "a white t-shirt"},
        {"prescriptive_query": "", "proscriptive_query": ""},
        {"prescriptive_query": ["a dog", "on grass"], "proscriptive_query": ""},
    ]


def cached(**values):
    entry = {"prescriptive_query": "a", "proscriptive_query": "b"}
    chips = {"keep": [], "add": ["a"], "remove": []}
    return {"model_name": "m", "all_queries": [entry, entry], "all_attributes": [chips, chips], **values}


@pytest.mark.parametrize(("content", "problem"), [
    (cached(all_attributes=[{}]), "2 all_queries and 1 all_attributes"),
    ({"model_name": "m", "all_queries": []}, "key 'all_attributes': it is missing"),
    (cached(all_queries={}), "key 'all_queries': it is not a list"),
    (cached(all_queries=["a", {}]), r"all_queries\[0\]: it is not an object"),
    (cached(all_queries=[{}, {"prescriptive_query": None}]), r"all_queries\[1\]: 'prescriptive_query"),
    (cached(all_attributes=[{}, {"add": "black"}]), r"all_attributes\[1\]: 'add' cannot be used"),
    (cached(input_token=-1), "key 'input_token': it is -1"),
    (MULTI, "does not contain a JSON object"),
])
def test_faults_of_constraints(saved, content, problem):
    path = saved(content)
    with pytest.raises(DatasetError, match=problem):
        read_constraints(path)
    read_constraints(path, ValidationIssues(collect=True))


def test_an_entry_with_a_fault_leaves_the_others_where_they_are(saved):
    faults = ValidationIssues(collect=True)
    cache = read_constraints(saved(cached(all_queries=[3, {"prescriptive_query": "second"}])), faults)
    assert [entry.prescriptive for entry in cache.constraints] == [(), ("second",)] and faults.count == 1


def test_scores_as_soft_s_own_code_writes_them(saved):
    """Names with their ending, the number beside the result, another key where there were no candidates."""
    own = {"cost": 0.1, "raw_response": "{}"}
    first = {**SCORES[0]["result"], "reference_image_name": "B01.png", "target_image": "B02.png",
             "confidence_scores": {"B02.png": 1, "B03.png": 0.4}}
    nothing = {**SCORES[1]["result"], "ref_image_name": "dev-1-0-img0.png"}
    del first["item_index"], nothing["item_index"], nothing["reference_image_name"]
    found = read_scores(saved([{**own, "success": True, "result": first, "item_index": 0},
                               {**own, "success": False, "error": "Failed to parse JSON", "item_index": 1},
                               {**own, "success": True, "result": nothing, "item_index": 2}]))
    assert [(one.index, one.reference_id, one.target_id, dict(one.scores)) for one in found] == [
        (0, "B01", "B02", {"B02": 1.0, "B03": 0.4}), (2, "dev-1-0-img0", "dev-2-0-img1", {})]
    assert found[0].best == ("B02", "B03")


@pytest.mark.parametrize(("change", "says"), [
    ({"item_index": 0, "result": {**SCORES[1]["result"], "item_index": 0}}, "item_index 0 occurs twice"),
    ({"item_index": None, "result": {**SCORES[1]["result"], "item_index": None}}, "'item_index' is missing"),
    ({"result": {**SCORES[1]["result"], "confidence_scores": {"B02": 1.5}}}, "confidence_scores"),
])
def test_faults_of_scores_are_told_by_their_record(saved, change, says):
    faults = ValidationIssues(collect=True)
    assert len(read_scores(saved([SCORES[0], {**SCORES[1], **change}]), faults)) == 1
    [fault] = faults.found
    assert fault.record == "record 1" and says in fault.problem


def constraint_file(path, *prescriptive):
    entries = [Constraints(prescriptive=(text,) if text else ()) for text in prescriptive]
    write_constraints(path, entries, model="gpt-4o")
    return path


def test_constraints_go_to_queries_by_their_order(tmp_path):
    names = {"dress": ("d0", "d1"), "shirt": ("s0",)}
    benchmark = Benchmark("fashioniq", "val", tuple(
        BenchmarkQuery(name, "r", "in red", ("t",), pool=pool) for pool, of in names.items() for name in of),
        dict.fromkeys(names, ("r", "t")), lambda image_id: ())
    dress = constraint_file(tmp_path / "dress.json", "a", "b")
    shirt = constraint_file(tmp_path / "shirt.json", "")
    both = constraints_of(benchmark, [dress, shirt])
    one = constraints_of(benchmark, [constraint_file(tmp_path / "all.json", "a", "b", "")])
    assert {name: entry.prescriptive for name, entry in both.by_query.items()} == {"d0": ("a",), "d1": ("b",), "s0": ()}
    assert both == one and (both.model, both.empty, len(both.digest)) == ("gpt-4o", 1, 16)
    for files, says in (([shirt, dress], r"have 1 \+ 2 entries, and fashioniq-val has 3 queries \(dress 2, shirt 1\)"),
                        ([dress], "have 2 entries")):
        with pytest.raises(DatasetError, match=says):
            constraints_of(benchmark, files)
