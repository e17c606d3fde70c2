"""Paraphrase a garment description: synonyms for the same values, and some values omitted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from cir_core.garments.describe import describe
from cir_core.garments.lexicon import COLOUR
from cir_core.garments.tables import listed, table

_UNSAID = 0.15  # probability of omitting each attribute except category and colour
_LEFT_OUT = ("fit", "length", "pattern", "sleeves", "neckline", "trim")
_OPENINGS = ("", "", "", "photo of ", "this is ")
_ARTICLE = re.compile(r"\ban? (?=(\w))")


@cache
def _wordings() -> tuple[dict[str, tuple[str, ...]], re.Pattern[str]]:
    """Phrase to what else may be said, and a pattern that finds the phrases, the longest first."""
    words = {value.phrase: value.phrases for value in COLOUR.values}
    words |= {phrase: listed(texts) for phrase, texts in table("wordings").items()}
    return words, re.compile(r"\b(" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + r")\b")


def vary(slots: Mapping[str, str], rng: np.random.Generator) -> str:
    """A description of ``slots`` in other words; at most a few of the values are omitted. It parses
    (:func:`~cir_core.language.builtin.captions.parse_caption`) to the same values."""
    unsaid = {group for group in _LEFT_OUT if rng.random() < _UNSAID}
    if slots.get("second_colour", "none") != "none":
        unsaid -= {"pattern", "trim"}  # the owners of the second colour
    said = {group: value for group, value in slots.items() if group not in unsaid}
    wordings, known = _wordings()
    text = known.sub(lambda found: str(rng.choice(wordings[found[0]])), describe(said))
    text = _ARTICLE.sub(lambda found: "an " if found[1] in "aeiou" else "a ", text)
    return str(rng.choice(_OPENINGS)) + text
