"""Wishes that no longer hold: "forget the pocket", "never mind the colour", "drop both", "nothing there"."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.edits import Edit
from cir_core.language.readers.dialogue.phrasing import (
    ALIKE,
    Words,
    after,
    edits_in,
    in_words,
    part_of,
    spoken,
    without_lead,
    without_trail,
)
from cir_core.language.readers.dialogue.wishes import NOTHING_EARLIER, Talk
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import WHOLE, Pointed
from cir_core.language.readers.scene import Unclear

_SPEAKING = ("i", "have", "ive", "ve", "we", "just")
_WHO = ("i", "id", "ill", "would", "will", "we", "lets", "just", "please", "could", "can", "you", "want", "to", "like")
_MIND = ("changed my mind about", "changed our mind about", "changed my mind on", "change my mind about",
         "changed my mind regarding", "changed my mind with", "was wrong about", "were wrong about")
_FORGET = ("forget", "forget about", "never mind", "never mind about", "forget what i said about", "ignore", "undo",
           "reset", "ignore what i said about", "scrap", "drop", "take back", "cancel", "leave out", "revert",
           "dont change", "take back what i said about", "never mind what i said about", "nevermind",
           "undo what i said about", "scratch", "put back", "restore", "leave alone", "forget what i asked about",
           "release", "unset", "drop the idea with", "forget the idea with", "scrap the idea with", "give up on")
_BIT = frozenset({"bit", "part", "thing", "things", "idea", "wish", "request", "stuff", "again", "also"})
_LEFT = frozenset({"leave", "keep", "put", "have", "let", "just"})
_AS_IT_WAS = frozenset({"them", "it", "those", "that", "as", "how", "like", "they", "the", "way", "were", "was", "are",
                        "is", "before", "originally", "at", "first", "to", "what", "please", "be", ",", "."})
_STARTED = frozenset({"started", "start", "began", "beginning", "original", "originally", "first"})
_TAKING = spoken("taken_back")   # "back"
_ALWAYS = frozenset({"colour", "sleeves", "length", "fit", "neckline"})
_MOST = 4   # words of a value that is given up
_SMALL = frozenset({"please", "i", "we", "me", "can", "could", "you", "to", "again"})
_BRING = frozenset({"put", "bring", "get", "give", "have", "want", "turn", "change", "set", "switch"})
_RETURNS = spoken("comes_back")
_BOTH = frozenset({"both", "them", "all"})
_TAKE = frozenset({"drop", "remove", "lose", "ditch", "scrap", "delete", "forget", "undo", "cancel", "skip", "omit",
                   "scratch", "without", "not", "neither", "no", "take", "leave", "get", "dont", "want", "away", "off",
                   "out", "rid", "go", "can", "must", "should", "have", "to", "of", "those", "them", "these", "two",
                   "with", "i", "need", "like", "actually", "again", "please", "back", "the", "all"})
_REFUSES = frozenset({"drop", "remove", "lose", "ditch", "scrap", "delete", "forget", "undo", "cancel", "skip", "omit",
                      "scratch", "without", "away", "off", "out", "rid", "go", "back", "neither", "dont"})
_NOTHING = spoken("nothing")


def given_up(words: Words, talk: Talk) -> Pointed | None:
    """"I changed my mind about the sleeves", "forget the colour", "put the sleeves back"."""
    words = _without_rest(words)
    if (text := _value_given_up(words, talk)):
        return talk.taken(text)
    if (rest := after(words, _SPEAKING, _MIND)) is not None:
        return _as_in_reference(rest, talk)
    cut = next((at for at, word in enumerate(words) if word in (",", ".", "but")), len(words))
    rest = without_lead(words[cut:])
    if rest[:1] in (("keep",), ("leave",)) and (asked := talk.asked(_group(part_given_up(words[:cut])))):
        text = talk.original(_group(part_given_up(words[:cut])), asked[0])
        kept = [wish for edit in edits_in(in_words(rest)) if (wish := _kept(edit, talk))]
        return talk.taken(", ".join([text, in_words(rest), *kept]), ", as at first")   # "scrap it, keep the sleeves"
    part = part_given_up(words)
    return _as_in_reference(part, talk) if part and talk.asked(_group(part)) else None


def part_given_up(words: Words) -> Words:
    """The words of the part whose wishes are given up, in a text of nothing else; () for any other text."""
    cut = next((at for at, word in enumerate(words) if word in (",", ".")), len(words))
    if words[cut + 1 : cut + 2] and words[cut + 1] in _LEFT and {*words[cut + 2 :]} <= _AS_IT_WAS:
        words = words[:cut]   # "never mind the sleeves, leave them as they were"
    words = tuple(word for word in words if word not in _BIT)
    forgotten = after(words, _WHO, _FORGET) or _put_back(words)
    part = part_of(forgotten) if forgotten else None
    return forgotten if forgotten and part and not part.is_thing else ()


def _without_rest(words: Words) -> Words:
    """``words`` without "the rest is fine" after other ones."""
    ending = next((one for one in spoken("rest_stays") if words[-len(one) :] == one and len(words) > len(one) + 1), ())
    before = words[: len(words) - len(ending)]
    return before[:-1] if ending and before[-1] in (",", ".", "but", "and") else words


def _value_given_up(words: Words, talk: Talk) -> str:
    """"Forget the loose bit": what the reference had before the value was asked for; "" for any other text."""
    said = tuple(word for word in without_trail(words) if word not in _BIT)
    forgotten = after(said, _WHO, _FORGET) or after(said, _SPEAKING, _MIND) or _before_taking(said, talk)
    edits = edits_in(" ".join(forgotten)) if forgotten and len(forgotten) <= _MOST else ()
    if len(edits) != 1 or edits[0].operation != "set" or part_of(forgotten or ()):
        return ""
    edit = edits[0]
    turn = talk.wishes.naming(edits)
    if turn is None or edit.group == "category" or talk.slots(turn.reference_id).get(edit.group) in (None, edit.value):
        return ""
    return talk.value(edit.group, turn)


def _before_taking(words: Words, talk: Talk) -> Words | None:
    """"The loose" of "the loose I take back"."""
    ending = next((one for one in _TAKING if words[-len(one) :] == one), None)
    if ending is None and talk.words[-1:] == ("back",):   # "I take the skinny back"
        return after(words, ("i", "ill", "we"), ("take",))
    return words[: -len(ending)] if ending else None


def _group(words: Words) -> str:
    part = part_of(words)
    return part.group if part else ""


def _put_back(words: Words) -> Words | None:
    """"The sleeves" of "put the sleeves back", "I want the old sleeves back please", "the print can come back"; None if
    ``words`` are none."""
    said = tuple(word for word in words if word not in _SMALL)
    if (ending := next((one for one in _RETURNS if words[-len(one) :] == one and len(words) > len(one)), None)):
        return words[: -len(ending)]
    bring = _BRING | {"take"} if words[:1] in (("i",), ("ill",), ("we",)) else _BRING   # not "take the hem back in"
    return said[1:-1] or None if said[-1:] == ("back",) and said[0] in bring else None


def _as_in_reference(rest: Words, talk: Talk) -> Pointed:
    """The wishes about a part are given up: it is as in the reference from which it was first asked about."""
    cut = next((at for at, word in enumerate(rest) if word in (",", ".", "but")), len(rest))
    then = without_lead(rest[cut:])
    part = part_of(rest[:cut])
    if part is None:
        raise Unclear(talk.said, "say which part is meant, for example the sleeves")
    if then and not _STARTED.intersection(then):   # "make it the same as on the dress I started from"
        return talk.taken(" ".join(part.words if word in ("them", "it", "one") else word for word in then))
    asked = talk.asked(part.group)
    if not asked:
        raise Unclear(talk.said, NOTHING_EARLIER if not talk.turns else f"nothing was asked about the {part.words}")
    return talk.taken(talk.original(part.group, asked[0]), ", as at first")


def all_dropped(words: Words, talk: Talk) -> Pointed | None:
    """"Drop both", "neither", "nothing at all there": what the last turn asked to have is not wanted."""
    said = without_trail(words)
    both = bool(said) and bool(_BOTH.intersection(said) or "neither" in said) and (
        {*said} <= _TAKE | _BOTH) and bool(_REFUSES.intersection(said))
    if not (both or said in _NOTHING) or not talk.turns:
        return None
    last = [edit for edit in talk.wishes.last if edit.operation in ("set", "step", "sleeved")]
    if both and "two" not in said and len(last) == 1 and len(talk.turns) > 1:   # one of each of the last two turns
        last = [*(edit for edit in talk.wishes.edits[-2] if edit.operation == "set"), *last]
    things = last if both else [edit for edit in last if edit.group in ("trim", "pattern")]
    if not things:
        return None
    if any(edit.operation != "set" for edit in things):
        return talk.instead_of(talk.last(), WHOLE)
    refused = [(edit.group, one) for edit in things for one in (edit.value, *edit.either) if edit.group != "category"]
    if not refused:
        return None
    return talk.taken(", ".join(dict.fromkeys(_refused(group, value, talk) for group, value in refused)))


def _refused(group: str, value: str, talk: Talk) -> str:
    """"No belt"; of an attribute that there is always one of, what it was before it was asked for."""
    if group in ("trim", "pattern") or (group, value) in (("neckline", "collar"), ("neckline", "turtleneck")):
        return f"no {phrase(group, value)}"
    return talk.value(group, talk.asked(group)[-1])


def dropped(talk: Talk) -> Pointed | None:
    """"Forget the pocket", where an earlier turn asked for it and the reference has none; "not the bow" after "a bow or
    a ruffle"."""
    edits = edits_in(talk.said) if talk.turns else ()
    kept = [text for edit in edits if edit.words in talk.said and (text := _kept(edit, talk))]   # not of "same but …"
    if kept:
        return talk.taken(", ".join([talk.said, *kept]))
    if len(edits) != 1 or edits[0].operation != "drop" or not edits[0].value:
        return _taken_back_beside(edits, talk)
    group, value = edits[0].group, edits[0].value
    asked = talk.asked(group)
    wished = talk.wishes.wished(group)
    left = [one for one in wished if one != value and (value, one) not in ALIKE]
    offered = value in wished and bool(left)
    refused = [one for one in talk.wishes.refused(group) if one != value] if group == "colour" and not offered else []
    if refused:   # "not green either"
        return talk.taken(", ".join([talk.said, *(f"not {one}" for one in refused)]))
    if not asked or not wished or (not offered and talk.slots(talk.scene.reference_id).get(group) == value):
        return None
    return talk.taken(" or ".join(request(group, one) for one in left) if left else talk.value(group, asked[0]))


def _taken_back_beside(edits: Sequence[Edit], talk: Talk) -> Pointed | None:
    """"I only wanted the bow, not the short sleeves": what the last turn asked for and is refused beside other wishes
    is as it was before."""
    last = {(edit.group, edit.value) for edit in talk.wishes.last if edit.operation == "set"}
    wished = {edit.group for edit in edits if edit.operation != "drop"}
    refused = [edit.group for edit in edits if edit.operation == "drop" and (edit.group, edit.value) in last
               and edit.group in _ALWAYS and edit.group not in wished]
    before = talk.slots(talk.turns[-1].reference_id) if refused else {}
    if not refused or any(group not in before or (group, before[group]) in last for group in refused):
        return None
    return talk.taken(", ".join([talk.said, *(talk.value(group, talk.turns[-1]) for group in refused)]))


def print_again(words: Words, talk: Talk) -> Pointed | None:
    """"Print please" after one was taken away."""
    part = part_of(words)
    if part is None or part.group != "pattern" or part.is_thing:
        return None
    said = [edit for edits in talk.wishes.edits for edit in edits if edit.group == "pattern"]
    gone = bool(said) and (said[-1].operation == "drop" or said[-1].value == "plain")
    return talk.taken(talk.value("pattern", talk.asked("pattern")[-1])) if gone else None


def _kept(edit: Edit, talk: Talk) -> str:
    """What "keep the colour" means where an earlier turn asked for another one than the reference's: this; else ""."""
    asked = talk.asked(edit.group) if edit.operation == "keep" and not edit.value else []
    if not asked or asked[-1].reference_id != talk.scene.reference_id:
        return ""
    wished = talk.wishes.wished(edit.group)
    return request(edit.group, wished[-1]) if wished else ""


def restored(edits: Sequence[Edit], talk: Talk) -> str:
    """A request for what ``edits`` took away: "with a bow" after "without the bow"; "" where they took nothing away
    that can be named."""
    texts = []
    for edit in edits:
        if edit.operation == "drop" and edit.value:
            texts.append(request(edit.group, edit.value))
        elif edit.operation in ("drop", "other") and (value := talk.slots(talk.scene.reference_id).get(edit.group)):
            texts.append(request(edit.group, value))
    return ", ".join(dict.fromkeys(texts))


