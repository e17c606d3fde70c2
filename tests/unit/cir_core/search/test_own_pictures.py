"""Galleries of the bundled encoder with pictures that it does not know: how they are searched."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from benchmarks.far import new_garments
from benchmarks.no_garments import pictures
from cir_core.encoders import load_encoder
from cir_core.errors import GalleryError
from cir_core.gallery.gallery import open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import builtin_methods
from cir_core.search.own_pictures import Look, look_at
from cir_core.search.searcher import Searcher
from cir_core.search.suggestions import Suggestions
from cir_core.search.usual import UNREAD
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
    assert look_at(home / "pictures garments", encoder) == Look(12, 0)
    assert look_at(home / "pictures both", encoder) == Look(10, 4)
    look = look_at(home / "pictures others", encoder)
    assert look.seen == look.unlike == len(list((home / "pictures others").iterdir())) and look.mostly_unlike


def test_a_look_passes_over_files_that_are_no_pictures(tmp_path, encoder):
    with pytest.raises(GalleryError):
        look_at(tmp_path / "nowhere", encoder)
    assert look_at(tmp_path, encoder) == Look()
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    assert look_at(tmp_path, encoder) == Look()
    Image.new("RGB", (50, 50), "teal").save(tmp_path / "flat.png")
    assert look_at(tmp_path, encoder) == Look(1, 1)
    assert look_at(tmp_path, FakeEncoder()) == Look()


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
