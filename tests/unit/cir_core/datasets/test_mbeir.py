"""M-BEIR's format: both dialects, its layout, qrels, and our own files read back."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.mbeir_writing import write_mbeir
from cir_core.datasets.readers.mbeir import read_benchmark
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError

NATIVE = {"qid": "8:1", "query_txt": "Add a dog.", "query_img_path": "mbeir_images/cirr_images/dev/a.jpg",
          "query_modality": "image,text", "query_src_content": '{"id": "a"}', "pos_cand_list": ["8:99"],
          "neg_cand_list": [], "task_id": 7}
NATIVE_POOL = [{"txt": None, "img_path": "mbeir_images/cirr_images/dev/a.jpg", "modality": "image", "did": "8:7"},
               {"txt": None, "img_path": "mbeir_images/cirr_images/dev/b.jpg", "modality": "image", "did": "8:99"}]
CONVERTED = {"query_id": "circo_q_test_0", "query_text": "is outdoors", "pos_cand_list": ["circo_img_22"],
             "query_img_path": "/home/someone/CIRCO/unlabeled2017/000000000011.jpg",
             "gt_cand_list": ["circo_img_33", "circo_img_22", ""]}
CONVERTED_POOL = [
    {"cand_id": f"circo_img_{n}", "img_path": f"/home/someone/CIRCO/unlabeled2017/0000000000{n}.jpg"}
    for n in (33, 22)
]


def lines(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def native(root: Path, queries: Sequence[dict[str, Any]] = (NATIVE,), pool: Any = NATIVE_POOL) -> Path:
    lines(root / "cand_pool" / "local" / "mbeir_cirr_task7_cand_pool.jsonl", pool)
    return lines(root / "query" / "test" / "mbeir_cirr_task7_test.jsonl", queries)


def test_the_release_s_own_dialect(tmp_path):
    native(tmp_path)
    benchmark = read_benchmark(tmp_path)
    assert benchmark.queries == (BenchmarkQuery("8:1", "8:7", "Add a dog.", ("8:99",), pool="cirr"),)
    assert benchmark.pools == {"cirr": ("8:7", "8:99")}
    assert (benchmark.kind, benchmark.split, benchmark.notes) == ("mbeir", "test", ())
    assert benchmark.image_paths("8:99") == ("mbeir_images/cirr_images/dev/b.jpg", "cirr_images/dev/b.jpg")


def test_data_sets_of_this_form_have_a_name_of_their_own(tmp_path):
    native(tmp_path)
    benchmark = read_benchmark(tmp_path)
    assert (benchmark.dataset, benchmark.name) == ("cirr", "mbeir-cirr-test")
    assert replace(benchmark, dataset="CIRR").name == "mbeir-cirr-test"
    assert replace(benchmark, dataset="other").digest == benchmark.digest  # the files' content counts
    unnamed = read_benchmark(lines(tmp_path / "x" / "test.jsonl", [NATIVE]))
    assert (unnamed.dataset, unnamed.name) == ("", "mbeir-test")


def test_a_name_of_several_words_comes_back_from_the_files(tmp_path):
    path = lines(tmp_path / "query/val/mbeir_visual_news_task7_val.jsonl", [NATIVE])
    lines(tmp_path / "cand_pool/local/mbeir_visual_news_task7_cand_pool.jsonl", NATIVE_POOL)
    before = read_benchmark(path)
    write_mbeir(tmp_path / "again", before)
    assert read_benchmark(tmp_path / "again").digest == before.digest


def test_the_converters_dialect_with_several_targets_and_a_reference_outside_the_pool(tmp_path):
    path = lines(tmp_path / "query/test/mbeir_circo_task7_test.jsonl", [CONVERTED])
    lines(tmp_path / "cand_pool/circo_task7.jsonl", CONVERTED_POOL)
    (query,) = read_benchmark(path).queries
    assert query.target_ids == ("circo_img_22", "circo_img_33")  # the canonical one first
    assert query.reference_id == "/home/someone/CIRCO/unlabeled2017/000000000011.jpg"
    # Where the images lay on the converter's machine says nothing here; folder and name do.
    assert read_benchmark(path).image_paths(query.reference_id) == ("unlabeled2017/000000000011.jpg",)
    assert read_benchmark(path).image_paths("circo_img_22") == ("unlabeled2017/000000000022.jpg",)


def test_fashioniq_s_ids_have_m_beir_s_captions(tmp_path):
    path = lines(tmp_path / "q.jsonl", [{**NATIVE, "qid": "7:12"}])
    assert read_benchmark(path).queries[0].caption_mode == "m-beir"


def test_without_a_pool_everything_is_ranked_and_nothing_checked(tmp_path):
    benchmark = read_benchmark(lines(tmp_path / "cirr_val.jsonl", [NATIVE]))
    assert benchmark.pools == {"cirr": None}
    assert benchmark.split == "val"
    assert benchmark.queries[0].reference_id == "mbeir_images/cirr_images/dev/a.jpg"
    assert benchmark.notes[0].startswith("No candidate pool was found")


def test_what_is_left_out_is_counted(tmp_path):
    native(tmp_path, [NATIVE, {**NATIVE, "qid": "8:2", "query_txt": None, "query_modality": "image"},
                      {**NATIVE, "qid": "8:3", "query_txt": " "}, {**NATIVE, "qid": "8:4", "pos_cand_list": []}],
           [*NATIVE_POOL, {"did": "8:5", "txt": "a text", "img_path": None, "modality": "text"},
            {**NATIVE_POOL[1], "did": "8:100"}])
    benchmark = read_benchmark(tmp_path)
    assert [query.query_id for query in benchmark.queries] == ["8:1", "8:4"]
    assert [benchmark.line_of(place) for place in (0, 1)] == [0, 3], "as CIRCUS's files count"
    assert benchmark.notes == (
        "1 queries are left out: they are of modality 'image'.",
        "1 queries are left out: they have no text.",
        "1 candidates without an image are left out of the pool.",
        "1 candidates share their image's path with another one.",
        "1 queries have no target in the file: they can be searched, not scored.",
    )


def test_a_mark_and_windows_ends_are_read(tmp_path):
    path = native(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert len(read_benchmark(path).queries) == 1


QRELS = {"of the release": "8:1 0 8:99 1 7\n", "of trec": "8:1 0 8:99 1\n8:1 0 8:7 0\n",
         "converted": "query_id\tcandidate_id\tscore\n8:1\t8:99\t1\n"}


@pytest.mark.parametrize("text", QRELS.values(), ids=QRELS.keys())
def test_qrels_that_agree(tmp_path, text):
    native(tmp_path)
    qrels = tmp_path / "qrels" / "test" / "mbeir_cirr_task7_test_qrels.txt"
    qrels.parent.mkdir(parents=True)
    qrels.write_text(text)
    assert len(read_benchmark(tmp_path).queries) == 1


@pytest.mark.parametrize(("text", "problem"), [
    ("8:1 0 8:7 1 7\n", "line 1: '8:7' is not a target of query '8:1' there"),
    ("8:1 0 8:99 1 7\n8:2 0 8:7 1 7\n", "line 2: query '8:2' is not in the query file"),
    ("8:1 0 8:99 0 7\n", "query '8:1': it has 0 of the query's 1 targets"),
])
def test_qrels_that_do_not_agree(tmp_path, text, problem):
    path = native(tmp_path)
    (tmp_path / "mine.txt").write_text(text)
    with pytest.raises(DatasetError) as raised:
        read_benchmark(path, qrels=tmp_path / "mine.txt")
    assert str(raised.value).startswith(f"{tmp_path / 'mine.txt'}, {problem}")


@pytest.mark.parametrize(("change", "problem"), [
    ({"qid": None}, "line 2: it has no query id (qid, query_id or id), but qid, query_txt"),
    ({"qid": "8:1"}, "line 2: the query id '8:1' occurs twice"),
    ({"query_img_path": None}, "line 2: query '8:2' has no reference image"),
    ({"query_txt": 5}, "line 2: the text of query '8:2' is not a text"),
    ({"pos_cand_list": ["8:404"]}, "line 2: query '8:2' has targets that are not in the pool: 8:404"),
    ({"pos_cand_list": [{"did": "8:99"}]}, "line 2: a target of query '8:2' is not a candidate id"),
    ({"cirque": {"aspects": 5}}, "line 2: 'aspects' cannot be used"),
])
def test_a_bad_query_names_file_line_and_remedy(tmp_path, change, problem):
    path = native(tmp_path, [NATIVE, {**NATIVE, "qid": "8:2", **change}])
    with pytest.raises(DatasetError) as raised:
        read_benchmark(path)
    assert str(raised.value).startswith(f"{path}, {problem}")
    faults = ValidationIssues(collect=True)
    assert len(read_benchmark(path, faults=faults).queries) == 1
    assert faults.count == 1


def test_a_query_without_text_field_is_of_another_kind(tmp_path):
    path = lines(tmp_path / "q.jsonl", [{"id": 1, "candidate": "a", "query_img_path": "a.jpg"}])
    with pytest.raises(DatasetError, match="query '1' has no text"):
        read_benchmark(path)


@pytest.mark.parametrize(("change", "problem"), [
    ({"did": None}, "line 3: it has no candidate id"),
    ({"did": "8:7"}, "line 3: the candidate id '8:7' occurs twice"),
    ({"img_path": ""}, "line 3: candidate '8:5' has no image"),
])
def test_a_bad_candidate_names_file_line_and_remedy(tmp_path, change, problem):
    native(tmp_path, pool=[*NATIVE_POOL, {**NATIVE_POOL[0], "did": "8:5", **change}])
    with pytest.raises(DatasetError) as raised:
        read_benchmark(tmp_path)
    assert f"mbeir_cirr_task7_cand_pool.jsonl, {problem}" in str(raised.value)


@pytest.mark.parametrize(("text", "problem"), [
    (json.dumps(NATIVE)[:-9] + "\n", "line 1: it is not valid JSON"),
    ('{"qid": NaN}\n', "line 1: it is not valid JSON (NaN is not a number)"),
    ("[]\n", "line 1: it is not an object but []"),
    ("", "it contains no query of an image and a text"),
])
def test_what_is_no_query_file(tmp_path, text, problem):
    path = tmp_path / "q.jsonl"
    path.write_text(text)
    with pytest.raises(DatasetError) as raised:
        read_benchmark(path)
    assert problem in str(raised.value)


def test_several_query_files_are_listed_and_a_split_chooses(tmp_path):
    native(tmp_path)
    lines(tmp_path / "query/val/mbeir_cirr_task7_val.jsonl", [NATIVE])
    lines(tmp_path / "query/val/mbeir_cirr_task7_val.trace.jsonl", [{"query_idx": 0}])
    with pytest.raises(DatasetError, match=r"several query files: query/test/.*, query/val/mbeir_cirr_task7_val\.jso"):
        read_benchmark(tmp_path)
    assert read_benchmark(tmp_path, split="val").split == "val"
    with pytest.raises(DatasetError, match="no queries of split 'train'"):
        read_benchmark(tmp_path, split="train")


def test_a_file_is_not_called_another_split(tmp_path):
    native(tmp_path)
    (file,) = tmp_path.glob("query/test/*.jsonl")
    with pytest.raises(DatasetError, match="is of the split 'test', according to its name, not 'val'"):
        read_benchmark(file, split="val")
    assert read_benchmark(file, split="test").split == "test"


def test_the_pool_of_the_same_name_and_split_is_taken(tmp_path):
    for split in ("train", "test"):
        lines(tmp_path / f"query/{split}/mbeir_lasco_task7_{split}.jsonl", [CONVERTED])
    lines(tmp_path / "cand_pool/lasco_task7.jsonl", CONVERTED_POOL)
    lines(tmp_path / "cand_pool/lasco_task7_train.jsonl", [*CONVERTED_POOL, {"cand_id": "more", "img_path": "m.jpg"}])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("query_id\tcandidate_id\tscore\ncirco_q_test_0\tcirco_img_22\t1\n"
                                             "circo_q_test_0\tcirco_img_33\t1\n")
    assert len(read_benchmark(tmp_path, split="test").pools["lasco"] or ()) == 2
    assert len(read_benchmark(tmp_path, split="train").pools["lasco"] or ()) == 3
    lines(tmp_path / "cand_pool/global/mbeir_lasco_task7_cand_pool.jsonl", CONVERTED_POOL)
    with pytest.raises(DatasetError, match="several candidate pools"):
        read_benchmark(tmp_path, split="test")


def test_a_trace_and_a_folder_of_something_else_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="is a trace of an audit"):
        read_benchmark(lines(tmp_path / "x.trace.jsonl", [NATIVE]))
    with pytest.raises(DatasetError, match=r"has no query/\*\.jsonl"):
        read_benchmark(tmp_path)
    with pytest.raises(DatasetError, match="is missing"):
        read_benchmark(tmp_path / "nowhere")


def whole() -> Benchmark:
    queries = (
        BenchmarkQuery("1", "r", "add a dog", ("b",), "joined", "one", ("r",), ("a", "b"), ("negation",)),
        BenchmarkQuery("7:2", "a", "größer", ("b", "a"), "m-beir", "one"),
        BenchmarkQuery("3", "out", "no target", (), pool="one"),
    )
    return Benchmark("cirr", "val", queries, {"one": ("a", "b", "r")}, lambda image_id: (f"dev/{image_id}.png",))


def test_any_benchmark_comes_back_from_its_files(tmp_path):
    before = whole()
    write_mbeir(tmp_path, before)
    after = read_benchmark(tmp_path)
    assert after.queries == tuple(replace(query, pool="cirr") for query in before.queries)
    assert after.pools == {"cirr": ("a", "b", "r")}
    assert all(after.image_paths(name) == (f"dev/{name}.png",) for name in ("a", "b", "r", "out"))
    assert (tmp_path / "qrels/val/mbeir_cirr_task7_val_qrels.tsv").read_text() == (
        "query_id\tcandidate_id\tscore\n1\tb\t1\n7:2\tb\t1\n7:2\ta\t1\n")


def test_the_same_benchmark_gives_the_same_bytes_and_each_pool_its_files(tmp_path):
    queries = tuple(replace(query, pool=pool) for pool in ("one", "two") for query in whole().queries)
    benchmark = replace(whole(), queries=queries, pools={"one": ("a", "b", "r"), "two": ("b", "a", "r")})
    written = write_mbeir(tmp_path / "x", benchmark)
    again = write_mbeir(tmp_path / "y", benchmark)
    assert len(written) == 6
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]
    assert read_benchmark(written[3]).pools == {"cirr-two": ("b", "a", "r")}


def test_a_pool_that_is_not_listed_cannot_be_written(tmp_path):
    with pytest.raises(DatasetError, match="do not list the images of the pool 'one'"):
        write_mbeir(tmp_path, replace(whole(), pools={"one": None}))
