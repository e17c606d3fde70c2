"""Requests in other languages, as English ones.

Words and phrases are looked up in :mod:`.dictionaries` and put in order by :mod:`.ordering`; the rest stays as it is
typed. A word that is English, too ("die", "robe"), is taken for another language's beside words of that language, or
where nothing in the text is English alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from cir_core.language.builtin.reading.dictionaries import (
    LANGUAGES,
    TOKEN,
    Dictionary,
    dictionary,
    english,
)
from cir_core.language.builtin.reading.ordering import ENDS, IDEOGRAPH, Piece, joined, ordered, role_of
from cir_core.language.builtin.reading.vocabulary import MOST_WORDS, respell, spelling

_WORD = re.compile(r"[^\W\d_]+")
_MOST_READ = 1000       # characters
_MOST_TOKENS = 2 * MOST_WORDS
_CERTAIN, _SMALL = 2, 1   # weight of a word for the language of a text
_MISSPELT = 0.78        # likeness of an English word
_FEWEST_LETTERS = 5      # of a word that may be misspelt
_LONGEST_PHRASE = 5      # words
_LEFT, _PHRASE = 1000, 10   # cost of a word that is left, and of a phrase
_INSIDE = frozenset("-'‐")   # words: "cor-de-rosa", "l'été"
_PUNCTUATION = {"、": ",", "。": ".", "・": "and"}
_EMPTY = frozenset({"", "the", "a"})   # English words that show no language


@dataclass(frozen=True)
class Translation:
    """``pieces``: those that were looked up, in the order of ``text``; () if the text is English, or in no language of
    the dictionaries: then it is unchanged."""

    text: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class _Match:
    start: int
    end: int
    english: str
    language: Dictionary
    sure: bool   # it has words that are not English


def is_foreign(text: str) -> bool:
    """Whether ``text`` is in a script of which the reader knows no language."""
    letters = "".join(_WORD.findall(unicodedata.normalize("NFC", text[:_MOST_READ]).lower()))
    read = sum("LATIN" in unicodedata.name(letter, "") or bool(IDEOGRAPH.match(letter)) for letter in letters)
    return bool(letters) and read * 2 < len(letters)


@lru_cache(maxsize=256)
def translate(text: str) -> Translation:
    """``text`` with the words of other languages in English."""
    plain = _WORD.findall(text[:_MOST_READ].lower())
    if all(map(_is_english, plain)) and (len(plain) < 2 or spelling()[0].issuperset(plain)):
        return Translation(text)
    said = unicodedata.normalize("NFKC", text[:_MOST_READ].replace("\u2019", "'"))
    tokens = [token for token in TOKEN.finditer(said) if token[0] not in _INSIDE][:_MOST_TOKENS]
    words = [token[0].lower() for token in tokens]
    languages = _languages(words)
    if not languages:
        return Translation(text)
    words = _spelt(words, _matches(words, languages), languages[0])
    matches = _accepted(words, _matches(words, languages), languages[0])
    pieces: list[Piece] = []
    place = 0
    for match in (*matches, None):
        if place < (start := match.start if match else len(tokens)):
            pieces += _left(said, tokens[place:start])
        if match is not None:
            pieces += _pieces(said[tokens[match.start].start() : tokens[match.end - 1].end()], match)
            place = match.end
    found = [piece for piece in ordered(pieces) if piece.english]
    rest = f"{said[tokens[-1].end() :]}{text[_MOST_READ:]}"   # of a long text
    return Translation(f"{joined(found)} {rest}".strip(), tuple(piece for piece in found if piece.known))


def _languages(words: Sequence[str]) -> list[Dictionary]:
    """Those with a word that is not English and has content, the one of most words first."""
    others = {word for word in words if not _is_english(word) and word not in ENDS}
    scores: dict[str, int] = {}
    for name in LANGUAGES:
        one = dictionary(name)
        if not any(map(one.knows, others)) and not _is_phrase(words, one):
            continue
        score, evident, content, own = 0, False, False, set[str]()
        matches = _matches(words, [one])
        spoken = _has_english(words, matches)
        for found in matches:
            here = [word for word in words[found.start : found.end] if word in others]
            own |= set(here)
            score += sum((_SMALL if found.english in _EMPTY else _CERTAIN) + one.has(word) for word in here)
            content = content or bool(here and found.english not in _EMPTY)
            evident = evident or (found.english not in _EMPTY and any(_tells(word, spoken) for word in here))
        if evident or _is_phrase(words, one) or (content and len(own) > 1) or len(own) > 2:
            scores[name] = score
    return [dictionary(name) for name in sorted(scores, key=lambda name: -scores[name])]


def _is_phrase(words: Sequence[str], language: Dictionary) -> bool:
    """Whether ``words``, all of them English, are one phrase of ``language`` ("plus court") or in its order ("robe
    rose"). One of them has to be unknown to the reader."""
    if not 1 < len(words) <= _LONGEST_PHRASE or spelling()[0].issuperset(words):
        return False
    matches = _matches(words, [language])
    if sum(match.end - match.start for match in matches) < len(words):
        return False
    first, *others = (role_of(match.english) for match in matches)
    described = bool(others) and first in ("garment", "noun") and set(others) <= {"colour", "shade", "adjective"}
    return not others or (language.after and described)


@lru_cache(maxsize=1024)
def _tells(word: str, spoken: bool) -> bool:
    """Whether ``word`` shows that a text is not English. Beside English words, it may be one of two letters, or one
    that is misspelt."""
    if not spoken or not word.isascii():
        return True
    alike = [one for one in spelling()[1] if one[0] == word[0]]
    return len(word) > 2 and not get_close_matches(word, alike, n=1, cutoff=_MISSPELT)


def _has_english(words: Sequence[str], matches: Sequence[_Match]) -> bool:
    """Whether some of ``words`` that no match has are English."""
    covered = {at for match in matches for at in range(match.start, match.end)}
    return any(_is_english(word) and len(word) > 1 for at, word in enumerate(words) if at not in covered)


def _is_english(word: str) -> bool:
    """A single letter may be anything."""
    return word in english() or (len(word) == 1 and word.isascii())


def _matches(words: Sequence[str], languages: Sequence[Dictionary]) -> list[_Match]:
    """The fewest phrases that leave the fewest words, of the first language before others."""
    best: list[tuple[int, _Match | None]] = [(0, None)] * (len(words) + 1)
    for place in range(len(words) - 1, -1, -1):
        best[place] = best[place + 1][0] + _LEFT, None
        for rank, language in enumerate(languages):
            for length, meaning in language.matches(words, place):
                cost = best[place + length][0] + _PHRASE + rank
                if cost < best[place][0]:
                    end = place + length
                    sure = not all(map(_is_english, words[place:end]))
                    best[place] = cost, _Match(place, end, meaning, language, sure)
    found: list[_Match] = []
    place = 0
    while place < len(words):
        match = best[place][1]
        if match is not None:
            found.append(match)
        place = match.end if match else place + 1
    return found


def _spelt(words: Sequence[str], matches: Sequence[_Match], main: Dictionary) -> list[str]:
    """``words`` with those that no match has, and that are not English, as the nearest of ``main``."""
    covered = {at for match in matches for at in range(match.start, match.end)}
    return [word if at in covered or len(word) < _FEWEST_LETTERS or word in english() or respell(word) != (word,)
            else main.nearest(word) for at, word in enumerate(words)]


def _accepted(words: Sequence[str], matches: Sequence[_Match], main: Dictionary) -> list[_Match]:
    """``matches`` without those that are English where they stand."""
    if not _has_english(words, [match for match in matches if match.language is main]):
        return [match for match in matches if match.sure or match.language is main]
    accepted = [match.sure for match in matches]
    for order in (range(1, len(matches)), range(len(matches) - 2, -1, -1)):
        step = -1 if order.step > 0 else 1
        for at in order:
            one, other = matches[at], matches[at + step]
            beside = one.start == other.end if step < 0 else one.end == other.start
            accepted[at] = accepted[at] or (accepted[at + step] and beside and one.language is other.language)
    return [match for match, kept in zip(matches, accepted, strict=True) if kept]


def _left(said: str, tokens: Sequence[re.Match[str]]) -> list[Piece]:
    """What is not of a dictionary, as typed: runs of words, and signs."""
    found: list[Piece] = []
    start = 0
    for place, token in enumerate((*tokens, None)):
        sign = token is not None and (token[0] in ENDS or token[0] in _PUNCTUATION)
        if token is None or sign:
            if start < place:
                run = said[tokens[start].start() : tokens[place - 1].end()]
                found.append(Piece(run, run, "left", known=False))
            if token is not None:
                mark = _PUNCTUATION.get(token[0], token[0])
                found.append(Piece(mark, mark, "and" if mark == "and" else "end", known=False))
            start = place + 1
    return found


def _pieces(typed: str, match: _Match) -> list[Piece]:
    meaning, after = match.english, match.language.after
    if meaning == ",":
        return [Piece(typed, ",", "end", known=False)]
    if meaning.startswith("with ") and (role := role_of(meaning.removeprefix("with "))) == "noun":
        thing = Piece(typed, meaning.removeprefix("with "), role, after, at=match.start)
        return [Piece("", "with", known=False), thing]
    return [Piece(typed, meaning, role_of(meaning), after, goal=typed.lower() in match.language.goals, at=match.start)]
