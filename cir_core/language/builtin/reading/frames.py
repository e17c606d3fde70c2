"""Steps in many words: "take a few inches off the hem", "nowhere near as long". Frames from the table of comparatives,
matched word by word, for their products would be hundreds of thousands of phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cir_core.garments.tables import listed, table

_Words = tuple[str, ...]
_FROM = {"more": 1, "less": -1}


@dataclass(frozen=True)
class Frame:
    """A phrase with several ways to say each of its ``parts``, () among them where one may be missing."""

    group: str
    direction: int
    parts: tuple[tuple[_Words, ...], ...]


def framed(words: Sequence[str]) -> tuple[int, Frame] | None:
    """The longest frame that ``words`` begin with, and how many of them it takes."""
    frames = _by_first_word().get(words[0], ())
    if not frames:
        return None
    words = tuple(words)
    found = ((max(_ends(words, frame.parts), default=0), frame) for frame in frames)
    return max(found, key=lambda one: one[0])


def compared(adjective: str) -> tuple[str, ...]:
    """Its comparative and superlative by the rules of spelling; () for one that has none.

    >>> compared("baggy"), compared("loose"), compared("slim")
    (('baggier', 'baggiest'), ('looser', 'loosest'), ('slimmer', 'slimmest'))
    """
    if " " in adjective or len(adjective) < 3:
        return ()
    stem = adjective
    if re.search("[^aeiou]y$", stem):
        stem = stem[:-1] + "i"
    elif stem.endswith("e"):
        stem = stem[:-1]
    elif re.fullmatch("[^aeiou]*[aeiou][bdgmnpt]", stem):
        stem += stem[-1]
    return f"{stem}er", f"{stem}est"


@lru_cache(maxsize=1)
def words_of_frames() -> frozenset[str]:
    """Every word of a frame, which is no misspelt other one."""
    return frozenset(word for frame in _frames() for part in frame.parts for way in part for word in way)


def _ends(words: _Words, parts: Sequence[tuple[_Words, ...]]) -> set[int]:
    """Where ``parts`` may end."""
    ends = {0}
    for part in parts:
        ends = {end + len(way) for end in ends for way in part if words[end : end + len(way)] == way}
        if not ends:
            break
    return ends


@lru_cache(maxsize=1)
def _by_first_word() -> dict[str, tuple[Frame, ...]]:
    found: dict[str, dict[Frame, None]] = {}
    for frame in _frames():
        for word in _first_words(frame):
            found.setdefault(word, {})[frame] = None
    return {word: tuple(frames) for word, frames in found.items()}


def _first_words(frame: Frame) -> Iterator[str]:
    for part in frame.parts:
        yield from (way[0] for way in part if way)
        if () not in part:
            return


@lru_cache(maxsize=1)
def _frames() -> tuple[Frame, ...]:
    book = table("comparatives")["frames"]
    words = {name: listed(texts) for name, texts in book["words"].items()}
    found = [_frame(text, words, group, _FROM[way])
             for group in table("comparatives")["steps"] for way, texts in book.get(group, {}).items()
             for text in listed(texts)]
    for group, adjectives in book["adjectives"].items():
        for sign, texts in adjectives.items():
            known = {**words, "adjective": listed(texts)}
            found += [_frame(text, known, group, _FROM[sign] * _FROM[way])
                      for way, around in book["enough"].items() for text in listed(around)]
    return tuple(dict.fromkeys(found))


def _frame(text: str, words: dict[str, _Words], group: str, direction: int) -> Frame:
    parts = (tuple(tuple(way.split()) for way in words[part.strip("<?>")]) + (((),) if "?" in part else ())
             if part.startswith("<") else ((part,),) for part in text.split())
    return Frame(group, direction, tuple(parts))
