"""Corrections of the last turn: "no, I meant navy", "no, only the pocket", "yellow is too loud, so the other one",
"the same for the sleeves", "both", "undo that and make it red"."""

from __future__ import annotations

from itertools import pairwise

from cir_core.language.acts import read_act
from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.edits import target
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.builtin.reading.vocabulary import tokenise
from cir_core.language.readers.dialogue.originals import at_first
from cir_core.language.readers.dialogue.phrasing import (
    ALIKE,
    THE,
    TRAIL,
    Part,
    Words,
    after,
    edits_in,
    groups,
    in_words,
    moved,
    part_of,
    spoken,
    without_lead,
    without_trail,
)
from cir_core.language.readers.dialogue.released import given_up
from cir_core.language.readers.dialogue.wishes import NOTHING_EARLIER, Talk, edits_of, in_place_of
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import TAKEN, WHOLE, Pointed
from cir_core.language.readers.scene import Unclear

_SHORT = 6         # words: "and the sleeves too please"
_JOINS = frozenset({",", ".", "and", "but", "then", "with", "in"})
_MEANT = ("i meant to say", "i meant", "i mean", "i actually meant", "we meant", "what i meant was", "what i meant is",
          "i wanted to say", "i meant it", "meant", "that should be", "it should say", "i really meant")
_SAME = ("same for", "same to", "same thing for", "same thing with", "same thing to", "same change for",
         "same change to", "same goes for", "same applies to", "do the same for", "do the same to",
         "do the same with", "also for", "do the same thing to", "likewise for", "likewise", "do that for",
         "do that to", "do this to", "that for", "do it for", "do it to", "apply that to", "apply the same to",
         "same the", "do likewise for", "do likewise with", "and same for", "repeat that for", "ditto for",
         "same treatment for", "same again for", "same story for")
_SAME_WITH = ("same with", "same in", "same on", "also", "and")   # which also begin wishes: "same with a belt"
_BOTH = frozenset({"both", "both of them", "both of these", "both of those", "both together", "both at once",
                   "both are fine", "both are good", "both at the same time"})
_MOST_RATHER = 4   # words
_BEFORE_BOTH = frozenset({"i", "keep", "want", "take", "like", "with", "in", "have", "show", "me", "would", "make",
                          "it", "id", "use", "need"})
_OTHER = frozenset({("the", "other"), ("other", "one"), ("other", "colour"), ("other", "then")})
_DENIED = frozenset({"no", "not", "nope", "sorry", "wait", "oh", "oops", "actually", "hm", "hmm"})
_FORMER, _LATTER = frozenset({"former", "first"}), frozenset({"latter", "second", "last"})
_OF_TWO = frozenset({"the", "make", "that", "it", "take", "id", "ill", "i", "go", "with", "for", "one", "would",
                     "prefer",
                     "then", "of", "those", "two", "them", "these", "please", "will", "rather", "have", "choose", "let",
                     "lets", "want", "in"})


def same(words: Words, talk: Talk) -> Pointed | None:
    """"The same for the sleeves", "the sleeves too"."""
    if (rest := after(words, ("the",), _SAME)) is not None:
        if (part := part_of(rest)) is not None:
            return _same_for(part, talk)
        if not edits_in(" ".join(rest)):
            raise Unclear(talk.said, "say which part is meant, for example the sleeves")
        return None
    rest = after(talk.words, ("the",), _SAME_WITH)
    also = _is_also(words)
    if rest is None and not also:
        return None
    part = part_of(words if rest is None else rest)
    if part is None or len(words) > _SHORT or not talk.turns or (part.is_thing and "the" not in words):
        return None
    if (found := _as_it_was(part, talk)) is not None:
        return found
    if moved(talk.wishes.last, part) is None and (part.is_thing or not also):
        return None   # "and the buttons" asks for buttons
    return _same_for(part, talk)


def _same_for(part: Part, talk: Talk) -> Pointed:
    """"Shorter", then "the same for the sleeves"; "the neck as it was", then "and the sleeves"."""
    last = talk.last()
    if (found := _as_it_was(part, talk)) is not None:
        return found
    if (text := moved(talk.wishes.last, part)) is not None:
        return talk.taken(text)
    raise Unclear(talk.said, f"“{last.modification_text}” cannot be said of the {part.words}")


def _as_it_was(part: Part, talk: Talk) -> Pointed | None:
    """What the last turn says, of ``part``, where it gave wishes up: "the neck back to how it was", then "and the
    sleeves too"; also where turns between them did that already."""
    for turn in reversed(talk.turns):
        said = without_lead(tuple(tokenise(translate(turn.modification_text).text)))
        if (place := _named_part(said)) is None:
            return None
        words = (*said[: place.start], *part.words.split(), *said[place.stop :])
        if (found := given_up(words, talk) or at_first(words, talk)) is not None:
            return found
        if after(said, ("the",), (*_SAME, *_SAME_WITH)) is None and not _is_also(said):
            return None
    return None


def _named_part(words: Words) -> slice | None:
    """Where ``words`` name a part of which there is always one, or sleeves."""
    spans = ((start, end) for start, word in enumerate(words) if word not in THE
             for end in range(min(len(words), start + 3), start, -1))
    return next((slice(start, end) for start, end in spans if words[end - 1] not in TRAIL
                 and (part := part_of(words[start:end])) is not None and not part.is_thing), None)


def _is_also(words: Words) -> bool:
    return words[-1:] in (("too",), ("also",)) or words[-2:] == ("as", "well")


def after_act(talk: Talk) -> Pointed | None:
    """"Undo that and make it red", "start over with red": from an earlier reference, with the wishes before it."""
    for at, word in enumerate(talk.words):
        act = read_act(" ".join(talk.words[:at])) if word in _JOINS and at else None
        if act is not None and act.kind in ("undo", "start over"):
            rest = without_lead(talk.words[at + (word not in ("with", "in")) :])
            text = " ".join(rest)
            if not edits_in(text):
                return None
            if not talk.turns:
                return talk.pointed(text, f"not understood: {' '.join(talk.words[:at])} ({NOTHING_EARLIER})")
            held = max(0, len(talk.turns) - act.number) if act.kind == "undo" else 0
            turn = talk.turns[held]
            return Pointed(text, turn.reference_id, (f"{TAKEN}{text}, from before turn {held + 1}",), held,
                           turn.further)
    return None


def rather(words: Words, talk: Talk) -> Pointed | None:
    """"Nah green" of something that is not green: a wish, unlike "nah stripes" of something striped."""
    if talk.words[:1] not in (("nah",), ("nope",)) or not 0 < len(words) <= _MOST_RATHER:
        return None
    edits, there = edits_in(in_words(words)), talk.slots(talk.scene.reference_id)
    wished = bool(edits) and all(
        edit.operation == "set" and there.get(edit.group, edit.value) not in (edit.value, *edit.either)
        for edit in edits)
    return talk.taken(in_words(words)) if wished else None


def corrected(words: Words, talk: Talk) -> Pointed | None:
    """"No, I meant navy": where the last turn asked for something else than a colour, that no longer holds. ``words``:
    without those before them."""
    rest = _meant(talk.words, words)
    if not rest:
        return None
    text, part = in_words(rest), part_of(rest)
    if part is not None and not (part.is_thing and not talk.turns):
        last = talk.last()
        other = moved(talk.wishes.last, part)
        if other is None and not part.is_thing:
            raise Unclear(talk.said, f"say what the {part.words} should be like")
        return talk.instead_of(last, other or text)
    if not talk.turns:
        return talk.pointed(text)
    last = talk.last()
    now, then = groups(edits_in(text)), groups(talk.wishes.last)
    if (revoked := talk.scene.revoked) is not None and now & groups(edits_of(revoked)):
        return talk.pointed(text)   # "undo", then "I meant red"
    named = talk.wishes.naming(edits_in(text))
    if now and then and not now & then and named is None and now != {"category"}:   # "a shirt, not a blouse" adds
        return talk.instead_of(last, text)
    return talk.pointed(text, *([in_place_of(text, named or last)] if now and then else []))


def means(words: Words, talk: Talk) -> bool:
    """Whether ``words`` are a correction, of which nothing more can be made."""
    return _meant(talk.words, words) is not None


def _meant(said: Words, words: Words) -> Words | None:
    """What a correction puts in the place of the last turn's wish: "navy" of "no, I meant navy", "the sleeves" of "not
    the length, the sleeves"; None if ``said`` is none. ``words``: without those before it."""
    if (rest := after(words, _MEANT)) is not None:
        return without_lead(rest)
    for place, word in enumerate(words):   # "the colour is wrong, I meant cream"
        rest = after(words[place + 1 :], _MEANT) if word in (",", ".") else None
        if rest and not any(edit.operation == "set" for edit in edits_in(in_words(words[:place]))):
            return without_lead(rest)
    for ending in (("i", "meant"), ("i", "mean")):
        if words[-2:] == ending and (ending[1] == "meant" or said[:1] != words[:1]):   # "neither long nor short I mean"
            return without_trail(words[:-2])
    first, _, second = " ".join(words).partition(" , ")
    if second and first.startswith("not ") and part_of(first.split()[1:]) and (part := part_of(second.split())):
        return None if part.is_thing else tuple(second.split())
    part = part_of(words)
    return words if part and not part.is_thing and said[:1] in (("no",), ("sorry",), ("wait",), ("oops",)) and (
        len(said) > len(words)) else None


def one_of_two(words: Words, talk: Talk) -> Pointed | None:
    """"Yellow is too loud, so the other one", "the latter", where the last turn asked for yellow or orange, or the last
    two turns for one each."""
    if (found := _former_or_latter(words, talk)) is not None:
        return found
    said = edits_in(talk.said) if any(pair in _OTHER for pair in pairwise(words)) and talk.turns else ()
    named_groups = {edit.group for edit in said if edit.operation in ("set", "drop") and edit.value}
    if len(named_groups) != 1 or len({edit.value for edit in said if edit.group in named_groups}) != 1:
        return None
    group, named = named_groups.pop(), next(edit.value for edit in said if edit.value)
    two = talk.wishes.values(group)[:2]
    if len(two) < 2 or named not in two or (two[0], two[1]) in ALIKE:
        return None
    return talk.taken(request(group, two[1 - two.index(named)]))


def _former_or_latter(words: Words, talk: Talk) -> Pointed | None:
    said = frozenset(without_trail(words))
    place = 0 if said & _FORMER else 1
    if not talk.turns or not said <= _OF_TWO | _FORMER | _LATTER or len(said & (_FORMER | _LATTER)) != 1 or (
            said & {"first", "second", "last"} and not said & {"those", "two", "them", "these"}):
        return None
    offered = next((edit for edit in talk.wishes.last if edit.operation == "set" and edit.either), None)
    if offered is None:
        return None
    named = list(dict.fromkeys((offered.value, *offered.either)))
    return talk.taken(request(offered.group, named[place])) if len(named) == 2 else None


def only(words: Words, talk: Talk) -> Pointed | None:
    """"No, only the pocket" after "without the pocket and the belt": one wish of several in the last turn."""
    rest = after(words, ("no", "not", "both", ","), ("only", "just")) if _DENIED.intersection(talk.words[:1]) else None
    rest = rest or after(words, ("no",), spoken("only_meant"))
    if not rest or not talk.turns or len(rest) > _SHORT:
        return None
    last, part = talk.last(), part_of(rest)
    asked = [edit for edit in edits_of(last) if edit.operation != "keep"]
    named = {part.group} if part else groups(edits_in(" ".join(rest)))
    meant = [edit for edit in asked if edit.group in named]
    if len(groups(asked)) < 2 or len(meant) != 1 or len(named) != 1:
        return None
    edit = meant[0]
    if edit.operation == "drop":
        return talk.instead_of(last, f"no {phrase(edit.group, edit.value) if edit.value else ' '.join(rest)}")
    return talk.instead_of(last, request(edit.group, edit.value) if edit.operation == "set" else " ".join(rest))


def reversed_colours(words: Words, talk: Talk) -> Pointed | None:
    """"Reverse that", "swap them", where two colours were asked for."""
    named = {target(edit) for edit in talk.wishes.last if edit.operation in ("set", "swap")}
    asked = {"colour", "second_colour"} <= named or any(edit.operation == "swap" for edit in talk.wishes.last)
    return talk.taken("swap the colours") if asked and without_trail(words) in spoken("reversed") else None


def both(words: Words, talk: Talk) -> Pointed | None:
    """"Both": of two values that were offered or named in the last turns."""
    start = next((at for at, word in enumerate(words) if word not in _BEFORE_BOTH), 0)
    if " ".join(without_trail(words[start:])) not in _BOTH:
        return None
    talk.last()
    last = talk.wishes.last
    values = [(edit.group, one) for edit in last if edit.operation == "set" for one in (edit.value, *edit.either)
              if (edit.value, one) != ("stripes", "pinstripes")]
    before = talk.wishes.edits[-2] if len(talk.turns) > 1 else ()
    if len(values) == 1:
        values = [*((edit.group, edit.value) for edit in before if edit.operation == "set"), *values]
    by_group = {group: list(dict.fromkeys(value for one, value in values if one == group)) for group, _ in values}
    several = {group: found for group, found in by_group.items() if len(found) > 1}
    if not several and (len(by_group) > 1 or (before and last)):
        return talk.pointed(WHOLE, f"{TAKEN}what the last two turns asked for, together")
    if list(several) == ["colour"] and len(several["colour"]) == 2:
        return talk.taken(f"in {' and '.join(several['colour'])}")
    if several:
        group, found = next(iter(several.items()))
        named = " and ".join(phrase(group, one) for one in found)
        raise Unclear(f"both, {named}", f"an image is described with one {group.replace('_', ' ')}: say which")
    raise Unclear(talk.said, NOTHING_EARLIER)
