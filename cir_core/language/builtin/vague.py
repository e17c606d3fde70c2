"""Vague wishes and the concrete requests that may be meant: "more formal", "for summer"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from cir_core.garments.tables import table
from cir_core.language.builtin.captions import Caption
from cir_core.language.builtin.reading.edits import apply_edits, target
from cir_core.language.builtin.reading.extras import CHATTY
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.words import tokenise

_MOST = 4


@cache
def _wishes() -> dict[str, str]:
    """Word to wish."""
    return {word: wish for wish, words in table("wishes")["words"].items() for word in words.split()}


@cache
def _small(*kinds: str) -> frozenset[str]:
    return frozenset(word for kind in kinds for word in table("wishes")[kind].split())



def choices(reference: Caption, modification_text: str) -> tuple[str, ...]:
    """Texts in the place of ``modification_text``, each with one concrete reading of its first vague wish that would
    change ``reference``; () if there is none."""
    if not reference.is_garment:
        return ()
    modification_text = translate(modification_text).text
    words = tokenise(modification_text)
    of_word, wishes = _wishes(), table("wishes")
    if len(words) > CHATTY or not any(word in of_word for word in words):
        return ()
    edits = parse_edits(modification_text)
    unused = _words((*edits.unused, *edits.unwanted))
    wished = [place for place, word in enumerate(words) if word in of_word and word in unused
              and not _small("material").intersection(words[place + 1 : place + 2])]
    if not wished:
        return ()
    place = wished[0]
    wish: str | None = of_word[words[place]]
    start, end = _around(words, place)
    if _small("colours").intersection(words[place + 1 : end]):
        wish = wishes["of_colours"].get(wish, wish)
    if _small("less") & set(words[start:place]):
        wish = wishes["opposites"].get(wish or "")
    spans = [_around(words, at) for at in wished]
    rest = _trimmed([word for at, word in enumerate(words) if not any(start <= at < end for start, end in spans)])
    said = _groups(rest)
    found = [reading for reading in wishes["meant"].get(wish or "", ()) if not said & _groups(reading)
             and apply_edits(reference.slots, parse_edits(reading)) != reference.slots]
    return tuple(f"{rest}, {reading}" if rest else reading for reading in found[:_MOST])


def _around(words: Sequence[str], place: int) -> tuple[int, int]:
    """From where to where the wish at ``place`` goes, with its small words."""
    start, end = place, place + 1
    while start and words[start - 1] in _small("before"):
        start -= 1
    while end < len(words) and words[end] in _small("after"):
        end += 1
    return start, end


def _groups(text: str) -> set[str]:
    return {target(edit) for edit in parse_edits(text).edits}


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in text.split()}


def _trimmed(words: list[str]) -> str:
    """What is left of the text besides the wish, without the small words at its ends."""
    if all(word in _small("before", "after", "around") for word in words):
        return ""
    start, end = 0, len(words)
    while words[start] in ("and", "but", ",", "."):
        start += 1
    while words[end - 1] in ("and", "but", ",", ".", "with", "for"):
        end -= 1
    return " ".join(words[start:end]).replace(" ,", ",").replace(" .", ".")
