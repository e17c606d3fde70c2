"""Wishes that need not hold any longer: "any colour will do", "the length is up to you", "ruffles optional", "flowers
are ok too" after "no flowers". Nothing is asked in their place, unlike where they are given up (:mod:`.released`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cir_core.language.builtin.reading.edits import target
from cir_core.language.readers.dialogue.phrasing import (
    Words,
    clauses,
    edits_in,
    in_words,
    part_of,
    spoken,
    without_lead,
    without_trail,
)
from cir_core.language.readers.dialogue.wishes import Talk
from cir_core.language.readers.reader import TAKEN, WHOLE, Pointed

_COLOUR_OF = {"trim": "second_colour", "pattern": "second_colour", "category": "colour"}
_MOST = 6   # words that name what is optional
_ARTICLES = frozenset({"a", "an", "the", "its", "my", "that", "those", "these", "this", "some", "of", "about", "be",
                       "have"})
_ANY, _FREE = spoken("any_before"), spoken("optional_before")
_DO, _LEFT_OPEN, _ALLOWED = spoken("any_after"), spoken("optional_after"), spoken("allowed_after")
_ALLOWING = spoken("allowed_before")
_ANY_MORE = spoken("any_more")
_NOTHING: tuple[Words, ...] = ((),)
# What stands before and after the name, whether it must be that of a part, and whether of what was refused.
_FORMS = ((_ANY, (*_DO, ()), True, False), (_FREE, (*_DO, ()), False, False), (_NOTHING, _LEFT_OPEN, False, False),
          (_ALLOWING, _NOTHING, False, True), (_NOTHING, _ALLOWED, False, True))


def optional(words: Words, talk: Talk) -> tuple[Words, tuple[str, ...]]:
    """``words`` without the clauses that set wishes free, and the attributes of these of which an earlier turn asked
    for something. All of ``words``, where nothing was asked and nothing else is said."""
    left, free = list[Words](), list[str]()
    said = clauses(words)
    for clause, after in zip(said, (*said[1:], ()), strict=True):
        found = _set_free(without_lead(clause), talk)
        if after[:1] == ("but",) and any(edit.operation == "set" and target(edit) in found
                                         for edit in edits_in(in_words(after[1:]))):
            found = []   # "any colour but red"
        free += found
        left += [] if found else [clause]
    rest = without_lead(tuple(word for clause in left for word in clause))
    released = tuple(one for one in dict.fromkeys(free) if talk.asked(one))
    return (rest, released) if free and (released or edits_in(in_words(rest))) else (words, ())


def with_released(found: Pointed | None, rest: Words, released: Sequence[str], talk: Talk) -> Pointed:
    """What the ``rest`` of a text was ``found`` to mean (None: what it says), without the wishes ``released``."""
    said = in_words(rest)
    found = found or talk.pointed(said or WHOLE)
    names = tuple(group.replace("_", " ") for group in released)
    note = TAKEN + ", ".join([*([said] if said else []), *(f"any {name}" for name in names)])
    return replace(found, notes=(note, *found.notes), released=names)


def only_refuses(rest: Words, released: Sequence[str]) -> bool:
    """Whether ``rest`` says no more than what of the ``released`` attributes stays refused: "any colour, just not
    black"."""
    edits = edits_in(in_words(rest))
    return bool(edits) and all(edit.operation == "drop" and target(edit) in released for edit in edits)


def _set_free(said: Words, talk: Talk) -> list[str]:
    """The attributes that a clause sets free; none for any other clause."""
    said = without_trail(said)
    said = next((without_trail(said[: -len(one)]) for one in _ANY_MORE if said[-len(one) :] == one), said)
    for before, after, needs_part, refused in _FORMS:
        for rest in _between(said, before, after):
            groups = _groups(rest, needs_part=needs_part)
            if said[-1:] == ("colour",) and said[len(rest):]:   # "the edges can be any colour"
                groups = [_COLOUR_OF.get(one, one) for one in groups]
            if groups and (not refused or all(_is_refused(one, talk) for one in groups)):
                return groups
    return []


def _between(said: Words, before: Sequence[Words], after: Sequence[Words]) -> list[Words]:
    starts = [len(one) for one in before if said[: len(one)] == one]
    ends = [len(said) - len(one) for one in after if said[len(said) - len(one) :] == one]
    return [said[start:end] for start in starts for end in ends if 0 < end - start <= _MOST]


def _groups(words: Words, *, needs_part: bool) -> list[str]:
    """What ``words`` name, with "and" and "or" between."""
    named: list[list[str]] = [[]]
    for word in words:
        if word in ("and", "or", "nor"):
            named.append([])
        else:
            named[-1].append(word)
    found = [_group(tuple(one), needs_part=needs_part) for one in named]
    return list(dict.fromkeys(found)) if all(found) else []


def _group(words: Words, *, needs_part: bool) -> str:
    while words[:1] and words[0] in _ARTICLES:
        words = words[1:]
    part = part_of(words)
    if part is not None and not (needs_part and part.is_thing):
        return part.group
    edits = edits_in(" ".join(words)) if words and not needs_part else ()
    return target(edits[0]) if len(edits) == 1 and edits[0].operation == "set" else ""


def _is_refused(group: str, talk: Talk) -> bool:
    last = [edit for edits in talk.wishes.edits for edit in edits
            if edit.operation != "keep" and target(edit) == group]
    return bool(last) and (last[-1].operation == "drop" or last[-1].value in ("plain", "none"))
