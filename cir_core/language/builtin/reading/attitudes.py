"""What is thought of a value, read as a request: complaints ("the bow is childish") and what they refer to ("take it
off") become negations before the value; asides of a long text lose their colours."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.language.builtin.reading.reader import CHATTY, ReadItem
from cir_core.language.builtin.reading.vocabulary import Sense

_NOT = ReadItem(Sense("not"), ("not",))
_INSTEAD = ReadItem(Sense("instead"), ("instead of",))
_AWAY = ReadItem(Sense("away"), ("removed",))
_WORD = Sense("word")
_ENDS = frozenset({"break", "but"})
_IT = frozenset({"it", "them", "that", "those", "this", "these"})
_SMALL = frozenset({"stop", "a", "the", "verb", "much", "as", "in", "other", "with", "or", "more"})
_ABOUT = frozenset({"in", "by", "of", "for", "with", "about", "under", "to", "wearing", "on", "from", "against"})
_REASONS = frozenset({"because", "since", "so"})
_ALIKE = frozenset({"look", "looks", "looked", "looking", "feel", "feels", "felt", "feeling"})


def judged(items: Sequence[ReadItem], is_caption: bool) -> tuple[ReadItem, ...]:
    """``items`` with a negation for every complaint; words of judgement that are none are unknown words."""
    if not is_caption:
        items = _backwards(_forwards(_disliked(_in_long_texts(items))))
    return tuple(ReadItem(_WORD, item.words) if item.kind == "bad" else item for item in items)


def _is_thing(item: ReadItem) -> bool:
    return item.kind == "value" or item.kind == "part"


def _clauses(items: Sequence[ReadItem]) -> list[list[ReadItem]]:
    """Each with the word or sign at its end."""
    found: list[list[ReadItem]] = [[]]
    for place, item in enumerate(items):
        found[-1].append(item)
        ahead = items[place + 1] if place + 1 < len(items) else None
        comma = item.words == (",",) and not (ahead and ahead.kind in ("value", "bad"))
        reason = item.text in ("because", "since") or (item.text == "so" and ahead is not None and ahead.text in _WHO)
        if item.kind in _ENDS or comma or reason:
            found.append([])
    return [clause for clause in found if clause]


_WHO = frozenset({"i", "im", "ill", "id", "we", "no", "not", "please", "can"})


def _disliked(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"That ugly belt": the adjective says nothing more beside a negation."""
    found: list[ReadItem] = []
    denied = False
    for place, item in enumerate(_compared(items)):
        denied = (denied or item.kind in ("not", "without", "instead")) and item.kind not in _ENDS
        ahead = next((one for one in items[place + 1 :] if one.kind != "bad"), None)
        if not (denied and item.kind == "bad" and ahead is not None and _is_thing(ahead)):
            found.append(item)
    return found


def _compared(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Rather white than blue" for "white rather than blue"."""
    found: list[ReadItem] = []
    preferred = False
    for place, item in enumerate(items):
        spaced = place + 1 < len(items) and items[place + 1].kind in ("value", "a", "the")
        if item.kind in _ENDS or item.words == (",",):
            preferred = False
        elif item.text in ("rather", "sooner", "prefer"):
            preferred = True
        elif preferred and item.text in ("than", "over", "to") and spaced and found and found[-1].kind in ("value", "part"):
            item, preferred = _INSTEAD, False
        found.append(item)
    return found


def _forwards(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Strangled by collars", "too old for bows", "I look like a zebra in stripes"."""
    found: list[ReadItem] = []
    waits = ""   # what the clause has so far: "alike" after "look like", "bad" after a complaint
    for place, item in enumerate(items):
        before = found[-1] if found else None
        if item.kind in _ENDS:
            waits = ""
        elif item.kind == "bad" and not any(_is_thing(one) for one in _since_end(found)):
            waits = "bad"
        elif item.text == "like" and before is not None and before.text in _ALIKE:
            waits = "alike"
        elif before is not None and before.text == "too" and item.kind == "word":
            waits = "bad"
        elif waits and _is_thing(item):
            back = len(found)
            while back and (found[back - 1].kind in ("a", "the") or found[back - 1].text in ("any", "all", "wearing")
                            or _is_thing(found[back - 1])):
                back -= 1
            linked = back and found[back - 1].text in _ABOUT
            denied = any(one.kind in ("not", "without", "instead") for one in _since_end(found))
            if linked and not denied and (waits == "bad" or found[back - 1].text == "in"):
                found.insert(back, _NOT)
            waits = ""
        found.append(item)
    return found


def _since_end(items: Sequence[ReadItem]) -> list[ReadItem]:
    start = len(items)
    while start and items[start - 1].kind not in _ENDS:
        start -= 1
    return list(items[start:])


def _backwards(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"The bow is childish", "it has a collar, take it off", "why is it blue? I hate that"."""
    clauses = _clauses(items)
    last = -1   # the clause that names what "it" may be
    for place, clause in enumerate(clauses):
        if _points_back(clause) and last >= 0:
            if not any(item.kind in ("not", "without", "away") for item in clauses[last]):
                _add_away(clauses[last])
            clauses[place] = [item for item in clause if item.kind not in ("not", "without", "away")]
        elif (start := _complaint(clause)) is not None:
            end = clause[-1:] if clause[-1].kind in _ENDS or clause[-1].words == (",",) else []
            clauses[place] = [*clause[:start], _AWAY, *end]
            last = place
        elif any(_is_thing(item) and not item.value_of("category") for item in clause):
            last = place
    return [item for clause in clauses for item in clause]


def _points_back(clause: Sequence[ReadItem]) -> bool:
    """Whether it takes away what was named before: "take it off", "remove them", "I hate that"."""
    if any(_is_thing(item) or item.kind in ("word", "bad", "step", "noun", "keep", "alter", "replace", "pointer", "same")
           for item in clause):
        return False
    denied = [place for place, item in enumerate(clause) if item.kind in ("not", "without", "away")]
    if not denied:
        return False
    if clause[denied[0]].kind == "away":
        return bool(any(item.text in _IT for item in clause[: denied[0]]))
    after = [item for item in clause[denied[0] + 1 :] if item.kind not in _ENDS and item.words != (",",)]
    return bool(after) and after[0].text in _IT and all(item.kind in ("stop", "the", "as", "much") for item in after)


def _add_away(clause: list[ReadItem]) -> None:
    """At the end of what it names."""
    place = max(at for at, item in enumerate(clause) if _is_thing(item))
    end = clause[-1:] if clause[-1].kind in _ENDS or clause[-1].words == (",",) else []
    clause[place + 1 :] = [_AWAY, *end]


def _complaint(clause: Sequence[ReadItem]) -> int | None:
    """Where the words of complaint begin after the one thing that ``clause`` is about."""
    things = [place for place, item in enumerate(clause) if _is_thing(item)]
    if not things:
        return None
    last = things[-1]
    if any(item.kind in ("not", "without", "instead", "replace", "alter", "keep", "less", "to", "and") and
           item.words != (",",) for item in clause[: last + 1]):
        return None
    rest = clause[last + 1 :]
    for place, item in enumerate(rest):
        if item.kind == "bad":
            return last + 1
        if item.text == "too" and place + 1 < len(rest) and rest[place + 1].kind == "word":
            return last + 1
        if item.kind not in _SMALL:
            return None
    return None


def _in_long_texts(items: Sequence[ReadItem]) -> Sequence[ReadItem]:
    """In a long text what was is no wish where another sentence holds one, and a colour before an unknown noun is that
    thing's: "a white horse", "red wine"."""
    if len(items) <= CHATTY:
        return items
    sentences: list[list[ReadItem]] = [[]]
    for item in _without_things(items):
        sentences[-1].append(item)
        if item.kind == "break":
            sentences.append([])
    told = [_is_told(sentence) for sentence in sentences]
    wished = any(_is_wish(item) for sentence, past in zip(sentences, told, strict=True) if not past for item in sentence)
    return [_muted(item) if past and wished else item
            for sentence, past in zip(sentences, told, strict=True) for item in sentence]


def _is_told(sentence: Sequence[ReadItem]) -> bool:
    """Whether it says how something was, without a word of wish."""
    words = {word for item in sentence for word in item.words}
    return bool(words & _PAST) and not words & _WISHING and not any(
        item.kind in ("not", "without", "instead", "except", "away", "bad", "step") for item in sentence)


def _is_wish(item: ReadItem) -> bool:
    return item.kind in ("step", "without") or (item.kind == "value" and not item.value_of("category"))


def _muted(item: ReadItem) -> ReadItem:
    return ReadItem(_WORD, item.words) if item.kind in ("value", "noun", "part") else item


def _without_things(items: Sequence[ReadItem]) -> list[ReadItem]:
    kept: list[ReadItem] = []
    for place, item in enumerate(items):
        ahead = items[place + 1] if place + 1 < len(items) else None
        of_thing = place and item.value_of("colour") and ahead is not None and (
            ahead.kind == "noun" or (ahead.kind == "word" and not ahead.text.endswith(("ing", "ed", "ly"))))
        kept.append(ReadItem(_WORD, item.words) if of_thing else item)
    return kept


_PAST = frozenset("was had were wore bought got ordered used spilled saw stood went wearing lost found came gave told "
                  "remember remembered yesterday once".split())
_WISHING = frozenset("want wanted like need please should could can would prefer ideal perfect perfectly show give make "
                     "id ill wish hoping hope wondering thinking thought looking find rather instead must try".split())
