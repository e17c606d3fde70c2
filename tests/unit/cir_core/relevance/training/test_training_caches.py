"""What a training keeps on disk is compared with what was written before it is used."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from cir_core.errors import RelevanceUnavailable
from cir_core.relevance.training import patches
from cir_core.relevance.training.data import TrainingData, TrainingQuery
from cir_core.relevance.training.epoch_negatives import EpochNegatives
from cir_core.relevance.training.patches import training_patches
from cir_core.relevance.training.presets import TrainingPreset

IMAGES, ROW = 7, 2 * 3 * 4


class Backbone:
    """Three patches of four numbers: those of the image's colour."""

    patches, width = 3, 4

    class identity:
        revision = "0" * 16

    def __init__(self):
        self.seen = 0

    def image_patches(self, images):
        self.seen += len(images)
        return np.stack([np.full((3, 4), image.getpixel((0, 0))[0] / 7, np.float16) for image in images])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(patches, "_BATCH", 2)


def made(folder):
    backbone = Backbone()
    query = TrainingQuery(0, 1, ("x",), "all")
    data = TrainingData("it", IMAGES, lambda row: Image.new("RGB", (4, 4), (row, 0, 0)), [query],
                        {"all": np.arange(IMAGES)}, [query], {"all": np.arange(IMAGES)})
    return np.array(training_patches(folder, data, backbone, 0.0)), backbone.seen


@pytest.mark.parametrize("damage, again", [
    ("none", 0), ("flip", 2), ("nan", 2), ("last", 1), ("cut", IMAGES), ("counter", IMAGES), ("no counter", IMAGES),
    ("earlier", 0), ("earlier and nan", 2), ("earlier, half-way", 3)])
def test_damaged_patches_are_computed_again_alone(tmp_path, damage, again):
    whole, seen = made(tmp_path)
    assert seen == IMAGES
    [path], [counter] = tmp_path.glob("*.f16"), tmp_path.glob("*.done")
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[3 * ROW] ^= 1
    elif damage.endswith("nan"):
        content[3 * ROW:3 * ROW + 2] = b"\x00\x7e"
    elif damage == "last":
        content[-1] ^= 1
    elif damage == "cut":
        del content[-1:]
    if damage == "counter":
        counter.write_bytes(counter.read_bytes().replace(b'"sums"', b'"sumz"'))
    elif damage == "no counter":
        counter.unlink()
    elif damage.startswith("earlier"):
        counter.write_text("4" if damage == "earlier, half-way" else str(IMAGES))
    path.write_bytes(content)
    found, seen = made(tmp_path)
    assert seen == again
    np.testing.assert_array_equal(found, whole)
    assert made(tmp_path)[1] == 0


@pytest.mark.parametrize("place", [0.1, 0.4, 0.7, 0.95])
@pytest.mark.parametrize("cut", [False, True])
def test_damaged_negatives_are_said(tmp_path, place, cut):
    preset = TrainingPreset("sample", epochs=4, stages=4, negatives=4, rate=1e-3, rule="top")
    query = TrainingQuery(0, 1, ("x",), "all")

    def negatives():
        return EpochNegatives(preset, [query], {"all": np.arange(50)}, 1, tmp_path / "negatives")

    epoch = preset.schedule.interval
    first = negatives()
    first.chosen = [np.arange(40)]
    first.save(epoch)
    again = negatives()
    assert again.load(epoch) and again.chosen[0].tolist() == list(range(40))
    [path] = (tmp_path / "negatives").iterdir()
    content = bytearray(path.read_bytes())
    if cut:
        del content[int(place * len(content)):]
    else:
        content[int(place * len(content))] ^= 255
    path.write_bytes(content)
    damaged = negatives()
    try:
        damaged.load(epoch)
    except RelevanceUnavailable as error:
        assert "cannot be read" in str(error)
    else:
        assert damaged.chosen[0].tolist() == list(range(40))
