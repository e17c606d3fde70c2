"""Attributes as they were: "the colour of the original", "the old sleeves", "the length was better at first"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from cir_core.language.readers.dialogue.phrasing import (
    LEAD,
    THE,
    TRAIL,
    Part,
    Words,
    edits_in,
    in_words,
    part_of,
    without_lead,
    without_trail,
)
from cir_core.language.readers.dialogue.wishes import NOTHING_EARLIER, Talk, edits_of
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import TAKEN, WHOLE, Pointed

_TO = frozenset({"with", "in", "keep", "use", "restore", "to", "back", "go", "give", "me", "bring", "take", "want",
                 "i", "make", "it", "put", "return", "the", "its", "my", "please", "but", "of", "at", "have", "again",
                 "like", "would", "prefer", "leave", "same", "exactly", "liked", "preferred", "loved", "wanted",
                 "think", "thought", "that"})
_FIRST = frozenset({"original", "initial", "first", "starting"})     # "the first colour"
_SAYS_WHEN = frozenset({"original", "initial", "first", "originally", "previous", "old", "earlier", "former", "before",
                        "start", "beginning", "started", "reference", "was", "were", "liked",
                        "preferred", "starting", "began", "normal"})
_EARLIER = frozenset({"previous", "old", "earlier", "former"})
_AT_FIRST = tuple(tuple(words.split()) for words in (
    "it had at first", "it had originally", "it had in the beginning", "it had at the beginning",
    "it had at the start", "from the beginning", "from the start", "of the start", "of the beginning",
    "of the reference", "of the first reference", "as in the original", "as the original", "like the original",
    "like in the original", "in the original", "from the original", "as in the first picture", "as at first",
    "as in the beginning", "at first", "it started with", "we started with", "i started with", "we had at first",
    "like on the very first one", "as on the very first one", "of the very first one", "as in the very first one",
    "like the very first one", "of the very first picture", "like on the first one after all",
    "as on the first one after all", "of the first one after all", "from the first one after all",
    "it began with", "we began with", "i began with",
    "of the one i started with", "of the one we started with", "of the one it started with",
    "of the one i began with", "of the one we began with",
    "back where it started", "back to where it started", "back where they started", "as originally",
    "from the first picture", "of the first picture", "on the first picture", "in the first picture",
    "as on the first picture", "back to the original", "back to normal", "back to the start", "to the original",
    "back to how it started", "back to the beginning", "to what it was at first", "to how it was at first"))
_HAD_BEFORE = tuple(tuple(words.split()) for words in (
    "from before", "it had before", "we had before", "i had before", "as before", "of before", "it was before",
    "it had earlier", "before that", "as it was", "as they were", "the way it was", "the way they were", "how it was",
    "how they were", "as it was before", "as they were before", "like before", "like they were", "like it was",
    "as previously", "as we had before", "as we had it", "how they were before", "how it was before",
    "back to how it was", "back to how they were", "back to what it was", "back to what they were", "back to before",
    "back how it was", "back how they were", "back as it was", "back as they were", "back the way it was",
    "back the way they were", "back to the way it was", "back to the way they were", "back to how it was before",
    "back to the previous one", "back to how they were before", "to how it was", "to how they were", "to what it was",
    "to what they were", "to what it was before", "to how it was before"))
_WERE = frozenset({"was", "were", "looked"})        # "the length was better at first"
_GOOD = frozenset({"better", "fine", "good", "ok", "okay", "nicer", "right", "perfect", "great", "nice", "best",
                   "alright", "prettier", "lovely", "more", "a", "lot", "much", "just", "really", "actually", "quite"})
_LIKED = frozenset({"liked", "preferred", "like", "prefer", "loved", "wanted"})
_WHEN_FIRST = tuple(tuple(words.split()) for words in (
    "at first", "originally", "in the beginning", "at the beginning", "at the start", "to begin with", "initially",
    "in the original", "on the original", "on the first picture", "in the first picture", "on the first one",
    "in the reference", "to start with", "when we started", "when i started", "before all this", "before all that",
    "before all of this"))
_WHEN_BEFORE = tuple(tuple(words.split()) for words in (
    "before", "earlier", "previously", "before that", "the way they were", "the way it was", "as they were",
    "as it was", "how they were", "how it was", "the last time", "a turn ago", "in the last one", "the turn before"))
_EMPHASIS = frozenset({"again", "exactly", "just"})
_ORIGINAL = "<original>"
_PICTURES = frozenset({"picture", "image", "photo", "turn"})
_GARMENTS = frozenset({"one", "reference", "dress", "shirt", "top"})   # which point at it as they are


def at_first(words: Words, talk: Talk) -> Pointed | None:
    """"The original length", "the colour of the original", "the old sleeves", also with other wishes beside it;
    "like the original but longer" goes on from it."""
    if not _SAYS_WHEN.intersection(words):
        return None
    plain = (word for word, then in zip_longest(words, words[1:]) if word not in _EMPHASIS and not (
        (word == "very" and then in _SAYS_WHEN) or (word in ("which", "that") and then in ("it", "we"))))
    words, rest = _in_short(tuple(plain)), []
    texts: list[str] = []
    missing = ""
    place = 0
    while place < len(words):
        found = _first_at(words, place)
        if found is None:
            rest.append(words[place])
            place += 1
            continue
        part, place, earliest = found
        while rest and rest[-1] in _TO | {"and"}:
            rest.pop()
        while place < len(words) and words[place] in TRAIL - {","}:
            place += 1
        rest.append(",")
        if talk.turns:
            texts.append(_first_value(part, earliest, talk))
        else:
            missing = part.words
    others = in_words(without_trail(without_lead(rest)))
    if missing:
        return talk.pointed(others or WHOLE, f"not understood: {talk.said} ({NOTHING_EARLIER})")
    if texts:
        text = ", ".join([*([others] if others else []), *texts])
        return talk.pointed(text, f"{TAKEN}{', '.join(texts)}, as it was {'earlier' if others else 'before'}")
    if _ORIGINAL in words and words[words.index(_ORIGINAL) + 1 :][:1] in ((), (",",), ("but",)):
        return talk.pointed(" ".join("the original one" if word == _ORIGINAL else word for word in words))
    return None


def _first_value(part: Part, earliest: bool, talk: Talk) -> str:
    asked = talk.asked(part.group)
    if not earliest and len(asked) > 1:   # what was asked before the last time
        for edit in reversed(edits_of(asked[-2])):
            if (edit.operation, edit.group) == ("set", part.group):
                return request(part.group, edit.value)
    turn = talk.turns[0] if earliest or not asked else asked[0]
    return talk.value(part.group, turn, every=part.words.endswith("colours"))


def _in_short(words: Words) -> Words:
    """``words`` with one word for each way to say "of the original" and "from before"."""
    found: list[str] = []
    place = 0
    while place < len(words):
        for phrases, short in ((_AT_FIRST, "<first>"), (_HAD_BEFORE, "<before>")):
            match = max((one for one in phrases if words[place : place + len(one)] == one), key=len, default=())
            if match and (part := part_of(found[-1:])) and not part.is_thing and not _says_which(found):
                found.append(short)
                place += len(match)
                break
        else:
            short, length = _praised(words[place:], found)
            if not length:
                short, length = _of_original(words[place : place + 5], found[-1:])
            found.append(short)
            place += length
    return tuple(found)


def _says_which(words: Sequence[str]) -> bool:
    """Whether the part at their end has a value: "long sleeves" as before."""
    return len(words) > 1 and words[-2] not in THE | _TO | LEAD and any(
        edit.operation == "set" for edit in edits_in(" ".join(words[-2:])))


def _praised(words: Words, before: Sequence[str]) -> tuple[str, int]:
    """What "was better at first" or "were fine", which begin ``words``, say of the part that ends ``before``, and how
    many words it is; 0 for anything else."""
    part = part_of(before[-1:])
    if before[-2:-1] and before[-2] not in THE | _TO | LEAD:
        return "", 0   # "long sleeves were fine" says which
    liked = bool(_LIKED.intersection(before))
    if part is None or part.is_thing or not words or not (words[0] in _WERE or liked):
        return "", 0
    end = good = 1 if words[0] in _WERE else 0
    while good < len(words) and words[good] in _GOOD:
        good += 1
    for when, short in ((_WHEN_FIRST, "<first>"), (_WHEN_BEFORE, "<before>")):
        length = max((len(one) for one in when if words[good : good + len(one)] == one), default=0)
        if length and (good > end or liked):
            return short, good + length
    over = good == len(words) or words[good] in (",", ".", "but", "and")
    return ("<before>", good) if good > end and words[0] in _WERE and over else ("", 0)


def _of_original(words: Words, before: Sequence[str]) -> tuple[str, int]:
    """What the first of ``words`` becomes, and how many of them."""
    if words[:3] in (("of", "the", "original"), ("of", "the", "first")) and part_of(before) and (
            words[3:4] not in (("result",), ("one",), ("hit",)) or (words[4:] and words[4] in _WERE)):
        return "<first>", 4 if words[3:] and words[3] in {*_PICTURES, "result", "one", "hit"} else 3
    alone = words[:2] == ("the", "original") and not (words[2:3] and words[2] in {*_PICTURES, *_GARMENTS})
    return (_ORIGINAL, 2) if alone and not part_of(words[2:3]) else (words[0], 1)


def _first_at(words: Words, place: int) -> tuple[Part, int, bool] | None:
    """The part that ``words`` want as it was, from ``place`` on: "original length"; the place after it, and whether as
    at first."""
    earliest = words[place] in _FIRST
    if place and words[place - 1] in ("a", "an", "some"):
        return None
    if earliest or words[place] in _EARLIER:
        part = part_of(words[place + 1 : place + 2])
        return (part, place + 2, earliest) if part and (not part.is_thing or words[place] != "first") else None
    if words[place + 1 : place + 2] == ("original",) and not part_of(words[place + 2 : place + 3]) and (
            part := part_of(words[place : place + 1])):
        return part, place + 2, True   # the noun comes first in many languages
    if words[place + 1 : place + 2] in (("<first>",), ("<before>",)) and (part := part_of(words[place : place + 1])):
        return part, place + 2, words[place + 1] == "<first>"
    return None

