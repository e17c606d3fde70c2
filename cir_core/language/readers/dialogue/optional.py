"""Wishes that need not hold any longer: "any colour will do", "the length is up to you", "ruffles optional", "flowers
are ok too" after "no flowers". Nothing is asked in their place, unlike where they are given up (:mod:`.released`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.edits import target
from cir_core.language.readers.dialogue.phrasing import (
    ALIKE,
    LEAD,
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
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import TAKEN, WHOLE, Pointed

_COLOUR_OF = {"trim": "second_colour", "pattern": "second_colour"}
_MOST = 6   # words that name what is optional
_ARTICLES = frozenset({"a", "an", "the", "its", "my", "that", "those", "these", "this", "some", "of", "about", "be",
                       "have"})
_LEAD = (LEAD | {"and"}) - {"no", "not", "nope", "nah"}
_ALSO = frozenset({"too", "also", "well", "either"})
_WHO = frozenset({"it", "i", "am", "they", "you", "its", "we"})
_NO_NAME = frozenset({"not", "was", "were"})   # "red is not ok", "yellow was ok"
_IS = frozenset({"is", "would", "be"})
_PLAINER: dict[str, Words] = {
    "are": ("is",), "isnt": ("is", "not"), "arent": ("is", "not"), "doesnt": ("does", "not"), "dont": ("does", "not"),
    "do": ("does",), "matter": ("matters",), "work": ("works",), "im": ("i", "am"), "okay": ("ok",), "alright": ("ok",),
    "anymore": ("any", "more"),
}
_ANY, _FREE, _DO = spoken("any_before"), spoken("optional_before"), spoken("any_after")
_ANY_MORE = spoken("any_more")
_NOTHING: tuple[Words, ...] = ((),)
# What stands before and after the name, and whether it must be that of a part.
_FORMS = ((_ANY, (*_DO, ()), True), ((("other",),), _DO, True), (_FREE, (*_DO, ()), False),
          (_NOTHING, spoken("optional_after"), False))
# Of what was refused, or beside what was asked for.
_ALLOWING = ((spoken("allowed_before"), _NOTHING), (_NOTHING, spoken("allowed_after")))


def optional(words: Words, talk: Talk) -> tuple[Words, tuple[str, ...]]:
    """``words`` without the clauses that set wishes free, and the attributes of these."""
    left, free = list[Words](), list[str]()
    said = clauses(words)
    for clause, after in zip(said, (*said[1:], ()), strict=True):
        lead = clause[:1] if clause[:1] in ((",",), (".",), ("but",)) else ()
        found, instead = _set_free(_plain(clause), talk)
        if after[:1] == ("but",) and any(edit.operation == "set" and target(edit) in found
                                         for edit in edits_in(in_words(after[1:]))):
            found, instead = [], None   # "any colour but red"
        free += found
        left += [clause] if instead is None else [(*lead, *instead)] if instead else []
    if left == said:
        return words, ()
    return without_lead(tuple(word for clause in left for word in clause)), tuple(dict.fromkeys(free))


def _plain(clause: Words) -> Words:
    """Without the words at its beginning that say nothing; "no" says much. "Is" for "are", and the like."""
    start = 0
    while start < len(clause) and clause[start] in _LEAD:
        start += 1
    said = tuple(plain for word in clause[start:] for plain in _PLAINER.get(word, (word,)))
    who = next((at for at, word in enumerate(said) if word not in _WHO), 0)
    return said[who:]


def with_released(found: Pointed | None, rest: Words, free: Sequence[str], talk: Talk) -> Pointed:
    """What the ``rest`` of a text was ``found`` to mean (None: what it says), without the wishes for what is
    ``free``."""
    said = in_words(rest)
    found = found or talk.pointed(said or WHOLE)
    named = {group: group.replace("_", " ") for group in free}
    note = TAKEN + (", ".join([*([said] if said else []), *(f"any {name}" for name in named.values())]) or WHOLE)
    return replace(found, notes=(note, *found.notes),
                   released=tuple(name for group, name in named.items() if talk.asked(group)))


def only_refuses(rest: Words, released: Sequence[str]) -> bool:
    """Whether ``rest`` says no more than what of the ``released`` attributes stays refused: "any colour, just not
    black"."""
    edits = edits_in(in_words(rest))
    return bool(edits) and all(edit.operation == "drop" and target(edit) in released for edit in edits)


def _set_free(said: Words, talk: Talk) -> tuple[list[str], Words | None]:
    """The attributes that a clause sets free, and the words in its place; None for any other clause."""
    also = bool(_ALSO.intersection(said))
    said = without_trail(tuple(word for word in said if word != "also"))
    said = next((without_trail(said[: -len(one)]) for one in _ANY_MORE if said[-len(one) :] == one), said)
    if (either := _with_or_without(said)) and (groups := _groups(either, needs_part=False)):
        return groups, ()
    for before, after, needs_part in _FORMS:
        for rest in _between(said, before, after):
            if groups := _groups(rest, needs_part=needs_part):
                if said[-1:] == ("colour",) and said[len(rest) :]:   # "the edges can be any colour"
                    groups = [_COLOUR_OF.get(one, one) for one in groups]
                return groups, ()
    for before, after in _ALLOWING:
        for rest in _between(said, before, after):
            if (found := _allowed(rest, talk, also=also)) is not None:
                return found
    instead = _as_well(said, talk) if also else ()   # "blue too"
    return [], instead or None


def _with_or_without(said: Words) -> Words:
    """The thing of "buttons or no buttons"; () for anything else."""
    place = next((at for at in range(1, len(said) - 2) if said[at : at + 2] == ("or", "no")), 0)
    return said[:place] if place and said[:place] == said[place + 2 :] else ()


def _allowed(named: Words, talk: Talk, *, also: bool) -> tuple[list[str], Words | None] | None:
    """What was refused and may be there after all, beside what stays refused; what may be there as well as what was
    asked for: "red is fine too" after "in green". None for anything else."""
    edits = edits_in(in_words(named))
    group = target(edits[0]) if len(edits) == 1 and edits[0].operation == "set" else ""
    if not group:
        parts = _groups(named, needs_part=True)
        return (parts, ()) if parts and all(_is_refused(one, talk) for one in parts) else None
    value = edits[0].value
    if _is_refused(group, talk):
        refused = talk.wishes.refused(group)
        left = [one for one in refused if one != value and (value, one) not in ALIKE and (one, value) not in ALIKE]
        if refused and len(left) == len(refused):   # it was not refused
            return ([], ()) if also else None
        return [group], tuple(", ".join(f"no {phrase(group, one)}" for one in left).replace(",", " ,").split())
    instead = _as_well(named, talk) if also else ()
    return ([], instead) if instead else None


def _as_well(named: Words, talk: Talk) -> Words:
    """What was asked for or what is ``named``; () where nothing like it was asked for."""
    edits = edits_in(in_words(named)) if len(named) <= _MOST else ()
    group = target(edits[0]) if len(edits) == 1 and edits[0].operation == "set" else ""
    wished = talk.wishes.wished(group) if group not in ("", "second_colour", "category") else []
    if not wished or edits[0].value in wished:
        return ()
    return tuple(" or ".join(request(group, one) for one in (*wished, edits[0].value)).split())


def _between(said: Words, before: Sequence[Words], after: Sequence[Words]) -> list[Words]:
    found = []
    starts = [len(one) for one in before if said[: len(one)] == one]
    for end in (len(said) - len(one) for one in after if said[len(said) - len(one) :] == one):
        while 0 < end < len(said) and said[end - 1] in _IS:
            end -= 1
        named = (said[start:end] for start in starts if 0 < end - start <= _MOST)
        found += [words for words in named if not _NO_NAME.intersection(words)]
    return found


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
    words = ("sleeves",) if words == ("sleeve", "length") else words
    edits = edits_in(in_words(words)) if words else ()
    part = part_of(words) if not any(edit.group == "category" for edit in edits) else None   # not "a dress"
    if part is not None and not (needs_part and part.is_thing):
        return part.group
    if needs_part or any(edit.group == "category" for edit in edits):
        return ""
    return target(edits[0]) if len(edits) == 1 and edits[0].operation == "set" else ""


def _is_refused(group: str, talk: Talk) -> bool:
    last = [edit for edits in talk.wishes.edits for edit in edits
            if edit.operation != "keep" and target(edit) == group]
    return bool(last) and (last[-1].operation == "drop" or last[-1].value in ("plain", "none"))
