"""What a request takes from earlier turns: "the colour of the original", "as before but red", "no, I meant navy", "the
same for the sleeves", "I changed my mind about the neckline", "both", "forget the pocket".

It becomes a request that can be read alone. What there is nothing for is said, and nothing else is made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cir_core.garments.lexicon import NONE
from cir_core.language.acts import read_act
from cir_core.language.builtin.captions import parse_caption
from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.edits import Edit, target
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.reader import ReadItem, read
from cir_core.language.builtin.reading.vocabulary import tokenise
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import TAKEN, WHOLE, Pointed
from cir_core.language.readers.scene import Scene, Unclear
from cir_core.types.records import Turn

Words = tuple[str, ...]
_MOST_WORDS = 40   # a longer text is not about earlier turns
_SHORT = 6         # words: "and the sleeves too please"

NOTHING_EARLIER = "nothing earlier to go back to"
_LEAD = frozenset({"no", "not", "nope", "sorry", "wait", "oh", "oops", "hmm", "hm", "well", "actually", "ok", "okay",
                   "please", "so", "then", "and", "but", "now", "also", "yes", "hey", "ah", "um", ",", "."})
_TRAIL = frozenset({"too", "please", "again", "back", "as", "well", "then", "also", "now", "instead", "after", "all",
                    ",", "."})
_THE = frozenset({"the", "its", "my", "that", "this", "those", "these", "their", "for"})
_TO = frozenset({"with", "in", "keep", "use", "restore", "to", "back", "go", "give", "me", "bring", "take", "want",
                 "i", "make", "it", "put", "return", "the", "its", "my", "please", "but", "of", "at", "have", "again",
                 "like", "would", "prefer", "leave", "same", "exactly", "liked", "preferred", "loved", "wanted",
                 "think", "thought", "that"})
_JOINS = frozenset({",", ".", "and", "but", "then", "with", "in"})
_MEANT = ("i meant to say", "i meant", "i mean", "i actually meant", "we meant", "what i meant was", "what i meant is",
          "i wanted to say", "i meant it", "meant", "that should be", "it should say", "i really meant")
_SAME = ("same for", "same to", "same thing for", "same thing with", "same thing to", "same change for",
         "same change to", "same goes for", "same applies to", "do the same for", "do the same to",
         "do the same with", "also for", "do the same thing to", "likewise for", "likewise", "do that for",
         "do that to", "do this to", "that for", "do it for", "do it to", "apply that to", "apply the same to",
         "same the")
_SAME_WITH = ("same with", "same in", "same on", "also", "and")   # which also begin wishes: "same with a belt"
_MIND = ("changed my mind about", "changed our mind about", "changed my mind on", "change my mind about",
         "changed my mind regarding", "changed my mind with")
_FORGET = ("forget", "forget about", "never mind", "never mind about", "forget what i said about", "ignore", "undo",
           "reset", "ignore what i said about", "scrap", "drop", "take back", "cancel", "leave out", "revert",
           "dont change", "take back what i said about", "never mind what i said about", "nevermind",
           "undo what i said about", "scratch", "put back", "restore")
_BEFORE = ("as before", "like before", "same as before", "as it was before", "as it was", "like it was before",
           "same as it was before", "exactly as before", "just like before", "as in the last one", "as previously")
_BOTH = frozenset({"both", "both of them", "both of these", "both of those", "both together", "both at once",
                   "both are fine", "both are good", "both at the same time"})
_BEFORE_BOTH = frozenset({"i", "keep", "want", "take", "like", "with", "in", "have", "show", "me", "would", "make",
                          "it", "id", "use", "need"})
_FIRST = frozenset({"original", "initial", "first"})     # "the first colour"
_SAYS_WHEN = frozenset({"original", "initial", "first", "originally", "previous", "old", "earlier", "former", "before",
                        "start", "beginning", "started", "reference", "was", "were", "liked",
                        "preferred"})
_EARLIER = frozenset({"previous", "old", "earlier", "former"})
_AT_FIRST = tuple(tuple(words.split()) for words in (
    "it had at first", "it had originally", "it had in the beginning", "it had at the beginning",
    "it had at the start", "from the beginning", "from the start", "of the start", "of the beginning",
    "of the reference", "of the first reference", "as in the original", "as the original", "like the original",
    "like in the original", "in the original", "from the original", "as in the first picture", "as at first",
    "as in the beginning", "at first", "it started with", "we started with", "i started with", "we had at first",
    "as originally", "from the first picture", "of the first picture", "on the first picture", "in the first picture",
    "as on the first picture"))
_HAD_BEFORE = tuple(tuple(words.split()) for words in (
    "from before", "it had before", "we had before", "i had before", "as before", "of before", "it was before",
    "it had earlier", "before that"))
_WERE = frozenset({"was", "were", "looked"})        # "the length was better at first"
_GOOD = frozenset({"better", "fine", "good", "ok", "okay", "nicer", "right", "perfect", "great", "nice", "best",
                   "alright", "prettier", "lovely", "more", "a", "lot", "much", "just", "really", "actually", "quite"})
_LIKED = frozenset({"liked", "preferred", "like", "prefer", "loved", "wanted"})
_WHEN_FIRST = tuple(tuple(words.split()) for words in (
    "at first", "originally", "in the beginning", "at the beginning", "at the start", "to begin with", "initially",
    "in the original", "on the original", "on the first picture", "in the first picture", "on the first one",
    "in the reference", "to start with", "when we started", "when i started"))
_WHEN_BEFORE = tuple(tuple(words.split()) for words in (
    "before", "earlier", "previously", "before that", "the way they were", "the way it was", "as they were",
    "as it was", "how they were", "how it was", "the last time", "a turn ago", "in the last one", "the turn before"))
_ALIKE = {("stripes", "pinstripes"), ("blue", "navy")}   # what is called the first may be the second
_SLEEVES_AS = {"short": "short", "elbow": "knee-length", "long": "long"}
_AS_SLEEVES = {"short": "short", "medium": "elbow length", "long": "long"}


@dataclass(frozen=True)
class _Part:
    """What a person calls a part of a garment: its group, and the words, without an article."""

    group: str
    words: str
    is_thing: bool = False   # "belt", "stripes", "collar"; not "trim", "pattern"


def resolve(text: str, scene: Scene) -> Pointed | None:
    """``text`` (English) as a request that is read alone; None where it takes nothing from earlier turns. Never
    fails."""
    words = tuple(tokenise(text))
    if not words or len(words) > _MOST_WORDS:
        return None
    try:
        return _Resolver(words, scene).resolve()
    except Unclear as problem:
        return Pointed(WHOLE, scene.reference_id, (f"not understood: {problem.words} ({problem.reason})",))


class _Resolver:
    def __init__(self, words: Words, scene: Scene) -> None:
        self.words, self.scene = words, scene
        self.said = " ".join(words).replace(" ,", ",")
        self.turns = scene.turns

    def resolve(self) -> Pointed | None:
        words = _without_lead(self.words)
        start = next((at for at, word in enumerate(words) if word not in _BEFORE_BOTH), 0)
        if " ".join(_without_trail(words[start:])) in _BOTH:
            return self._both()
        if (rest := _after(words, ("the", "exactly", "just"), _BEFORE)) is not None:
            return self._as_before(_without_lead(rest))
        if (found := self._after_act()) is not None:
            return found
        if (found := self._other_of_two(words) or self._only(words)) is not None:
            return found
        if (rest := _meant(self.words, words)) is not None:
            return self._corrected(rest) if rest else None
        if (same := self._same(words)) is not None:
            return same
        if (rest := _after(words, ("i", "have", "ive", "ve", "we", "just"), _MIND)) is not None:
            return self._given_up(rest)
        forgotten = _after(words, ("i", "we"), _FORGET) or _put_back(words)
        if forgotten and (part := _part_of(forgotten)) and not part.is_thing and self._asked(part.group):
            return self._given_up(forgotten)
        return (self._at_first(words) if _SAYS_WHEN.intersection(words) else None) or self._dropped()

    def _same(self, words: Words) -> Pointed | None:
        """"The same for the sleeves", "the sleeves too"."""
        if (rest := _after(words, ("the",), _SAME)) is not None:
            if (part := _part_of(rest)) is not None:
                return self._same_for(part, self.said)
            if not _edits(" ".join(rest)):
                raise Unclear(self.said, "say which part is meant, for example the sleeves")
            return None
        rest = _after(self.words, ("the",), _SAME_WITH)
        also = words[-1:] in (("too",), ("also",)) or words[-2:] == ("as", "well")
        if rest is None and not also:
            return None
        part = _part_of(words if rest is None else rest)
        if part is None or len(words) > _SHORT or not self.turns or (part.is_thing and "the" not in words):
            return None
        if _moved(_edits_of(self._last()), part) is None and (part.is_thing or not also):
            return None   # "and the buttons" asks for buttons
        return self._same_for(part, self.said)

    def _last(self) -> Turn:
        if not self.turns:
            raise Unclear(self.said, NOTHING_EARLIER)
        return self.turns[-1]

    def _pointed(self, text: str, *notes: str) -> Pointed:
        return Pointed(text, self.scene.reference_id, notes)

    def _after_act(self) -> Pointed | None:
        """"Undo that and make it red", "start over with red": from an earlier reference, with the wishes before it."""
        for at, word in enumerate(self.words):
            act = read_act(" ".join(self.words[:at])) if word in _JOINS and at else None
            if act is not None and act.kind in ("undo", "start over"):
                rest = _without_lead(self.words[at + (word not in ("with", "in")) :])
                text = " ".join(rest)
                if not _edits(text):
                    return None
                if not self.turns:
                    return self._pointed(text, f"not understood: {' '.join(self.words[:at])} ({NOTHING_EARLIER})")
                held = max(0, len(self.turns) - act.number) if act.kind == "undo" else 0
                turn = self.turns[held]
                return Pointed(text, turn.reference_id, (f"{TAKEN}{text}, from before turn {held + 1}",), held,
                               turn.further)
        return None

    # --- corrections ---------------------------------------------------------------

    def _corrected(self, rest: Words) -> Pointed | None:
        """"No, I meant navy": where the last turn asked for something else than a colour, that no longer holds."""
        text, part = " ".join(rest), _part_of(rest)
        if part is not None and not (part.is_thing and not self.turns):
            last = self._last()
            moved = _moved(_edits_of(last), part)
            if moved is None and not part.is_thing:
                raise Unclear(self.said, f"say what the {part.words} should be like")
            return self._instead_of(last, moved or text)
        if not self.turns:
            return self._pointed(text)
        last = self._last()
        now, then = _groups(_edits(text)), _groups(_edits_of(last))
        named = self._named(_edits(text))
        if now and then and not now & then and named is None:
            return self._instead_of(last, text)
        return self._pointed(text, *([_in_place_of(text, named or last)] if now and then else []))

    def _named(self, edits: Iterable[Edit]) -> Turn | None:
        """The last turn that asked for something that ``edits`` name: "in red" for "I meant blue, not red"."""
        named = {(edit.group, edit.value) for edit in edits if edit.operation in ("set", "drop")}
        return next((turn for turn in reversed(self.turns) if any(
            edit.operation == "set" and (edit.group, edit.value) in named for edit in _edits_of(turn))), None)

    def _other_of_two(self, words: Words) -> Pointed | None:
        """"Yellow is too loud, so the other one", where the last turn asked for yellow or orange, or the last two turns
        for one each."""
        said = _edits(self.said) if any(pair in _OTHER for pair in pairwise(words)) and self.turns else ()
        groups = {edit.group for edit in said if edit.operation in ("set", "drop") and edit.value}
        if len(groups) != 1 or len({edit.value for edit in said if edit.group in groups}) != 1:
            return None
        group, named = groups.pop(), next(edit.value for edit in said if edit.value)
        wished = [one for turn in reversed(self._asked(group)) for edit in _edits_of(turn)
                  if (edit.operation, edit.group) == ("set", group) for one in (edit.value, *edit.either)]
        two = list(dict.fromkeys(wished))[:2]
        if len(two) < 2 or named not in two or (two[0], two[1]) in _ALIKE:
            return None
        text = request(group, two[1 - two.index(named)])
        return self._pointed(text, f"{TAKEN}{text}")

    def _only(self, words: Words) -> Pointed | None:
        """"No, only the pocket" after "without the pocket and the belt": one wish of several in the last turn."""
        rest = _after(words, ("no", "not", "both", ","), ("only", "just"))
        if not rest or not self.turns or len(words) > _SHORT or self.words[0] not in _DENIED:
            return None
        last, part = self._last(), _part_of(rest)
        asked = [edit for edit in _edits_of(last) if edit.operation != "keep"]
        named = {part.group} if part else _groups(_edits(" ".join(rest)))
        meant = [edit for edit in asked if edit.group in named]
        if len(_groups(asked)) < 2 or len(meant) != 1 or len(named) != 1:
            return None
        edit = meant[0]
        if edit.operation == "drop":
            return self._instead_of(last, f"no {phrase(edit.group, edit.value) if edit.value else ' '.join(rest)}")
        return self._instead_of(last, request(edit.group, edit.value) if edit.operation == "set" else
                                " ".join(rest))

    def _instead_of(self, last: Turn, text: str) -> Pointed:
        return Pointed(text, last.reference_id, (_in_place_of(text, last),), len(self.turns) - 1, last.further)

    def _same_for(self, part: _Part, said: str) -> Pointed:
        """"Shorter", then "the same for the sleeves"."""
        last = self._last()
        if (moved := _moved(_edits_of(last), part)) is None:
            raise Unclear(said, f"“{last.modification_text}” cannot be said of the {part.words}")
        return self._pointed(moved, f"{TAKEN}{moved}")

    # --- what no longer holds ------------------------------------------------------

    def _given_up(self, rest: Words) -> Pointed:
        """The wishes about a part are given up: it is as in the reference from which it was first asked about."""
        cut = next((at for at, word in enumerate(rest) if word in (",", ".", "but")), len(rest))
        then = _without_lead(rest[cut:])
        part = _part_of(rest[:cut])
        if part is None:
            raise Unclear(self.said, "say which part is meant, for example the sleeves")
        if then:
            text = " ".join(part.words if word in ("them", "it", "one") else word for word in then)
            return self._pointed(text, f"{TAKEN}{text}")
        asked = self._asked(part.group)
        if not asked:
            raise Unclear(self.said, NOTHING_EARLIER if not self.turns else f"nothing was asked about the {part.words}")
        text = self._value(part.group, asked[0], self.said)
        return self._pointed(text, f"{TAKEN}{text}, as in the reference of turn {asked[0].number}")

    def _asked(self, group: str) -> list[Turn]:
        """The turns that ask for something of ``group``."""
        return [turn for turn in self.turns if group in _groups(_edits_of(turn))]

    def _dropped(self) -> Pointed | None:
        """"Forget the pocket", where an earlier turn asked for it and the reference has none."""
        edits = _edits(self.said) if self.turns else ()
        if kept := [text for edit in edits if (text := self._kept(edit))]:
            return self._pointed(", ".join([self.said, *kept]), f"{TAKEN}{', '.join([self.said, *kept])}")
        if len(edits) != 1 or edits[0].operation != "drop" or not edits[0].value:
            return None
        group, value = edits[0].group, edits[0].value
        asked = self._asked(group)
        if not asked or self._slots(self.scene.reference_id or "").get(group) == value:
            return None
        wished = [one for edit in _edits_of(asked[-1]) if (edit.operation, edit.group) == ("set", group)
                  for one in (edit.value, *edit.either)]
        if not wished:
            return None
        left = [one for one in wished if one != value and (value, one) not in _ALIKE]
        text = request(group, left[-1]) if left else self._value(group, asked[0], self.said)
        return self._pointed(text, f"{TAKEN}{text}")

    def _kept(self, edit: Edit) -> str:
        """What "keep the colour" means where an earlier turn asked for another one than the reference's: this; else
        ""."""
        asked = self._asked(edit.group) if edit.operation == "keep" and not edit.value else []
        if not asked or asked[-1].reference_id != self.scene.reference_id:
            return ""
        wished = [one.value for one in _edits_of(asked[-1]) if (one.operation, one.group) == ("set", edit.group)]
        return request(edit.group, wished[-1]) if wished else ""

    # --- the original, as before, both ---------------------------------------------

    def _at_first(self, words: Words) -> Pointed | None:
        """"The original length", "the colour of the original", "the old sleeves", also with other wishes beside it;
        "like the original but longer" goes on from it."""
        words, rest = _in_short(words), []
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
            while place < len(words) and words[place] in _TRAIL - {","}:
                place += 1
            rest.append(",")
            if self.turns:
                texts.append(self._first_value(part, earliest))
            else:
                missing = part.words
        others = " ".join(_without_trail(_without_lead(rest))).replace(" ,", ",")
        if missing:
            return self._pointed(others or WHOLE, f"not understood: {self.said} ({NOTHING_EARLIER})")
        if texts:
            text = ", ".join([*([others] if others else []), *texts])
            return self._pointed(text, f"{TAKEN}{', '.join(texts)}, as it was {'earlier' if others else 'before'}")
        if _ORIGINAL in words and words[words.index(_ORIGINAL) + 1 :][:1] in ((), (",",), ("but",)):
            return self._pointed(" ".join("the original one" if word == _ORIGINAL else word for word in words))
        return None

    def _first_value(self, part: _Part, earliest: bool) -> str:
        asked = self._asked(part.group)
        if not earliest and len(asked) > 1:   # what was asked before the last time
            for edit in reversed(_edits_of(asked[-2])):
                if (edit.operation, edit.group) == ("set", part.group):
                    return request(part.group, edit.value)
        turn = self.turns[0] if earliest or not asked else asked[0]
        return self._value(part.group, turn, self.said, every=part.words.endswith("colours"))

    def _as_before(self, rest: Words) -> Pointed:
        rest = rest[1:] if rest[:1] in (("only",), ("just",), ("except",)) else rest
        text = " ".join(rest) or WHOLE
        if not self.turns:
            return self._pointed(text, f"not understood: as before ({NOTHING_EARLIER})")
        return self._pointed(text, f"{TAKEN}{text}, with what was asked before")

    def _both(self) -> Pointed:
        """Of two values that were offered or named in the last turns."""
        last = _edits_of(self._last())
        values = [(edit.group, one) for edit in last if edit.operation == "set" for one in (edit.value, *edit.either)
                  if (edit.value, one) != ("stripes", "pinstripes")]
        before = _edits_of(self.turns[-2]) if len(self.turns) > 1 else ()
        if len(values) == 1:
            values = [*((edit.group, edit.value) for edit in before if edit.operation == "set"), *values]
        by_group = {group: list(dict.fromkeys(value for one, value in values if one == group)) for group, _ in values}
        several = {group: found for group, found in by_group.items() if len(found) > 1}
        if not several and (len(by_group) > 1 or (before and last)):
            return self._pointed(WHOLE, f"{TAKEN}what the last two turns asked for, together")
        if list(several) == ["colour"] and len(several["colour"]) == 2:
            text = f"in {' and '.join(several['colour'])}"
            return self._pointed(text, f"{TAKEN}{text}")
        if several:
            group, found = next(iter(several.items()))
            named = " and ".join(phrase(group, one) for one in found)
            raise Unclear(f"both, {named}", f"an image is described with one {_name(group)}: say which")
        raise Unclear(self.said, NOTHING_EARLIER)

    # --- values --------------------------------------------------------------------

    def _value(self, group: str, turn: Turn, said: str, *, every: bool = False) -> str:
        """A request for what the reference of ``turn`` has of ``group``. Raises ``Unclear``."""
        if turn.further:
            raise Unclear(said, f"the reference of turn {turn.number} is several pictures: say what it should be like")
        slots = self._slots(turn.reference_id)
        value = slots.get(group)
        if value is None:
            raise Unclear(said, f"the caption of the reference of turn {turn.number} says nothing about it")
        if group == "trim" and value == NONE:
            return "no trim"
        second = slots.get("second_colour", NONE)
        if group == "colour" and every and second != NONE:
            return f"in {value}, {second} as the second colour"
        return request(group, value, slots.get("category", "dress"))

    def _slots(self, image_id: str) -> dict[str, str]:
        return parse_caption(self.scene.caption(image_id)).slots


def _in_place_of(text: str, turn: Turn) -> str:
    return f"{TAKEN}{text}, in the place of “{turn.modification_text}”"


def _edits(text: str) -> tuple[Edit, ...]:
    return parse_edits(text).edits


def _edits_of(turn: Turn) -> tuple[Edit, ...]:
    """What ``turn`` asks for, once earlier ones are looked up."""
    composition = turn.composition
    return _edits(translate((composition.read_as if composition else "") or turn.modification_text).text)


def _groups(edits: Iterable[Edit]) -> set[str]:
    return {target(edit) for edit in edits if edit.operation != "keep"}


def _moved(edits: Sequence[Edit], part: _Part) -> str | None:
    """What ``edits`` ask for, of ``part``: "shorter" of the sleeves is "shorter sleeves". None if that has no
    meaning."""
    found = {text for edit in edits if (text := _moved_one(edit, part))}
    return found.pop() if len(found) == 1 else None


def _moved_one(edit: Edit, part: _Part) -> str:
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
    return ""


def _part_of(words: Sequence[str]) -> _Part | None:
    """The one part that ``words`` name, and nothing else."""
    words = _without_trail([word for word in words if word not in _THE])
    if not words or len(words) > 3:
        return None
    items, _ = read(" ".join(words))
    return _part(items[0]) if len(items) == 1 else None


def _part(item: ReadItem) -> _Part | None:
    if item.kind == "part":
        return _Part(item.sense.group, item.text)
    if item.kind == "value" and item.sense.is_noun:
        return _Part(item.sense.pairs[0][0], item.text, is_thing=True)
    if item.kind == "value" and item.sense.pairs[0][0] == "category":
        return _Part("length", item.text)   # "the same for the dress"
    return _Part("neckline", item.text, is_thing=True) if item.text in ("collar", "turtleneck") else None


def _without_lead(words: Sequence[str]) -> Words:
    start = 0
    while start < len(words) and words[start] in _LEAD:
        if words[start] in ("no", "not", "well", "so") and start + 1 < len(words) and not _leads(words, start + 1):
            break
        start += 1
    return tuple(words[start:])


def _leads(words: Sequence[str], place: int) -> bool:
    """Whether what is at ``place`` may follow a "no" that stands alone, unlike in "no stripes"."""
    if words[place - 1] == "not":   # "non, je voulais dire"
        return words[place] in (",", ".", "i", "we")
    return words[place] in _LEAD or words[place] in ("i", "we", "make", "what", "that", "the", "keep", "both")


def _without_trail(words: Sequence[str]) -> Words:
    end = len(words)
    while end and words[end - 1] in _TRAIL:
        end -= 1
    return tuple(words[:end])


def _meant(said: Words, words: Words) -> Words | None:
    """What a correction puts in the place of the last turn's wish: "navy" of "no, I meant navy", "the sleeves" of "not
    the length, the sleeves"; None if ``said`` is none. ``words``: without those before it."""
    if (rest := _after(words, _MEANT)) is not None:
        return _without_lead(rest)
    for ending in (("i", "meant"), ("i", "mean")):
        if words[-2:] == ending:
            return _without_trail(words[:-2])
    first, _, second = " ".join(words).partition(" , ")
    if second and first.startswith("not ") and _part_of(first.split()[1:]) and (part := _part_of(second.split())):
        return None if part.is_thing else tuple(second.split())
    part = _part_of(words)
    return words if part and not part.is_thing and said[:1] in (("no",), ("sorry",), ("wait",), ("oops",)) and (
        len(said) > len(words)) else None


def _put_back(words: Words) -> Words | None:
    """"The sleeves" of "put the sleeves back", "I want the old sleeves back please"; None if ``words`` are none."""
    said = tuple(word for word in words if word not in _SMALL)
    return said[1:-1] or None if said[-1:] == ("back",) and said[0] in _BRING else None


_OTHER = frozenset({("the", "other"), ("other", "one"), ("other", "colour"), ("other", "then")})
_DENIED = frozenset({"no", "not", "nope", "sorry", "wait", "oh", "oops", "actually", "hm", "hmm"})
_SMALL = frozenset({"please", "i", "we", "me", "can", "could", "you", "to", "again"})
_BRING = frozenset({"put", "bring", "get", "give", "have", "want", "turn", "change", "set", "switch"})
_ORIGINAL = "<original>"
_PICTURES = frozenset({"picture", "image", "photo", "turn"})
_GARMENTS = frozenset({"one", "reference", "dress", "shirt", "top"})   # which point at it as they are


def _in_short(words: Words) -> Words:
    """``words`` with one word for each way to say "of the original" and "from before"."""
    found: list[str] = []
    place = 0
    while place < len(words):
        for phrases, short in ((_AT_FIRST, "<first>"), (_HAD_BEFORE, "<before>")):
            match = max((one for one in phrases if words[place : place + len(one)] == one), key=len, default=())
            if match and (part := _part_of(found[-1:])) and not part.is_thing:
                found.append(short)
                place += len(match)
                break
        else:
            short, length = _praised(words[place:], found)
            if not length:
                short, length = _of_original(words[place : place + 4], found[-1:])
            found.append(short)
            place += length
    return tuple(found)


def _praised(words: Words, before: Sequence[str]) -> tuple[str, int]:
    """What "was better at first" or "were fine", which begin ``words``, say of the part that ends ``before``, and how
    many words it is; 0 for anything else."""
    part = _part_of(before[-1:])
    if before[-2:-1] and before[-2] not in _THE | _TO | _LEAD:
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
    if words[:3] in (("of", "the", "original"), ("of", "the", "first")) and _part_of(before) and (
            words[3:] not in (("result",), ("one",), ("hit",))):
        return "<first>", 4 if words[3:] and words[3] in _PICTURES else 3
    alone = words[:2] == ("the", "original") and not (words[2:3] and words[2] in {*_PICTURES, *_GARMENTS})
    return (_ORIGINAL, 2) if alone and not _part_of(words[2:3]) else (words[0], 1)


def _first_at(words: Words, place: int) -> tuple[_Part, int, bool] | None:
    """The part that ``words`` want as it was, from ``place`` on: "original length"; the place after it, and whether as
    at first."""
    earliest = words[place] in _FIRST
    if place and words[place - 1] in ("a", "an", "some"):
        return None
    if earliest or words[place] in _EARLIER:
        part = _part_of(words[place + 1 : place + 2])
        return (part, place + 2, earliest) if part and (not part.is_thing or words[place] != "first") else None
    if words[place + 1 : place + 2] == ("original",) and not _part_of(words[place + 2 : place + 3]) and (
            part := _part_of(words[place : place + 1])):
        return part, place + 2, True   # the noun comes first in many languages
    if words[place + 1 : place + 2] in (("<first>",), ("<before>",)) and (part := _part_of(words[place : place + 1])):
        return part, place + 2, words[place + 1] == "<first>"
    return None


def _after(words: Words, *phrases: Sequence[str]) -> Words | None:
    """What follows one of the last ``phrases``, before which words of the others may stand; None if none is there."""
    *before, found = phrases
    start = 0
    while start < len(words) and any(words[start] in one for one in before):
        start += 1
    for at in dict.fromkeys((0, start)):
        lengths = [len(one.split()) for one in found if words[at : at + len(one.split())] == tuple(one.split())]
        if lengths:
            return words[at + max(lengths):]
    return None


def _name(group: str) -> str:
    return group.replace("_", " ")
