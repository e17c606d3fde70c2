"""The words that operate on others: negations, "instead of", "keep", "more". The base of the parser."""

from __future__ import annotations

from cir_core.language.builtin.reading.edits import Edit
from cir_core.language.builtin.reading.reader import ReadItem
from cir_core.language.builtin.reading.scope import bind_sleeves, following, has_goal


class Operators:
    """Parser state: ``negation`` applies to the next value, ``spent`` is set once it has been used."""

    def __init__(self, items: tuple[ReadItem, ...], notes: list[str], is_caption: bool) -> None:
        self.items, self.notes, self.is_caption = items, notes, is_caption
        self.sleeves_at, self.bound = bind_sleeves(items)
        self.edits: list[Edit] = []
        self.extras: list[str] = []
        self.unused: list[str] = []     # the extras' own words
        self.pointers: list[str] = []
        self.unwanted: list[str] = []
        self.noun = ""
        self.negated_at: set[int] = set()
        self.taken: set[int] = set(self.bound)
        self.reset()

    def reset(self) -> None:
        self.negation, self.spent, self.keep, self.same = "", False, False, False
        self.degree, self.rungs = 0, 1  # +1 after "more", "too"; -1 after "less", "not as"
        self.or_else, self.swapping, self.excepting = False, False, False

    def on_break(self, place: int, item: ReadItem) -> None:
        self.reset()

    def on_but(self, place: int, item: ReadItem) -> None:
        everything = place > 0 and self.items[place - 1].text == "everything"
        if everything and place + 1 < len(self.items) and self.items[place + 1].kind == "the":
            self.on_except(place, item)  # "everything but the belt"
        else:
            self.reset()

    def on_and(self, place: int, item: ReadItem) -> None:
        ahead = following(self.items, place)
        if self.negation == "without" and ahead and ahead.kind == "value" and ahead.value_of("trim"):
            self.spent = False  # "without the bow and the belt"
        elif self.negation != "from":
            self.negation = ""
        beside = self.items[place + 1].kind if place + 1 < len(self.items) else ""
        self.keep = self.keep and beside in ("the", "a", "part")
        self.degree, self.rungs, self.or_else = 0, 1, False

    def on_or(self, place: int, item: ReadItem) -> None:
        self.spent, self.or_else = False, True

    def on_not(self, place: int, item: ReadItem) -> None:
        self.negation, self.spent, self.keep = item.kind, False, False

    on_without = on_instead = on_not

    def on_except(self, place: int, item: ReadItem) -> None:
        """"Any colour except red" excludes, "the same except in red" does not."""
        definite = place + 1 < len(self.items) and self.items[place + 1].kind == "the"
        if definite or not any(before.kind in ("same", "keep") for before in self.items[:place]):
            self.on_not(place, item)
            self.negation, self.excepting = "not", definite
        else:
            self.reset()

    def on_replace(self, place: int, item: ReadItem) -> None:
        if self.negation == "not":
            self.reset()
            self.keep = True  # "don't change the colour"
            return
        self.negation, self.spent, self.keep = "from", False, False
        self.swapping = item.kind == "replace" and not has_goal(self.items, place)

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

    def on_with(self, place: int, item: ReadItem) -> None:
        self.keep = False
        if self.negation == "from" or (self.negation == "instead" and self.spent):
            self.negation = ""  # not yet used: "instead of having a belt"

    def on_stop(self, place: int, item: ReadItem) -> None:
        if item.text == "for":
            self.on_to(place, item)

    def on_verb(self, place: int, item: ReadItem) -> None:
        self.keep = False
        if self.negation == "instead" and self.spent:
            self.negation = ""

    on_in = on_verb

    def on_keep(self, place: int, item: ReadItem) -> None:
        if self.negation:
            self.negation = "without"
        else:
            self.keep = True

    def on_same(self, place: int, item: ReadItem) -> None:
        if not any(before.kind == "in" for before in self.items[max(0, place - 2) : place]):
            self.on_keep(place, item)  # but "a belt in the same colour" keeps nothing
        self.same = self.keep

    def on_other(self, place: int, item: ReadItem) -> int | None:
        ahead = following(self.items, place)
        if ahead and ahead.kind == "part" and not self.is_caption:
            self.edits.append(Edit("other", ahead.sense.group))
        # "a different dress" asks for another one of the same kind.
        return self.items.index(ahead, place) + 1 if ahead and ahead.kind in ("part", "value") else None

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
        self.edits.append(Edit("swap", "colour"))

    def on_pointer(self, place: int, item: ReadItem) -> None:
        if not self.is_caption:
            self.pointers.append(item.text)
