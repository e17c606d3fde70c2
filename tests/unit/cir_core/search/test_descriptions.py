"""What images show, in words for people who cannot see them."""


import pytest

from cir_core.garments.known import knows_garments_only
from cir_core.search import caches
from cir_core.search.caches import Descriptions
from tests.fakes.encoder import FakeEncoder


@pytest.fixture
def read(monkeypatch):
    """How many images were read at each call, by a reader to whom red says nothing."""
    calls = []

    def described(features, encoder, domain):
        calls.append(len(features))
        return ["" if row[0] > 0.9 else f"a garment of {row[1]:.1f}" for row in features]

    monkeypatch.setattr(caches, "described", described)
    return calls


def test_images_are_read_together_and_once(gallery, read):
    descriptions = Descriptions(gallery, FakeEncoder(), "garment")
    found = descriptions.of(["r0g3b0", "r0g0b3", "r0g3b0", "elsewhere"])
    assert found == {"r0g3b0": "a garment of 1.0", "r0g0b3": "a garment of 0.0"}
    assert descriptions.of(["r0g0b3"]) == {"r0g0b3": "a garment of 0.0"} and read == [2]
    assert descriptions.of(["r3g0b0"]) == {} == descriptions.of(["r3g0b0"]) and read == [2, 1], "nor is nothing"
    assert descriptions.of([]) == {}


def test_a_caption_of_the_gallery_is_taken_as_it_is(gallery, read, monkeypatch):
    monkeypatch.setattr(type(gallery), "caption_of", lambda self, image_id: {
        "r0g3b0": "  my green one ", "r0g0b3": " "}.get(image_id))
    found = Descriptions(gallery, FakeEncoder(), "garment").of(["r0g3b0", "r0g0b3"])
    assert found == {"r0g3b0": "my green one", "r0g0b3": "a garment of 0.0"} and read == [1]


@pytest.mark.parametrize("domain", ["garment", "general"])
def test_an_encoder_that_would_have_to_encode_texts_describes_nothing(gallery, domain):
    encoder = FakeEncoder()
    assert not knows_garments_only(encoder)
    encoder.encode_texts = lambda texts: pytest.fail("encoded for a description")
    assert Descriptions(gallery, encoder, domain).of(["r0g3b0"]) == {}
