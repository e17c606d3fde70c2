"""GeneCIS: its released JSON files, the small galleries and the boxes that are cut out."""

from pathlib import Path

import pytest
from PIL import Image

from cir_core.datasets.files.image_files import padded_crop, write_crop
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.mbeir_writing import write_mbeir
from cir_core.datasets.readers.coco.genecis import TASKS, read_benchmark
from cir_core.errors import DatasetError
from cir_core.registry.checking import check
from tests.fakes.benchmark_files import genecis, genecis_image, put


def test_the_four_tasks_and_their_galleries(tmp_path):
    benchmark = read_benchmark(genecis(tmp_path))
    assert [query.query_id for query in benchmark.queries] == [f"{task}/{n}" for task in TASKS for n in (0, 1)]
    first, last = benchmark.queries[0], benchmark.queries[-1]
    assert first.reference_id == "7_10_20_30.5_40" and first.modification_text == "the colour"
    assert first.target_ids == ("8_10_20_30.5_40",) and first.pool == "focus_attribute/0"
    # In the order of their ids: in the order of the file the target would win every tie.
    assert benchmark.pools["focus_attribute/0"] == (
        "10_10_20_30.5_40", "11_10_20_30.5_40", "8_10_20_30.5_40", "9_10_20_30.5_40")
    assert last.reference_id == "000000000007" and last.target_ids == ("000000000009",)
    assert benchmark.boxes["7_10_20_30.5_40"] == (10, 20, 30.5, 40) and len(benchmark.boxes) == 5
    assert benchmark.image_paths("7_10_20_30.5_40")[:2] == ("VG_100K/7.jpg", "VG_100K_2/7.jpg")
    assert benchmark.image_paths("000000000007")[0] == "val2017/000000000007.jpg"
    assert (benchmark.name, benchmark.notes, benchmark.own_galleries) == ("genecis", (), True)


def test_one_task_and_a_folder_that_lacks_some(tmp_path):
    one = read_benchmark(genecis(tmp_path) / "genecis" / "focus_object.json")
    assert one.name == "genecis-focus_object" and len(one.queries) == 2
    (tmp_path / "genecis" / "change_object.json").unlink()
    assert read_benchmark(tmp_path).notes == (
        "Without change_object: the published average is over all four tasks.",)


@pytest.mark.parametrize(("change", "says"), [
    ({"condition": " "}, "its condition is empty"),
    ({"gallery": []}, "its gallery is empty"),
    ({"target": {"image_id": 3}}, "neither 'val_image_id' nor 'image_id' with 'instance_bbox'"),
    ({"reference": {"image_id": 3, "instance_bbox": [1, 2, 0, 4]}}, "'reference.instance_bbox.2' cannot be used"),
    ({"gallery": None}, "'gallery' cannot be used"),
])
def test_faults_name_their_record(tmp_path, change, says):
    record = {"reference": genecis_image(7), "target": genecis_image(8), "condition": "a dog",
              "gallery": [genecis_image(9)], **change}
    put(tmp_path / "focus_object.json", [record])
    with pytest.raises(DatasetError, match="record 0") as caught:
        read_benchmark(tmp_path)
    assert says in str(caught.value)
    faults = ValidationIssues(collect=True)
    assert read_benchmark(tmp_path, faults=faults).queries == () and faults.count == 1


def test_what_is_not_genecis_is_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"contains none of focus_attribute\.json"):
        read_benchmark(tmp_path)
    with pytest.raises(DatasetError, match="not called like a task"):
        read_benchmark(put(tmp_path / "other.json", []))
    with pytest.raises(DatasetError, match="has a gallery of its own"):
        write_mbeir(tmp_path / "out", read_benchmark(genecis(tmp_path)))


def test_a_check_counts_galleries_by_task_and_finds_images(tmp_path):
    for number in (7, 8, 9, 10, 11):
        for name in (f"VG_100K/{number}.jpg", f"val2017/{number:012d}.jpg"):
            (tmp_path / "images" / name).parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (80, 80)).save(tmp_path / "images" / name)
    report = check("genecis", genecis(tmp_path), images=tmp_path / "images")
    assert report.ok and report.image_count == 10
    assert report.counts["queries"] == 8 and report.counts["images"] == 8
    assert report.counts["queries, focus_object"] == 2
    assert report.counts["images of a query, change_attribute, least"] == 4 == report.counts[
        "images of a query, change_attribute, most"]


def test_a_box_with_its_margin_in_a_black_square():
    """Box (40, 30), 20 × 10, in 100 × 60: left 40 − 14 = 26, top 30 − 7 = 23; right 26 + 1.7 · 20 = 60, bottom
    23 + 17 = 40. 34 × 17 pixels, in the middle of 34 × 34: 8 black rows above, 9 below."""
    image = Image.new("RGB", (100, 60), "white")
    image.putpixel((26, 23), (255, 0, 0))
    image.putpixel((59, 39), (0, 0, 255))
    found = padded_crop(image, (40, 30, 20, 10))
    assert found.size == (34, 34)
    assert found.getpixel((0, 8)) == (255, 0, 0) and found.getpixel((33, 24)) == (0, 0, 255)
    assert found.getpixel((0, 7)) == (0, 0, 0) == found.getpixel((0, 25))


def test_a_box_at_the_edge_stays_within_the_image():
    # left and top are cut off at 0, so the margin is added at the right and below: 17 × 34 of 20 × 30.
    found = padded_crop(Image.new("RGB", (20, 30), "white"), (2, 3, 10, 20))
    assert found.size == (30, 30) and found.getbbox() == (6, 0, 23, 30)


def test_a_crop_is_written_once_and_a_wrong_image_is_told(tmp_path):
    source, path = tmp_path / "7.png", tmp_path / "crops" / "a.png"
    Image.new("RGB", (60, 60), "white").save(source)
    write_crop(path, source, (10, 10, 10, 10), max_megapixels=1)
    with Image.open(path) as found:
        assert found.size == (17, 17)
    source.unlink()
    write_crop(path, source, (10, 10, 10, 10), max_megapixels=1)
    with pytest.raises(DatasetError, match=r"7\.png"):
        write_crop(Path(tmp_path / "b.png"), source, (10, 10, 10, 10), max_megapixels=1)
    Image.new("RGB", (60, 60)).save(source)
    with pytest.raises(DatasetError, match="outside its 60 × 60 pixels"):
        write_crop(tmp_path / "b.png", source, (70, 10, 10, 10), max_megapixels=1)
