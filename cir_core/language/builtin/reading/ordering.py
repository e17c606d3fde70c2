"""The order of words: pieces of a request in another language as an English sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from cir_core.language.builtin.reading.dictionaries import IDEOGRAPHS
from cir_core.language.builtin.reading.vocabulary import Sense, phrases, tokenise

IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
ENDS = frozenset(",.;:!?")
_POST = "~"             # before English words that follow what they belong to
_NOUNS = frozenset({"noun", "garment"})
_DESCRIBING = frozenset({"colour", "shade", "adjective"})
_PHRASE = _DESCRIBING | _NOUNS | {"left", "small"}
_ROLES = {"step": "adjective", "part": "noun", "noun": "garment", "head": "garment", "shade": "shade", "and": "and",
          "simpler": "adjective", "other": "adjective", "more": "degree", "less": "degree", "as": "degree"}
_PARTS = ("sleeves", "neck", "collar", "neckline")
_OBJECT, _OF = "を", frozenset({"の", "的"})


@dataclass(frozen=True)
class Piece:
    """Words as typed and in English. ``role``: "garment", "noun" (another one), "colour", "shade", "adjective", "wish"
    (of garments), "degree" (before an adjective), "and", "small" (no content), "post" (to be moved before what it
    follows), "end" (a sign), "left" (not of a dictionary) or another. ``after``: of a language whose adjectives follow
    their nouns."""

    typed: str
    english: str
    role: str = ""
    after: bool = False
    known: bool = True   # looked up
    goal: bool = False   # it may come before what is put in the place of something
    at: int = 0          # place in the text


COMMA = Piece(",", ",", "end", known=False)


def typed(pieces: Sequence[Piece]) -> str:
    """``pieces`` as they are typed, in the order of the text."""
    said = [piece.typed for piece in sorted(pieces, key=lambda piece: piece.at)]
    return ("" if IDEOGRAPH.search("".join(said)) else " ").join(dict.fromkeys(said))


@lru_cache(maxsize=1024)
def role_of(meaning: str) -> str:
    """What English words are in a sentence: see :class:`Piece`."""
    if not meaning:
        return "small"
    if meaning.startswith(_POST):
        return "post"
    if meaning.startswith("for "):
        return "wish"
    words = tuple(tokenise(meaning))
    sense = phrases().get(words) or phrases().get(words[-1:]) or Sense("word")
    if sense.kind == "value":
        group = sense.pairs[0][0]
        if group == "colour":
            return "colour"
        if group in ("length", "fit") or (group == "pattern" and not sense.is_noun):
            return "adjective"
        return "garment" if group == "category" else "other" if words == ("sleeveless",) else "noun"
    return _ROLES.get(sense.kind, "other")


def ordered(pieces: Sequence[Piece]) -> list[Piece]:
    """In the order of an English sentence."""
    return _adjectives_first(_linked(_exchanged(_moved(_without_echo(pieces)))))


def _without_echo(pieces: Sequence[Piece]) -> list[Piece]:
    """"Keine Punkte mehr" without its last word, and "weder Taschen noch Gürtel" with two denials."""
    found: list[Piece] = []
    denied = False
    for place, piece in enumerate(pieces):
        if piece.typed.lower() == "noch" and any(one.typed.lower() == "weder" for one in found):
            piece = replace(piece, english="nor", role="other")
        if piece.role == "end" or piece.english in ("but", "and"):
            denied = False
        ahead = pieces[place + 1] if place + 1 < len(pieces) else COMMA
        if not (piece.english == "more" and denied and (ahead.role in ("end", "and") or ahead.english == "but")):
            found.append(piece)
        denied = denied or piece.english in ("not", "without")
    return found


def _moved(pieces: Sequence[Piece]) -> list[Piece]:
    """With "without" before what it follows, as in Japanese, and "change" where its clause begins."""
    found: list[Piece] = []
    for piece in pieces:
        start = len(found)
        if piece.english == "~change":
            while start and found[start - 1].role != "end":
                start -= 1
        elif piece.role == "post":
            roles = _DESCRIBING if piece.english == "~too" else _PHRASE
            while start and (found[start - 1].role in roles or (   # "ポケットとベルトなし"
                    found[start - 1].role == "and" and start > 1 and found[start - 2].role in _NOUNS)):
                start -= 1
        else:
            found.append(piece)
            continue
        found.insert(start, replace(piece, english=piece.english.removeprefix(_POST), role="other"))
        found.append(COMMA)
    return found


def _exchanged(pieces: Sequence[Piece]) -> list[Piece]:
    """"Replace the stripes with checks" for "Streifen durch Karos ersetzen"."""
    found: list[Piece] = []
    for clause in _clauses(pieces):
        verb = next((one for one in clause if one.english in ("change", "replace")), None)
        if verb is not None:
            rest = [one for one in clause if one is not verb]
            goal = next((place for place, one in enumerate(rest) if place and (one.goal or one.typed == _OBJECT)
                         and any(before.role in _NOUNS | _DESCRIBING for before in rest[:place])), None)
            if goal is not None:
                rest[goal] = replace(rest[goal], english="to", role="other")
            clause = [verb, *rest]
        found += clause
    return found


def _clauses(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """With the signs at their ends."""
    clause: list[Piece] = []
    for piece in pieces:
        clause.append(piece)
        if piece.role == "end" or piece.english == "but":
            yield clause
            clause = []
    yield clause


def _linked(pieces: Sequence[Piece]) -> list[Piece]:
    """What is said by position alone: "the same in green", "white dots, a blue shirt" in Japanese and Chinese, and
    "instead of the belt, a bow" in languages without articles."""
    found: list[Piece] = []
    replaced = ""   # role of what something stands "instead of"
    for place, piece in enumerate(pieces):
        if replaced and (piece.role == replaced == "colour" or (replaced in _NOUNS and piece.role in _NOUNS)):
            found.append(COMMA)
        if piece.english == "instead of":
            replaced = "open"
        elif piece.role in ("end", "and") or piece.english == "a" or (
                replaced != "open" and piece.role not in ("small", "other")):
            replaced = ""
        elif replaced == "open" and piece.role in _NOUNS | {"colour"}:
            replaced = piece.role
        before = next((one for one in reversed(found) if one.role != "small"), piece)
        ahead = pieces[place + 1].role if place + 1 < len(pieces) else ""
        if piece.role in ("colour", "shade") and before.english == "the same" and IDEOGRAPH.match(before.typed):
            found.append(Piece("", "in", "other", known=False))
        linked = piece.typed in _OF and before.role == "noun" and ahead in _DESCRIBING
        found.append(COMMA if linked else piece)
    return found


def _adjectives_first(pieces: Sequence[Piece]) -> list[Piece]:
    found: list[Piece] = []
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        if not piece.after or piece.role not in _NOUNS | {"colour"}:
            found.append(piece)
            place += 1
            continue
        run, place = _described(pieces, place)
        if piece.role in _NOUNS:
            own = [one for one in run[1:] if not _is_of_another(piece, one, found)]
            others = [one for one in run[1:] if one not in own]
            found += [*_shaded(own), piece]
            if any(one.role != "and" for one in others):
                found += [COMMA, *_shaded(others)]
        else:
            found += _shaded(run)
    return found


def _described(pieces: Sequence[Piece], place: int) -> tuple[list[Piece], int]:
    """The noun or colour at ``place`` with the adjectives that follow it, and the position after them."""
    end = place + 1
    while end < len(pieces):
        role = pieces[end].role
        ahead = pieces[end + 1].role if end + 1 < len(pieces) else ""
        if role in _DESCRIBING or (role == "degree" and ahead in _DESCRIBING) or (
                role == "wish" and pieces[place].role == "garment"):
            end += 1
        elif role == "and" and pieces[end - 1].role in _DESCRIBING and ahead in _DESCRIBING:
            end += 2
        else:
            break
    return list(pieces[place:end]), end


def _shaded(pieces: Sequence[Piece]) -> list[Piece]:
    """"Dark blue" for "bleu foncé"."""
    found: list[Piece] = []
    for piece in pieces:
        if piece.role == "shade" and found and found[-1].role == "colour":
            found.insert(len(found) - 1, piece)
        else:
            found.append(piece)
    return found


def _is_of_another(noun: Piece, one: Piece, before: Sequence[Piece]) -> bool:
    """Whether a colour after "manches longues" is the garment's, with whose name it agrees."""
    if one.role not in ("colour", "shade") or not noun.english.endswith(_PARTS):
        return False
    *_, clause = _clauses(before)
    return any(piece.role == "garment" for piece in clause) and noun.typed.split()[0][-1:] != one.typed[-1:]


def joined(pieces: Sequence[Piece]) -> str:
    """One text, with at most one sign after a word."""
    words: list[str] = []
    for word in " ".join(piece.english for piece in pieces).split():
        if word not in ENDS:
            words.append(word)
        elif words and words[-1][-1] not in ENDS:
            words[-1] += word
    return " ".join(words).strip(" ,")
