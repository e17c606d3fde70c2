"""Requests over images of anything, and which galleries are read so."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cir_core.language.readers.choosing import reader_for
from cir_core.language.readers.garments import GarmentReader
from cir_core.language.readers.plain import PlainReader
from cir_core.language.readers.scene import Scene
from cir_core.types.records import Hit

CAPTIONS = {"car": "a red car in the snow", "boat": "a Boat at sea, by night", "dog": "a dog"}
HITS = tuple(Hit(f"hit{rank}", 1 - rank / 10, rank) for rank in range(1, 7))


def captions(image_ids):
    return [CAPTIONS.get(one, "") for one in image_ids]


def scene_turn(number, reference_id, hits):
    return SimpleNamespace(number=number, reference_id=reference_id, caption="", hits=hits, further=())


TWO = Scene((scene_turn(1, "car", HITS), scene_turn(2, "boat", HITS)), "dog", captions, columns=3)
NONE_YET = Scene((), "dog", captions)
SEVERAL = Scene((), "car", captions, further=("boat",))


@pytest.mark.parametrize(("scene", "text", "image_id", "rest", "held"), [
    (TWO, "like the second one", "hit2", "the same", None),
    (TWO, "Like the second one but at Night", "hit2", "at Night", None),
    (TWO, "number 4, with a collar", "hit4", "with a collar", None),
    (TWO, "the last result, and with fewer people", "hit6", "with fewer people", None),
    (TWO, "the one on the right in winter", "hit3", "in winter", None),
    (TWO, "back to the first", "car", "the same", 0),
    (TWO, "back to the first, in blue", "car", "in blue", 0),
    (TWO, "go back to turn 2 but closer", "boat", "closer", 1),
    (TWO, "the original one please", "car", "the same", 0),
    (TWO, "back to the red car but from the side", "car", "from the side", 0),
    (TWO, "back to the boat", "boat", "the same", 1),
    (TWO, "undo", "boat", "the same", 1),
    (TWO, "Undo that please", "boat", "the same", 1),
    (TWO, "go back", "boat", "the same", 1),
    (SEVERAL, "the second picture at night", "boat", "at night", None),
])
def test_words_at_the_beginning_point(scene, text, image_id, rest, held):
    found = PlainReader().follow(text, scene)
    assert (found.reference_id, found.text, found.held) == (image_id, rest, held)
    assert found.notes[0].startswith("reference: ") and not found.unclear


@pytest.mark.parametrize("text", [
    "in red with long sleeves", "a first aid kit", "back to school", "the second world war", "seen from the back",
    "a second dog on the left", "without people", "", "with one more result",
])
def test_other_words_stay_as_they_are(text):
    for scene in (TWO, NONE_YET, SEVERAL):
        found = PlainReader().follow(text, scene)
        assert (found.text, found.reference_id, found.notes) == (text, "dog" if scene is not SEVERAL else "car", ())


@pytest.mark.parametrize(("scene", "text", "reason"), [
    (TWO, "number 40", "there are 6 results"), (NONE_YET, "the second one", "there are no results yet"),
    (NONE_YET, "undo", "there is no earlier turn"), (TWO, "back to the cat", "select the image"),
    (TWO, "the roof of the second picture", "describe the change"), (TWO, "not the third one", "describe the change"),
    (TWO, "the first one and the third one", "only one image"), (TWO, "back to the picture", "say what it shows"),
    (TWO, "like the first one but in the colour of result 3", "only one image"),
])
def test_what_is_not_certain_changes_nothing_and_says_why(scene, text, reason):
    found = PlainReader().follow(text, scene)
    assert (found.text, found.reference_id) == (text, "dog") and found.unclear
    assert reason in found.notes[0]


class Axes:
    """Garments on the first axis, other things on the second."""

    def encode_texts(self, texts):
        return np.array([np.eye(3)[0 if "garment" in one else 1 if "dog" in one else 2] for one in texts], np.float32)


@pytest.mark.parametrize(("domain", "axis", "reader"), [
    ("garment", 0, GarmentReader), ("dress", 0, GarmentReader), ("garment", 1, PlainReader), ("scene", 0, PlainReader),
    ("circo", 0, PlainReader),
])
def test_a_gallery_has_the_reader_of_what_it_shows(domain, axis, reader):
    mostly = np.eye(3, dtype=np.float32)[[axis, axis, 1 - axis]]
    assert isinstance(reader_for(domain, mostly, Axes()), reader)


def test_an_empty_gallery_invents_nothing():
    assert isinstance(reader_for("garment", np.empty((0, 3), np.float32), Axes()), PlainReader)
