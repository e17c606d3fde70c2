"""Training data from files in the form of FashionIQ and CIRR."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from PIL import Image

from cir_core.errors import DatasetError, RelevanceUnavailable
from cir_core.registry.kinds import read_benchmark
from cir_core.relevance.training.data import TrainingData, training_data
from cir_core.relevance.training.presets import Plan, preset_of
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


# --- epochs, steps, rates and batches --------------------------------------------------------

SAMPLE = replace(preset_of("sample", "sample"), epochs=2, start=3, first_batch=4, batch=3, together=1)
PLAN = Plan(SAMPLE, queries=9, untrained=True)


def test_epochs_before_those_of_cirqrs_are_negative_and_only_for_untrained_networks() -> None:
    assert list(PLAN.epochs) == [-3, -2, -1, 0, 1]
    assert list(replace(PLAN, untrained=False).epochs) == [0, 1]
    assert [PLAN.called(epoch) for epoch in PLAN.epochs] == [
        "start, epoch 1 of 3", "start, epoch 2 of 3", "start, epoch 3 of 3", "epoch 1 of 2", "epoch 2 of 2"]


def test_another_number_of_negatives_is_halved_like_the_presets_and_never_to_none() -> None:
    assert preset_of("cirqrs-paper", "fashioniq", negatives=8).schedule.rebuilds == ((6, 8), (12, 4), (18, 2), (24, 1))
    assert asdict(preset_of("sample", "sample", negatives=3))["negatives"] == 3   # so another training, by its digest
    with pytest.raises(RelevanceUnavailable, match=r"7 negatives, halved 3 times .* Use at least 8"):
        preset_of("cirqrs-paper", "fashioniq", negatives=7)
    with pytest.raises(RelevanceUnavailable, match="Use at least 32"):
        preset_of("cirqrs-paper", "cirr", negatives=31)
    with pytest.raises(RelevanceUnavailable, match="only with the rule top"):
        preset_of("qure-code", "fashioniq", negatives=20)


def test_steps_of_the_start_have_a_batch_of_their_own() -> None:
    # 9 queries by 4, three times, then by 3, twice; 10 queries by 4 and by 5.
    assert [PLAN.steps(epoch) for epoch in PLAN.epochs] == [3, 3, 3, 3, 3]
    assert [PLAN.before(epoch) for epoch in PLAN.epochs] == [0, 3, 6, 9, 12]
    assert PLAN.last == 15
    other = Plan(replace(SAMPLE, batch=5), queries=10, untrained=True)
    assert [other.steps(epoch) for epoch in other.epochs] == [3, 3, 3, 2, 2]


def test_rates_fall_step_by_step_at_the_start_and_epoch_by_epoch_then() -> None:
    first, rate, end = SAMPLE.first_rate, SAMPLE.rate, SAMPLE.last_rate
    # Of the start's 9 steps the sixth is at two thirds of the cosine, where it is a quarter; the last is its end.
    assert PLAN.rate(-2, 5) == pytest.approx(first * (end + (1 - end) / 4))
    assert PLAN.rate(-1, 8) == pytest.approx(first * end)
    assert {PLAN.rate(0, step) for step in (9, 10, 11)} == {rate}
    assert PLAN.rate(1, 12) == pytest.approx(rate * (end + (1 - end) / 2))


def test_further_queries_are_of_the_start_alone() -> None:
    plan = replace(PLAN, further=3)   # 12 queries by 4, then 9 by 3
    assert [plan.steps(epoch) for epoch in plan.epochs] == [3, 3, 3, 3, 3]
    rng = random.Random(1)
    assert sorted(row for batch in plan.batches(-1, range(12), rng) for row in batch) == list(range(12))
    assert sorted(row for batch in plan.batches(0, range(9), rng) for row in batch) == list(range(9))


def test_the_rate_rises_over_a_twentieth_of_the_start() -> None:
    plan = Plan(replace(SAMPLE, first_batch=1, start=1), queries=100, untrained=True)
    # The second of a hundred steps: 2 of the 5 of the warm-up.
    assert plan.rate(-1, 1) == pytest.approx(0.4 * SAMPLE.first_rate, rel=0.01)


def test_an_epoch_has_every_example_once_and_its_smaller_batch_last() -> None:
    for together in (1, 2, 100):
        plan = Plan(replace(SAMPLE, together=together), queries=9, untrained=True)
        batches = plan.batches(-2, [row % 5 for row in range(9)], random.Random(1))
        assert [len(batch) for batch in batches] == [4, 4, 1]
        assert sorted(row for batch in batches for row in batch) == list(range(9))


def test_batches_share_out_their_queries_by_length() -> None:
    plan = Plan(replace(SAMPLE, together=3, batch=10), queries=30, untrained=True)
    lengths = [row % 3 for row in range(30)]
    batches = plan.batches(0, lengths, random.Random(1))
    # Ten of each length in three batches of ten: each batch has one length.
    assert sorted({lengths[row] for row in batch} == {lengths[batch[0]]} for batch in batches) == [True] * 3
    assert plan.batches(0, lengths, random.Random(1)) == batches != plan.batches(0, lengths, random.Random(2))
