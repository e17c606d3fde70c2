"""Words that point at results and earlier turns: the image they mean, or why it is not certain."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cir_core.garments.lexicon import GROUPS, NONE
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.readers.pointing import follow, request
from cir_core.language.readers.scene import Scene
from cir_core.types.records import Hit

DRESS = "a slim fit long red and green striped dress with short sleeves and a round neck"
SHIRT = "a regular fit regular length blue plain shirt with short sleeves, a collar and orange buttons"
TOP = "a white plain top"
CAPTIONS = {"dress": DRESS, "shirt": SHIRT, "yellow": "a yellow plain top with a bow",
            **{f"top{rank}": TOP for rank in range(1, 9)}}


def turn(number, reference_id, images):
    hits = tuple(Hit(image_id, 1 - rank / 10, rank) for rank, image_id in enumerate(images, start=1))
    return SimpleNamespace(number=number, reference_id=reference_id, caption=CAPTIONS[reference_id], hits=hits,
                           further=())


def captions(image_ids):
    return [CAPTIONS.get(one, "") for one in image_ids]


TOPS = [f"top{rank}" for rank in range(1, 9)]
FIRST = turn(1, "shirt", [*TOPS[:7], "yellow"])
TWO = Scene((turn(1, "shirt", [*TOPS[::-1], "yellow"]), turn(2, "dress", TOPS)), "dress", captions, columns=3)
BACK = Scene((turn(1, "dress", [*TOPS, "yellow"]), turn(2, "shirt", TOPS)), "shirt", captions, columns=4)
ONE = Scene((FIRST,), "shirt", captions)
SEEN = Scene((turn(1, "shirt", ["top1", "dress"]),), "shirt", captions)

MEANT = [
    (TWO, "like the second one but in green", "top2", "in green", "reference: result 2"),
    (TWO, "the one on the left", "top1", "the same", "reference: result 1"),
    (TWO, "the one on the right, in blue", "top3", "in blue", "reference: result 3"),
    (TWO, "the one in the middle, striped", "top2", "striped", "reference: result 2"),
    (TWO, "the last one but with long sleeves", "top8", "with long sleeves", "reference: result 8"),
    (TWO, "number 3 in blue", "top3", "in blue", "reference: result 3"),
    (TWO, "more like the 3rd one please, with a belt", "top3", "with a belt", "reference: result 3"),
    (TWO, "with long sleeves, like the third result", "top3", "with long sleeves", "reference: result 3"),
    (TWO, "the second one from the left", "top2", "the same", "reference: result 2"),
    (ONE, "the first one in red", "top1", "in red", "reference: result 1"),
    (ONE, "left one in red", "top1", "in red", "reference: result 1"),
    (BACK, "back to the striped one, but longer", "dress", "longer", "reference: that of turn 1"),
    (BACK, "go back to the red dress", "dress", "the same", "reference: that of turn 1"),
    (BACK, "back to the one with a bow and in red", "yellow", "in red", "reference: result 9 of turn 1"),
    (BACK, "back to the first one, but in black", "dress", "in black", "reference: that of turn 1"),
    (BACK, "back to turn 1 but shorter", "dress", "shorter", "reference: that of turn 1"),
    (BACK, "the original one with a belt", "dress", "with a belt", "reference: that of turn 1"),
    (BACK, "the one before, but darker", "dress", "darker", "reference: that of turn 1"),
    (BACK, "back to stripes", "shirt", "stripes", None),
    (BACK, "the third one with this colour", "top3", "in blue", "reference: result 3"),
    (TWO, "the collar of the first picture with this colour", "dress", "with a collar, in red",
     "collar of the reference of turn 1: with a collar"),
    (BACK, "the sleeves and the pattern of turn 1", "shirt", "with short sleeves, striped",
     "sleeves of the reference of turn 1: with short sleeves"),
    (BACK, "in green with the sleeves of the first picture", "shirt", "in green with short sleeves",
     "sleeves of the reference of turn 1: with short sleeves"),
    (BACK, "the colour of the second one, longer", "shirt", "in white, longer", "colour of result 2: in white"),
    (SEEN, "the second one's sleeves in green", "shirt", "with short sleeves, in green",
     "sleeves of result 2: with short sleeves"),
    (SEEN, "the same length as the second result", "shirt", "long", "length of result 2: long"),
    (SEEN, "sleeves like the second one but in black", "shirt", "with short sleeves, but in black",
     "sleeves of result 2: with short sleeves"),
    (SEEN, "sleeves and pattern like the second option", "shirt",
     "with short sleeves, striped", "pattern of result 2: striped"),
    (SEEN, "sleeves similar to those of the second hit", "shirt", "with short sleeves",
     "sleeves of result 2: with short sleeves"),
    (SEEN, "the sleeves should be like the second one", "shirt", "with short sleeves",
     "sleeves of result 2: with short sleeves"),
    (SEEN, "the first result’s colour", "shirt", "in white", "colour of result 1: in white"),
    (SEEN, "result 2's short sleeves and neckline", "shirt", "with short sleeves, with a round neck",
     "neckline of result 2: with a round neck"),
    (SEEN, "the first one's nice but in red", "top1", "nice but in red", "reference: result 1"),
    (SEEN, "a red dress like the first one", "top1", "a red dress", "reference: result 1"),
    (BACK, "back to the first, in blue", "dress", "in blue", "reference: that of turn 1"),
    (BACK, "go back to the 1st please", "dress", "the same", "reference: that of turn 1"),
    (BACK, "back to the last but longer", "dress", "longer", "reference: that of turn 1"),
    (TWO, "remove the collar of the first result", "dress", "remove the collar", "collar of result 1: not taken"),
    (TWO, "get rid of the second one's collar", "dress", "get rid of the collar", "collar of result 2: not taken"),
]


@pytest.mark.parametrize(("scene", "text", "image_id", "rest", "note"), MEANT, ids=[case[1] for case in MEANT])
def test_what_is_meant(scene, text, image_id, rest, note):
    found = follow(text, scene)
    assert (found.reference_id, found.text) == (image_id, rest)
    assert (note is None and not found.notes) or note in found.notes
    assert not found.unclear


UNCLEAR = [
    (TWO, "the first picture, but longer", "first picture", "say “result 1” or “turn 1”"),
    (TWO, "the last picture in red", "last picture", "say “the last result”"),
    (TWO, "unlike the second one", "second one", "should be like"),
    (TWO, "not the second one", "second one", "should be like"),
    (TWO, "less like the first one", "first one", "should be like"),
    (TWO, "something between the first one and the third one", "third one", "only one image"),
    (TWO, "the second row", "second row", "select the image"),
    (TWO, "number 30 in red", "number 30", "there are 8 results"),
    (TWO, "the second one from the right", "second one from the right", "count from the left"),
    (TWO, "back to the red one", "red one", "no earlier reference or result"),
    (TWO, "back to the white one, longer", "white one", "it may be result 8, result 7"),
    (TWO, "back to the one", "one", "say what it shows"),
    (TWO, "the bow of the first picture", "bow of first picture", "shows no bow"),
    (TWO, "the neckline of the second one", "neckline of second one", "says nothing about it"),
    (TWO, "I don't want the sleeves of turn 2", "sleeves of turn 2", "should be like"),
    (TWO, "the colour of turn 2 is not for me", "colour of turn 2", "should be like"),
    (TWO, "not in the colour of the first one", "colour of first one", "should be like"),
    (TWO, "different sleeves from turn 1", "sleeves of turn 1", "should be like"),
    (TWO, "I don't want the collar, the belt or the sleeves of turn 2", "sleeves of turn 2", "should be like"),
    (TWO, "the sleeves of turn 2 are too short", "sleeves of turn 2", "should be like"),
    (TWO, "the sleeves should not be like turn 1", "turn 1", "should be like"),
    (TWO, "longer sleeves like turn 1", "longer sleeves of turn 1", "should be like"),
    (TWO, "change the sleeves of turn 1 to a bow", "sleeves of turn 1", "should be like"),
    (TWO, "without the sleeves of turn 1", "sleeves of turn 1", "should be like"),
    (TWO, "back to the fourth", "fourth turn", "this branch has 2 turns"),
    (TWO, "back to turn 7", "turn 7", "this branch has 2 turns"),
    (BACK, "the one in the middle", "one in the middle", "say its number"),
    (ONE, "the one on the right", "one on the right", "say its number"),
    (ONE, "the one before", "one before", "there is no earlier reference"),
    (Scene((), "shirt", captions), "the second one in red", "second one", "there are no results yet"),
]


@pytest.mark.parametrize(("scene", "text", "words", "reason"), UNCLEAR, ids=[case[1] for case in UNCLEAR])
def test_what_is_not_certain_changes_nothing_and_says_why(scene, text, words, reason):
    found = follow(text, scene)
    assert (found.text, found.reference_id) == (text, scene.reference_id) and found.unclear
    [note] = found.notes
    assert note.startswith(f"not understood: {words} (") and reason in note


@pytest.mark.parametrize(("text", "held"), [
    ("back to the striped one, but longer", 0), ("the original one in red", 0), ("back to turn 2", 1),
    ("back to the one with a bow", 1), ("the second one in red", None), ("the colour of turn 1", None),
])
def test_back_at_an_earlier_image_later_requests_no_longer_hold(text, held):
    assert follow(text, BACK).held == held


@pytest.mark.parametrize("text", ["in red", "long sleeves as before", "a second colour", "this one in red", ""])
def test_other_texts_are_left_alone(text):
    found = follow(text, TWO)
    assert (found.text, found.reference_id, found.notes) == (text, "dress", ())


def test_a_borrowed_attribute_is_asked_for_in_words_that_are_understood():
    for group in GROUPS:
        for value in group.keys:
            if value == NONE or group.key == "second_colour":
                continue
            edits = parse_edits(request(group.key, value))
            assert ("set", group.key, value) in [(one.operation, one.group, one.value) for one in edits.edits]
            assert not edits.unused
