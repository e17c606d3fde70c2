"""Chips a person edits become the texts that are ranked by."""

from cir_core.methods.constraints import texts_from_attributes
from cir_core.types.composition import Constraints


def test_what_is_kept_and_added_must_show_what_is_removed_must_not():
    made = texts_from_attributes(Constraints(keep=("shirt", "collar"), add=("red",), remove=("blue", "short sleeves")))
    assert made.prescriptive == ("shirt, collar, red",)
    assert made.proscriptive == ("blue, short sleeves",)


def test_old_texts_give_way_and_the_attributes_stay():
    before = Constraints(add=("red",), prescriptive=("a shirt", "with dots"), proscriptive=("a hat",), edited=True)
    made = texts_from_attributes(before)
    assert (made.add, made.edited) == (("red",), True)
    assert made.prescriptive == ("red",)
    assert made.proscriptive == ()  # nothing is removed, so nothing must be missing


def test_nothing_said_leaves_both_sides_out():
    assert texts_from_attributes(Constraints(prescriptive=("a shirt",))) == Constraints()


def test_said_twice_is_said_once():
    assert texts_from_attributes(Constraints(keep=("rot", "ärmel"), add=("rot",))).prescriptive == ("rot, ärmel",)
