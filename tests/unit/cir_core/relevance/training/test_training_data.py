"""Training data from files in the form of FashionIQ and CIRR."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from cir_core.errors import DatasetError
from cir_core.registry.kinds import read_benchmark
from cir_core.relevance.training.data import TrainingData, training_data
from tests.fakes.benchmark_files import CIRR_NAMES, cirr, cirr_record

DRESSES = ("D1", "D2", "D3", "D4")
SHIRTS = ("S1", "S2", "S3")


def fashioniq(root: Path) -> Path:
    records = {
        ("dress", "train"): [("D1", "D2", "is red"), ("D2", "D3", "is long"), ("D4", "D2", "is blue")],
        ("shirt", "train"): [("S1", "S3", "is plain")],
        ("toptee", "train"): [],
        ("dress", "val"): [("V1", "V2", "has sleeves")], ("shirt", "val"): [], ("toptee", "val"): [],
    }
    for (category, split), found in records.items():
        for folder in ("captions", "image_splits"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / f"captions/cap.{category}.{split}.json").write_text(json.dumps(
            [{"candidate": one, "target": other, "captions": [text, "is nice"]} for one, other, text in found]))
        listed = {("dress", "train"): DRESSES, ("shirt", "train"): SHIRTS, ("dress", "val"): ("V1", "V2", "V3")}
        (root / f"image_splits/split.{category}.{split}.json").write_text(
            json.dumps(listed.get((category, split), ())))
    return root


def draw(folder: Path, names: dict[str, int]) -> Path:
    for name, red in names.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (20, 20), (red, 0, 0)).save(path)
    return folder


def read(kind: str, root: Path, images: Path) -> TrainingData:
    return training_data(*(read_benchmark(kind, root, split=split) for split in ("train", "val")), [images])


def test_fashioniq_negatives_are_training_targets_of_the_category(tmp_path: Path) -> None:
    names = [*DRESSES, *SHIRTS, "V1", "V2", "V3"]
    images = draw(tmp_path / "images", {f"{name}.png": 20 * row for row, name in enumerate(names)})
    data = read("fashioniq", fashioniq(tmp_path / "files"), images)
    shade = {name: 20 * row for row, name in enumerate(names)}

    def shown(rows: object) -> set[int]:
        return {data.load(int(row)).getpixel((5, 5))[0] for row in rows}  # type: ignore[attr-defined,index]

    assert data.images == len(names)
    assert {name: shown(rows) for name, rows in data.pools.items()} == {
        "dress": {shade["D2"], shade["D3"]}, "shirt": {shade["S3"]}}   # D1, D4, S1 and S2 are no targets
    assert shown(data.validation_pools["dress"]) == {shade["V1"], shade["V2"], shade["V3"]}
    first = next(query for query in data.queries if shown([query.target]) == {shade["D3"]})
    assert shown([first.reference]) == {shade["D2"]} and first.pool == "dress"
    assert "is long" in first.captions[0] and "is nice" in first.captions[0]
    assert len(data.queries) == 4 and len(data.validation) == 1


def test_cirr_negatives_are_all_training_images(tmp_path: Path) -> None:
    root = cirr(tmp_path / "files", split="train")
    cirr(root, [cirr_record(3, 1, 2)], split="val")
    paths = {path for split in ("train", "val") for one in (read_benchmark("cirr", root, split=split),)
             for image_id in one.image_ids for path in list(one.image_paths(image_id))[:1]}
    data = read("cirr", root, draw(tmp_path / "images", dict.fromkeys(paths, 9)))
    assert [len(rows) for rows in data.pools.values()] == [len(CIRR_NAMES)]
    assert (len(data.queries), len(data.validation)) == (2, 1)


def test_a_missing_image_is_named_with_the_folder_that_was_searched(tmp_path: Path) -> None:
    root = fashioniq(tmp_path / "files")
    with pytest.raises(DatasetError, match=r"Image D1 of .* is not under .*--images"):
        read("fashioniq", root, tmp_path)

