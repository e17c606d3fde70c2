"""Audit files: ours come back as they were, CIRCUS's as far as they go, and bad ones say where."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from cir_core.audit.aggregate import aggregate
from cir_core.audit.circus.aggregate_files import read_aggregate, write_aggregate
from cir_core.audit.circus.circus_files import pools_on_card, read_run, write_run
from cir_core.audit.circus.rank_files import read_ranks
from cir_core.audit.circus.traces import read_validated, write_queries, write_query_index, write_shortcut_free
from cir_core.audit.records import pools_digest
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.errors import DatasetError
from tests.fakes.audit_ranks import benchmark, image, run

THREE = benchmark(3)
TOP = {0: [image(n) for n in (5, 1, 9)], 2: [image(3)]}
RUN = run(THREE, "a", [(2, 40, 50), "unreadable", (1, 9, 800)], top=TOP, instruction="Find it, changed.", k=9)


def circus(**changes: object) -> dict[str, object]:
    """A file as CIRCUS's code writes it: absolute paths, no ids, the configurations named the other way round."""
    root = "/elsewhere/M-BEIR"
    return {
        "metadata": {
            "dataset": "tiny", "task_id": 7, "retriever_module": "retrievers.x", "retriever_class": "X", "k": 10,
            "top_k": 20, "normalize": True, "mbeir_root": root, "query_instruction": "Find it.",
            "text_only_attack_json": "attacks/image_only_zero_image.json", "text_only_attack_sig": "query:img_black",
            "image_only_attack_json": "attacks/text_only_drop_text.json",
            "image_only_attack_sig": "query:text_drop_all", "total_queries": 2,
        },
        "summary": {},
        "gallery_paths": [f"{root}/pictures/{image(n)}.jpg" for n in range(1_000)],
        "samples": [
            {"query_idx": n, "query_text": f"Make it blue, {n}.", "full_text": "", "category": "text_only",
             "query_image_path": f"{root}/pictures/{image(n)}.jpg", "target_gallery_index": n + 1,
             "target_image_path": f"{root}/pictures/{image(n + 1)}.jpg",
             "ranks": {"multimodal": 2, "text_only": 7, "image_only": 90}, "hits_at_k": {},
             "retrievals": {"multimodal": [4, n + 1], "text_only": [8], "image_only": [9]}}
            for n in (0, 2)
        ],
        **changes,
    }


def saved(tmp_path: Path, content: object, name: str = "retrieval_data_tiny_task7_gme.json") -> Path:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


# One retriever ----------------------------------------------------------------------------------


def test_our_own_file_comes_back_whole(tmp_path):
    write_run(tmp_path / "a.json", RUN, THREE)
    back = read_run(tmp_path / "a.json")
    assert back == RUN and back.card.k == 9 and back.card.digest == RUN.card.digest
    assert read_run(tmp_path / "a.json", benchmark=THREE) == RUN


def test_several_targets_keep_all_their_ranks(tmp_path):
    two = benchmark(2, targets=3)
    whole = run(two, "a", [((9, 2, 30), (40, 41, 42), (7, 8, 6)), ((1, 2, 3), (4, 5, 6), (7, 8, 9))])
    write_run(tmp_path / "a.json", whole, two)
    assert read_run(tmp_path / "a.json") == whole
    sample = json.loads((tmp_path / "a.json").read_text("utf-8"))["samples"][0]
    assert sample["ranks"] == {"multimodal": 2, "text_only": 40, "image_only": 6}
    assert (sample["num_gt"], sample["positive_candidate_ids"]) == (3, ["i001", "i002", "i003"])
    assert sample["best_positive_image_paths"] == {
        "multimodal": "pictures/i002.jpg", "text_only": "pictures/i001.jpg", "image_only": "pictures/i003.jpg"}


def test_what_is_written_is_circus_form(tmp_path):
    write_run(tmp_path / "a.json", RUN, THREE)
    content = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert list(content) == ["metadata", "summary", "cirque", "gallery_paths", "samples"]
    first, last = content["samples"]
    assert (first["query_idx"], last["query_idx"], content["metadata"]["total_queries"]) == (0, 2, 2)
    assert first["full_text"] == "Find it, changed.\nmake it blue, 0"
    assert [content["gallery_paths"][place] for place in first["retrievals"]["multimodal"]] == [
        "pictures/i005.jpg", "pictures/i001.jpg", "pictures/i009.jpg"]
    assert content["gallery_paths"][first["target_gallery_index"]] == first["target_image_path"] == "pictures/i001.jpg"
    assert (first["category"], last["category"]) == ("multimodal_needed", "text_only")    # text at 9, K 9
    assert last["hits_at_k"] == {"multimodal": True, "text_only": True, "image_only": False}
    # of two samples both are found with both inputs, one by the text
    assert content["summary"]["recall_at_k"] == {"multimodal": 100.0, "text_only": 50.0, "image_only": 0.0}
    assert content["metadata"]["text_only_attack_sig"] == "img_black"


def test_a_data_set_in_m_beir_s_form_is_called_as_circus_calls_it(tmp_path):
    cirr = replace(THREE, kind="mbeir", dataset="cirr")
    write_run(tmp_path / "a.json", run(cirr, "a", [(1, 2, 3)] * 3), cirr)
    assert json.loads((tmp_path / "a.json").read_text())["metadata"]["dataset"] == "cirr"
    assert read_run(tmp_path / "a.json").card.dataset == "mbeir-cirr-val"


def test_a_file_of_circus_over_a_known_data_set(tmp_path):
    back = read_run(saved(tmp_path, circus()), benchmark=THREE)
    assert back.card.retriever == "gme" and back.card.ablation == "black" and back.card.instruction == "Find it."
    assert back.card.identity["variants_swapped"] is False
    assert [answer.query_id for answer in back.queries] == ["q0", "q1", "q2"]
    assert back.queries[1].problem == "not in retrieval_data_tiny_task7_gme.json"
    assert back.queries[0].rankings["multimodal"].ranks == (2,)
    assert back.queries[0].rankings["multimodal"].top == ("i004", "i001")
    # the same images and queries, so it may stand beside a run of ours
    assert aggregate([back, run(THREE, "b", [(1, 1, 1)] * 3)]).labels[0].detail == "both_unimodal"


def test_a_file_of_circus_by_itself(tmp_path):
    one = read_run(saved(tmp_path, circus()))
    other = read_run(saved(tmp_path, circus(), "retrieval_data_tiny_task7_lamra.json"))
    assert [answer.query_id for answer in one.queries] == ["0", "2"]
    assert one.queries[0].rankings["multimodal"].top == ("pictures/i004.jpg", "pictures/i001.jpg")
    assert aggregate([one, other]).retrievers == ("gme", "lamra")
    changed = circus()
    changed["metadata"]["query_instruction"] = "Find fashion."
    with pytest.raises(DatasetError, match="gme and x differ in the instruction"):
        aggregate([one, read_run(saved(tmp_path, changed, "retrieval_data_tiny_task7_x.json"))])


def test_the_operation_counts_not_the_name_of_the_configuration(tmp_path):
    content = circus()
    metadata = content["metadata"]
    metadata["text_only_attack_sig"], metadata["image_only_attack_sig"] = "text_drop_all", "img_black"
    back = read_run(saved(tmp_path, content))
    assert back.queries[0].rankings["text_only"].ranks == (90,) and back.queries[0].rankings["image_only"].ranks == (7,)
    assert back.card.identity["variants_swapped"] is True
    # old names stand for their operation where nothing else tells it
    del metadata["text_only_attack_sig"], metadata["image_only_attack_sig"]
    back = read_run(saved(tmp_path, content))
    assert back.card.ablation == "black" and back.queries[0].rankings["text_only"].ranks == (7,)
    metadata |= {"text_only_attack_json": None, "image_only_attack_json": None, "text_only_attack_sig": "noise",
                 "image_only_attack_sig": "noise"}
    assert read_run(saved(tmp_path, content)).card.ablation == "noise"


def test_another_pool_is_told_apart(tmp_path):
    content = circus()
    content["gallery_paths"].append("/elsewhere/M-BEIR/pictures/more.jpg")
    back = read_run(saved(tmp_path, content), benchmark=THREE)
    with pytest.raises(DatasetError, match="images that were ranked"):
        aggregate([back, run(THREE, "b", [(1, 1, 1)] * 3)])


@pytest.mark.parametrize(("change", "message"), [
    ({"query_text": "else"}, r"sample 1: query_idx 2 asks 'else', but query 'q2' of tiny-val asks 'make it blue, 2'"),
    ({"query_idx": 0}, r"sample 1: query_idx 0 is also in sample 0"),
    ({"query_idx": 9}, r"sample 1: query_idx 9 asks .* but tiny-val has no query there, of 3"),
    ({"ranks": {"multimodal": 0, "text_only": 1, "image_only": 1}}, r"sample 1: 'ranks.multimodal' cannot be used"),
    ({"ranks": {"multimodal": 1.5, "text_only": 1, "image_only": 1}}, r"sample 1: 'ranks.multimodal"),
    ({"ranks": {"multimodal": 1001, "text_only": 1, "image_only": 1}}, r"sample 1: it points beyond the 1000 images"),
    ({"retrievals": {"multimodal": [1000]}}, r"sample 1: it points beyond the 1000 images"),
])
def test_a_bad_sample_is_named(tmp_path, change, message):
    content = circus()
    content["samples"][1] |= change
    with pytest.raises(DatasetError, match=rf"retrieval_data_tiny_task7_gme.json, {message}"):
        read_run(saved(tmp_path, content), benchmark=THREE)


def test_a_missing_rank_is_a_problem_of_the_query(tmp_path):
    content = circus()
    content["samples"][0]["ranks"]["image_only"] = None
    assert read_run(saved(tmp_path, content)).queries[0].problem.endswith("lacks a rank")


def test_collecting_goes_on_without_the_faulty_samples(tmp_path):
    content = circus()
    content["samples"][0]["ranks"] = "high"
    faults = ValidationIssues(collect=True)
    assert [answer.query_id for answer in read_run(saved(tmp_path, content), faults).queries] == ["2"]
    assert len(faults.found) == 1 and faults.found[0].record == "sample 0"


def test_broken_and_wrong_files(tmp_path):
    for content, message in (("{", "not valid JSON"), ("[1]", "a JSON object"), ({"a": 1}, "no list of samples")):
        with pytest.raises(DatasetError, match=message):
            read_run(saved(tmp_path, content))
    with pytest.raises(DatasetError, match="is missing"):
        read_run(tmp_path / "nowhere.json")


def test_our_file_against_another_copy(tmp_path):
    write_run(tmp_path / "a.json", RUN, THREE)
    with pytest.raises(DatasetError, match=r"another copy or form of tiny-val"):
        read_run(tmp_path / "a.json", benchmark=benchmark(4))
    text = (tmp_path / "a.json").read_text("utf-8").replace('"multimodal": [2]', '"multimodal": [3]')
    with pytest.raises(DatasetError, match=r"sample 0: its ranks and those under 'cirque' differ"):
        read_run(saved(tmp_path, text))
    with pytest.raises(DatasetError, match="does not have the queries of tiny-val"):
        write_run(tmp_path / "b.json", RUN, benchmark(4))


# Ranks made elsewhere ---------------------------------------------------------------------------


def ranks(**changes: object) -> dict[str, object]:
    one = {"multimodal": 3, "text_only": 40, "image_only": 812}
    return {"retriever": "made elsewhere", "dataset": "tiny-val", "ranks": {"q0": one, "q1": one, "q2": one}, **changes}


def test_the_smallest_file(tmp_path):
    content = ranks(top={"q0": {"multimodal": ["i004", "i002"]}}, instruction="Find it.")
    content["ranks"]["q1"] = {"problem": "the image could not be read"}
    found = read_ranks(saved(tmp_path, content, "x.json"), THREE)
    assert found.card.retriever == "made elsewhere" and found.card.instruction == "Find it."
    assert len(found.card.identity["file_sha256"]) == 64
    assert found.queries[0].rankings["multimodal"].top == ("i004", "i002")
    assert found.queries[1].problem == "the image could not be read"
    labels = aggregate([found, run(THREE, "ours", [(1, 90, 90)] * 3)])
    assert [q.detail for q in labels.labels] == ["composition_required"] * 2


def test_lists_for_several_targets_or_the_best_alone(tmp_path):
    two = benchmark(1, targets=2)
    one = {"multimodal": [3, 1], "text_only": [40, 7], "image_only": [9, 812]}
    found = read_ranks(saved(tmp_path, ranks(ranks={"q0": one})), two)
    assert found.queries[0].rankings["multimodal"].ranks == (3, 1)
    found = read_ranks(saved(tmp_path, ranks(ranks={"q0": {"multimodal": 1, "text_only": 7, "image_only": 9}})), two)
    assert found.queries[0].rankings["text_only"].ranks == (7,)


def test_a_per_retriever_file_is_read_as_one(tmp_path):
    assert read_ranks(saved(tmp_path, circus()), THREE).card.retriever == "gme"


@pytest.mark.parametrize(("record", "message"), [
    ("NaN", "nan is not a rank"), ("0", "0 is not a rank"), ("-3", "-3 is not a rank"), ("2.5", "2.5 is not a rank"),
    ('"3"', "'3' is not a rank"), ("true", "True is not a rank"), ("null", "no rank"),
    ("[1, 2]", "2 ranks for 1 target"), ("1001", "rank 1001 is beyond the 1000 images"), ("[]", "0 ranks for 1 target"),
    ("[NaN]", "nan is not a rank"),
])
def test_a_rank_that_is_none(tmp_path, record, message):
    content = json.dumps(ranks()).replace('"multimodal": 3', f'"multimodal": {record}', 1)
    with pytest.raises(DatasetError) as error:
        read_ranks(saved(tmp_path, content, "x.json"), THREE)
    assert "x.json, query 'q0', multimodal: " in str(error.value) and message in str(error.value)


@pytest.mark.parametrize(("change", "message"), [
    ({"ranks": {"q0": {"problem": "x"}, "q1": {"problem": "x"}}}, r"query 'q2': it is missing\. Add it"),
    ({"ranks": {"q9": {}}}, r"query 'q9': tiny-val has no such query"),
    ({"ranks": {"q0": 3}}, r"query 'q0': its ranks must be an object, not 3"),
    ({"ranks": {"q0": {"multimodal": 1}}}, r"query 'q0', text_only: it has no rank"),
    ({"top": {"q0": {"multimodal": ["i001", "i001"]}}}, r"query 'q0', multimodal: an image occurs twice"),
    ({"top": {"q0": {"multimodal": ["z"]}}}, r"query 'q0', multimodal: its results contain 'z'"),
    ({"top": {"q0": {"multimodal": ["i009", "i001"]}}}, r"its results have the target 'i001' at 2, not at its rank 3"),
    ({"top": {"q0": {"multimodal": ["i009", "i008", "i007"]}}}, r"have the target 'i001' nowhere, not at its rank 3"),
    ({"ranks": {"q0": {"multimodel": 1}}}, r"query 'q0': 'multimodel' is none of multimodal, text_only, image_only"),
    ({"ablation": "grey"}, r"'ablation' cannot be used"),
    ({"dataset": "cirr-val"}, r"it is of 'cirr-val', not of 'tiny-val'"),
    ({"retriever": ""}, r"'retriever' cannot be used"),
])
def test_files_that_do_not_fit(tmp_path, change, message):
    with pytest.raises(DatasetError, match=message):
        read_ranks(saved(tmp_path, ranks(**change)), THREE)


def test_two_targets_cannot_share_a_rank(tmp_path):
    one = {"multimodal": [3, 3], "text_only": [1, 2], "image_only": [1, 2]}
    with pytest.raises(DatasetError, match=r"query 'q0', multimodal: two targets share a rank \(3, 3\)"):
        read_ranks(saved(tmp_path, ranks(ranks={"q0": one})), benchmark(1, targets=2))


def test_what_circus_says_of_a_retriever_is_kept(tmp_path):
    content = circus()
    content["metadata"]["normalize"] = False
    theirs = read_run(saved(tmp_path, content), benchmark=THREE)
    write_run(tmp_path / "again.json", theirs, THREE)
    metadata = json.loads((tmp_path / "again.json").read_text("utf-8"))["metadata"]
    assert [metadata[key] for key in ("retriever_module", "retriever_class", "normalize")] == [
        "retrievers.x", "X", False]
    assert read_run(tmp_path / "again.json", benchmark=THREE) == theirs

    def of_pool(*runs):
        write_aggregate(tmp_path / "pool.json", THREE, runs, aggregate(runs))
        return json.loads((tmp_path / "pool.json").read_text("utf-8"))["metadata"]["normalize"]

    ours = replace(RUN, card=replace(RUN.card, instruction=None))
    assert (of_pool(theirs), of_pool(ours), of_pool(theirs, ours)) == (False, True, None)
    # a file of ranks alone does not say how they were made
    write_run(tmp_path / "x.json", read_ranks(saved(tmp_path, ranks(), "r.json"), THREE), THREE)
    metadata = json.loads((tmp_path / "x.json").read_text("utf-8"))["metadata"]
    assert [metadata[key] for key in ("retriever_module", "retriever_class", "normalize")] == [
        None, "made elsewhere", None]


def test_lines_count_in_the_whole_data_set(tmp_path):
    """Of four queries the second and the last are audited."""
    whole = benchmark(4)
    part = replace(whole, queries=(whole.queries[1], whole.queries[3]))
    one = run(part, "a", [(1, 40, 50), "unreadable"], top={0: [image(7)]})
    write_run(tmp_path / "a.json", one, part, whole=whole)
    content = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert [sample["query_idx"] for sample in content["samples"]] == [1]
    assert [problem["query_idx"] for problem in content["cirque"]["problems"]] == [3]
    assert read_run(tmp_path / "a.json", benchmark=part) == one
    labels = aggregate([one])
    write_aggregate(tmp_path / "x.json", part, [one], labels, whole=whole)
    assert json.loads((tmp_path / "x.json").read_text("utf-8"))["samples"][0]["query_idx"] == 1
    write_queries(tmp_path / "q.jsonl", whole, [one], labels, accepted=["q1"])
    line = json.loads((tmp_path / "q.jsonl").read_text("utf-8"))
    assert (line["query_idx"], line["query_id"], line["panel"]) == (1, "q1", ["i007"])
    assert read_validated(tmp_path / "q.jsonl", whole) == {"q1"}


def test_images_of_another_list_are_what_is_said(tmp_path):
    """CIRCO's file lists no images: ranks over a gallery are read with that gallery."""
    over = replace(THREE, pools={"": THREE.pools[""][:900]})
    write_run(tmp_path / "a.json", run(over, "a", [(1, 2, 3)] * 3), over)
    assert pools_on_card(tmp_path / "a.json") == pools_digest(over.pools)
    with pytest.raises(DatasetError, match=r"a\.json: the images that it ranks are not those.*--gallery"):
        read_run(tmp_path / "a.json", benchmark=replace(THREE, pools={"": None}))
    assert pools_on_card(saved(tmp_path, circus())) == pools_on_card(saved(tmp_path, ranks(), "r.json")) == ""


# The pool ---------------------------------------------------------------------------------------

B = run(THREE, "b", [(1, 60, 45), (4, 5, 6), (12, 30, 2)], top={0: [image(7)]}, instruction="Find it, changed.")
RUNS = [RUN, B]


def test_an_aggregate_comes_back_whole(tmp_path):
    labels = aggregate(RUNS)
    write_aggregate(tmp_path / "x.json", THREE, RUNS, labels, source_files=["a.json", "b.json"])
    assert read_aggregate(tmp_path / "x.json") == labels == read_aggregate(tmp_path / "x.json", benchmark=THREE)
    content = json.loads((tmp_path / "x.json").read_text("utf-8"))
    first, last = content["samples"]
    # q0 is best by b with both inputs, whose results these are
    assert [content["gallery_paths"][n] for n in first["retrievals"]["multimodal"]] == ["pictures/i007.jpg"]
    assert first["aggregation"]["best_retriever_by_modality"] == {
        "multimodal": "b", "text_only": "a", "image_only": "b"}
    assert last["aggregation"]["retriever_support_at_k"] == {
        "multimodal": 1, "text_only": 1, "image_only": 1, "either_unimodal": 2}
    assert content["metadata"]["aggregation"]["source_files"] == ["a.json", "b.json"]
    assert content["summary"]["aggregate_counts"] == {
        "composition_required": 1, "unresolved": 0, "shortcut_solvable": 1}


def test_circus_counts_a_retriever_it_does_not_name(tmp_path):
    write_aggregate(tmp_path / "x.json", THREE, RUNS, aggregate(RUNS))
    content = json.loads((tmp_path / "x.json").read_text("utf-8"))
    del content["cirque"]
    found = content["samples"][0]
    del found["query_id"]
    found["aggregation"]["best_retriever_by_modality"]["multimodal"] = None
    found["aggregation"]["retriever_support_at_k"]["multimodal"] = 3
    back = read_aggregate(saved(tmp_path, content), benchmark=THREE)
    assert back.labels[0].query_id == "q0" and back.labels[0].support["multimodal"] == 3
    assert back.labels[0].best_retriever == {"text_only": "a", "image_only": "b"}
    assert read_aggregate(saved(tmp_path, content)).labels[0].query_id == "0"


def test_a_label_that_does_not_exist(tmp_path):
    write_aggregate(tmp_path / "x.json", THREE, RUNS, aggregate(RUNS))
    text = (tmp_path / "x.json").read_text("utf-8").replace('"label": "composition_required"', '"label": "hard"')
    with pytest.raises(DatasetError, match=r"sample 0: 'aggregation.label' cannot be used"):
        read_aggregate(saved(tmp_path, text))


# Query by query ---------------------------------------------------------------------------------


def test_traces(tmp_path):
    labels = aggregate(RUNS)
    write_queries(tmp_path / "q.jsonl", THREE, RUNS, labels, accepted=["q0"])
    first, last = map(json.loads, (tmp_path / "q.jsonl").read_text("utf-8").splitlines())
    # rank 1: i005 of a and i007 of b, one each; then a's i001 and i009
    assert first["panel"] == ["i005", "i007", "i001", "i009"] and first["panel_paths"][0] == "pictures/i005.jpg"
    # in turn: a's first, b's first, a's second, a's third
    assert first["in_turn"] == ["i005", "i007", "i001", "i009"] and first["in_turn_paths"][1] == "pictures/i007.jpg"
    assert (first["query_idx"], first["hidden_category"], first["validated"]) == (0, "composition_required", True)
    assert first["ranks"] == {"multimodal": 1, "text_only": 40, "image_only": 45}
    assert last["validated"] is None and all(last["hits_at_k"].values())
    jsonl, table = write_shortcut_free(tmp_path / "free.jsonl", THREE, labels)
    (free,) = map(json.loads, jsonl.read_text("utf-8").splitlines())
    assert (free["query_id"], free["primary_pos_cand_id"], free["selection_value"]) == ("q0", "i001", "shortcut_free")
    with table.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["query_text"], row["ranks.multimodal"]) == ("make it blue, 0", "1")
    assert row["best_retriever_by_modality.multimodal"] == "b"
    assert row["retriever_support_at_k.either_unimodal"] == "0"
    assert read_validated(tmp_path / "q.jsonl", THREE) == {"q0"}


def trace(position: int, validated: bool | None, **more: object) -> str:
    return json.dumps({"dataset": "tiny", "query_idx": position, "query_text": f"make it blue, {position}",
                       "validated": validated, **more}) + "\n"


def test_most_annotators_must_agree(tmp_path):
    # q0: 2 of 3; q1: 1 of 2, a tie; q2: one vote and one that is null
    lines = [(0, False), (0, True), (0, True), (1, True), (1, False), (2, True), (2, None)]
    path = saved(tmp_path, "".join(trace(*line) for line in lines), "all_validated_queries.jsonl")
    assert read_validated(path, THREE) == {"q0", "q2"}
    assert read_validated(path, THREE, rule="single-kept") == {"q1", "q2"}


def test_lines_of_other_data_sets(tmp_path):
    other = trace(0, True, dataset="cirr", query_text="other")
    path = saved(tmp_path, trace(1, True, dataset="Tiny") + other, "v.jsonl")
    assert read_validated(path, THREE) == {"q1"}          # by the data set's kind
    path = saved(tmp_path, trace(1, True, dataset="small") + other, "v.jsonl")
    with pytest.raises(DatasetError, match=r"several data sets \(cirr, small\).*--validated-dataset"):
        read_validated(path, THREE)
    assert read_validated(path, THREE, dataset="Small") == {"q1"}
    with pytest.raises(DatasetError, match="no query of 'lasco'"):
        read_validated(path, THREE, dataset="lasco")
    # one name alone, which is not this data set's
    path = saved(tmp_path, trace(1, True, dataset="small"), "v.jsonl")
    with pytest.raises(DatasetError, match=r"v\.jsonl is of small, and none of the names is that of tiny-val"):
        read_validated(path, THREE)


def test_a_data_set_in_a_form_that_many_have_goes_by_its_own_name(tmp_path):
    own = replace(THREE, kind="mbeir", dataset="cirr")
    lines = trace(1, True, dataset="CIRR") + trace(0, True, dataset="circo", query_text="other")
    assert read_validated(saved(tmp_path, lines, "v.jsonl"), own) == {"q1"}
    assert read_validated(saved(tmp_path, {"dataset": "cirr", "query_indices": [2]}, "v.json"), own) == {"q2"}
    assert read_ranks(saved(tmp_path, ranks(dataset="cirr"), "x.json"), own).card.dataset == own.name
    write_query_index(tmp_path / "i.json", own, "aggregation.label", "unresolved", ["q2"])
    assert json.loads((tmp_path / "i.json").read_text("utf-8"))["dataset"] == "cirr"


def test_nothing_validated_is_an_error(tmp_path):
    for path in (saved(tmp_path, trace(0, False), "v.jsonl"), saved(tmp_path, {"query_indices": []}, "v.json")):
        with pytest.raises(DatasetError, match="no query in it is valid"):
            read_validated(path, THREE)
    with pytest.raises(DatasetError, match=r"line 1: query_idx 0 asks 'else'"):
        read_validated(saved(tmp_path, trace(0, True, query_text="else"), "v.jsonl"), THREE)
    with pytest.raises(DatasetError, match=r"line 1: 'validated' cannot be used"):
        read_validated(saved(tmp_path, trace(0, "yes"), "v.jsonl"), THREE)


def test_lines_that_a_reader_left_out_still_count(tmp_path):
    """Of a file of five lines, the first and the third were no composed queries."""
    of = replace(THREE, lines={"q0": 1, "q1": 3, "q2": 4})
    write_query_index(tmp_path / "i.json", of, "label", "unresolved", ["q1", "q2"])
    assert json.loads((tmp_path / "i.json").read_text("utf-8"))["query_indices"] == [3, 4]
    assert read_validated(tmp_path / "i.json", of) == {"q1", "q2"}
    with pytest.raises(DatasetError, match="no query on line 2"):
        read_validated(saved(tmp_path, {"query_indices": [2]}, "v.json"), of)
    write_run(tmp_path / "r.json", RUN, of)
    samples = json.loads((tmp_path / "r.json").read_text("utf-8"))["samples"]
    assert [one["query_idx"] for one in samples] == [1, 4], "q1 could not be read"
    assert read_run(tmp_path / "r.json", benchmark=of).queries == RUN.queries


def test_query_index_files(tmp_path):
    write_query_index(tmp_path / "i.json", THREE, "aggregation.label", "unresolved", ["q2", "q0"])
    assert json.loads((tmp_path / "i.json").read_text("utf-8"))["query_indices"] == [0, 2]
    assert read_validated(tmp_path / "i.json", THREE) == {"q0", "q2"}
    with pytest.raises(DatasetError, match="tiny-val has no query on line 7, of 3 queries"):
        read_validated(saved(tmp_path, {"query_indices": [7]}, "v.json"), THREE)
    # lines of another data set's file exist in this one too
    other = saved(tmp_path, {"dataset": "fashionIQ", "query_indices": [1]}, "v.json")
    with pytest.raises(DatasetError, match=r"v\.json is of fashionIQ, and none of the names is that of tiny-val"):
        read_validated(other, THREE)
    assert read_validated(other, THREE, dataset="fashioniq") == {"q1"}
    assert read_validated(saved(tmp_path, {"dataset": "TINY", "query_indices": [1]}, "v.json"), THREE) == {"q1"}
    for query_ids in ([], ["x"]):
        with pytest.raises(DatasetError, match="Take them from an audit"):
            write_query_index(tmp_path / "i.json", THREE, "aggregation.label", "unresolved", query_ids)


def test_windows_line_ends_and_a_mark(tmp_path):
    path = tmp_path / "v.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + trace(0, True).replace("\n", "\r\n").encode())
    assert read_validated(path, THREE) == {"q0"}
