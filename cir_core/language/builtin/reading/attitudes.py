"""What is thought of a value, read as a request: complaints ("the bow is childish") and what they refer to ("take it
off") become negations before the value; asides of a long text lose their colours. Where no table has the words, the
classifier of :mod:`cir_core.language.intents` decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from cir_core.garments.tables import table
from cir_core.language.builtin.reading.edits import Edit, Edits
from cir_core.language.builtin.reading.reader import CHATTY, ReadItem, read
from cir_core.language.builtin.reading.rewording import plain_text
from cir_core.language.builtin.reading.vocabulary import Sense
from cir_core.language.intents import THING, classifier, of_attitudes

SURE = 0.75  # probability from which a value that is read as wanted is refused, or only mentioned

_WORDS = table("attitudes")
_NOT = ReadItem(Sense("not"), ("not",))
_INSTEAD = ReadItem(Sense("instead"), ("instead of",))
_OTHER = ReadItem(Sense("other"), ("different",))
_AWAY = ReadItem(Sense("away"), ("removed",))
_WORD = Sense("word")
_ENDS = frozenset({"break", "but"})
_SMALL = frozenset({"stop", "a", "the", "verb", "much", "as", "in", "other", "with", "or", "more"})
_ABOUT = frozenset({"in", "by", "of", "for", "with", "about", "under", "to", "wearing", "on", "from", "against"})
_DENYING = frozenset({"not", "without", "away"})
_TURNING = frozenset({"not", "without", "instead", "replace", "alter", "keep", "less", "to", "away"})
_SAYING = frozenset({"value", "part", "word", "bad", "step", "noun", "keep", "alter", "replace", "pointer", "same"})

_IT = frozenset(_WORDS["it"])
_ALIKE = frozenset(_WORDS["alike"])
_WHO = frozenset(_WORDS["who"])
_MISSING = frozenset(_WORDS["missing"])
_SORRY = frozenset(_WORDS["sorry"])
_PLAINLY = frozenset(_WORDS["plainly"])
_REFUSING = frozenset(_WORDS["refusing"])
_DISLIKES = frozenset(_WORDS["dislikes"])
_HARMLESS = frozenset(_WORDS["harmless"])
_LEADING = frozenset(_WORDS["leading"])
_OWNED = frozenset(_WORDS["owned"])
_VERBS = frozenset(_WORDS["verbs"])
_GOOD = frozenset(_WORDS["good"])
_STATES = frozenset(_WORDS["states"])
_OWN = frozenset(_WORDS["own"])
_PAST = frozenset(_WORDS["past"])
_ADVISED = frozenset(_WORDS["advised"])
_WISHING = frozenset(_WORDS["wishing"])


def judged(items: Sequence[ReadItem], is_caption: bool) -> tuple[ReadItem, ...]:
    """``items`` with a negation for every complaint; words of judgement that are none are unknown words."""
    if not is_caption:
        items = _backwards(_forwards(_of_parts(_disliked(_in_long_texts(_of_others(_explained(_reasoned(items))))))))
    return tuple(ReadItem(_WORD, item.words) if item.kind == "bad" else item for item in items)


def _is_thing(item: ReadItem) -> bool:
    return item.kind == "value" or item.kind == "part"


def _clauses(items: Sequence[ReadItem]) -> list[list[ReadItem]]:
    """Each with the word or sign at its end."""
    found: list[list[ReadItem]] = [[]]
    for place, item in enumerate(items):
        found[-1].append(item)
        ahead = items[place + 1] if place + 1 < len(items) else None
        comma = item.words == (",",) and (
            not (ahead and ahead.kind in ("value", "bad")) or (place and items[place - 1].text in _NEGATIVE | {"yes"}))
        reason = item.text in ("because", "since") or (item.text == "so" and ahead is not None and ahead.text in _WHO)
        comma = comma and any(one.kind not in ("stop", "and") for one in found[-1])   # "blue? Hmm, no"
        if item.kind in _ENDS or comma or reason:
            found.append([])
    return [clause for clause in found if clause]


_TOLERATING = frozenset({"mind", "object", "regret"})
_TELLING = frozenset({"value", "step", "bad", "more", "less", "other"})


def _reasoned(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Not floral because flowers are for curtains": what a reason names once more is not wished for by that."""
    found: list[ReadItem] = []
    named: set[tuple[str, str]] = set()
    reason, bare = False, 0   # where a reason ends that names nothing which could be wished for
    for place, item in enumerate(items):
        begins = not reason and item.text in ("because", "since")
        goes_on = item.kind in ("and", "but") and place > 0 and items[place - 1].words == (",",)   # ", and I want"
        reason = item.kind != "break" and not goes_on and (reason or begins)
        if begins:
            told = _until_end(items[place + 1 :])
            bare = 0 if any(one.kind in _TELLING for one in told) else place + 1 + len(told)
            if any(one.kind == "step" for one in told):
                item = ReadItem(Sense("break"), item.words)   # "not this, because the neckline is too low"
        if not reason:
            named.update(item.sense.pairs)
        if reason and named.intersection(item.sense.pairs):
            item = _muted(item)
        elif reason and place < bare and item.kind in ("part", "not"):
            item = ReadItem(Sense("stop"), item.words)   # "since the cut won't"
        found.append(item)
    return found


def _between_commas(items: Sequence[ReadItem]) -> list[Sequence[ReadItem]]:
    ends = [at + 1 for at, item in enumerate(items) if item.kind in _ENDS or item.words == (",",)]
    return [items[start:end] for start, end in pairwise((0, *ends, len(items)))]


def _explained(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Not black, black is for funerals": nor is it by a clause that says something of what was just refused."""
    found: list[ReadItem] = []
    refused: set[tuple[str, str]] = set()
    for clause in _between_commas(items):
        things = [pair for item in clause if _is_thing(item) for pair in item.sense.pairs]
        if things and refused.issuperset(things) and any(item.kind == "away" for item in clause):
            continue   # "no red, red is not for me"
        denied = next((at for at, item in enumerate(clause) if item.kind in ("not", "without")), len(clause))
        told = denied == len(clause) and any(item.kind in ("word", "verb", "bad") for item in clause) and not any(
            item.kind in ("in", "with", "keep", "instead") or item.text in _WISHING for item in clause)
        found += [_muted(item) if told and refused.intersection(item.sense.pairs) else item for item in clause]
        refused = {pair for item in clause[denied:] if item.kind == "value" for pair in item.sense.pairs}
    return found


def _disliked(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"That ugly belt": the adjective says nothing more beside a negation."""
    found: list[ReadItem] = []
    denied = False
    for place, item in enumerate(_compared(items)):
        begins = not found or found[-1].kind in _ENDS or found[-1].words == (",",)
        after = items[place + 1] if place + 1 < len(items) else None
        if item.text in _REFUSING and begins and after is not None and (_is_thing(after) or after.kind in ("a", "the")):
            item = _NOT   # "ew, collars"
        denied = (denied or item.kind in ("not", "without", "instead")) and item.kind not in _ENDS
        ahead = next((one for one in items[place + 1 :] if one.kind != "bad"), None)
        if denied and item.kind == "word" and found[-1].kind == "not" and after is not None and after.text == "enough":
            continue   # "not tall enough for long dresses"
        infinitive = denied and item.kind == "word" and _leads_on(found, item, after) and any(
            _is_thing(one) for one in items[place + 1 : place + 5])
        if not infinitive and not (denied and item.kind == "bad" and ahead is not None and _is_thing(ahead)):
            found.append(item)
    return found


def _leads_on(before: Sequence[ReadItem], verb: ReadItem, after: ReadItem | None) -> bool:
    """"Not to fiddle with buttons", "not to be strangled by a collar", "not carry a picture": the negation is of what
    comes next."""
    last = next((item for item in reversed(before) if item.kind != "verb"), before[-1])
    return last.kind == "to" or (before[-1].kind == "not" and verb.text not in _TOLERATING and after is not None
                                 and after.kind in ("a", "the"))


def _is_lament(items: Sequence[ReadItem], place: int) -> bool:
    """"I have no green one yet", "pity it is not sleeveless": what is missing is wanted."""
    before = _since_end(items[:place])
    if items[place].text in _MISSING and any(item.text in _SORRY for item in before):
        return True
    for at in range(place + 1, min(place + 9, len(items))):
        if items[at].text == "yet":
            ends = at + 1 == len(items) or items[at + 1].kind in _ENDS or items[at + 1].words == (",",)
            has = "have" in items[place].text or any(item.kind == "verb" for item in (*before, *items[place + 1 : at]))
            return ends and has
        if items[at].kind in _ENDS or items[at].words == (",",):
            break
    return False


def _of_parts(items: Sequence[ReadItem]) -> list[ReadItem]:
    """Another one of a part of which there is always one: "the wrong colour", "I hate the neckline", and the degree in
    "I don't need sleeves that long"."""
    found: list[ReadItem] = []
    for place, item in enumerate(items):
        back = len(found)
        while back and found[back - 1].text in ("the", "this", "its", "that", "of"):
            back -= 1
        before = found[back - 1] if back else None
        ahead = items[place + 1] if place + 1 < len(items) else None
        if item.kind == "part" and item.sense.group in _ALWAYS and before is not None and (
                before.kind == "bad" or (before.text in _DISLIKES and back < len(found))):
            found[back - 1 :] = [_OTHER]
        elif item.text in ("that", "so", "this") and ahead is not None and ahead.kind == "value" and found \
                and found[-1].kind == "part":
            back = len(found) - 1
            while back and found[back - 1].kind in ("a", "the"):
                back -= 1
            if back and found[back - 1].kind in ("not", "without"):
                found[back - 1 :] = [*found[back:], _NOT]
        elif _is_thing(item) and before is not None and before.kind == "bad" and back == len(found) and back > 1 \
                and found[back - 2].text in ("the", "that", "those", "such", "what", "these"):
            found[back - 1] = _NOT   # "that ugly belt"
        found.append(item)
    return found


_ALWAYS = frozenset({"colour", "length", "fit", "neckline"})


def _compared(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Rather white than blue" for "white rather than blue"."""
    found: list[ReadItem] = []
    preferred = False
    for place, item in enumerate(items):
        spaced = place + 1 < len(items) and items[place + 1].kind in ("value", "a", "the")
        ahead = items[place + 1] if place + 1 < len(items) else None
        if item.kind in ("bad", "away") and found and found[-1].kind == "not" and found[-1].text in _PLAINLY and not (
                ahead is not None and (_is_thing(ahead) or ahead.text in _ABOUT)):
            found.pop()   # "not ugly", "the collar doesn't bother me"
            item = ReadItem(Sense("stop"), item.words)
        elif item.text in ("leave", "leaving") and any(
                one.text in ("out", "off") for one in _until_end(items[place + 1 :])):
            item = ReadItem(Sense("without"), item.words)   # "leave the buttons out"
        elif item.kind == "not" and _is_lament(items, place):
            item = ReadItem(Sense("stop"), item.words)
        elif item.text in ("make me look", "makes me look") and ahead is not None and (
                ahead.kind == "step" or set(ahead.words) & _GOOD):
            item = ReadItem(Sense("stop"), item.words)   # "stripes make me look slimmer"
        elif item.kind == "step" and found and found[-1].text in ("make me look", "makes me look"):
            item = ReadItem(Sense("stop"), item.words)
        if item.text in ("besides", "apart from", "aside from", "other than") and any(
                one.text in ("also", "too", "as well", "needs") for one in items[place + 1 : place + 12]):
            item = ReadItem(Sense("stop"), item.words)   # "besides being green it also needs a collar"
        if item.kind in _ENDS or item.words == (",",):
            preferred = False
        elif item.text in ("rather", "sooner", "prefer"):
            preferred = True
        elif preferred and item.text in ("than", "over", "to") and spaced and found and _is_thing(found[-1]):
            item, preferred = _INSTEAD, False
        found.append(item)
    return found


def _forwards(items: Sequence[ReadItem]) -> list[ReadItem]:
    """"Strangled by collars", "too old for bows", "I look like a zebra in stripes"."""
    found: list[ReadItem] = []
    waits = ""   # what the clause has so far: "alike" after "look like", "bad" after a complaint
    for item in items:
        before = found[-1] if found else None
        if item.kind in _ENDS or item.text in _WISHING or (waits == "bad" and (
                item.kind in ("and", "verb", "more", "less", "step", "keep"))):
            waits = ""
        elif item.kind == "bad" and not any(_is_thing(one) for one in _since_end(found)):
            waits = "bad"
        elif item.text == "like" and before is not None and before.text in _ALIKE:
            waits = "alike"
        elif before is not None and before.text == "too" and item.kind == "word":
            waits = "bad"
        elif waits == "alike" and item.kind != "in" and set(item.words) & _GOOD:
            waits = ""   # "like a queen"
        elif waits and _is_thing(item):
            back = len(found)
            while back and (found[back - 1].kind in ("a", "the") or found[back - 1].text in ("any", "all", "wearing")
                            or _is_thing(found[back - 1])):
                back -= 1
            linked = back and found[back - 1].text in _ABOUT
            denied = any(one.kind in ("not", "without", "instead") for one in _since_end(found))
            if linked and not denied and (waits == "bad" or found[back - 1].text in ("in", "with")):
                found.insert(back, _NOT)
            waits = ""
        found.append(item)
    return found


def _until_end(items: Sequence[ReadItem]) -> Sequence[ReadItem]:
    end = next((at for at, item in enumerate(items) if item.kind in _ENDS or item.kind == "and"), len(items))
    return items[: min(end, 6)]


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
        closed = place + 1 == len(clauses) or clause[-1].kind == "break"
        alone = closed and place and clauses[place - 1][-1].kind == "break" and _is_refusal(clause)
        refused = [item for item in clause if item.kind not in ("break", "stop") and item.words != (",",)]
        named = place and len(clauses[place - 1]) <= 3 and clauses[place - 1][-1].kind == "break"
        alone = alone or (len(refused) == 1 and (
            refused[0].text in _REFUSING or (named and refused[0].kind == "bad")))   # "red? Not my cup of tea"
        if (alone or _points_back(clause)) and last >= 0:
            if not any(item.kind in ("not", "without", "away") for item in clauses[last]):
                _add_away(clauses[last])
            clauses[place] = [item for item in clause if item.kind not in _DENYING | {"bad"} and item.text != "none"]
        elif (start := _complaint(clause, len(items) > CHATTY)) is not None:
            end = clause[-1:] if clause[-1].kind in _ENDS or clause[-1].words == (",",) else []
            talk = clause[start : len(clause) - len(end)] if len(items) > CHATTY else []   # to be named as left out
            clauses[place] = [*clause[:start], _AWAY, *talk, *end]
            last = place
        elif any(_is_thing(item) and not item.value_of("category") for item in clause):
            last = place
    return [item for clause in clauses for item in clause]


def _points_back(clause: Sequence[ReadItem]) -> bool:
    """Whether it takes away what was named before: "take it off", "remove them", "I hate that"."""
    if any(item.kind in _SAYING for item in clause):
        return False
    denied = [place for place, item in enumerate(clause) if item.kind in ("not", "without", "away")]
    if not denied:
        return False
    if clause[denied[0]].kind == "away":
        return bool(any(item.text in _IT for item in clause[: denied[0]]))
    after = [item for item in clause[denied[0] + 1 :] if item.kind not in _ENDS and item.words != (",",)]
    return bool(after) and after[0].text in _IT | {"one"} and all(
        item.kind in ("stop", "the", "as", "much") or item.text == "one" for item in after)


def _is_refusal(clause: Sequence[ReadItem]) -> bool:
    """"A ruffle? No.", "the bow, seriously? Remove."."""
    said = [item for item in clause if item.kind not in ("break", "stop") and item.words != (",",)]
    return len(said) == 1 and (said[0].kind in ("not", "without", "away") or said[0].text in _NEGATIVE)


def _add_away(clause: list[ReadItem]) -> None:
    """At the end of what it names."""
    place = max(at for at, item in enumerate(clause) if _is_thing(item))
    end = clause[-1:] if clause[-1].kind in _ENDS or clause[-1].words == (",",) else []
    clause[place + 1 :] = [_AWAY, *end]


def _complaint(clause: Sequence[ReadItem], talk: bool) -> int | None:
    """Where the words of complaint begin after the one thing that ``clause`` is about. ``talk``: in a long text, where
    only words that are known for complaints count."""
    things = [place for place, item in enumerate(clause) if _is_thing(item)]
    if not things:
        return None
    last = things[-1]
    if any(item.kind in _TURNING for item in clause[: last + 1]) or any(
               item.kind == "and" and item.words != (",",) for item in clause[things[0] : last + 1]):
        return None
    rest = clause[last + 1 :]
    words = {word for item in rest[1:] for word in item.words}
    if rest and _is_denial(rest, talk):
        return last + 1
    before = {word for item in clause[: things[0]] for word in item.words}
    if not talk and before & _OWNED and before & {"i", "ive", "everything", "all"} and not before & _WISHING:
        return last + 1   # "I own ten blue ones already"
    for place, item in enumerate(rest):
        if item.kind == "bad":
            return last + 1
        if item.text == "too" and place + 1 < len(rest) and rest[place + 1].kind == "word":
            return last + 1
        if item.text == "like" and place and rest[place - 1].text in _ALIKE and any(
                one.kind == "word" for one in rest[place:]):
            return last + 1   # "makes it look like a uniform"
        if item.kind not in _SMALL:
            break
    subject = all(item.kind in ("a", "the", "stop", "value", "part", "as") and item.text not in _WISHING
                  for item in clause[: last + 1])
    states = bool(rest) and (rest[0].text in _STATES or (rest[0].kind == "word" and rest[0].text.endswith("s")))
    if states and (rest[0].text in ("look", "looks", "feel", "feels") or (
            rest[0].text in ("is", "are") and not (rest[1:] and rest[1].text in ("for", "so")))):
        states = False   # an adjective that is not known to blame may praise: "white looks clean"
    told = states and not talk and subject and clause[last].sense.pairs[:1] != () and \
        clause[last].sense.pairs[0][0] in _JUDGED and not words & _WISHING and \
        not (words | set(rest[0].words)) & _GOOD and \
        any(item.kind == "word" for item in rest[0 if rest[0].kind == "verb" else 1 :]) and \
        not any(item.kind in ("step", "in", "keep", "noun", "alike", "same", "swap", "less", "more") for item in rest)
    return last + 1 if told else None


def _is_denial(rest: Sequence[ReadItem], talk: bool) -> bool:
    """"Collar: no", "the buttons are not", "stripes aren't doing it for me", but not "the collar doesn't bother me"."""
    said = [item for item in rest if item.kind not in ("break", "but") and item.words != (",",)]
    words = {word for item in said for word in item.words}
    lead = [item for item in said if item.text not in _LEADING]
    if not lead or lead[0].kind == "step" or not (lead[0].words[0] in _NEGATIVE or lead[0].kind == "not"):
        return False   # "sleeves not so long"
    after = lead[1:]
    if not after:
        return True
    if lead[0].words[0] not in _VERBS | {"not"} or talk or words & _HARMLESS or any(
            item.kind in _SAYING - {"word"} or item.kind in ("away", "other") for item in after):
        return False
    return any(item.kind in ("word", "verb", "stop") for item in after)


_NEGATIVE = _VERBS | frozenset({"no", "none", "not", "never", "no more", "nope", "nah", "zero"})
_JUDGED = frozenset({"colour", "pattern", "neckline", "trim", "sleeves"})


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
    present = [sentence for sentence, past in zip(sentences, told, strict=True) if not past]
    wished = any(_is_wish(item) for sentence in present for item in sentence)
    return [_muted(item) if past and wished else item
            for sentence, past in zip(sentences, told, strict=True) for item in sentence]


def _is_told(sentence: Sequence[ReadItem]) -> bool:
    """Whether it says how something was, without a word of wish."""
    words = {word for item in sentence for word in item.words}
    verbs = {word for item in sentence if item.kind == "word" for word in item.words}
    past = bool(words & _PAST) or any(len(word) > 4 and word.endswith("ed") for word in verbs - _ADVISED)
    return past and not words & _WISHING and not any(
        item.kind in ("not", "without", "instead", "except", "away", "bad") for item in sentence)


def _is_wish(item: ReadItem) -> bool:
    return item.kind in ("step", "without") or (item.kind == "value" and not item.value_of("category"))


def _muted(item: ReadItem) -> ReadItem:
    return ReadItem(_WORD, item.words) if item.kind in ("value", "noun", "part") else item


def _of_others(items: Sequence[ReadItem]) -> list[ReadItem]:
    """What others wear is none of the wish: "the ushers wear grey"."""
    kept: list[ReadItem] = []
    clause: set[str] = set()
    for item in items:
        if item.kind in _ENDS or item.words == (",",):
            clause = set()
        other = item.kind in ("value", "noun") and clause & {"wear", "wears", "wore", "wearing"} and not clause & _OWN
        other = other or (item.kind == "step" and "made" in clause)   # "it made me look slimmer"
        clause.update(item.words)
        kept.append(_muted(item) if other else item)
    return kept


def _without_things(items: Sequence[ReadItem]) -> list[ReadItem]:
    kept: list[ReadItem] = []
    for place, item in enumerate(items):
        ahead = items[place + 1] if place + 1 < len(items) else None
        before = items[place - 1] if place else None
        named = before is not None and (
            before.kind in ("a", "the", "word", "bad", "shade") or before.text in _ABOUT - {"in"})
        of_thing = named and (item.value_of("colour") or item.text == "flower") and ahead is not None and (
            ahead.kind == "noun" or (ahead.kind == "word" and not ahead.text.endswith(("ing", "ed", "ly"))))
        kept.append(ReadItem(_WORD, item.words) if of_thing else item)
    return kept


def things(text: str) -> tuple[list[str], dict[tuple[str, str], list[int]]]:
    """The words of ``text`` with :data:`THING` for each value and part, and the places of the values; of a part, which
    has none, the value is empty."""
    return _named(read(text)[0])


def _named(items: Sequence[ReadItem]) -> tuple[list[str], dict[tuple[str, str], list[int]]]:
    words: list[str] = []
    places: dict[tuple[str, str], list[int]] = {}
    for item in items:
        if item.kind in ("value", "part"):
            for pair in item.sense.pairs if item.kind == "value" else ((item.sense.group, ""),):
                places.setdefault(pair, []).append(len(words))
            words.append(THING)
        else:
            words += item.words
    return words, places


def felt(edits: Edits, text: str) -> Edits:
    """``edits`` of ``text``, in which a value that is wanted by them is refused, or left out as only mentioned, where
    the classifier is sure and the rules do not know some of the words."""
    if not any(edit.operation == "set" for edit in edits.edits):
        return edits
    items, _ = read(plain_text(text))
    words, places = _named(items)
    if len(words) > CHATTY or all(item.kind != "word" for item in items):
        return edits
    owner = any(edit.of_trim for edit in edits.edits)   # of the colour in "the bow goes pink"
    found = []
    for edit in edits.edits:
        pair = (edit.group, edit.value)
        at = places.get(pair, [])
        once = len(at) == 1 and sum((one.group, one.value) == pair for one in edits.edits) == 1
        if not once or edit.operation != "set" or edit.group == "category" or (
                owner and edit.group in ("pattern", "trim")):
            found.append(edit)
            continue
        likely = classifier("attitudes").probabilities(of_attitudes(words, at[0], "set"))
        if likely["-"] >= SURE:
            found.append(Edit("drop", *pair))
        elif likely["?"] < SURE:
            found.append(edit)
    return replace(edits, edits=tuple(found))
