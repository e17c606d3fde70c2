"""Suggested texts, on galleries written by hand."""

import numpy as np
import pytest

from cir_core.garments.lexicon import BY_KEY
from cir_core.language.readers.garments import for_garment
from cir_core.language.readers.plain import for_picture

GROUPS = ("category", "colour", "sleeves", "pattern", "trim", "length", "neckline", "fit")
REFERENCE = {"category": "dress", "colour": "red", "sleeves": "short", "pattern": "plain", "trim": "none",
             "length": "medium", "neckline": "crew", "fit": "regular"}


def codes(*images):
    return np.array([[BY_KEY[group].keys.index({**REFERENCE, **one}[group]) for group in GROUPS] for one in images],
                    np.int8)


def suggested(*images, **options):
    return for_garment(codes(*images), codes({})[0], **options)


def test_a_text_needs_five_answers_of_the_same_category():
    green, blue = {"colour": "green"}, {"colour": "blue"}
    assert suggested(*[green] * 5) == ("in green",)
    assert suggested(*[green] * 4) == ()
    assert suggested(*[{**green, "category": "shirt"}] * 9, *[blue] * 5) == ("in blue",)


def test_what_the_reference_shows_is_not_suggested():
    assert suggested(*[{}] * 20) == ()


def test_of_the_values_the_one_with_most_answers_like_the_reference():
    far = {"colour": "green", "sleeves": "long", "trim": "belt", "length": "long", "neckline": "vneck"}
    assert suggested(*[far] * 9, *[{"colour": "blue"}] * 5)[0] == "in blue"


def test_a_double_text_takes_the_last_place_if_it_has_answers():
    both = {"colour": "green", "sleeves": "long"}
    assert suggested(*[both] * 5) == ("in green", "with long sleeves", "in green with long sleeves")
    apart = suggested(*[{"colour": "green"}] * 5, *[{"sleeves": "long"}] * 5)
    assert apart == ("in green", "with long sleeves")
    assert len(suggested(*[{**both, "pattern": "dots", "trim": "belt", "length": "long", "neckline": "vneck"}] * 5,
                         most=4)) == 4


AXES = {"a black and white photo": 0, "a colour photo": 1, "a photo taken outdoors": 2, "a photo taken indoors": 3}


class Words:
    """Two pairs of opposites: colour or black and white, indoors or outdoors."""

    def encode_texts(self, texts):
        return np.array([np.eye(5)[AXES.get(text, 4)] for text in texts], np.float32)


@pytest.mark.parametrize(("outdoors", "texts"), [(5, ("outdoors",)), (4, ())])
def test_other_pictures_are_compared_with_the_opposite(outdoors, texts):
    inside, outside = np.eye(5, dtype=np.float32)[[3, 2]] + np.eye(5, dtype=np.float32)[1]
    gallery = np.stack([inside] * 9 + [outside] * outdoors)
    assert for_picture(gallery, inside, Words()) == texts
