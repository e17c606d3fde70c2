"""Pictures unlike everything in a gallery. The figures for the whole sample gallery: ``python -m benchmarks far``."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from benchmarks.far import recognised
from cir_core.encoders import load_encoder
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.search.far_pictures import FEWEST, UNLIKE, FarPictures
from cir_core.search.searcher import Reference, Searcher
from cir_core.types.records import MethodSettings
from tests.fakes import drawings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def clouds():
    """Three kinds of images of any encoder: clouds that spread over 8 of 40 dimensions."""
    rng = np.random.default_rng(5)
    spread = np.concatenate([np.full(8, 0.3), np.full(32, 0.02)])
    centres = rng.normal(0, 1, (3, 40))

    def some(count):
        return unit(centres[rng.integers(0, 3, count)] + rng.normal(0, 1, (count, 40)) * spread)

    return some(900), some(200), unit(rng.normal(0, 1, (100, 40)))


def test_images_of_the_gallerys_kinds_are_not_far_and_others_are(clouds):
    features, same, others = clouds
    far = FarPictures(features)
    assert sum(far.is_far(vector) for vector in same) <= 2
    assert all(far.is_far(vector) for vector in others)


def test_a_copy_of_a_gallery_image_is_never_far_even_if_it_is_unlike_the_rest(clouds):
    features, _, others = clouds
    far = FarPictures(np.concatenate([features, others[:1]]))
    assert far.is_far(others[1]) and not far.is_far(others[0])


def test_of_a_small_gallery_or_one_image_many_times_nothing_is_said(clouds):
    features, _, others = clouds
    assert not FarPictures(features[:FEWEST - 1]).is_far(others[0])
    assert not FarPictures(np.repeat(features[:1], FEWEST, axis=0)).is_far(others[0])


@pytest.mark.extended
def test_pictures_without_a_garment_are_recognised_in_a_small_gallery_of_single_garments(tmp_path):
    encoder = load_encoder("atelier", device="cpu")
    paths = drawings.sample(tmp_path / "drawn", splits=("val",), limit=500)
    index_folder(paths.folder, name="atelier", encoder=encoder, home=tmp_path, manifest=paths.manifest)
    found = recognised(np.asarray(open_gallery("atelier", home=tmp_path).features), encoder, seed=201, garments=60)
    assert found.pictures == 40 and found.far >= 36, found
    assert found.garments == 60 and found.wrong <= 1, found


class TestTurns:
    @pytest.fixture
    def searcher(self, tmp_path):
        """A gallery of colours, larger than it is so that it can be measured."""
        searcher = Searcher(colour_gallery(tmp_path), FakeEncoder(), ScriptedLanguageModel("green"))
        rng = np.random.default_rng(1)
        noise = rng.normal(0, 0.02, (len(searcher.gallery) * 5, 32))
        searcher._far = FarPictures(unit(np.repeat(searcher.gallery.features, 5, axis=0) + noise))
        return searcher

    def reference(self, vector):
        return Reference("own image", unit(np.asarray(vector)[None])[0], None)

    def test_a_turn_from_a_far_picture_says_so_first(self, searcher):
        odd = self.reference(np.eye(32)[20])
        found = searcher.turn(odd, "red", MethodSettings(base="slerp"), k=5)
        assert found.notes[0] == UNLIKE and len(found.hits) == 5

    def test_not_where_the_picture_does_not_count_nor_from_the_gallery(self, searcher):
        odd = self.reference(np.eye(32)[20])
        assert UNLIKE not in searcher.turn(odd, "red", MethodSettings(base="text-only"), k=5).notes
        near = self.reference(FakeEncoder().encode_images([Image.new("RGB", (9, 9), (200, 20, 30))])[0])
        assert UNLIKE not in searcher.turn(near, "red", MethodSettings(base="slerp"), k=5).notes
        own = searcher.gallery_reference(searcher.gallery.ids[0])
        assert UNLIKE not in searcher.turn(own, "red", MethodSettings(base="slerp"), k=5).notes
