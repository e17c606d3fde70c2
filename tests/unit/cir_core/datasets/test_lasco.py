"""LaSCo's native files: queries, the two forms of its corpus, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.coco.lasco import read_benchmark
from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import DatasetError


def image(number: int) -> list[Any]:
    return [number, f"val2014/COCO_val2014_{number:012}.jpg"]


QUERY = {"qid": 28714000, "query-image": image(28714), "query-text": "The person is riding the bike",
         "target-image": image(277005)}
CORPUS = [{"id": n, "path": f"val/val2014/COCO_val2014_{n:012}.jpg"} for n in (42, 28714, 277005)]


def saved(folder: Path, queries: Any, corpus: Any = CORPUS, split: str = "val") -> Path:
    path = folder / f"lasco_{split}.json"
    path.write_text(queries if isinstance(queries, str) else json.dumps(queries), "utf-8")
    if corpus is not None:
        (folder / f"lasco_{split}_corpus.json").write_text(json.dumps(corpus))
    return path


def test_queries_and_corpus(tmp_path):
    saved(tmp_path, [QUERY])
    benchmark = read_benchmark(tmp_path)
    assert benchmark.queries == (
        BenchmarkQuery("28714000", "28714", "The person is riding the bike", ("277005",), pool="lasco"),)
    assert benchmark.pools == {"lasco": ("42", "28714", "277005")}
    assert (benchmark.name, benchmark.notes) == ("lasco-val", ())
    assert benchmark.image_paths("42") == (
        "val2014/COCO_val2014_000000000042.jpg", "val/val2014/COCO_val2014_000000000042.jpg")


def test_the_corpus_of_train_is_an_object(tmp_path):
    path = saved(tmp_path, [QUERY], {"277005": "train2014/COCO_train2014_000000277005.jpg"}, "train")
    benchmark = read_benchmark(path)
    assert (benchmark.split, benchmark.pools) == ("train", {"lasco": ("277005",)})
    assert benchmark.image_paths("28714") == ("val2014/COCO_val2014_000000028714.jpg",)


def test_without_a_corpus_everything_is_ranked(tmp_path):
    benchmark = read_benchmark(saved(tmp_path, [QUERY], None))
    assert benchmark.pools == {"lasco": None}
    assert benchmark.notes == ("lasco_val_corpus.json is missing: all images of the gallery are ranked.",)


def test_a_file_is_not_called_another_split(tmp_path):
    with pytest.raises(DatasetError, match="is of the split 'val', according to its name, not 'test'"):
        read_benchmark(saved(tmp_path, [QUERY]), split="test")


def test_hidden_targets_missing_texts_and_repeated_ids(tmp_path):
    hidden = {key: value for key, value in QUERY.items() if key != "target-image"}
    saved(tmp_path, [QUERY, hidden, {**QUERY, "qid": 5, "query-text": " "}], split="test")
    benchmark = read_benchmark(tmp_path, split="test")
    assert [(query.query_id, query.target_ids) for query in benchmark.queries] == [
        ("28714000", ("277005",)), ("28714000#2", ())]
    assert benchmark.notes == (
        "1 queries are left out: they have no text.",
        "1 queries repeat the qid of another one; #2, #3 … behind the id tells them apart.",
    )


def test_a_mark_and_windows_ends_are_read(tmp_path):
    path = saved(tmp_path, [QUERY])
    path.write_bytes(("\ufeff" + json.dumps([QUERY], indent=1).replace("\n", "\r\n")).encode())
    assert len(read_benchmark(path).queries) == 1


@pytest.mark.parametrize(("change", "problem"), [
    ({"qid": None}, "it has no 'qid', but qid, query-image, query-text, target-image"),
    ({"query-text": None}, "query 28714000 has no 'query-text'"),
    ({"query-image": 28714}, "'query-image' of query 28714000 is not an id and a path"),
    ({"target-image": [True, "a.jpg"]}, "'target-image' of query 28714000 is not an id and a path"),
    ({"target-image": image(7)}, "the target 7 of query 28714000 is not in the corpus"),
])
def test_a_bad_query_names_file_record_and_remedy(tmp_path, change, problem):
    # The reference 7 of the first query is no reason to take 7 for one of the corpus.
    path = saved(tmp_path, [{**QUERY, "qid": 1, "query-image": image(7)}, {**QUERY, **change}])
    with pytest.raises(DatasetError) as raised:
        read_benchmark(path)
    assert str(raised.value).startswith(f"{path}, record 1: {problem}. ")
    faults = ValidationIssues(collect=True)
    assert len(read_benchmark(path, faults=faults).queries) == 1
    assert faults.count == 1


@pytest.mark.parametrize(("text", "problem"), [
    (json.dumps([QUERY, QUERY])[:-40], ", record 1: the file ends in the middle of it"),
    ('[{"qid": NaN}]', ", record 0: it is not valid JSON"),
    ('{"qid": 1}', ": it does not contain a JSON array (it begins with '{')"),
    ("[]", ": it contains no query"),
])
def test_what_is_no_query_file(tmp_path, text, problem):
    path = saved(tmp_path, text)
    with pytest.raises(DatasetError) as raised:
        read_benchmark(path)
    assert str(raised.value).startswith(f"{path}{problem}")


@pytest.mark.parametrize(("corpus", "problem"), [
    ([*CORPUS, CORPUS[0]], "record 3: the image id 42 occurs twice"),
    ([{"id": 42}], "record 0: it is not an id and a path"),
    ({"42": 7}, "key '42': it is not an id and a path"),
])
def test_a_bad_corpus_names_file_record_and_remedy(tmp_path, corpus, problem):
    saved(tmp_path, [QUERY], corpus)
    with pytest.raises(DatasetError) as raised:
        read_benchmark(tmp_path)
    assert str(raised.value).startswith(f"{tmp_path / 'lasco_val_corpus.json'}, {problem}. ")


def test_a_folder_without_it_says_what_was_looked_for(tmp_path):
    with pytest.raises(DatasetError, match=r"LaSCo's queries of the split 'val'.*lasco_val\.json"):
        read_benchmark(tmp_path)
