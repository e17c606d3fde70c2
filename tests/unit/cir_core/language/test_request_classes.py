"""Classes of requests: a request has one class, whether a turn stored what was asked or the rules read it anew."""

import pytest

from cir_core.language.builtin.aspects import aspects
from cir_core.language.readers.classes import CLASSES, request_class

CAPTION = "a slim fit short red and white striped dress with short sleeves, a round neck and a belt"
REQUESTS = {
    "colour": ["in blue", "red or orange", "keep the belt, in green", "🟢", "in blau", "en vert"],
    "pattern": ["with dots", "plain", "swap the stripes for dots", "vertical stripes"],
    "cut": ["with long sleeves", "v-neck", "as a shirt", "no sleeves", "loose fit"],
    "trim": ["add a bow", "with buttons", "with a pocket instead"],
    "parts": ["with a pink belt", "white buttons", "blue dots", "with black edges", "swap the two colours"],
    "several": ["in blue with long sleeves", "longer and not red", "shorter with longer sleeves",
                "without the belt, in red", "in blue with white buttons", "long and slim"],
    "negation": ["not red", "no dots", "without the belt", "any colour but red", "something other than stripes",
                 "ohne Gürtel"],
    "comparison": ["longer", "a bit darker", "less tight", "not so long", "länger", "longer sleeves"],
    "not understood": ["more formal", "beach party", "xyzzy", "for my sister's wedding"],
    "no words": ["", "  \n"],
}


@pytest.mark.parametrize(("expected", "text"), [(kind, text) for kind, texts in REQUESTS.items() for text in texts])
def test_a_request_about_a_garment(expected, text):
    stored = [(one.name, one.label) for one in aspects(CAPTION, text).aspects if one.asked]
    assert request_class(text, stored, "garment") == expected
    assert request_class(text, None, "dress") == expected


def test_without_a_stored_reading_nothing_is_known_of_other_things():
    assert request_class("at night", None, "scene") == request_class("in red", None, "circo") == "not read"


@pytest.mark.parametrize(("asked", "expected"), [
    ([("Colour", "red")], "colour"), ([("sleeve length", "long")], "cut"), ([("place", "a beach")], "other"),
    ([("number of dogs", "two"), ("time of day", "night")], "several"), ([("colour", "not red")], "negation"),
    ([("animal", "no dog")], "negation"), ([("accent colour", "gold")], "parts"), ([], "not understood"),
    ([("colour", "red"), ("object", "without people")], "several"),
])
def test_aspects_that_a_language_model_names(asked, expected):
    assert request_class("what somebody typed", asked, "scene") == expected


def test_every_class_is_one_of_the_list():
    assert set(REQUESTS) | {"other", "not read"} == set(CLASSES)
