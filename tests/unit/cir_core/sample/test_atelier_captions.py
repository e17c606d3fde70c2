"""Captions: full ones name everything, partial ones only what is asked, relative ones are true."""

from __future__ import annotations

import random
import re

import pytest

from cir_core.garments.lexicon import NONE
from cir_core.sample.atelier.captions import full_caption, make_triplets, partial_caption, relative_captions
from cir_core.sample.atelier.catalogue import Garment, catalogue
from cir_core.sample.atelier.wording import (
    COLOUR_WORDS,
    DETAIL_WORDS,
    FIT_WORDS,
    LENGTH_CAPTIONS,
    NECK_WORDS,
    NOUNS,
    PATTERN_AFTER,
    PATTERN_BEFORE,
    SLEEVE_WORDS,
)

DRESS = {
    "category": "dress", "colour": "red", "second_colour": "none", "pattern": "plain",
    "sleeves": "short", "neckline": "vneck", "length": "medium", "fit": "regular", "trim": "none",
}


@pytest.fixture(scope="module")
def garments() -> tuple[Garment, ...]:
    return catalogue(11, {"test": 240})


def _words(group: str, value: str, category: str) -> set[str]:
    tables = {"category": NOUNS, "colour": COLOUR_WORDS, "second_colour": COLOUR_WORDS,
              "sleeves": SLEEVE_WORDS, "neckline": NECK_WORDS, "fit": FIT_WORDS}
    if group == "length":
        return set(LENGTH_CAPTIONS[category][value])
    if group == "pattern":
        return set(PATTERN_BEFORE[value]) | set(PATTERN_AFTER.get(value, ()))
    if group == "trim":
        return {noun for _, noun in DETAIL_WORDS[value]}
    return set(tables[group][value])


def test_full_caption_names_every_attribute(garments: tuple[Garment, ...]) -> None:
    rng = random.Random(2)
    for garment in garments:
        caption = full_caption(garment.attributes, rng)
        for group, value in garment.attributes.items():
            if value == NONE:
                continue
            assert any(word in caption for word in _words(group, value, garment.category)), (
                caption, group, value)


def test_full_captions_vary() -> None:
    rng = random.Random(2)
    assert len({full_caption(DRESS, rng) for _ in range(60)}) > 25


def test_partial_caption_keeps_to_its_groups(garments: tuple[Garment, ...]) -> None:
    rng = random.Random(3)
    for garment in garments[:120]:
        caption = partial_caption(garment.attributes, ["sleeves"], rng)
        assert any(word in caption for word in SLEEVE_WORDS[garment.attributes["sleeves"]])
        colours = [word for words in COLOUR_WORDS.values() for word in words]
        assert not any(re.search(rf"\b{word}\b", caption) for word in colours)
        assert "neck" not in caption and "fit" not in caption


def test_accent_of_a_trim_is_not_said_of_the_cloth() -> None:
    belted = {**DRESS, "trim": "belt", "second_colour": "black"}
    for seed in range(30):
        caption = partial_caption(belted, ["colour", "second_colour", "category"], random.Random(seed))
        assert "black details" in caption
        caption = partial_caption(belted, ["trim", "second_colour"], random.Random(seed))
        assert re.search(r"black (belt|sash)", caption)


def test_partial_caption_of_nothing_is_still_a_phrase() -> None:
    assert partial_caption(DRESS, ["trim"], random.Random(1)) == "a garment"


@pytest.mark.parametrize(("change", "truths"), [
    ({"colour": "blue"}, ("blue",)),
    ({"sleeves": "long"}, ("long",)),
    ({"length": "long"}, ("longer", "long", "maxi")),
    ({"length": "short"}, ("shorter", "short", "mini")),
    ({"fit": "loose"}, ("looser", "loose", "oversized", "less fitted")),
    ({"trim": "belt", "second_colour": "black"}, ("belt", "sash")),
    ({"pattern": "stripes", "second_colour": "white"}, ("stripe",)),
    ({"neckline": "collar"}, ("collar",)),
])
def test_relative_captions_name_what_the_target_has(
    change: dict[str, str], truths: tuple[str, ...]
) -> None:
    for seed in range(30):
        captions = relative_captions(DRESS, {**DRESS, **change}, random.Random(seed))
        assert 1 <= len(captions) <= 2
        assert all(any(truth in caption for truth in truths) for caption in captions), captions


def test_relative_captions_say_what_is_gone() -> None:
    belted = {**DRESS, "trim": "belt", "second_colour": "black"}
    for seed in range(20):
        for caption in relative_captions(belted, DRESS, random.Random(seed)):
            assert re.search(r"\bno\b|\bwithout\b", caption), caption


def test_comparatives_point_the_right_way(garments: tuple[Garment, ...]) -> None:
    by_id = {g.item_id: g.attributes for g in garments}
    for triplet in make_triplets(garments, 1, 300):
        ref, tgt = by_id[triplet.reference_id], by_id[triplet.target_id]
        for caption in triplet.captions:
            for word in ("looser", "tighter"):
                order = ("slim", "regular", "loose")
                if word in caption:
                    grew = order.index(tgt["fit"]) > order.index(ref["fit"])
                    assert grew == (word == "looser"), (caption, ref["fit"], tgt["fit"])
            if "longer sleeves" in caption or "shorter sleeves" in caption:
                order = ("short", "elbow", "long")
                grew = order.index(tgt["sleeves"]) > order.index(ref["sleeves"])
                assert grew == ("longer sleeves" in caption), caption


def test_new_colours_in_relative_captions_belong_to_the_target(garments: tuple[Garment, ...]) -> None:
    by_id = {g.item_id: g.attributes for g in garments}
    for triplet in make_triplets(garments, 1, 300):
        tgt = by_id[triplet.target_id]
        allowed = {word for key in (tgt["colour"], tgt["second_colour"]) if key != NONE
                   for word in " ".join(COLOUR_WORDS[key]).split()}
        for caption in triplet.captions:
            said = re.sub(r"(instead of|rather than) \w+", "", caption)
            for words in COLOUR_WORDS.values():
                for word in words:
                    if re.search(rf"\b{word}\b", said):
                        assert set(word.split()) <= allowed, (caption, tgt)


def test_identical_garments_need_no_caption() -> None:
    assert relative_captions(DRESS, DRESS, random.Random(0)) == ()
