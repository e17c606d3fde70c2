"""Paraphrase a garment description: synonyms for the same values, and some values omitted."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from cir_core.garments.describe import describe
from cir_core.garments.lexicon import COLOUR

_UNSAID = 0.15  # probability of omitting each attribute except category and colour
_LEFT_OUT = ("fit", "length", "pattern", "sleeves", "neckline", "trim")
_OPENINGS = ("", "", "", "photo of ", "this is ")
_WORDS: dict[str, tuple[str, ...]] = {
    **{value.phrase: value.phrases for value in COLOUR.values},
    "dress": ("dress", "gown", "frock"), "top": ("top", "blouse", "tee"),
    "slim fit": ("slim fit", "fitted", "tight"), "regular fit": ("regular fit", "straight fit"),
    "loose fit": ("loose fit", "loose", "oversized"),
    "knee-length": ("knee-length", "mid-length"), "plain": ("plain", "solid"),
    "striped": ("striped", "horizontally striped"), "vertically striped": ("vertically striped", "pinstriped"),
    "polka dot": ("polka dot", "dotted", "spotted"), "checked": ("checked", "plaid", "checkered"),
    "floral": ("floral", "flowered", "flowery"), "colour block": ("colour block", "two-tone"),
    "thin straps": ("thin straps", "spaghetti straps", "straps"),
    "three-quarter sleeves": ("three-quarter sleeves", "elbow length sleeves", "mid-length sleeves"),
    "a round neck": ("a round neck", "a crew neck"), "a scoop neck": ("a scoop neck", "a low round neck"),
    "a square neck": ("a square neck", "a square neckline"), "a v-neck": ("a v-neck", "a v-shaped neckline"),
    "a turtleneck": ("a turtleneck", "a high neck", "a roll neck"), "a collar": ("a collar", "a shirt collar"),
    "ruffles": ("ruffles", "frills"), "contrast trim": ("contrast trim", "contrast edges"),
}
_ANY = re.compile(r"\b(" + "|".join(sorted(map(re.escape, _WORDS), key=len, reverse=True)) + r")\b")
_ARTICLE = re.compile(r"\ban? (?=(\w))")


def vary(slots: Mapping[str, str], rng: np.random.Generator) -> str:
    """A description of ``slots`` in other words; at most a few of the values are omitted. It parses
    (:func:`~cir_core.language.builtin.captions.parse_caption`) to the same values."""
    unsaid = {group for group in _LEFT_OUT if rng.random() < _UNSAID}
    if slots.get("second_colour", "none") != "none":
        unsaid -= {"pattern", "trim"}  # the owners of the second colour
    said = {group: value for group, value in slots.items() if group not in unsaid}
    text = _ANY.sub(lambda found: str(rng.choice(_WORDS[found[0]])), describe(said))
    text = _ARTICLE.sub(lambda found: "an " if found[1] in "aeiou" else "a ", text)
    return str(rng.choice(_OPENINGS)) + text
