"""Phrase table of the built-in language model: tuples of words, with their meaning. Tokenise and normalise text;
punctuation becomes separate tokens.

The garment words come from :mod:`cir_core.garments.lexicon`; synonyms, comparatives and words that operate on others
from :mod:`cir_core.garments.tables`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Literal, cast

from cir_core.garments.lexicon import COLOUR, GROUPS, NONE
from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.frames import compared, words_of_frames

MOST_WORDS = 200  # per text; a modification has about ten, a long caption sixty
_MOST_READ = 4000  # characters; NFC of a run of accents takes quadratic time while holding the interpreter's lock
_MODIFIERS = re.compile("[\u200d\ufe0f\u2640\u2642\U0001f3fb-\U0001f3ff]")   # of emoji: who, and how dark
_REPEATED = re.compile(r"([^\w\s!-~])\1+")   # "🌺🌺"
_TOKEN = re.compile(r"\d/\d|w/o\b|b/w\b|w/|[→✗✘+]|[^\W_]+(?:'[^\W_]+)?|[,.;:!?&\n]"
                    r"|[\U0001F300-\U0001FAFF\u2600-\u27bf\u2b00-\u2bff]|[\U0001F1E6-\U0001F1FF]{1,2}")
_BREAKS = frozenset(".;:!?\n")
_BRITISH = (
    (re.compile(r"\bcolor"), "colour"),
    (re.compile(r"\bgray"), "grey"),
    (re.compile(r"\bcolourf?ull\b"), "colourful"),
    (re.compile(r"\bmulticolor"), "multicolour"),
    (re.compile(r"\ba-line\b"), "aline"),  # one word, or its article would be another's
)
_SPELT_OUT = {"w/": ("with",), "w/o": ("without",), "b/w": ("black", "and", "white"), "+": ("and",)}
_NAMES = frozenset({"neck", "neckline", "sleeves", "sleeve", "colour", "length", "fit", "cut", "pattern", "print",
                    "trim", "hem", "arms"})
_YES, _NO = re.compile("[✅✔]"), re.compile("[❌🚫⛔✖]\ufe0f?")
_YES_OR_NO = tuple("✅✔❌🚫⛔✖")
_DRAWN_OUT = re.compile(r"(\w)\1{2,}")
_ARROW = re.compile(r"[-=]{1,3}>")
_FACES = (*range(0x1F600, 0x1F645), *range(0x1F910, 0x1F930), *range(0x1F970, 0x1F97B))
_UNSEEN = (*range(0x1F3FB, 0x1F400), *range(0xFE00, 0xFE10), 0x200D)   # skin tones, variation selectors, the joiner
_AFTER_IT = frozenset({"in", "and", "but", "with"})   # "🎀❌ in red": what stands before the sign is to go
_PREFIXES = frozenset({"no", "with", "without", "more", "less", "not", "in"})   # "nobuttons"
_LESS = re.compile(r"\b([^\W\d_]{3,12})-less\b")
_UN = re.compile(r"\bun-(?=[^\W\d_])")
_FREE = re.compile(r"\b([^\W\d_]{3,12})-free\b")


@cache
def _of_sign() -> dict[int, str]:
    """Signs to words."""
    signs = table("signs")
    nothing = dict.fromkeys((*_FACES, *map(ord, signs["small"]["signs"])), " ") | dict.fromkeys(_UNSEEN, "")
    return nothing | {ord(sign): f" {word} " for word, ones in signs["words"].items() for sign in ones}


def tokenise(text: str) -> list[str]:
    """Lower-case words of ``text``, British spelling; ``,`` and ``.`` mark breaks. Hyphens separate words ("v-neck" is
    two), apostrophes are dropped ("doesn't" is "doesnt"). Emoji are words or stay as they are, and an arrow is "from …
    to"."""
    text = text[:_MOST_READ]
    if _YES.search(text) and not text.lstrip().startswith(_YES_OR_NO):
        text = _NO.sub("👎", text)   # "🔴❌ 🟢✅": the signs come after what they are about
    text = _REPEATED.sub(lambda sign: sign[1] if ord(sign[1]) in _of_sign() else sign[0], _MODIFIERS.sub("", text))
    text = _ARROW.sub(" → ", text.translate(_of_sign()))
    text = unicodedata.normalize("NFKC", text).lower().replace("\u2019", "'").replace("\u2018", "'")
    text = _UN.sub("without ", _FREE.sub(r"without \1", _LESS.sub(r"\1less", text)))
    for pattern, spelling in _BRITISH:
        text = pattern.sub(spelling, text)
    tokens: list[str] = []
    clause = 0  # where it begins
    found = _TOKEN.findall(text)
    for place, token in enumerate(found):
        if token == ":" and tokens and tokens[-1] in _NAMES:
            token = "is"   # "neck: round"
        elif token in _BREAKS:
            token = "."
        elif token.endswith("'s"):
            token = token[:-2]  # "it's", "women's"
        if token == "→":
            tokens.insert(clause, "from")
            token = "to"
        elif token == "✘" and tokens and tokens[-1] not in (".", ","):
            tokens += ["removed"]   # thumbs down: what stands before it
            token = "."
        elif token in ("✗", "✘") and "no" in tokens[clause:]:
            token = "."   # "no flowers 🙅": it is said already
        elif token in ("✗", "✘"):
            ahead = found[place + 1 : place + 2]
            token = "without" if ahead and ahead[0] not in _BREAKS | _AFTER_IT | {","} else "removed"
        tokens += _SPELT_OUT.get(token, (token.replace("'", ""),))
        if token in (".", ","):
            clause = len(tokens)
    return [token for token in tokens if token]


WordKind = Literal[
    "value",    # attribute values to set: pairs of (group, value)
    "covering", # more of the skin covered, or less
    "step",     # one rung up (+1) or down (-1) the ladder of a group
    "part",     # the bare name of a group: "sleeves", "neckline", "pattern"
    "noun",     # a garment outside the lexicon's categories: "skirt"
    "simpler",  # fewer things on it
    "patterned", "decorated",   # some pattern, some trim, whichever
    "not", "without", "instead", "replace", "alter", "from", "to", "swap",
    "away",     # after what should not be there: "has to go"
    "bad",      # a complaint about what is named beside it: "childish", "clashes with"
    "keep", "same", "other", "except", "more", "less", "as", "much",
    "and", "or", "but", "break", "with", "in", "the", "a", "verb", "stop",
    "pointer",  # another result or an earlier turn
    "shade",    # "dark", "light" before a colour or after "less"
    "alike",    # "the same colour as the bow": the colour of ``group``
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
_ACROSS = frozenset((
    "horizontal", "horizontally", "across", "crosswise", "breton", "bold", "bolder", "broad", "broader", "thick",
    "thicker", "wide", "wider", "fat", "fatter", "chunky", "chunkier", "big", "bigger", "sailor", "nautical"))


@lru_cache(maxsize=1)
def phrases() -> Table:
    """Every known phrase with its sense."""
    found: Table = {}
    book, comparatives = table("phrasebook"), table("comparatives")
    _add_function_words(found)
    _add_lexicon(found)
    for source, is_noun, loosely in (("synonyms", False, False), ("loose", False, True), ("nouns", True, False)):
        for group, values in book[source].items():
            for key, texts in values.items():
                _add(found, texts, Sense("value", ((group, key),), is_noun=is_noun or group == "trim", loosely=loosely))
    _add_places(found)
    _add_shapes(found)
    _add_tints(found)
    _add_degrees(found)
    for phrase, sense in list(found.items()):
        is_pattern = bool(sense.pairs) and sense.pairs[0][0] == "pattern"
        if is_pattern and not {"print", "printed", "graphic"} & set(phrase):
            for ending in _ENDINGS:
                found.setdefault((*phrase, ending), sense)
    for words, pairs in book["compounds"].items():
        _add(found, f"{words}, {_plural(words)}", Sense("value", tuple(pairs.items())))
    _add(found, comparatives["open_neck"], Sense("value", (("neckline", "scoop"),), either=("vneck", "square")))
    for phrase, sense in found.items():
        if sense.pairs == (("pattern", "stripes"),) and not _ACROSS & set(phrase):
            found[phrase] = replace(sense, either=("pinstripes",))
    return found


def _add(found: Table, texts: str, sense: Sense) -> None:
    for words in listed(texts):
        found[tuple(tokenise(words))] = sense


def _add_function_words(found: Table) -> None:
    operators, book = table("operators"), table("phrasebook")
    for kind, texts in operators["function_words"].items():
        _add(found, texts, Sense(cast(WordKind, kind)))
    _add(found, _pairs(operators["excluded_from"], operators["excluding"]), Sense("not"))
    _add(found, f"{_pairs(operators['ordinals'], operators['pointed_at'])}, {operators['pointers']}", Sense("pointer"))
    for number in range(1, 61):
        _add(found, ", ".join(f"{word} {number}" for word in ("number", "no", "turn", "result", "picture", "image")),
             Sense("pointer"))
    colours, exchanging, exchanged = (operators[key] for key in ("two_colours", "exchanging", "exchanged"))
    _add(found, ", ".join([_pairs(exchanging, colours), _pairs(_pairs(exchanging, colours), "round, around"),
                           _pairs(colours, exchanged), _pairs(_pairs(colours, operators["to_be"]), exchanged),
                           _pairs(exchanged, "colours")]), Sense("swap"))
    _add(found, book["unknown_phrases"], Sense("word"))
    found[(",",)] = Sense("and")
    found[("dark",)], found[("light",)] = Sense("shade", direction=1), Sense("shade", direction=-1)
    for noun in listed(book["other_garments"]):
        _add(found, f"{noun}, {noun}s", Sense("noun"))
    for group, texts in book["parts"].items():
        _add(found, texts, Sense("part", group=group))
    for direction, texts in table("comparatives")["covering"].items():
        _add(found, texts, Sense("covering", direction=1 if direction == "more" else -1))
    for group, steps in table("comparatives")["steps"].items():
        for direction, texts in steps.items():
            _add(found, texts, Sense("step", group=group, direction=1 if direction == "more" else -1))


def _add_lexicon(found: Table) -> None:
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
                _add(found, f"{bare}, {_plural(bare)}" if group.key == "category" else bare, sense)


_ENDS = {("length", "more"): "long", ("length", "less"): "short", ("fit", "more"): "loose", ("fit", "less"): "slim",
         ("neckline", "less"): "turtleneck"}


def _add_degrees(found: Table) -> None:
    """"Baggiest", "the most fitted", "loosely"; "frillier" is no more than frilly."""
    for group, signs in table("comparatives")["frames"]["adjectives"].items():
        for sign, texts in signs.items():
            end = _ENDS.get((group, sign))
            for adjective in listed(texts) if end else ():
                value = Sense("value", ((group, cast(str, end)),))
                known = (adjective,) in found
                for superlative in (f"most {adjective}", *compared(adjective)[1:], *([f"{adjective}ly"] * known)):
                    found.setdefault(tuple(superlative.split()), value)
                for comparative in compared(adjective)[:1] if known else ():
                    found.setdefault((comparative,), Sense("step", group=group, direction=1 if sign == "more" else -1))
    for (word, *rest), sense in list(found.items()):
        if not rest and word.endswith("y") and sense.kind == "value" and not sense.is_noun and (
                sense.pairs[0][0] in ("pattern", "trim")):
            for form in compared(word):
                found.setdefault((form,), sense)


def _add_tints(found: Table) -> None:
    """"Jet black". Where the tint is a colour of its own, two are named: "tan orange"."""
    tints = ", ".join(tint for tint in listed(table("phrasebook")["tints"]) if (tint,) not in found)
    for colour in COLOUR.values:
        for phrase in colour.phrases:
            for words in listed(_pairs(tints, phrase)):
                found.setdefault(tuple(tokenise(words)), Sense("value", (("colour", colour.key),), loosely=True))


def _add_places(found: Table) -> None:
    comparatives = table("comparatives")
    for value, adjectives in comparatives["of_stripes"].items():
        joints = (f"stripes {joint}".strip() for joint in listed(comparatives["joints"]))
        for words in listed(_pairs(", ".join(joints), adjectives)):
            found.setdefault(tuple(words.split()), Sense("value", (("pattern", value),)))
    for words in listed(_pairs(comparatives["passing"], "elbow, elbows")):
        found.setdefault(tuple(tokenise(words)), Sense("value", (("sleeves", "long"),), either=("elbow",)))
    for group, values in comparatives["places"].items():
        for value, places in values.items():
            lengths = _pairs(places, comparatives["touching"])
            for words in listed(f"{_pairs(comparatives['reaching'], places)}, {lengths}"):
                found.setdefault(tuple(tokenise(words)), Sense("value", ((group, value),)))


def _add_shapes(found: Table) -> None:
    """"Neck to square", "v shaped neckline"."""
    shapes = table("comparatives")["shapes"]
    named = listed(shapes["named"])
    for value, words in shapes["values"].items():
        sense = Sense("value", (("neckline", value),))
        for shape in listed(words):
            for name in named:
                for phrase in (f"{name} {shape}", *(f"{name} {joint} {shape}" for joint in listed(shapes["joined"]))):
                    found.setdefault(tuple(tokenise(phrase)), sense)


def _pairs(first: str, then: str) -> str:
    """Each word of ``first`` before each of ``then``."""
    return ", ".join(f"{one} {other}" for one in listed(first) for other in listed(then))


def _plural(noun: str) -> str:
    return noun + ("es" if noun.endswith("s") else "s")


@lru_cache(maxsize=1)
def spelling() -> tuple[frozenset[str], tuple[str, ...]]:
    """All known words, and the candidates for spelling correction."""
    known = frozenset(word for phrase in phrases() for word in phrase)
    meant = {word for phrase, sense in phrases().items()
             if sense.kind in ("value", "step", "part", "noun") for word in phrase}
    innocent = (*words_of_frames(), *listed(table("operators")["innocent"]), *table("words/common")["words"].split(),
                *(word for words in table("wishes")["words"].values() for word in words.split()))
    return known.union(innocent), tuple(sorted(word for word in meant if len(word) > 2))


@lru_cache(maxsize=4096)
def respell(word: str) -> tuple[str, ...]:
    """The known words that ``word`` stands for: itself, two in one ("polkadots"), an abbreviation, one with two letters
    exchanged ("bwo"), or the nearest garment word of the same first letter if it has four letters or more: further
    guesses do more harm than an unknown word."""
    known, meant = spelling()
    if (meant_by := table("operators")["abbreviations"].get(word)) is not None:
        return tuple(meant_by.split())
    if len(word) < 3 or len(word) > 20 or word in known or not word.isascii() or not word.isalpha():
        return (word,)
    shorter = (_DRAWN_OUT.sub(letters, word) for letters in (r"\1\1", r"\1"))   # "loose", not "lose"
    if (said := next((one for one in shorter if one != word and one in known), None)) is not None:
        return (said,)    # "loooonger"
    stem = word.removesuffix("less")
    if stem != word and ((stem,) in phrases() or (f"{stem}s",) in phrases()):
        return ("without", stem)  # "collarless"
    bare = word.removeprefix("un")
    if bare != word and (named := phrases().get((bare,))) is not None and named.kind == "value":
        return ("without", bare)  # "unbelted"
    for place in range(2, len(word) - 2):
        two = (word[:place], word[place:])
        if two in phrases() or (two[0] in _PREFIXES and _is_named(two[1])) or all(map(_is_named, two)) \
                or (_is_named(two[0]) and two[1] in _PREFIXES):
            return two   # "polkadots", "nobuttons", "blackdress"
    exchanged = (word[:place] + word[place + 1] + word[place] + word[place + 2:] for place in range(len(word) - 1))
    if (meant_by := next((one for one in exchanged if one in _function_words() or one in meant), None)) is not None:
        return (meant_by,)
    if len(word) < 4:
        return (word,)
    first = [candidate for candidate in meant if candidate[0] == word[0] and len(candidate) > 3]
    operating = [one for one in _function_words() if one[0] == word[0] and len(one) > 4]
    close = get_close_matches(word, first, n=1, cutoff=0.82 if len(word) != 5 else 0.8) \
        or get_close_matches(word, sorted(operating), n=1, cutoff=0.9)
    return (close[0] if close else word,)


def _is_named(word: str) -> bool:
    """Whether ``word`` alone is a value or the name of a group."""
    sense = phrases().get((word,))
    return len(word) > 2 and sense is not None and sense.kind in ("value", "part") and not sense.loosely


@cache
def _function_words() -> frozenset[str]:
    """Words that operate on others or have no content, of three letters or more."""
    return frozenset(word for texts in table("operators")["function_words"].values()
                     for phrase in listed(texts) for word in tokenise(phrase) if len(word) > 2)
