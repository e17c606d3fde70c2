"""Galleries of the bundled encoder with pictures that it does not know: how they are searched."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from benchmarks.far import new_garments, recognised
from benchmarks.no_garments import pictures
from cir_core.encoders import load_encoder
from cir_core.errors import GalleryError
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.gallery.sources.folder import FolderSource
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.search.far_pictures import FEWEST, UNLIKE, FarPictures, Look, look_at
from cir_core.search.searcher import Reference, Searcher
from cir_core.search.suggestions import Suggestions
from cir_core.search.usual import UNREAD
from cir_core.types.records import MethodSettings
from tests.fakes import drawings
from tests.fakes.colours import colour_gallery
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ScriptedLanguageModel

GUIDED = builtin_methods()["guided"].settings


@pytest.fixture(scope="module")
def encoder():
    return load_encoder("atelier", device="cpu")


@pytest.fixture(scope="module")
def home(tmp_path_factory, encoder):
    """Three galleries: of garments, of other pictures, and of 6 garments and 4 others."""
    home = tmp_path_factory.mktemp("own")
    garments, others = new_garments(seed=77, count=12), [image for _, image in pictures(78, each=2)]
    kinds = {"garments": (garments, []), "others": ([], others), "both": (garments[:6], others[:4])}
    for name, (some, rest) in kinds.items():
        folder = home / f"pictures {name}"
        folder.mkdir()
        for kind, images in (("garment", some), ("other", rest)):
            for number, image in enumerate(images):
                image.save(folder / f"{kind}-{number}.png")
        index_folder(folder, name=name, encoder=encoder, home=home)
    return home


@pytest.fixture
def searcher(home, encoder):
    def of(name, language=None):
        return Searcher(open_gallery(name, home=home), encoder, language or BuiltinLanguageModel(encoder))
    return of


def test_a_look_counts_what_the_encoder_does_not_know(home, encoder):
    assert look_at(FolderSource(home / "pictures garments"), encoder) == Look(12, 0)
    assert look_at(FolderSource(home / "pictures both"), encoder) == Look(10, 4)
    look = look_at(FolderSource(home / "pictures others"), encoder)
    assert look.seen == look.unlike == len(list((home / "pictures others").iterdir())) and look.mostly_unlike


def test_a_look_passes_over_files_that_are_no_pictures(tmp_path, encoder):
    with pytest.raises(GalleryError):
        look_at(FolderSource(tmp_path / "nowhere"), encoder)
    assert look_at(FolderSource(tmp_path), encoder) == Look()
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    assert look_at(FolderSource(tmp_path), encoder) == Look()
    Image.new("RGB", (50, 50), "teal").save(tmp_path / "flat.png")
    assert look_at(FolderSource(tmp_path), encoder) == Look(1, 1)
    assert look_at(FolderSource(tmp_path), FakeEncoder()) == Look()


def test_the_method_that_searches_begin_with(searcher):
    assert searcher("garments").usual.settings == GUIDED and searcher("garments").foreign == 0
    usual = searcher("others").usual
    assert usual.settings.base == "slerp" and not usual.settings.part("guidance")
    assert "knows drawn garments only" in usual.reason and searcher("others").foreign == 1
    assert searcher("both").usual.settings == GUIDED and searcher("both").foreign == pytest.approx(0.4)


def test_pictures_of_other_things_have_no_caption_beside_garments_that_have(searcher):
    both = searcher("both")
    for image_id in both.gallery.ids:
        assert bool(both.describe(image_id)) == image_id.startswith("garment")
    assert both.unlike(both.gallery.ids) == {one for one in both.gallery.ids if one.startswith("other")}
    assert both.unlike(()) == frozenset()


@pytest.mark.parametrize("method", ["guided", "cirevl", "soft"])
def test_a_method_that_needs_a_caption_gives_way_to_the_picture_itself(searcher, method):
    both, settings = searcher("both"), builtin_methods()[method].settings
    found = both.turn(both.gallery_reference("other-0"), "in red", settings, k=5)
    assert found.notes[0].startswith(UNREAD) and found.caption == ""
    assert not found.composition.part("aspects") and found.merged_text == "in red"
    same = both.turn(both.gallery_reference("other-0"), "in red", builtin_methods()["slerp"].settings, k=5)
    assert [hit.image_id for hit in found.hits] == [hit.image_id for hit in same.hits]
    garment = both.turn(both.gallery_reference("garment-0"), "in red", settings, k=5)
    assert garment.caption and not any(note.startswith(UNREAD) for note in garment.notes)


def test_where_a_connected_model_describes_pictures_nothing_gives_way(searcher):
    both = searcher("both", ScriptedLanguageModel("green"))
    reference = both.gallery_reference("other-0")
    assert both.able(reference, GUIDED) == (GUIDED, ())


def test_a_method_that_needs_no_caption_stays(searcher):
    both, slerp = searcher("both"), builtin_methods()["slerp"].settings
    assert both.able(both.gallery_reference("other-0"), slerp) == (slerp, ())


def test_suggestions_are_made_for_garments_alone(searcher):
    both, suggestions = searcher("both"), Suggestions()
    [other] = both.features_of(["other-0"])
    assert suggestions.of(both, "other-0", np.asarray(other)) == ()


# --- pictures unlike everything in a gallery -------------------------------------------------

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
