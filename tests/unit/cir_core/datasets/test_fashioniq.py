"""FashionIQ's files and the texts that are made of their captions."""

from dataclasses import replace

import pytest

from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.fashioniq import read_benchmark, read_queries, read_split
from cir_core.errors import DatasetError
from tests.fakes.benchmark_files import as_windows_saves, fashioniq, fashioniq_record, put


@pytest.mark.parametrize(("mode", "captions", "texts"), [
    ("joined", ["is red ", "has a Hood."], ("is red and has a Hood.",)),
    ("joined", ["", "has a hood"], ("has a hood",)),
    # stripped of ".?, ", then Python's capitalize, which lowers what follows the first letter
    ("clip4cir", ["is Red, ", " has a Hood."], ("Is red and has a Hood",)),
    ("clip4cir", ["?", "Is BLUE"], ("Is blue",)),
    ("m-beir", ["Is red.", "Has a Hood"], ("Is red and has a Hood.",)),
    ("m-beir", ["is it red?", " "], ("Is it red?",)),
    ("m-beir", ["is red", "no.."], ("Is red and no.",)),
    ("separate", ["is red ", "has a hood"], ("is red", "has a hood")),
    ("separate", [" ", "has a hood"], ("has a hood",)),
    ("first", ["", "has a hood"], ("has a hood",)),
    ("single", ["add a dog "], ("add a dog",)),
    ("joined", ["", " "], ()),
    ("clip4cir", [".", ""], ()),
    ("m-beir", [".", '""'], ()),
])
def test_texts(mode, captions, texts):
    assert query_texts(captions, mode) == texts


def test_a_single_text_of_two_captions_is_refused():
    with pytest.raises(DatasetError, match=r"2 captions.*joined"):
        query_texts(["is red", "has a hood"], "single")


def test_every_category_is_a_pool(tmp_path):
    for category in ("toptee", "dress"):
        fashioniq(tmp_path, category, [
            fashioniq_record("B02", "B01", "is red", "has long sleeves"), fashioniq_record("B03", "B02", "", "is blue"),
        ])
    benchmark = read_benchmark(tmp_path)
    assert (benchmark.name, list(benchmark.pools)) == ("fashioniq-val", ["dress", "toptee"])
    assert benchmark.pools["dress"] == ["B01", "B02", "B03", "B04"]
    assert [query.query_id for query in benchmark.queries] == ["dress:0", "dress:1", "toptee:0", "toptee:1"]
    first, second = benchmark.queries[:2]
    assert (first.reference_id, first.modification_text, first.target_ids) == (
        "B01", "is red and has long sleeves", ("B02",))
    assert (second.modification_text, second.caption_mode, second.pool) == ("is blue", "joined", "dress")
    assert benchmark.notes == ("There are no captions of shirt here.",
                               "2 empty captions were left out; the query's other caption is used alone.")
    assert "images/B01.png" in benchmark.image_paths("B01") and "dress/B01.jpg" in benchmark.image_paths("B01")


def test_separate_captions_are_queries(tmp_path):
    records = [fashioniq_record("B02", "B01", "is red", "has long sleeves"), fashioniq_record("B02", "B03", "", "x")]
    benchmark = read_benchmark(fashioniq(tmp_path, "shirt", records), caption_mode="separate")
    assert {query.query_id: query.modification_text for query in benchmark.queries} == {
        "shirt:0:0": "is red", "shirt:0:1": "has long sleeves", "shirt:1:0": "x"}


def test_the_union_of_references_and_targets(tmp_path):
    records = [fashioniq_record("B03", "B02", "a", "b"), fashioniq_record("B02", "B01", "c", "d")]
    folder = fashioniq(tmp_path, records=records)
    benchmark = read_benchmark(folder, union=True)
    assert benchmark.pools == {"dress": ["B02", "B03", "B01"]} and "only" in benchmark.notes[-1]
    assert benchmark.digest != read_benchmark(folder).digest


def test_the_test_split_hides_its_targets(tmp_path):
    record = fashioniq_record(None, "B01", "is red", "b")
    folder = fashioniq(tmp_path / "fashion-iq", records=[record], split="test")
    assert read_benchmark(tmp_path, split="test").queries[0].target_ids == ()
    fashioniq(folder, records=[record], split="val")
    with pytest.raises(DatasetError, match=r"cap\.dress\.val\.json, record 0: 'target' is missing\. Only the test"):
        read_benchmark(tmp_path)
    with pytest.raises(DatasetError, match="'target' is missing"):
        read_queries(folder, "dress", "test")


def test_as_windows_saves_them(tmp_path):
    expected = read_benchmark(fashioniq(tmp_path))
    for file in tmp_path.rglob("*.json"):
        as_windows_saves(file)
    assert read_benchmark(tmp_path).digest == expected.digest


@pytest.mark.parametrize(("records", "sentence"), [
    ([fashioniq_record("B09", "B01", "a", "b")],
     r"record 0: 'B09' is not in split\.dress\.val\.json\. Check that captions and split file are of the same"),
    ([fashioniq_record("B02", "B01", "a", "b"), fashioniq_record("B02", "B01", "", " ")],
     "record 1: all its captions are empty. Take the record out"),
    ([{"target": "B02", "candidate": "B01", "captions": "is red"}], "record 0: 'captions' cannot be used"),
    ([{"target": "B02", "captions": ["is red"]}], "record 0: 'candidate' is missing. It contains target, captions"),
    ([fashioniq_record("", "B01", "a", "b")], "record 0: 'target' cannot be used"),
    (["B01", "B02"], "record 0: it is not an object"),
    ({"B01": 1}, "does not contain a JSON array"),
])
def test_faulty_captions(tmp_path, records, sentence):
    with pytest.raises(DatasetError, match=r"cap\.dress\.val\.json.*" + sentence):
        read_benchmark(fashioniq(tmp_path, records=records))


@pytest.mark.parametrize(("content", "sentence"), [
    ('[{"target": "B02", "candidate": "B01", "captions": ["a"]}, {"target": "B0', "record 1: the file ends in the"),
    ('[{"target": "B02", "candidate": "B01", "captions": [NaN]}]', "record 0: it is not valid JSON"),
    ("", "it is empty"),
])
def test_broken_captions(tmp_path, content, sentence):
    file = fashioniq(tmp_path) / "captions" / "cap.dress.val.json"
    file.write_text(content)
    with pytest.raises(DatasetError, match=sentence):
        read_benchmark(tmp_path)


@pytest.mark.parametrize(("names", "sentence"), [
    (["B01", "B02", "B01"], "record 2: 'B01' occurs twice, first at record 0. Keep one"),
    (["B01", 2], "record 1: 2 is not an image name"),
    ({"B01": "x"}, "does not contain a JSON array of image names"),
])
def test_a_faulty_split_file(tmp_path, names, sentence):
    put(fashioniq(tmp_path) / "image_splits" / "split.dress.val.json", names)
    with pytest.raises(DatasetError, match=r"split\.dress\.val\.json.*" + sentence):
        read_split(tmp_path, "dress", "val")


def test_faults_are_collected_and_the_rest_is_read(tmp_path):
    records = [fashioniq_record("B02", "B01", "", ""), fashioniq_record("B09", "B01", "a"),
               fashioniq_record("B02", "B01", "is red")]
    faults = ValidationIssues(collect=True)
    benchmark = read_benchmark(fashioniq(tmp_path, records=records, names=["B01", "B02", "B02"]), faults=faults)
    assert [query.query_id for query in benchmark.queries] == ["dress:2"]  # its place in the file stays
    assert [fault.record for fault in faults.found] == ["record 2", "record 0", "record 1"]


def test_what_was_looked_for(tmp_path):
    fashioniq(tmp_path, split="train")
    with pytest.raises(DatasetError, match=r"captions of the split 'val'.*cap\.dress\.val\.json.*there: train"):
        read_benchmark(tmp_path)
    with pytest.raises(DatasetError, match=r"nowhere is missing"):
        read_benchmark(tmp_path / "nowhere")
    with pytest.raises(DatasetError, match=r"is a file\. Give the data set's folder"):
        read_benchmark(tmp_path / "captions" / "cap.dress.train.json")


def test_queries_keep_their_captions_as_in_the_file(tmp_path):
    """For data sets made of them; a benchmark's digest is that of its queries' texts, as before."""
    root = fashioniq(tmp_path, "dress", [{"candidate": "B01", "target": "B02", "captions": [" is red", ""]}])
    [query] = read_benchmark(root).queries
    assert (query.modification_text, query.captions) == ("is red", (" is red", ""))
    assert {one.captions for one in read_benchmark(root, caption_mode="separate").queries} == {()}
    plain = replace(query, captions=())
    assert plain == query
    benchmark = read_benchmark(root)
    assert replace(benchmark, queries=(plain,)).digest == benchmark.digest
