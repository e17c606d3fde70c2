"""Pictures that the bundled encoder does not know. The figures of many more: ``benchmarks/figures/reader.md``."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

from benchmarks.far import new_garments
from benchmarks.no_garments import pictures
from benchmarks.training.known_garments import measure_known, measured
from cir_core.encoders import load_encoder
from cir_core.garments.known import (
    LIMIT,
    RECORD,
    knows_garments_only,
    load_known,
    unlike_garments,
)
from cir_core.garments.zero_shot import attributes_of
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import CaptionTask, Picture
from tests.fakes.encoder import FakeEncoder


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("atelier", device="cpu")


@pytest.fixture(scope="module")
def garments(encoder):
    return encoder.encode_images(new_garments(seed=5, count=30))


@pytest.fixture(scope="module")
def photos(encoder):
    """Two photos, whole, in quarters, in grey, and on a white page."""
    whole = [Image.fromarray(one).resize((640, 427)) for one in load_sample_images().images]
    quarters = [one.crop((x, y, x + 320, y + 213)) for one in whole for x in (0, 320) for y in (0, 213)]
    grey = [one.convert("L").convert("RGB") for one in whole]
    pages = []
    for one in whole:
        page = Image.new("RGB", (900, 900), "white")
        page.paste(one, (130, 230))
        pages.append(page)
    return encoder.encode_images([*whole, *quarters, *grey, *pages])


def test_the_record_is_that_of_the_bundled_encoder(encoder):
    assert load_known(RECORD).revision == encoder.identity.revision
    assert knows_garments_only(encoder)


def test_new_garments_are_known_and_photos_and_drawings_of_other_things_are_not(encoder, garments, photos):
    assert not unlike_garments(garments, encoder).any()
    assert unlike_garments(photos, encoder).all()
    drawn = encoder.encode_images([image for _, image in pictures(31, each=3)])
    assert unlike_garments(drawn, encoder).all()


@pytest.mark.parametrize("colour", ["white", "black", "red", (230, 226, 220)])
def test_an_empty_picture_is_no_garment(encoder, colour):
    assert unlike_garments(encoder.encode_images([Image.new("RGB", (300, 400), colour)]), encoder).all()


def test_each_row_is_told_by_itself(encoder, garments, photos):
    mixed = np.concatenate([photos[:2], garments[:3], photos[2:3]])
    assert unlike_garments(mixed, encoder).tolist() == [True, True, False, False, False, True]
    assert unlike_garments(mixed[0], encoder).tolist() == [True]
    assert unlike_garments(mixed[:0], encoder).tolist() == []


def test_of_other_encoders_nothing_is_said():
    rows = np.random.default_rng(1).normal(size=(4, 32)).astype(np.float32)
    assert not unlike_garments(rows, FakeEncoder()).any() and not unlike_garments(rows, None).any()
    assert not knows_garments_only(FakeEncoder())


def test_the_built_in_model_captions_garments_and_nothing_else(encoder, garments, photos):
    model = BuiltinLanguageModel(encoder)
    said = [model.complete(CaptionTask(Picture(None, "", row), "garment")) for row in (*garments[:10], *photos)]
    assert all(answer.caption for answer in said[:10])
    assert all(not answer.caption and "does not look like one" in answer.notes[0] for answer in said[10:])
    own = model.complete(CaptionTask(Picture("a harbour at dusk", "", photos[0]), "garment"))
    assert own.caption == "a harbour at dusk"


def test_a_record_that_is_measured_and_kept_tells_as_before(encoder, garments, photos, tmp_path):
    """The unit: one new garment in a thousand, here the farthest of them, is at 1."""
    attributes = attributes_of(encoder)
    record = measured("some revision", attributes, garments, garments[:20])
    record.save(tmp_path / "record.safetensors")
    kept = load_known(tmp_path / "record.safetensors")
    assert kept.revision == "some revision"
    distances = kept.distances(garments[:20], attributes)
    assert distances.max() == pytest.approx(1, rel=0.02) and np.median(distances) < 1
    assert np.allclose(kept.distances(photos, attributes), record.distances(photos, attributes))
    assert kept.distances(photos, attributes).min() > LIMIT


@pytest.mark.extended
def test_the_record_is_made_from_drawn_garments(encoder, garments, photos, tmp_path):
    """Of fewer garments than the shipped one."""
    record = measure_known(encoder, tmp_path, seen={"test": 24}, new={"val": 12})
    assert record.revision == encoder.identity.revision
    attributes = attributes_of(encoder)
    assert np.median(record.distances(garments, attributes)) < np.median(record.distances(photos, attributes))


def test_a_caption_of_a_known_garment_costs_no_text_encoding(encoder, garments, photos):
    """Whether the picture shows one is told by its vector alone."""
    texts = []

    class Counting:
        identity = encoder.identity

        def encode_texts(self, asked):
            texts.extend(asked)
            return encoder.encode_texts(asked)

    model = BuiltinLanguageModel(Counting(), attributes=lambda _: attributes_of(encoder))
    caption = model.complete(CaptionTask(Picture(features=garments[0]), "garment")).caption
    before = len(texts)    # prompts, once
    again = model.complete(CaptionTask(Picture(features=garments[1]), "garment")).caption
    assert caption and again and caption not in texts and len(texts) == before
    assert model.complete(CaptionTask(Picture(features=photos[0]), "garment")).caption == ""
