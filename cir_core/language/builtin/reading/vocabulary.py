"""Phrase table of the built-in language model: tuples of words, with their meaning.

The garment words come from :mod:`cir_core.garments.lexicon`; this module adds synonyms and operation words.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, cast

from cir_core.garments.lexicon import GROUPS, NONE
from cir_core.language.builtin.reading.phrasebook import (
    COMPOUNDS,
    FUNCTION_WORDS,
    INNOCENT,
    LOOSE,
    NOUNS,
    OTHER_GARMENTS,
    PARTS,
    STEPS,
    SYNONYMS,
)
from cir_core.language.builtin.reading.words import tokenise

WordKind = Literal[
    "value",    # attribute values to set: pairs of (group, value)
    "step",     # one rung up (+1) or down (-1) the ladder of a group
    "part",     # the bare name of a group: "sleeves", "neckline", "pattern"
    "noun",     # a garment outside the lexicon's categories: "skirt"
    "simpler",  # fewer things on it
    "not", "without", "instead", "replace", "alter", "from", "to",
    "keep", "other", "more", "less", "as", "much",
    "and", "or", "but", "break", "with", "in", "the", "a", "verb", "stop",
    "shade",    # "dark", "light" before a colour or after "less"
    "head",     # "garment", "one": what adjectives may precede
    "word",     # everything else
]


@dataclass(frozen=True)
class Sense:
    """Meaning of a phrase. ``pairs`` for values, ``group`` and ``direction`` for steps and parts."""

    kind: WordKind
    pairs: tuple[tuple[str, str], ...] = ()
    group: str = ""
    direction: int = 0
    is_noun: bool = False     # "stripes", not "striped": a preceding colour is its own
    loosely: bool = False     # a near value was used, which is noted


Table = dict[tuple[str, ...], Sense]
# "polka dot print", "striped pattern" mean no more than their first words.
_ENDINGS = ("print", "prints", "printed", "pattern", "patterned", "design")


@lru_cache(maxsize=1)
def phrases() -> Table:
    """Every known phrase with its sense."""
    table: Table = {}
    _add_function_words(table)
    _add_lexicon(table)
    for source, is_noun, loosely in ((SYNONYMS, False, False), (LOOSE, False, True), (NOUNS, True, False)):
        for (group, key), listed in source.items():
            sense = Sense("value", ((group, key),), is_noun=is_noun or group == "trim", loosely=loosely)
            _add(table, listed, sense)
    for phrase, sense in list(table.items()):
        is_pattern = bool(sense.pairs) and sense.pairs[0][0] == "pattern"
        if is_pattern and not {"print", "printed", "graphic"} & set(phrase):
            for ending in _ENDINGS:
                table.setdefault((*phrase, ending), sense)
    for words, pairs in COMPOUNDS.items():
        _add(table, f"{words}, {_plural(words)}", Sense("value", pairs))
    return table


def _add(table: Table, listed: str, sense: Sense) -> None:
    for words in listed.split(", "):
        table[tuple(tokenise(words))] = sense


def _add_function_words(table: Table) -> None:
    for kind, listed in FUNCTION_WORDS.items():
        _add(table, listed, Sense(cast(WordKind, kind)))
    table[(",",)] = Sense("and")
    table[("dark",)], table[("light",)] = Sense("shade", direction=1), Sense("shade", direction=-1)
    for noun in OTHER_GARMENTS.split(", "):
        _add(table, f"{noun}, {noun}s", Sense("noun"))
    for group, listed in PARTS.items():
        _add(table, listed, Sense("part", group=group))
    for (group, direction), listed in STEPS.items():
        _add(table, listed, Sense("step", group=group, direction=direction))


def _add_lexicon(table: Table) -> None:
    for group in GROUPS:
        if group.key == "second_colour":
            continue  # its words are the colours', and "none" is expressed by a negation
        for value in group.values:
            if value.key == NONE:
                continue
            for phrase in value.phrases:
                bare = phrase.removeprefix("with ").removeprefix("a ")
                is_thing = group.key == "trim" or (group.key == "pattern" and phrase != bare)
                sense = Sense("value", ((group.key, value.key),), is_noun=is_thing)
                _add(table, f"{bare}, {_plural(bare)}" if group.key == "category" else bare, sense)


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("s") else "s")


@lru_cache(maxsize=1)
def spelling() -> tuple[frozenset[str], tuple[str, ...]]:
    """All known words, and the candidates for spelling correction."""
    known = frozenset(word for phrase in phrases() for word in phrase)
    meant = {word for phrase, sense in phrases().items()
             if sense.kind in ("value", "step", "part", "noun") for word in phrase}
    return known | frozenset(INNOCENT.split(", ")), tuple(sorted(word for word in meant if len(word) > 3))


@lru_cache(maxsize=4096)
def respell(word: str) -> str:
    """Spelling correction to a garment word; ``word`` itself if there is none. Only words of four letters or more, with
    the same first letter: further guesses do more harm than an unknown word."""
    known, meant = spelling()
    if len(word) < 4 or len(word) > 20 or word in known or not word.isascii() or not word.isalpha():
        return word
    first = [candidate for candidate in meant if candidate[0] == word[0]]
    close = get_close_matches(word, first, n=1, cutoff=0.82)
    return close[0] if close else word
