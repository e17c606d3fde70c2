"""Texts that ask for no image, but for something to be done: undo, back to an earlier turn, start over, other results.

A text is such an act as a whole, or not at all: "go back" is one, "go back to long sleeves" asks for long sleeves. The
words are in ``acts.toml``, in the languages that the built-in rules know.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Literal

ActKind = Literal["undo", "turn", "start over", "others"]

_MOST_READ = 120   # characters
_MOST_WORDS = 16   # of a clause
_IDEOGRAPHS = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"   # and kana: each a word
_TOKEN = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+"
                    r"|[\u21a9\u21b6\u23ea\u23ee\u238e\u25c0\u2b05\u27f2\U0001f300-\U0001faff]")
_CLAUSE = re.compile(r"[,.;:!?…\n()\"“”„«»、。，！？；：·•–—]+")
_APOSTROPHES = str.maketrans("", "", "'’‘ʼ`´")
_NTH, _N = "<nth>", "<n>"
_HIGHEST = 60      # number of a turn
#: Where a text has several: "not that, go back" is taken for the strongest.
STRENGTH: Mapping[str, int] = {"start over": 4, "turn": 3, "undo": 2, "others": 1}

Words = tuple[str, ...]


@dataclass(frozen=True)
class Act:
    """``undo``: so many turns back (``number``); ``turn``: to turn ``number`` of the branch, from 1; ``start over``: to
    the first reference without words; ``others``: the same request without the images that were shown."""

    kind: ActKind
    number: int = 0


def read_act(text: str) -> Act | None:
    """The act that the whole of ``text`` asks for; None for a request. Never fails."""
    if not text.strip() or len(text) > _MOST_READ:
        return None
    clauses = _clauses(text)
    if not clauses or any(len(clause) > _MOST_WORDS for clause in clauses):
        return None
    return next(filter(None, (_read_in(clauses, language) for language in _languages())), None)


@dataclass(frozen=True)
class _Language:
    """``phrases``: what each asks for; ``around``: words that may stand before and after; ``inside``: that may stand
    anywhere; ``alone``: whole texts; ``numbers``: of the words for which :data:`_NTH` and :data:`_N` stand in
    phrases."""

    phrases: Mapping[Words, ActKind]
    around: frozenset[Words]
    inside: frozenset[Words]
    alone: frozenset[Words]
    numbers: Mapping[Words, tuple[str, int]]
    vocabulary: frozenset[str]   # of all of them


def _read_in(clauses: Sequence[Words], language: _Language) -> Act | None:
    if not all(word in language.vocabulary or word.isdecimal() for clause in clauses for word in clause):
        return None   # as most requests
    found: list[Act] = []
    for clause in clauses:
        plain = tuple(word for word in clause if (word,) not in language.inside)
        act = _act_in(clause, language) or _act_in(plain, language)
        if act is not None:
            found.append(act)
        elif len(clause) not in _reached(clause, language.around):
            return None
    if found:
        return max(found, key=lambda act: (STRENGTH[act.kind], act.number))
    return Act("others") if len(clauses) == 1 and clauses[0] in language.alone else None


def _act_in(clause: Words, language: _Language) -> Act | None:
    """The act of ``clause``, of which the words around it are left out, the fewest of them."""
    before = _reached(clause, language.around)
    after = _reached(clause[::-1], frozenset(words[::-1] for words in language.around))
    spans = sorted(((start, len(clause) - end) for start, end in product(before, after) if start + end < len(clause)),
                   key=lambda span: span[0] - span[1])
    for start, end in spans:
        for words, number in _with_numbers(clause[start:end], language.numbers):
            if (kind := language.phrases.get(words)) is not None:
                return Act(kind, number or (1 if kind == "undo" else 0))
    return None


def _reached(clause: Words, around: frozenset[Words]) -> list[int]:
    """The places that words of ``around`` lead to from the beginning."""
    reached = [0]
    longest = max(map(len, around), default=0)
    for start in range(len(clause)):
        if start in reached:
            reached += [end for end in range(start + 1, min(start + longest, len(clause)) + 1)
                        if clause[start:end] in around and end not in reached]
    return sorted(reached)


def _with_numbers(words: Words, numbers: Mapping[Words, tuple[str, int]]) -> Iterator[tuple[Words, int]]:
    """``words``, and ``words`` with one number as its place in a phrase."""
    yield words, 0
    for start, word in enumerate(words):
        if word.isdecimal() and 0 < int(word) <= _HIGHEST:
            for place in (_N, _NTH):
                yield (*words[:start], place, *words[start + 1 :]), int(word)
        for end in range(start + 1, len(words) + 1):
            if (number := numbers.get(words[start:end])) is not None:
                yield (*words[:start], number[0], *words[end:]), number[1]


def _clauses(text: str) -> list[Words]:
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).lower()
    return [words for part in _CLAUSE.split(plain) if (words := tuple(_TOKEN.findall(part)))]


@cache
def _languages() -> tuple[_Language, ...]:
    tables = tomllib.loads((Path(__file__).with_name("acts.toml")).read_text("utf-8"))
    return tuple(map(_language, tables.values()))


_KINDS: Mapping[str, ActKind] = {"undo": "undo", "undo_n": "undo", "turn_n": "turn", "start_over": "start over",
                                 "others": "others"}


def _language(table: Mapping[str, str]) -> _Language:
    numbers: dict[Words, tuple[str, int]] = {}
    for place, words in ((_NTH, table.get("nth", "")), (_N, table.get("n", ""))):
        for number, said in enumerate(_listed(words), start=1):
            numbers |= {_words(one): (place, number) for one in said.split()}
    around, inside, alone = (frozenset(map(_words, _listed(table.get(name, ""))))
                             for name in ("around", "inside", "alone"))
    phrases = {words: kind for name, kind in _KINDS.items() for phrase in _listed(table.get(name, ""))
               for words in _expanded(phrase)}
    vocabulary = frozenset(word for words in (*phrases, *around, *inside, *alone, *numbers) for word in words)
    return _Language(phrases, around, inside, alone, numbers, vocabulary)


def _listed(text: str) -> list[str]:
    return [phrase for phrase in " ".join(text.split()).split(", ") if phrase.strip(" ,")]


def _expanded(phrase: str) -> Iterator[Words]:
    """Every text that ``phrase`` stands for."""
    slots = [(*slot.removesuffix("?").split("|"), *([""] if slot.endswith("?") else [])) for slot in phrase.split()]
    for chosen in product(*slots):
        yield tuple(word for one in chosen for word in _words(one.replace("_", " ")))


@cache
def _words(text: str) -> Words:
    """The words of a phrase of the table, whose numbers have places."""
    parts = re.split(f"({_NTH}|{_N})", text)
    plain = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).lower() if len(parts) == 1 else ""
    if plain:
        return tuple(_TOKEN.findall(plain))
    return tuple(word for part in parts for word in ((part,) if part in (_NTH, _N) else _TOKEN.findall(part)))
