"""The words that operate on others: negations, "instead of", "keep", "more". The base of the parser. Context queries
on the items around a position."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache

from cir_core.garments.tables import listed, table
from cir_core.language.builtin.reading.edits import Edit
from cir_core.language.builtin.reading.reader import ReadItem
from cir_core.language.builtin.reading.vocabulary import Sense

_WORN = frozenset({"wear", "wears", "wearing", "worn", "tuck", "tucks", "tucked", "go", "goes", "pair", "paired",
                   "layer"})
_LIKING = frozenset({"like", "liked", "want", "wanted", "prefer", "hoped", "expected", "need", "needed", "wished",
                     "asked"})
FILLERS = frozenset({"stop", "a", "the", "much", "as"})
_ALL_OF = frozenset({"avoid", "avoiding", "hate", "hates", "dislike", "excluding", "stay away from", "steer clear of",
                     "staying away from", "keep away from", "keep clear of", "sick of", "tired of", "fed up with",
                     "enough of", "had enough of", "done with", "not into", "not keen on", "not a fan of",
                     "cant stand"})


def following(items: Sequence[ReadItem], place: int) -> ReadItem | None:
    """The next item after ``place`` that is not a filler word."""
    return next((item for item in items[place + 1 :] if item.kind not in FILLERS), None)


_TURNS_ROUND = frozenset({"reverse", "flip", "invert", "interchange"})   # which replace nothing
_TRADES = frozenset({"swap", "exchange", "switch", "trade", "interchange", "swapping", "exchanging", "flip", "reverse"})


def has_goal(items: Sequence[ReadItem], place: int) -> bool:
    """Whether a "to", "into" or "with" follows before the sentence ends."""
    for item in items[place + 1 :]:
        if item.kind in ("break", "but"):
            return False
        if item.kind in ("to", "with"):
            return True
    return False


def fronted(items: Sequence[ReadItem]) -> tuple[ReadItem, ...]:
    """``items`` with a negation before what "has to go" or "isn't for me", instead of after it."""
    found: list[ReadItem] = []
    for item in items:
        if item.kind != "away":
            found.append(item)
            continue
        start = len(found)
        while start and found[start - 1].kind == "break":
            start -= 1  # "red? no way"
        while start and not _ends_clause(found, start - 1):
            start -= 1
        start = max(start, _named_last(found))
        if is_lasting(found[start:]):
            found.insert(start, ReadItem(Sense("other"), ("different",)))   # "the colour isn't for me"
            found.append(ReadItem(Sense("break"), (".",)))
            continue
        found.insert(start, ReadItem(Sense("without"), ("without",)))
        found.append(ReadItem(Sense("break"), (".",)))
    return tuple(found)


def _named_last(items: Sequence[ReadItem]) -> int:
    """Where the last things named begin: "I wore the red dots last time", "I like it but the bow and the belt …"."""
    place = len(items)
    while place and items[place - 1].kind not in ("value", "part"):
        place -= 1
    start = place
    while place:
        item = items[place - 1]
        if item.kind in ("value", "part"):
            start = place - 1
        elif item.kind in ("a", "the", "shade", "more", "less", "as", "noun", "head"):
            start = place - 1 if start == place else start
        elif not (item.kind in ("and", "or", "in", "with") or item.text in ("on", "of", "at", "all")):
            break
        place -= 1
    return start


def is_lasting(items: Sequence[ReadItem]) -> bool:
    """Whether they name a part of which there is always one, and nothing else."""
    named = [item for item in items if item.kind in ("value", "part")]
    return len(named) == 1 and named[0].kind == "part" and named[0].sense.group in _ALWAYS


_ALWAYS = frozenset({"colour", "length", "fit", "neckline"})


def _ends_clause(items: Sequence[ReadItem], place: int) -> bool:
    kind = items[place].kind
    between = kind == "and" and items[place - 1].value_of("colour") and items[place + 1 :][:1]
    return kind in ("break", "but", "and") and not (between and items[place + 1].value_of("colour"))


def owner_near(items: Sequence[ReadItem], place: int) -> str:
    """The part that a comparative at ``place`` is about: "wider sleeves", "the neckline should be lower"."""
    if place + 1 < len(items) and items[place + 1].kind == "part":
        return items[place + 1].sense.group
    back = place - 1
    while back >= 0 and items[back].kind in ("verb", "stop", "to", "much", "as", "more", "less", "a"):
        back -= 1
    return items[back].sense.group if back >= 0 and items[back].kind == "part" else ""


def is_worn_with(items: Sequence[ReadItem], place: int) -> bool:
    """Whether the garment at ``place`` is worn with the wanted one: "to wear over jeans"."""
    back = place - 1
    while back >= 0 and items[back].kind in ("a", "the", "value"):
        back -= 1
    joined = back > 0 and items[back].text in ("with", "over", "under", "into")
    return joined and any(item.text in _WORN for item in items[max(0, back - 4) : back])


def is_unliked(items: Sequence[ReadItem], place: int) -> bool:
    """Whether the comparative at ``place`` says how the garment is, not how it should be: "longer than I'd like"."""
    ahead = [word for item in items[place + 1 : place + 6] for word in item.words]
    if items[place].words[-1] == "than":
        ahead.insert(0, "than")
    who = ahead[1:2]
    rest = [word for word in ahead[2:5] if word not in ("would", "had", "have", "was", "really", "d")]
    return ahead[:1] == ["than"] and who in (["i"], ["id"], ["we"], ["she"]) and bool(rest) and rest[0] in _LIKING


def shaded_at(items: Sequence[ReadItem], place: int) -> int | None:
    """Where the garment's own colour is, which the comparative at ``place`` is about: "make the blue darker"."""
    back = place - 1
    while back >= 0 and items[back].kind in ("verb", "stop", "to", "much", "as", "a"):
        back -= 1
    named = back > 0 and items[back].value_of("colour") and items[back - 1].kind == "the"
    return back if named else None


def is_recoloured(last: Edit, items: Sequence[ReadItem], place: int, negated: Collection[int]) -> bool:
    """Whether the thing that ``last`` drops only gets the colour at ``place``: "change the belt to red"."""
    back = place - 1
    while back >= 0 and items[back].kind in ("to", "a", "the", "in", "stop", "shade", "with"):
        back -= 1
    goal = any(item.kind in ("to", "with") or item.text == "for" for item in items[back + 1 : place])
    dropped = last.operation == "drop" and last.group in ("pattern", "trim", "sleeves", "neckline")
    replaced = back >= 0 and (back in negated or items[back].kind == "part")
    verb = any(item.kind in ("alter", "replace", "from") for item in items[max(0, back - 5) : max(0, back)])
    return goal and dropped and replaced and verb


def is_reference(items: Sequence[ReadItem], place: int) -> bool:
    """Whether the noun at ``place`` is the reference garment, not the wanted one."""
    for item in reversed(items[max(0, place - 4) : place]):
        if item.kind in ("the", "keep", "same"):
            return True
        if item.kind not in ("value", "word", "stop", "as"):
            return False
    return False


_LENGTHS = frozenset({"short", "elbow", "long"})


def bind_sleeves(items: Sequence[ReadItem]) -> tuple[frozenset[int], frozenset[int]]:
    """Positions of "long" or "longer" that refer to sleeves, and of those sleeves.

    "Longer" alone is the garment's length. Directly before "sleeves" (colours may come
    between) or after them ("the sleeves are longer") it refers to them.
    """
    owned: set[int] = set()
    parts: set[int] = set()
    for place, item in enumerate(items):
        if item.value_of("sleeves") in _LENGTHS:
            if place > 1 and items[place - 1].kind == "or" and _is_length(items[place - 2]):
                owned.add(place - 2)   # "long or short sleeves"
            if [one.kind for one in items[place + 1 : place + 2]] == ["or"] and _is_last_length(items, place + 2):
                owned.add(place + 2)   # "long sleeves or short"
        if item.kind != "part" or item.sense.group != "sleeves":
            continue
        back = place - 1
        small = ("stop", "the", "a", "in")   # before it
        while back >= 0 and (items[back].kind in small or items[back].value_of("colour")):
            back -= 1
        if back > 0 and items[back].kind == "word" and _is_length(items[back - 1]):
            back -= 1   # "long bell sleeves"
        ahead = place + 1
        after = ("stop", "verb", "to", "much", "as", "more", "less", "a", "not")   # it
        while ahead < len(items) and (items[ahead].kind in after or items[ahead].text in _made()):
            ahead += 1
        for other in (back, ahead):
            if 0 <= other < len(items) and other not in owned and _is_length(items[other]):
                owned.add(other)
                parts.add(place)
                break
    return frozenset(owned), frozenset(parts)


@cache
def _made() -> frozenset[str]:
    return frozenset(listed(table("constructions")["made"]))


def _is_last_length(items: Sequence[ReadItem], place: int) -> bool:
    """Whether a length is at ``place``, and nothing that has one behind it."""
    return place < len(items) and _is_length(items[place]) and (
        place + 1 == len(items) or items[place + 1].kind in ("break", "but", "and") or items[place + 1].text == "ones")


def _is_length(item: ReadItem) -> bool:
    if item.kind == "step":
        return item.sense.group == "length"
    return item.kind == "value" and item.sense.pairs[0][0] == "length" and len(item.sense.pairs) == 1


_SPEAKING = frozenset({"i", "id", "ill", "we", "take", "please"})
_PIECES = frozenset({"pattern", "sleeves", "neckline"})
_STAYS = frozenset({"stay", "stays", "remain", "remains", "still"})


class Operators:
    """Parser state: ``negation`` applies to the next value, ``spent`` is set once it has been used."""

    def __init__(self, items: tuple[ReadItem, ...], notes: list[str], is_caption: bool) -> None:
        self.items, self.notes, self.is_caption = items, notes, is_caption
        self.sleeves_at, self.bound = bind_sleeves(items)
        self.edits: list[Edit] = []
        self.extras: list[str] = []
        self.unused: list[str] = []     # the extras' own words
        self.pointers: list[str] = []
        self.pieces: list[str] = []         # whose colour or pattern no attribute holds
        self.of_pieces: set[int] = set()    # positions of their words
        self.unwanted: list[str] = []
        self.noun = ""
        self.negated_at: set[int] = set()
        self.taken: set[int] = set(self.bound)
        self.reset()

    def reset(self) -> None:
        self.negation, self.spent, self.keep, self.same = "", False, False, False
        self.degree, self.rungs = 0, 1  # +1 after "more", "too"; -1 after "less", "not as"
        self.or_else, self.swapping, self.excepting, self.all_of = False, False, False, False
        self.trading = False

    def on_break(self, place: int, item: ReadItem) -> None:
        self.reset()

    def on_but(self, place: int, item: ReadItem) -> None:
        everything = place > 0 and self.items[place - 1].text == "everything"
        ahead = self.items[place + 1].kind if place + 1 < len(self.items) else ""
        if everything and (ahead == "the" or (ahead == "value" and not self.keep)):
            self.on_except(place, item)  # "everything but the belt", "everything but red"
        else:
            self.reset()

    def on_and(self, place: int, item: ReadItem) -> None:
        ahead = following(self.items, place)
        if self.negation == "not" and self.all_of and ahead and ahead.kind == "value":
            self.spent = False  # "avoid orange and yellow"
        elif self.negation == "without" and ahead and ahead.kind == "value" and (
                ahead.value_of("trim") or self._is_thing(place + 1)
                or (self._is_the(place + 1) and ahead.sense.pairs[0][0] in _PIECES)):
            self.spent = False  # "without the bow and the belt"
        elif self.negation != "from":
            self.negation = ""
        beside = self.items[place + 1].kind if place + 1 < len(self.items) else ""
        self.keep = self.keep and beside in ("the", "a", "part")
        self.degree, self.rungs, self.or_else = 0, 1, False

    def _is_thing(self, place: int) -> bool:
        """A pattern or a collar without an article: "without belt and dots"."""
        item = self.items[place] if place < len(self.items) else None
        return item is not None and (item.text == "collar" or (item.sense.is_noun and bool(item.value_of("pattern"))))

    def _is_the(self, place: int) -> bool:
        return place < len(self.items) and self.items[place].kind == "the"

    def on_or(self, place: int, item: ReadItem) -> None:
        self.spent, self.or_else = False, True

    def on_not(self, place: int, item: ReadItem) -> None:
        self.negation, self.spent, self.keep = item.kind, False, False
        self.all_of = item.text in _ALL_OF

    on_without = on_instead = on_not

    def on_except(self, place: int, item: ReadItem) -> None:
        """"Any colour except red" excludes, "the same except in red" does not."""
        beside = self.items[place + 1].kind if place + 1 < len(self.items) else ""
        definite = beside == "the"
        said = self.items[place + 1].text if beside else ""
        ahead = following(self.items, place)
        if beside in ("with", "in", "verb") or said == "that" or (ahead is not None and ahead.kind == "step"):
            self.reset()  # "a bit like this one except with stripes"
        elif definite or not any(before.kind in ("same", "keep") for before in self.items[:place]):
            self.on_not(place, item)
            self.negation, self.excepting = "not", definite
        else:
            self.reset()

    def on_replace(self, place: int, item: ReadItem) -> None:
        if self.negation == "not":
            self.reset()
            self.keep = True  # "don't change the colour"
            return
        if item.text in _TURNS_ROUND and not has_goal(self.items, place) and not self._of_colours(place):
            return   # "flip the collar"
        self.negation, self.spent, self.keep = "from", False, False
        self.swapping = item.kind == "replace" and not has_goal(self.items, place)
        self.trading = item.text in _TRADES and any(other.text == "with" for other in self.items[place + 1 :])

    def _of_colours(self, place: int) -> bool:
        """Whether a colour is what the verb at ``place`` is about: "reverse the red and the black"."""
        ahead = next((item for item in self.items[place + 1 :] if item.kind not in ("the", "a")), None)
        return ahead is not None and bool(ahead.value_of("colour"))

    def on_alter(self, place: int, item: ReadItem) -> None:
        if self.negation == "not" or has_goal(self.items, place):  # "turn it red" has none: red is the goal itself
            self.on_replace(place, item)

    on_from = on_alter

    def on_to(self, place: int, item: ReadItem) -> None:
        if self.negation == "from":
            self.negation = ""

    def on_a(self, place: int, item: ReadItem) -> None:
        before = self.items[place - 1].kind if place else ""
        if self.negation == "instead" and self.spent and before not in ("and", "or"):
            self.negation = ""  # "instead of the collar a turtleneck"

    def on_head(self, place: int, item: ReadItem) -> None:
        if self.negation == "instead" and self.spent and item.text == "something":
            self.negation = ""  # "instead of the black something white"

    def on_with(self, place: int, item: ReadItem) -> None:
        self.keep = False
        if self.negation == "from" or (self.negation == "instead" and self.spent):
            self.negation = ""  # not yet used: "instead of having a belt"

    def on_stop(self, place: int, item: ReadItem) -> None:
        if item.text == "for":
            self.on_to(place, item)
        elif self.negation == "instead" and self.spent and item.text in _SPEAKING:
            self.negation = ""  # "instead of blue I'd take brown"

    def on_verb(self, place: int, item: ReadItem) -> None:
        self.keep = False
        if self.negation == "instead" and self.spent:
            self.negation = ""

    on_in = on_verb

    def on_keep(self, place: int, item: ReadItem) -> None:
        if part := self._that_stays(place):
            self.edits.append(Edit("keep", part.sense.group, words=part.text))
        elif self.negation:
            self.negation = "without"
        else:
            self.keep = True

    def _that_stays(self, place: int) -> ReadItem | None:
        """The part in "the colour can stay"; None for "keep the colour", and where a value says how it stays."""
        back = place - 1
        while back >= 0 and self.items[back].kind in ("stop", "verb", "as"):
            back -= 1
        ahead = self.items[place + 1].kind if place + 1 < len(self.items) else "break"
        ends = ahead in ("break", "and", "but", "same", "as", "the") and not self.negation
        part = self.items[back] if back >= 0 and ends and self.items[place].text in _STAYS else None
        return part if part is not None and part.kind == "part" else None

    def on_same(self, place: int, item: ReadItem) -> None:
        before = [one.kind for one in self.items[max(0, place - 3) : place] if one.kind != "the"]
        if before[-1:] != ["in"] or before[:-1] in ([], ["but"], ["and"], ["break"]):
            self.on_keep(place, item)  # but "a belt in the same colour" keeps nothing
        self.same = self.keep

    def on_other(self, place: int, item: ReadItem) -> int | None:
        ahead = following(self.items, place)
        if ahead and ahead.kind == "part" and not self.is_caption:
            self.edits.append(Edit("other", self._other_group(place, ahead)))
        # "a different dress" asks for another one of the same kind.
        if item.text == "new" and ahead and ahead.kind == "value" and not ahead.value_of("category"):
            return None  # "a new green one"
        return self.items.index(ahead, place) + 1 if ahead and ahead.kind in ("part", "value") else None

    def _other_group(self, place: int, part: ReadItem) -> str:
        """"No red dots, another colour for them" leaves the dots, and asks for another colour of theirs."""
        group = part.sense.group
        them = any(item.text in ("them", "these", "those") for item in self.items[place + 2 : place + 5])
        named = [edit for edit in self.edits[-2:] if edit.group in ("pattern", "trim") and edit.value]
        if group != "colour" or not named:
            return group
        last = self.edits[-1]
        if them and (last.operation, last.group) == ("drop", named[-1].group):
            self.edits[-1] = replace(last, operation="set")
        refused = (last.operation, last.group) == ("drop", "colour") and named[-1].operation == "set"
        return "second_colour" if them or refused else group

    def on_more(self, place: int, item: ReadItem) -> None:
        self.degree, self.keep = 1, False

    def on_less(self, place: int, item: ReadItem) -> None:
        self.degree, self.keep = -1, False

    def on_as(self, place: int, item: ReadItem) -> None:
        if self.negation == "not" or item.text == "too":
            self.degree = -1  # "not as long", "too long"
        if self.same:
            self.keep = False  # "the same as a dress"

    def on_much(self, place: int, item: ReadItem) -> None:
        self.rungs = 2

    def on_swap(self, place: int, item: ReadItem) -> None:
        if self.negation not in ("not", "without"):
            self.edits.append(Edit("swap", "colour"))

    def on_pointer(self, place: int, item: ReadItem) -> None:
        if not self.is_caption:
            self.pointers.append(item.text)
