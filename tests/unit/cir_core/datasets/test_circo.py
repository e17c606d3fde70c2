"""CIRCO's annotations and COCO's image list."""

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.circo import canonical_id, read_benchmark
from cir_core.errors import DatasetError
from tests.fakes.benchmark_files import as_windows_saves, circo, circo_record, coco_images, put


def test_queries(tmp_path):
    circo(tmp_path)
    coco_images(tmp_path)
    benchmark = read_benchmark(tmp_path)
    query = benchmark.queries[0]
    assert (benchmark.name, len(benchmark.queries), benchmark.notes) == ("circo-val", 2, ())
    assert benchmark.pools == {"circo": tuple(map(str, range(1, 71)))}
    assert (query.query_id, query.reference_id, query.target_ids) == ("0", "11", ("22", "33"))
    assert (query.modification_text, query.aspects, query.excluded_ids) == ("is outdoors", ("viewpoint",), ())
    assert benchmark.image_paths("22") == (
        "COCO2017_unlabeled/unlabeled2017/000000000022.jpg", "unlabeled2017/000000000022.jpg", "000000000022.jpg")


def test_the_annotation_file_alone(tmp_path):
    benchmark = read_benchmark(circo(tmp_path))
    assert benchmark.pools == {"circo": None} and "image_info_unlabeled2017.json is missing" in benchmark.notes[0]


def test_the_test_split_hides_its_targets(tmp_path):
    record = {"reference_img_id": 11, "relative_caption": "is outdoors", "shared_concept": "a bench", "id": 0}
    file = circo(tmp_path, [record], split="test")
    assert read_benchmark(file).split == "test" and read_benchmark(file).queries[0].target_ids == ()
    other = file.rename(file.with_name("mine.json"))
    with pytest.raises(DatasetError, match=r"record 0: 'target_img_id' and 'gt_img_ids' are missing\. Only the test"):
        read_benchmark(other, split="val")


def test_a_file_is_not_called_another_split(tmp_path):
    file = circo(tmp_path)
    with pytest.raises(DatasetError, match=r"val\.json is of the split 'val', according to its name, not 'test'\."):
        read_benchmark(file, split="test")
    assert read_benchmark(file, split="val").name == "circo-val"
    other = file.rename(file.with_name("mine.json"))
    with pytest.raises(DatasetError, match=r"2 of its 2 queries name their targets, which the split 'test' hides"):
        read_benchmark(other, split="test")


def test_an_image_list_that_is_nested_too_deep(tmp_path):
    root = circo(tmp_path).parent.parent
    listing = root / "COCO2017_unlabeled/annotations/image_info_unlabeled2017.json"
    listing.parent.mkdir(parents=True)
    listing.write_text('{"images": [{"id": 22}, {"id": 33, "more": ' + "[" * 100_000)
    with pytest.raises(DatasetError, match=r"unlabeled2017\.json, after image \d: it is nested too deep"):
        read_benchmark(root)


def test_padding_and_padded_ids(tmp_path):
    record = circo_record(0, reference_img_id="000000000011", target_img_id="22",
                          gt_img_ids=["000000000022", 33, "", ""])
    query = read_benchmark(circo(tmp_path, [record])).queries[0]
    assert (query.reference_id, query.target_ids) == ("11", ("22", "33"))


@pytest.mark.parametrize(("value", "image_id"), [
    (22, "22"), ("000022", "22"), (0, "0"), (True, None), (2.0, None), ("", None), ("²", None), ("-3", None),
    (-3, None), (None, None), ("22.jpg", None),
])
def test_image_ids(value, image_id):
    assert canonical_id(value) == image_id


def test_unknown_aspects_are_kept_and_said(tmp_path):
    benchmark = read_benchmark(circo(tmp_path, [circo_record(0, semantic_aspects=["viewpoint", "colour"])]))
    assert benchmark.queries[0].aspects == ("viewpoint", "colour")
    assert "Aspects unknown to CIRCO" in benchmark.notes[-1] and "'colour' (1)." in benchmark.notes[-1]


def test_as_windows_saves_it(tmp_path):
    file = circo(tmp_path)
    expected = read_benchmark(file)
    assert read_benchmark(as_windows_saves(file)).digest == expected.digest


@pytest.mark.parametrize(("record", "sentence"), [
    (circo_record(7), "its id is 7, which is not its position"),
    (circo_record(0), "its id is 0, which is not its position"),
    (circo_record(1, target_img_id=33), "'target_img_id' is 33, which is not the first of 'gt_img_ids'"),
    (circo_record(1, gt_img_ids=[22, 33, 22]), "an image occurs twice in 'gt_img_ids'"),
    (circo_record(1, gt_img_ids=[22, "b.jpg"]), "'b.jpg' is not an image id"),
    (circo_record(1, gt_img_ids=[]), "'target_img_id' is 22, which is not the first"),
    (circo_record(1, relative_caption=""), "the relative caption is empty"),
    (circo_record(1, reference_img_id=1.5), "'reference_img_id"),
    (circo_record("1"), "'id' cannot be used"),
    ({"id": 1}, "'reference_img_id' is missing"),
])
def test_faulty_records(tmp_path, record, sentence):
    with pytest.raises(DatasetError, match=r"val\.json, record 1: " + sentence):
        read_benchmark(circo(tmp_path, [circo_record(0), record]))


@pytest.mark.parametrize(("content", "sentence"), [
    ('[{"id": 0, "reference_img_id": NaN}]', "record 0: it is not valid JSON"),
    ('[{"id": 0, "reference_img_id": 11,', "record 0: the file ends in the middle"),
    ('{"0": [22]}', "does not contain a JSON array"),
])
def test_broken_files(tmp_path, content, sentence):
    file = circo(tmp_path)
    file.write_text(content)
    with pytest.raises(DatasetError, match=r"val\.json.*" + sentence):
        read_benchmark(file)


@pytest.mark.parametrize("changes", [{"reference_img_id": 99}, {"gt_img_ids": [22, 99]}])
def test_images_that_coco_does_not_list(tmp_path, changes):
    coco_images(tmp_path)
    circo(tmp_path, [circo_record(0, **changes), circo_record(1)])
    faults = ValidationIssues(collect=True)
    assert [query.query_id for query in read_benchmark(tmp_path, faults=faults).queries] == ["1"]
    assert "record 0: the image 99 is not in image_info_unlabeled2017.json" in str(faults.found[0])


@pytest.mark.parametrize(("ids", "sentence"), [
    ([1, 2, 1], "record 2: the image id 1 occurs twice"),
    ([1, "x"], "record 1: 'x' is not an image id"),
    ([], "it lists no images"),
])
def test_a_faulty_image_list(tmp_path, ids, sentence):
    circo(tmp_path)
    put(coco_images(tmp_path), {"images": [{"id": one} for one in ids]})
    with pytest.raises(DatasetError, match=r"image_info_unlabeled2017\.json.*" + sentence):
        read_benchmark(tmp_path)


def test_an_image_list_cut_off(tmp_path):
    circo(tmp_path)
    listing = coco_images(tmp_path)
    listing.write_text(listing.read_text()[:-100])
    with pytest.raises(DatasetError, match=r"is cut off or not valid JSON .*Download COCO's image list again"):
        read_benchmark(tmp_path)


def test_what_was_looked_for(tmp_path):
    with pytest.raises(DatasetError, match=r"split 'test'\. Looked there for annotations/test\.json"):
        read_benchmark(tmp_path, split="test")
