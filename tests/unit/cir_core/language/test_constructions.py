"""Requests in constructions of English, several of each kind: what they say is read, not how it is worded."""

from __future__ import annotations

import pytest

from cir_core.language.builtin.reading.edits import middle
from cir_core.language.builtin.reading.frames import compared
from cir_core.language.builtin.reading.rewording import adjectives_beside_nouns, plain_text
from cir_core.language.builtin.wanted import understand

STRIPED = "a regular fit knee-length green and white striped dress with short sleeves and a round neck"
PINSTRIPED = "a slim fit long teal and red vertically striped shirt with long sleeves and a collar"
PLAIN = "a loose fit long blue plain shirt with long sleeves, a v-neck and red buttons"
BOW = "a slim fit short black plain dress with no sleeves, a square neck and a yellow bow"

# by kind: (caption, request, what is wanted)
READ: dict[str, list[tuple[str, str, dict[str, str]]]] = {
    "between": [
        (PLAIN, "something between cropped and tunic length", {"length": "medium"}),
        (BOW, "sleeves somewhere between short and long", {"sleeves": "elbow"}),
        (PLAIN, "neither baggy nor skin-tight", {"fit": "regular"}),
        (PLAIN, "not too tight, not too loose", {"fit": "regular"}),
        (STRIPED, "a mix of red and yellow", {"colour": "orange"}),
        (STRIPED, "halfway from black to white", {"colour": "grey"}),
    ],
    "more than": [
        (STRIPED, "more spotty than stripy", {"pattern": "dots"}),
        (STRIPED, "less stripes than flowers", {"pattern": "floral"}),
        (BOW, "more like a belt than a bow", {"trim": "belt"}),
        (STRIPED, "more of a top than a dress", {"category": "toptee"}),
    ],
    "degrees": [
        (PLAIN, "the tightest one", {"fit": "slim"}),
        (STRIPED, "the longest you have", {"length": "long"}),
        (BOW, "frillier", {"trim": "ruffle"}),
        (BOW, "hanging loosely", {"fit": "loose"}),
        (PLAIN, "neckline rounder, less pointy", {"neckline": "crew"}),
        (STRIPED, "squarer at the neck", {"neckline": "square"}),
        (PLAIN, "sleeves made a bit shorter", {"sleeves": "elbow"}),
    ],
    "owners": [
        (STRIPED, "yellow for the stripes", {"pattern": "stripes", "second_colour": "yellow", "colour": "green"}),
        (STRIPED, "stripes, but yellow ones", {"second_colour": "yellow", "colour": "green"}),
        (STRIPED, "I want the stripy part in yellow", {"second_colour": "yellow", "colour": "green"}),
        (STRIPED, "the stripes are white, I want black", {"second_colour": "black", "colour": "green"}),
        (STRIPED, "the stripes should stay but in black", {"second_colour": "black", "colour": "green"}),
        (STRIPED, "change only the stripes, to black", {"pattern": "stripes", "second_colour": "black"}),
        (BOW, "the same bow, another colour: white", {"trim": "bow", "second_colour": "white", "colour": "black"}),
        (BOW, "bow: white", {"trim": "bow", "second_colour": "white", "colour": "black"}),
        (PLAIN, "a pocket at the front that's orange", {"trim": "pocket", "second_colour": "orange"}),
        (PLAIN, "ruffles, maybe black", {"trim": "ruffle", "second_colour": "black", "colour": "blue"}),
        (PLAIN, "a big white print on the chest", {"pattern": "graphic", "second_colour": "white", "colour": "blue"}),
        (STRIPED, "black where it is white", {"colour": "green", "second_colour": "black"}),
        (STRIPED, "all the white bits should be black", {"colour": "green", "second_colour": "black"}),
        (STRIPED, "the stripes turn yellow", {"pattern": "stripes", "second_colour": "yellow", "colour": "green"}),
        (STRIPED, "stripes go black", {"second_colour": "black", "colour": "green"}),
        (STRIPED, "the stripes should become red", {"second_colour": "red", "colour": "green"}),
        (BOW, "the bow goes pink", {"trim": "bow", "second_colour": "pink", "colour": "black"}),
        (PLAIN, "with spots the colour of a lime", {"pattern": "dots", "second_colour": "green", "colour": "blue"}),
        (PLAIN, "add a belt, yellow", {"trim": "belt", "second_colour": "yellow", "colour": "blue"}),
        (PLAIN, "give it a bow, white", {"trim": "bow", "second_colour": "white", "colour": "blue"}),
        (STRIPED, "no white stripes, another colour for them",
         {"pattern": "stripes", "second_colour": None, "colour": "green"}),
        (BOW, "another colour", {"trim": "bow", "colour": None}),
        (BOW, "with a touch of red", {"colour": "black", "second_colour": "red"}),
        (PINSTRIPED, "the stripes in white", {"pattern": "pinstripes", "second_colour": "white"}),
    ],
    "compounds": [
        (BOW, "a red-belted one", {"trim": "belt", "second_colour": "red", "colour": "black"}),
        (PLAIN, "white-trimmed", {"trim": "piping", "second_colour": "white", "colour": "blue"}),
        (STRIPED, "yellow-on-black dots", {"pattern": "dots", "second_colour": "yellow", "colour": "black"}),
        (STRIPED, "black on white stripes", {"second_colour": "black", "colour": "white"}),
        (STRIPED, "thin black lines", {"pattern": "pinstripes", "second_colour": "black", "colour": "green"}),
        (STRIPED, "white above, brown below", {"pattern": "colourblock", "colour": "white", "second_colour": "brown"}),
        (STRIPED, "black, spotted in orange", {"pattern": "dots", "colour": "black", "second_colour": "orange"}),
    ],
    "denied": [
        (STRIPED, "de-striped", {"pattern": "plain"}),
        (BOW, "a belt where the bow is", {"trim": "belt"}),
        (BOW, "belt > bow", {"trim": "belt"}),
        (BOW, "forget the bow, think ruffles", {"trim": "ruffle"}),
        (BOW, "I keep losing the bows of my dresses, so without one", {"trim": "none"}),
        (PLAIN, "it lacks a pocket", {"trim": "pocket"}),
        (PLAIN, "couldn't it be red?", {"colour": "red"}),
        (BOW, "picture it with a belt", {"trim": "belt", "pattern": "plain"}),
        (BOW, "it clings, can it be less clingy?", {"fit": "regular"}),
    ],
}


@pytest.mark.parametrize(("caption", "text", "wanted"), [
    pytest.param(*one, id=f"{kind}: {one[1]}") for kind, several in READ.items() for one in several])
def test_constructions_are_read_as_what_they_say(caption: str, text: str, wanted: dict[str, str]) -> None:
    slots = understand(caption, text).slots
    assert {group: slots.get(group) for group in wanted} == wanted


@pytest.mark.parametrize(("text", "colour"), [("I can't wear green", "green"),
                                              ("a different colour than green", "green"),
                                              ("keep the stripes, change the green", "green"),
                                              ("not red or green", "green"), ("not red or green", "red"),
                                              ("neither red nor green", "red"), ("it can't be red or green", "red")])
def test_what_is_denied_is_not_accepted(text: str, colour: str) -> None:
    assert not understand(STRIPED, text).accepts("colour", colour)


@pytest.mark.parametrize("text", ["not red or blue", "not red, not blue", "it can't be red or blue"])
def test_refused_colours_are_not_mixed(text: str) -> None:
    assert [(edit.operation, edit.value) for edit in understand(STRIPED, text).edits.edits] == [
        ("drop", "red"), ("drop", "blue")]


@pytest.mark.parametrize(("text", "plainer"), [
    ("keep everything but in red", "keep everything but in red"), ("keep piping", "keep piping"),
    ("kept lettering", "kept lettering"), ("keep the edging", "keep the edging"),
    ("keep something", "keep something"), ("it keeps riding up", "it always riding up"),
])
def test_what_is_kept_is_no_habit(text: str, plainer: str) -> None:
    assert plain_text(text) == plainer


@pytest.mark.parametrize(("caption", "colours"), [
    ("a white dress with red print on the front", ("white", "red")),
    ("grey shirt in one blue coloured stripe", ("grey", "blue")),
])
def test_a_thing_has_its_colour_and_the_garment_its_own(caption: str, colours: tuple[str, str]) -> None:
    slots = understand(caption, "with long sleeves").slots
    assert (slots["colour"], slots["second_colour"]) == colours


def test_politeness_tells_the_language() -> None:
    assert understand(STRIPED.replace("striped", "polka dot"), "sans pois s'il vous plaît").slots["pattern"] == "plain"


def test_kept_stripes_go_the_way_they_go() -> None:
    assert not understand(STRIPED, "keep the stripes, in black").accepts("pattern", "pinstripes")
    assert understand(PLAIN, "with stripes").accepts("pattern", "pinstripes")


def test_a_text_without_constructions_is_left_as_it_is() -> None:
    for text in ("a red dress with white dots", "long sleeves, no belt", "make the belt red"):
        assert plain_text(text) == text
        assert adjectives_beside_nouns(text.split()) == text.split()


def test_degrees_follow_the_rules_of_spelling() -> None:
    assert [compared(one) for one in ("thin", "loose", "frilly", "round", "figure hugging")] == [
        ("thinner", "thinnest"), ("looser", "loosest"), ("frillier", "frilliest"), ("rounder", "roundest"), ()]


def test_only_what_lies_apart_has_a_middle() -> None:
    assert middle("length", "long", "short") == ("medium",)
    assert middle("length", "long", "medium") == middle("colour", "red", "blue") == ()
