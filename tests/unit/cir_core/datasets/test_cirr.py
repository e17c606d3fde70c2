"""CIRR's caption and split files."""

import pytest

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.cirr import read_benchmark
from cir_core.errors import DatasetError
from tests.fakes.benchmark_files import CIRR_NAMES as NAMES
from tests.fakes.benchmark_files import as_windows_saves, cirr, cirr_record, put


@pytest.mark.parametrize("inside", [".", "cirr", "cirr_dataset"])
def test_queries(tmp_path, inside):
    cirr(tmp_path / inside)
    benchmark = read_benchmark(tmp_path)
    assert (benchmark.name, benchmark.pools, benchmark.notes) == ("cirr-val", {"cirr": tuple(NAMES)}, ())
    first, second = benchmark.queries
    assert (first.query_id, first.reference_id, first.target_ids) == ("12", NAMES[0], (NAMES[3],))
    assert first.excluded_ids == (NAMES[0],) and first.subset_ids == tuple(NAMES[1:6])
    assert (second.modification_text, second.caption_mode, second.pool) == ("make it snow", "single", "cirr")
    assert second.subset_ids == (NAMES[0], NAMES[1], NAMES[2], NAMES[3], NAMES[5])


def test_test1_hides_its_targets(tmp_path):
    cirr(tmp_path, [cirr_record(12, 0)], split="test1")
    assert read_benchmark(tmp_path, split="test1").queries[0].target_ids == ()
    cirr(tmp_path, [cirr_record(12, 0)], split="val")
    with pytest.raises(DatasetError, match=r"cap\.rc2\.val\.json, record 0: pairid 12: 'target_hard' is missing"):
        read_benchmark(tmp_path)


def test_the_caption_file_alone(tmp_path):
    file = cirr(tmp_path, split="test1") / "captions" / "cap.rc2.test1.json"
    assert read_benchmark(file).name == "cirr-test1" and read_benchmark(file).pools["cirr"] is not None
    (tmp_path / "image_splits" / "split.rc2.test1.json").unlink()
    alone = read_benchmark(file)
    assert alone.pools == {"cirr": None} and "split.rc2.test1.json" in alone.notes[0]
    assert alone.image_paths("test1-1-0-img0")[0] == "test1/test1-1-0-img0.png"


def test_a_file_is_not_called_another_split(tmp_path):
    file = cirr(tmp_path) / "captions" / "cap.rc2.val.json"
    with pytest.raises(DatasetError, match="is of the split 'val', according to its name, not 'test1'"):
        read_benchmark(file, split="test1")
    other = file.rename(tmp_path / "mine.json")
    with pytest.raises(DatasetError, match="2 of its 2 queries name their targets, which the split 'test1' hides"):
        read_benchmark(other, split="test1")


def test_images_lie_where_the_split_file_says(tmp_path):
    name = "train-34-0-img1"
    cirr(tmp_path)
    listed = {one: f"./dev/{one}.png" for one in NAMES} | {name: f"./train/34/{name}.png"}
    put(tmp_path / "image_splits" / "split.rc2.val.json", listed)
    assert read_benchmark(tmp_path).image_paths(name) == (
        f"train/34/{name}.png", f"img_raw/train/34/{name}.png", f"34/{name}.png", f"{name}.png")


def test_as_windows_saves_them(tmp_path):
    expected = read_benchmark(cirr(tmp_path))
    for file in tmp_path.rglob("*.json"):
        as_windows_saves(file)
    assert read_benchmark(tmp_path).digest == expected.digest


def members(*numbers):
    return {"img_set": {"id": 1, "members": [NAMES[number] for number in numbers]}}


@pytest.mark.parametrize(("record", "sentence"), [
    (cirr_record(12, 7, 3), f"the reference '{NAMES[7]}' is not among the members"),
    (cirr_record(12, 0, 9), f"the target '{NAMES[9]}' is not among the other members"),
    (cirr_record(12, 0, 0), f"the target '{NAMES[0]}' is not among the other members"),
    (cirr_record(12, 0, 1, **members(0, 1, 2, 3, 4)), "its image set has 5 different members, not 6"),
    (cirr_record(12, 0, 1, **members(0, 1, 2, 3, 4, 4)), "its image set has 5 different members, not 6"),
    (cirr_record(12, 0, 1, " "), "the caption is empty"),
    (cirr_record("twelve", 0, 1), "'pairid' cannot be used"),
    (cirr_record(12, 0, 1, img_set={}), "'img_set.members' is missing"),
])
def test_faulty_records(tmp_path, record, sentence):
    with pytest.raises(DatasetError, match=r"cap\.rc2\.val\.json, record 1: .*" + sentence):
        read_benchmark(cirr(tmp_path, [cirr_record(11, 0, 1), record]))


def test_a_pairid_stands_there_once(tmp_path):
    faults = ValidationIssues(collect=True)
    folder = cirr(tmp_path, [cirr_record(12, 0, 1), cirr_record(12, 2, 3), cirr_record(13, 0, 1)])
    benchmark = read_benchmark(folder, faults=faults)
    assert [query.query_id for query in benchmark.queries] == ["12", "13"]
    assert [str(fault) for fault in faults.found] == [
        f"{folder / 'captions' / 'cap.rc2.val.json'}, record 1: pairid 12 occurs twice. Keep one of the two."]


def test_members_are_in_the_split(tmp_path):
    with pytest.raises(DatasetError, match=rf"record 0: pairid 12: '{NAMES[5]}' is not in split\.rc2\.val\.json"):
        read_benchmark(cirr(tmp_path, names=NAMES[:5]))


@pytest.mark.parametrize("file", ["../outside.png", "/etc/passwd", "", 3])
def test_image_files_stay_below_the_root(tmp_path, file):
    put(cirr(tmp_path) / "image_splits" / "split.rc2.val.json", {"dev-1": file})
    with pytest.raises(DatasetError, match=r"split\.rc2\.val\.json, key 'dev-1': .* is not a path below"):
        read_benchmark(tmp_path)


def test_a_name_listed_twice(tmp_path):
    (cirr(tmp_path) / "image_splits" / "split.rc2.val.json").write_text('{"a": "./dev/a.png", "a": "./dev/b.png"}')
    with pytest.raises(DatasetError, match=r"key 'a': it occurs twice in one object\. Keep one"):
        read_benchmark(tmp_path)


def test_a_file_cut_off(tmp_path):
    file = cirr(tmp_path) / "captions" / "cap.rc2.val.json"
    file.write_text(file.read_text()[:-30])
    with pytest.raises(DatasetError, match=r"record 1: the file ends in the middle of it\. Download"):
        read_benchmark(tmp_path)


def test_what_was_looked_for(tmp_path):
    with pytest.raises(DatasetError, match=r"captions of the split 'val'\. Looked there for captions/cap\.rc2\.val"):
        read_benchmark(tmp_path)
    (cirr(tmp_path) / "image_splits" / "split.rc2.val.json").unlink()
    with pytest.raises(DatasetError, match=r"image list of the split 'val'\. Looked there for image_splits/split\.rc2"):
        read_benchmark(tmp_path)
