"""Vague wishes and the concrete requests that may be meant: "more formal", "for summer"."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.language.builtin.captions import Caption
from cir_core.language.builtin.reading.edits import apply_edits, target
from cir_core.language.builtin.reading.extras import CHATTY
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.words import tokenise

_MOST = 4
_MEANT: dict[str, tuple[str, ...]] = {
    "formal": ("with a collar and buttons", "plain and in black", "with long sleeves and a collar", "slim and in navy"),
    "casual": ("loose fit with a round neck", "with a graphic print", "striped with short sleeves", "with a pocket"),
    "summer": ("sleeveless", "floral with thin straps", "short and in yellow", "in white with short sleeves"),
    "winter": ("with a turtleneck and long sleeves", "long with long sleeves", "checked, in brown", "plain, in navy"),
    "party": ("with a bow", "short and in red", "sleeveless with ruffles", "slim fit, in black"),
    "elegant": ("plain, long and in black", "slim fit with a v-neck", "with a bow", "in navy with a belt"),
    "sexy": ("short and slim fit", "with a v-neck", "with thin straps", "slim fit, in red"),
    "modest": ("long with long sleeves", "with a turtleneck", "loose fit", "with a collar and long sleeves"),
    "sporty": ("with contrast edges", "loose fit with short sleeves", "with a graphic print", "sleeveless"),
    "romantic": ("floral", "with ruffles", "with a bow, in pink", "with polka dots"),
    "cheerful": ("in yellow", "floral", "with polka dots", "colour block"),
    "retro": ("with polka dots", "checked with a collar", "striped, in brown", "colour block, in orange"),
    "office": ("with a collar and buttons", "pinstriped", "plain and in grey", "with three-quarter sleeves"),
}
_SAME: dict[str, str] = {
    "formal": "formal dressier dressy smart smarter sophisticated ceremony ceremonial official",
    "casual": "casual informal everyday relaxing leisure weekend comfy comfortable streetwear",
    "summer": "summer summery beach holiday vacation tropical cooler spring springlike",
    "winter": "winter wintry warmer cosy cozy autumn autumnal",
    "party": "party festive glamorous glam evening clubbing cocktail",
    "elegant": "elegant elegance classy classier chic fancy fancier stylish wedding luxurious",
    "sexy": "sexy sexier revealing flirty daring",
    "modest": "modest conservative decent demure",
    "sporty": "sporty sportier athletic sport sports",
    "romantic": "romantic feminine girly cute cuter girlish",
    "cheerful": "cheerful fun playful happy happier lively jolly",
    "retro": "retro vintage fifties sixties nostalgic",
    "office": "office work business professional",
}
_OF_WORD = {word: wish for wish, listed in _SAME.items() for word in listed.split()}
_OPPOSITE = {"formal": "casual", "casual": "formal", "summer": "winter", "winter": "summer", "sexy": "modest",
             "modest": "sexy", "elegant": "casual", "office": "casual", "party": "casual"}
_BEFORE = ("more for the a an something look looks looking very bit much slightly rather make it in at as so little "
           "far way even really to wear my be one quite less not too isnt dont no without")
_AFTER = ("style look looking wear clothes event occasion vibe vibes mood day evening night dinner please pls feel "
          "feeling")
_AROUND = "and but with , . i want would like"
_LESS = frozenset({"less", "not", "too", "isnt", "dont", "no", "without"})
_LEADING, _FOLLOWING = frozenset(_BEFORE.split()), frozenset(_AFTER.split())
_SMALL = _LEADING | _FOLLOWING | frozenset(_AROUND.split())


def choices(reference: Caption, modification_text: str) -> tuple[str, ...]:
    """Texts in the place of ``modification_text``, each with one concrete reading of its first vague wish that would
    change ``reference``; () if there is none."""
    if not reference.is_garment:
        return ()
    words = tokenise(modification_text)
    if len(words) > CHATTY or not any(word in _OF_WORD for word in words):
        return ()
    edits = parse_edits(modification_text)
    unused = _words((*edits.unused, *edits.unwanted))
    place = next((place for place, word in enumerate(words) if word in _OF_WORD and word in unused), None)
    if place is None:
        return ()
    wish: str | None = _OF_WORD[words[place]]
    start, _ = _around(words, place)
    if _LESS & set(words[start:place]):
        wish = _OPPOSITE.get(wish or "")
    wishes = [_around(words, at) for at, word in enumerate(words) if word in _OF_WORD and word in unused]
    rest = _trimmed([word for at, word in enumerate(words) if not any(start <= at < end for start, end in wishes)])
    said = _groups(rest)
    found = [reading for reading in _MEANT.get(wish or "", ()) if not said & _groups(reading)
             and apply_edits(reference.slots, parse_edits(reading)) != reference.slots]
    return tuple(f"{rest}, {reading}" if rest else reading for reading in found[:_MOST])


def _around(words: Sequence[str], place: int) -> tuple[int, int]:
    """From where to where the wish at ``place`` goes, with its small words."""
    start, end = place, place + 1
    while start and words[start - 1] in _LEADING:
        start -= 1
    while end < len(words) and words[end] in _FOLLOWING:
        end += 1
    return start, end


def _groups(text: str) -> set[str]:
    return {target(edit) for edit in parse_edits(text).edits}


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in text.split()}


def _trimmed(words: list[str]) -> str:
    """What is left of the text besides the wish, without the small words at its ends."""
    if all(word in _SMALL for word in words):
        return ""
    start, end = 0, len(words)
    while words[start] in ("and", "but", ",", "."):
        start += 1
    while words[end - 1] in ("and", "but", ",", ".", "with", "for"):
        end -= 1
    return " ".join(words[start:end]).replace(" ,", ",").replace(" .", ".")
