"""Words around what a person says of earlier turns, and what they call a part of a garment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.edits import Edit, target
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.reader import ReadItem, read

Words = tuple[str, ...]

LEAD = frozenset({"no", "not", "nope", "sorry", "wait", "oh", "oops", "hmm", "hm", "well", "actually", "ok", "okay",
                  "please", "so", "then", "and", "but", "now", "also", "yes", "hey", "ah", "um", "nah", "ugh", "mm",
                  "right", ",", "."})
TRAIL = frozenset({"too", "please", "again", "back", "as", "well", "then", "also", "now", "instead", "after", "all",
                   "thanks", "only", ",", "."})
THE = frozenset({"the", "its", "my", "that", "this", "those", "these", "their", "for"})
ALIKE = {("stripes", "pinstripes"), ("blue", "navy")}   # what is called the first may be the second
_ONE_OF_EACH = frozenset({"colour", "length", "fit", "neckline"})   # which can only be another
_SLEEVES_AS = {"short": "short", "elbow": "knee-length", "long": "long"}
_AS_SLEEVES = {"short": "short", "medium": "elbow length", "long": "long"}


@dataclass(frozen=True)
class Part:
    """What a person calls a part of a garment: its group, and the words, without an article."""

    group: str
    words: str
    is_thing: bool = False   # "belt", "stripes", "collar"; not "trim", "pattern"


@cache
def spoken(name: str) -> tuple[Words, ...]:
    """The phrases of that name in the table of dialogues, the longest first."""
    found = (tuple("," if word == ";" else word for word in text.split()) for text in listed(table("dialogue")[name]))
    return tuple(sorted(found, key=len, reverse=True))


def in_words(words: Sequence[str]) -> str:
    return " ".join(words).replace(" ,", ",").replace(" .", ".")


def edits_in(text: str) -> tuple[Edit, ...]:
    return parse_edits(text).edits


def groups(edits: Iterable[Edit]) -> set[str]:
    """The attributes that ``edits`` change."""
    return {target(edit) for edit in edits if edit.operation != "keep"}


def moved(edits: Sequence[Edit], part: Part) -> str | None:
    """What ``edits`` ask for, of ``part``: "shorter" of the sleeves is "shorter sleeves". None if that has no
    meaning."""
    found = {text for edit in edits if (text := _moved_one(edit, part))}
    return found.pop() if len(found) == 1 else None


def _moved_one(edit: Edit, part: Part) -> str:
    lengths = ("sleeves", "length")
    if edit.operation == "step" and {edit.group, part.group} <= {*lengths}:
        how = ("much " if abs(edit.direction) > 1 else "") + ("longer" if edit.direction > 0 else "shorter")
        return f"{how} sleeves" if part.group == "sleeves" else how
    if edit.operation == "set" and edit.group in lengths and part.group in lengths:
        if part.group == "sleeves":
            return f"{_AS_SLEEVES.get(edit.value, edit.value)} sleeves"
        return _SLEEVES_AS.get(edit.value, "")
    if edit.operation == "set" and edit.group == "colour" and (part.is_thing or part.group in ("sleeves", "neckline")):
        a = "" if part.words.endswith("s") else "a "
        return f"in {edit.value}, with {a}{edit.value} {part.words}"   # as the garment is
    if edit.operation == "drop" and (part.is_thing or part.group in ("sleeves", "pattern", "trim")):
        return f"without {part.words}"
    if edit.operation in ("drop", "other") and part.group in _ONE_OF_EACH:
        return f"a different {part.words}"
    return ""


def part_of(words: Sequence[str]) -> Part | None:
    """The one part that ``words`` name, and nothing else."""
    words = without_trail([word for word in words if word not in THE])
    if not words or len(words) > 3:
        return None
    items, _ = read(" ".join(words))
    return _part(items[0]) if len(items) == 1 else None


def _part(item: ReadItem) -> Part | None:
    if item.kind == "part":
        return Part(item.sense.group, item.text)
    if item.kind == "value" and item.sense.is_noun:
        return Part(item.sense.pairs[0][0], item.text, is_thing=True)
    if item.kind == "value" and item.sense.pairs[0][0] == "category":
        return Part("length", item.text)   # "the same for the dress"
    return Part("neckline", item.text, is_thing=True) if item.text in ("collar", "turtleneck") else None


def without_lead(words: Sequence[str]) -> Words:
    start = 0
    while start < len(words) and words[start] in LEAD:
        if words[start] in ("no", "not", "well", "so") and start + 1 < len(words) and not _leads(words, start + 1):
            break
        start += 1
    return tuple(words[start:])


def _leads(words: Sequence[str], place: int) -> bool:
    """Whether what is at ``place`` may follow a "no" that stands alone, unlike in "no stripes"."""
    if words[place - 1] == "not":   # "non, je voulais dire"
        return words[place] in (",", ".", "i", "we")
    return words[place] in LEAD or words[place] in ("i", "we", "make", "what", "that", "the", "keep", "both")


def without_trail(words: Sequence[str]) -> Words:
    end = len(words)
    while end and words[end - 1] in TRAIL:
        end -= 1
    return tuple(words[:end])


def after(words: Words, *those: Sequence[str] | Sequence[Words]) -> Words | None:
    """What follows one of the last of ``those`` phrases, before which words of the others may stand; None if none is
    there."""
    *before, found = those
    start = 0
    while start < len(words) and any(words[start] in one for one in before):
        start += 1
    for at in dict.fromkeys((0, start)):
        known = (tuple(one.split()) if isinstance(one, str) else tuple(one) for one in found)
        lengths = [len(one) for one in known if words[at : at + len(one)] == one]
        if lengths:
            return words[at + max(lengths):]
    return None


def clauses(words: Sequence[str]) -> list[Words]:
    """Each with the comma, full stop or "but" that begins it."""
    found: list[list[str]] = [[]]
    for word in words:
        if word in (",", ".", "but"):
            found.append([])
        found[-1].append(word)
    return [tuple(one) for one in found if one]
