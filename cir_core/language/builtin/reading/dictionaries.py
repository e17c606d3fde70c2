"""Words of other languages with their English ones, from ``garments/tables/words``: a file a language.

They are read when a text first has a word that the reader does not know, not before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import product

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.vocabulary import spelling

LANGUAGES = ("german", "french", "spanish", "italian", "portuguese", "dutch", "polish", "japanese", "chinese")
IDEOGRAPHS = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"   # and kana: written without spaces
TOKEN = re.compile(rf"\d/\d|[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+|[^\s\w]")
_FIRST_IDEOGRAPH = "\u3000"
_ALIKE = 0.85          # of a word and its misspelling
_STEM = "-"            # "rot-": with any of the language's endings
_MOST_FORMS = 4        # of a word, that are looked up
_SHORTEST_PART = 3     # letters, of a compound
_LONGEST_WORD = 40     # letters
_ACCENTS = {code: unicodedata.normalize("NFKD", chr(code))[0] for code in range(0xE0, 0x180)}
_ACCENTS |= str.maketrans({"ł": "l", "ß": "ss", "œ": "oe", "ø": "o", "æ": "ae"})
_UMLAUTS = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"))   # "guertel"


@dataclass(frozen=True)
class Dictionary:
    """``meanings``: phrases, whose words may be stems, to English; "" for words of no content."""

    name: str
    meanings: dict[tuple[str, ...], str] = field(repr=False)
    of_sound: dict[tuple[str, ...], str] = field(repr=False)   # the same without accents
    parts: frozenset[str] = field(repr=False)   # of the phrases
    spelt: frozenset[str] = field(repr=False)   # those of ``meanings``
    endings: tuple[str, ...] = ()
    links: tuple[str, ...] | None = None   # between the parts of a compound; None where there are none
    after: bool = False              # adjectives follow their nouns
    goals: frozenset[str] = frozenset()   # before what comes in the place of something: "durch"

    def matches(self, words: Sequence[str], place: int) -> list[tuple[int, str]]:
        """The known phrases that ``words`` (lower case, NFKC) have from ``place`` on, the longest first: number of
        words, and the English one."""
        forms: list[tuple[str, ...]] = []
        for word in words[place : place + _longest(self.name)]:
            if not (written := self._forms(word)):
                break
            forms.append(written)
        found = []
        for length in range(len(forms), 0, -1):
            known = [*product(*forms[:length])]
            spelt = (book[phrase] for book in (self.meanings, self.of_sound) for phrase in known if phrase in book)
            if (meaning := next(spelt, None)) is not None:
                found.append((length, meaning))
        if not found and self.links is not None and (compound := _compound(self.name, words[place])):
            found.append((1, compound))
        return found

    def knows(self, word: str) -> bool:
        """Whether ``word`` may be part of a phrase."""
        return bool(self._forms(word)) or (self.links is not None and bool(_compound(self.name, word)))

    def has(self, word: str) -> bool:
        """Whether ``word`` is written so, without an ending that is taken off."""
        return word in self.spelt or word + _STEM in self.spelt

    def nearest(self, word: str) -> str:
        """The word of a phrase that ``word`` is a misspelling of; itself if there is none."""
        if len(word) > _LONGEST_WORD:
            return word
        alike = {part.removesuffix(_STEM) for part in self.parts if part[0] == word[0]}
        return next(iter(get_close_matches(word, sorted(alike), n=1, cutoff=_ALIKE)), word)

    def _forms(self, word: str) -> tuple[str, ...]:
        return _forms(self.name, word)

    def compound(self, word: str) -> str | None:
        """"Flower" + "dress" for "blumenkleid"."""
        if len(word) > _LONGEST_WORD:
            return None
        for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
            first = next((meaning for link in ("", *(self.links or ())) if word[:cut].endswith(link)
                          and (meaning := self._one(word[: cut - len(link)]))), None)
            if first and (second := self._one(word[cut:])):
                return f"{first} {second}"
        return None

    def _one(self, word: str) -> str | None:
        if len(word) < _SHORTEST_PART:
            return None
        forms = self._forms(word)
        return next((meaning for book in (self.meanings, self.of_sound) for form in forms
                     if (meaning := book.get((form,)))), None)


@cache
def dictionary(name: str) -> Dictionary:
    """The dictionary of one of :data:`LANGUAGES`."""
    content = table(f"words/{name}")
    meanings: dict[tuple[str, ...], str] = {}
    of_sound: dict[tuple[str, ...], str] = {}   # without accents: what is spelt with them comes first
    phrases = [("", word) for word in content["small"].split()]
    books = (content["words"], content.get("dialogue", {}))
    phrases += [(english, phrase) for book in books for english, texts in book.items() for phrase in listed(texts)]
    for english, phrase in phrases:
        key = _key(phrase)
        meanings[key] = english
        of_sound.setdefault(tuple(map(_plain, key)), english)
    spelt = frozenset(part for key in meanings for part in key)
    return Dictionary(
        name, meanings, of_sound, spelt | {part for key in of_sound for part in key}, spelt,
        _endings(content.get("endings", "").split()),
        tuple(content["links"].split()) if "links" in content else None, content.get("after", False),
        frozenset(content.get("goals", "").split()),
    )


@cache
def english() -> frozenset[str]:
    """Words that are English, whatever else they are."""
    return spelling()[0].union(table("operators")["abbreviations"], table("words/english")["words"].split())


@cache
def _longest(name: str) -> int:
    return max(map(len, dictionary(name).meanings))


@lru_cache(maxsize=4096)
def _forms(name: str, word: str) -> tuple[str, ...]:
    """``word`` as it is written in the phrases: itself, without accents, and its stems, those that occur."""
    known = dictionary(name)
    plain = _plain(word)
    spellings = [word, plain]
    if "umlauts" in table(f"words/{name}"):
        spellings += [plain.replace(*umlaut) for umlaut in _UMLAUTS if umlaut[0] in plain]
    found: list[str] = []
    for one in dict.fromkeys(spellings):
        stems = (one[: -len(ending)] for ending in known.endings if one.endswith(ending))
        forms = (one, *(stem + _STEM for stem in (one, *stems)))
        found += [form for form in forms if form in known.parts and (one == word or form not in known.spelt
                                                                    or word.isascii())]   # "déjà" is no "deja"
    return tuple(dict.fromkeys(found))[:_MOST_FORMS]


def _endings(endings: Sequence[str]) -> tuple[str, ...]:
    """With and without accents, the longest first."""
    both = {*endings, *(one.translate(_ACCENTS) for one in endings)}
    return tuple(sorted(both, key=lambda ending: (-len(ending), ending)))


@lru_cache(maxsize=4096)
def _compound(name: str, word: str) -> str | None:
    return dictionary(name).compound(word)


def _key(phrase: str) -> tuple[str, ...]:
    """Words and stems of ``phrase``."""
    if phrase.removesuffix(_STEM).isalpha() and max(phrase) < _FIRST_IDEOGRAPH:
        return (phrase.lower(),)   # as most are
    found: list[str] = []
    for chunk in unicodedata.normalize("NFKC", phrase).lower().split():
        words = [word for word in TOKEN.findall(chunk) if word[0].isalnum()]
        if chunk.endswith(_STEM):
            words[-1] += _STEM
        found += words
    return tuple(found)


def _plain(word: str) -> str:
    """Without accents, of which a word of two letters may be all ("à", "às")."""
    return word if word.isascii() or (len(word) < 3 and word.isalpha()) else word.translate(_ACCENTS)
