"""Phrase table of the built-in language model: tuples of words, with their meaning.

The garment words come from :mod:`cir_core.garments.lexicon`; synonyms from :mod:`.phrasebook`, comparatives from
:mod:`.comparatives`, operation words from :mod:`.operators`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Literal, cast

from cir_core.garments.lexicon import COLOUR, GROUPS, NONE
from cir_core.language.builtin.reading import comparatives, operators, phrasebook
from cir_core.language.builtin.reading.words import tokenise

WordKind = Literal[
    "value",    # attribute values to set: pairs of (group, value)
    "step",     # one rung up (+1) or down (-1) the ladder of a group
    "part",     # the bare name of a group: "sleeves", "neckline", "pattern"
    "noun",     # a garment outside the lexicon's categories: "skirt"
    "simpler",  # fewer things on it
    "not", "without", "instead", "replace", "alter", "from", "to", "swap",
    "away",     # after what should not be there: "has to go"
    "keep", "same", "other", "except", "more", "less", "as", "much",
    "and", "or", "but", "break", "with", "in", "the", "a", "verb", "stop",
    "pointer",  # another result or an earlier turn
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
    is_noun: bool = False           # "stripes", not "striped": a preceding colour is its own
    loosely: bool = False           # a near value was used, which is noted
    either: tuple[str, ...] = ()    # other values that the words cover


Table = dict[tuple[str, ...], Sense]
# "polka dot print", "striped pattern" mean no more than their first words.
_ENDINGS = ("print", "prints", "printed", "pattern", "patterned", "design")
_ACROSS = frozenset({"horizontal", "horizontally", "across", "crosswise", "breton"})


@lru_cache(maxsize=1)
def phrases() -> Table:
    """Every known phrase with its sense."""
    table: Table = {}
    _add_function_words(table)
    _add_lexicon(table)
    sources = ((phrasebook.SYNONYMS, False, False), (phrasebook.LOOSE, False, True), (phrasebook.NOUNS, True, False))
    for source, is_noun, loosely in sources:
        for (group, key), listed in source.items():
            sense = Sense("value", ((group, key),), is_noun=is_noun or group == "trim", loosely=loosely)
            _add(table, listed, sense)
    _add_places(table)
    _add_tints(table)
    for phrase, sense in list(table.items()):
        is_pattern = bool(sense.pairs) and sense.pairs[0][0] == "pattern"
        if is_pattern and not {"print", "printed", "graphic"} & set(phrase):
            for ending in _ENDINGS:
                table.setdefault((*phrase, ending), sense)
    for words, pairs in phrasebook.COMPOUNDS.items():
        _add(table, f"{words}, {_plural(words)}", Sense("value", pairs))
    _add(table, comparatives.OPEN_NECK, Sense("value", (("neckline", "scoop"),), either=("vneck", "square")))
    for phrase, sense in table.items():
        if sense.pairs == (("pattern", "stripes"),) and not _ACROSS & set(phrase):
            table[phrase] = replace(sense, either=("pinstripes",))
    return table


def _add(table: Table, listed: str, sense: Sense) -> None:
    for words in listed.split(", "):
        table[tuple(tokenise(words))] = sense


def _add_function_words(table: Table) -> None:
    for kind, listed in operators.FUNCTION_WORDS.items():
        _add(table, listed, Sense(cast(WordKind, kind)))
    _add(table, _pairs(operators.EXCLUDED_FROM, operators.EXCLUDING), Sense("not"))
    _add(table, f"{_pairs(operators.ORDINALS, operators.POINTED_AT)}, {operators.POINTERS}", Sense("pointer"))
    for number in range(1, 61):
        _add(table, ", ".join(f"{word} {number}" for word in ("number", "no", "turn", "result", "picture", "image")),
             Sense("pointer"))
    _add(table, phrasebook.UNKNOWN_PHRASES, Sense("word"))
    table[(",",)] = Sense("and")
    table[("dark",)], table[("light",)] = Sense("shade", direction=1), Sense("shade", direction=-1)
    for noun in phrasebook.OTHER_GARMENTS.split(", "):
        _add(table, f"{noun}, {noun}s", Sense("noun"))
    for group, listed in phrasebook.PARTS.items():
        _add(table, listed, Sense("part", group=group))
    for (group, direction), listed in comparatives.STEPS.items():
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


def _add_tints(table: Table) -> None:
    """"Jet black". Where the tint is a colour of its own, two are named: "tan orange"."""
    tints = ", ".join(tint for tint in phrasebook.TINTS.split(", ") if (tint,) not in table)
    for colour in COLOUR.values:
        for phrase in colour.phrases:
            for words in _pairs(tints, phrase).split(", "):
                table.setdefault(tuple(tokenise(words)), Sense("value", (("colour", colour.key),), loosely=True))


def _add_places(table: Table) -> None:
    for pair, listed in comparatives.PLACES.items():
        lengths = ", ".join(f"{place} length" for place in listed.split(", "))
        for words in f"{_pairs(comparatives.REACHING, listed)}, {lengths}".split(", "):
            table.setdefault(tuple(tokenise(words)), Sense("value", (pair,)))


def _pairs(first: str, then: str) -> str:
    """Each word of ``first`` before each of ``then``."""
    return ", ".join(f"{one} {other}" for one in first.split(", ") for other in then.split(", "))


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("s") else "s")


@lru_cache(maxsize=1)
def spelling() -> tuple[frozenset[str], tuple[str, ...]]:
    """All known words, and the candidates for spelling correction."""
    known = frozenset(word for phrase in phrases() for word in phrase)
    meant = {word for phrase, sense in phrases().items()
             if sense.kind in ("value", "step", "part", "noun") for word in phrase}
    return known | frozenset(operators.INNOCENT.split(", ")), tuple(sorted(word for word in meant if len(word) > 3))


@lru_cache(maxsize=4096)
def respell(word: str) -> tuple[str, ...]:
    """The known words that ``word`` stands for: itself, two in one ("polkadots"), an abbreviation, or the nearest
    garment word of the same first letter if it has four letters or more: further guesses do more harm than an unknown
    word."""
    known, meant = spelling()
    if word in operators.ABBREVIATIONS:
        return (operators.ABBREVIATIONS[word],)
    if len(word) < 4 or len(word) > 20 or word in known or not word.isascii() or not word.isalpha():
        return (word,)
    stem = word.removesuffix("less")
    if stem != word and ((stem,) in phrases() or (f"{stem}s",) in phrases()):
        return ("without", stem)  # "collarless"
    for place in range(2, len(word) - 2):
        if (two := (word[:place], word[place:])) in phrases():
            return two
    first = [candidate for candidate in meant if candidate[0] == word[0]]
    close = get_close_matches(word, first, n=1, cutoff=0.82)
    return (close[0] if close else word,)
