"""From words to edits: one pass over the items with a small amount of state."""

from __future__ import annotations

from cir_core.language.builtin.reading.colours import JOINERS, colour_run
from cir_core.language.builtin.reading.edits import Edit, Edits
from cir_core.language.builtin.reading.extras import extra_run
from cir_core.language.builtin.reading.reader import Item, read
from cir_core.language.builtin.reading.scope import bind_sleeves, following, has_goal, is_reference

_SIGN = {("length", "short"): -1, ("length", "long"): 1, ("fit", "slim"): -1, ("fit", "loose"): 1}
_AS_SLEEVES = {"short": "short", "medium": "elbow", "long": "long"}


def interpret(text: str, *, is_caption: bool = False) -> Edits:
    """The edits in ``text``. In a caption "the dress" names what it is, not what it was."""
    items, notes = read(text)
    return _Interpreter(items, list(notes), is_caption).run()


def parse_edits(text: str) -> Edits:
    """The edits that ``text`` asks for. Never fails: what is not understood becomes an extra."""
    return interpret(text)


class _Interpreter:
    """State: ``negation`` is how the next value is meant, ``spent`` that it has had one already."""

    def __init__(self, items: tuple[Item, ...], notes: list[str], is_caption: bool) -> None:
        self.items, self.notes, self.is_caption = items, notes, is_caption
        self.sleeves_at, self.bound = bind_sleeves(items)
        self.edits: list[Edit] = []
        self.extras: list[str] = []
        self.unwanted: list[str] = []
        self.noun = ""
        self.negated_at: set[int] = set()
        self.taken: set[int] = set(self.bound)
        self.reset()

    def reset(self) -> None:
        self.negation, self.spent, self.keep = "", False, False
        self.degree, self.rungs = 0, 1  # +1 after "more", "too"; -1 after "less", "not as"

    def run(self) -> Edits:
        place = 0
        while place < len(self.items):
            item = self.items[place]
            handler = getattr(self, f"on_{item.kind}", None)
            place = (handler(place, item) if handler and place not in self.taken else None) or place + 1
        return Edits(tuple(self.edits), self.noun, tuple(dict.fromkeys(self.extras)),
                     tuple(dict.fromkeys(self.unwanted)), tuple(dict.fromkeys(self.notes)))

    # Words that say how the next ones are meant.

    def on_break(self, place: int, item: Item) -> None:
        self.reset()

    on_but = on_break

    def on_and(self, place: int, item: Item) -> None:
        ahead = following(self.items, place)
        if self.negation == "without" and ahead and ahead.kind == "value" and ahead.value_of("trim"):
            self.spent = False  # "without the bow and the belt"
        elif self.negation != "from":
            self.negation = ""
        beside = self.items[place + 1].kind if place + 1 < len(self.items) else ""
        self.keep = self.keep and beside in ("the", "a", "part")
        self.degree, self.rungs = 0, 1

    def on_or(self, place: int, item: Item) -> None:
        self.spent = False

    def on_not(self, place: int, item: Item) -> None:
        self.negation, self.spent, self.keep = item.kind, False, False

    on_without = on_instead = on_not

    def on_replace(self, place: int, item: Item) -> None:
        self.negation, self.spent, self.keep = "from", False, False

    def on_alter(self, place: int, item: Item) -> None:
        if has_goal(self.items, place):  # "turn it red" has none: red is the goal itself
            self.on_replace(place, item)

    on_from = on_alter

    def on_to(self, place: int, item: Item) -> None:
        if self.negation == "from":
            self.negation = ""

    def on_with(self, place: int, item: Item) -> None:
        self.keep = False
        if self.negation == "from" or (self.negation == "instead" and self.spent):
            self.negation = ""  # not yet spent: "instead of having a belt"

    def on_stop(self, place: int, item: Item) -> None:
        if item.text == "for":
            self.on_to(place, item)

    def on_verb(self, place: int, item: Item) -> None:
        self.keep = False
        if self.negation == "instead" and self.spent:
            self.negation = ""

    on_in = on_verb

    def on_keep(self, place: int, item: Item) -> None:
        if self.negation:
            self.negation = "without"
        else:
            self.keep = True

    def on_other(self, place: int, item: Item) -> int | None:
        ahead = following(self.items, place)
        if ahead and ahead.kind == "part" and not self.is_caption:
            self.edits.append(Edit("drop", ahead.sense.group))
        # "a different dress" asks for another one of the same kind.
        return self.items.index(ahead, place) + 1 if ahead and ahead.kind in ("part", "value") else None

    def on_more(self, place: int, item: Item) -> None:
        self.degree, self.keep = 1, False

    def on_less(self, place: int, item: Item) -> None:
        self.degree, self.keep = -1, False

    def on_as(self, place: int, item: Item) -> None:
        if self.negation == "not" or item.text == "too":
            self.degree = -1  # "not as long", "too long"

    def on_much(self, place: int, item: Item) -> None:
        self.rungs = 2

    # Words that say what.

    def on_step(self, place: int, item: Item) -> None:
        nearby = self.items[place + 1].text if place + 1 < len(self.items) else ""
        if nearby in ("fabric", "material", "weight", "cloth"):
            self.taken.add(place + 1)
            self._keep_as_typed(f"{item.text} {nearby}", f"in {item.text} {nearby}")
        elif not self.negation and not self.is_caption:
            group = "sleeves" if place in self.sleeves_at else item.sense.group
            self.edits.append(Edit("step", group, direction=item.sense.direction * self.rungs))
        self.keep, self.degree, self.rungs = False, 0, 1

    def on_simpler(self, place: int, item: Item) -> None:
        if not self.negation and not self.is_caption:
            self.edits.append(Edit("simpler"))

    def on_shade(self, place: int, item: Item) -> int | None:
        ahead = self.items[place + 1] if place + 1 < len(self.items) else None
        if ahead is not None and ahead.value_of("colour"):
            if not self.negation and not self.keep:
                self.notes.append(f"Treated “{item.text} {ahead.text}” as “{ahead.value_of('colour')}”")
        elif self.degree:
            self._degree("shade", item.sense.direction)
        elif not self.negation and not self.keep:
            self._keep_as_typed(item.text, item.text)
        return None

    def on_noun(self, place: int, item: Item) -> None:
        refers = self.keep or bool(self.negation) or (not self.is_caption and is_reference(self.items, place))
        if not refers:
            self.noun = item.text
        self.spent = True

    def on_part(self, place: int, item: Item) -> None:
        group = item.sense.group
        if self.keep:
            self._kept(item)
        elif self.degree < 0 and group in ("pattern", "trim"):
            self.edits.append(Edit("simpler"))
        elif self._is_negated():
            if group in ("sleeves", "pattern", "trim") and self.negation != "instead":
                self.edits.append(Edit("drop", group))
        elif group == "sleeves" and not self.is_caption:
            self.edits.append(Edit("sleeved"))
        self.degree = 0

    def on_value(self, place: int, item: Item) -> int | None:
        if item.value_of("colour"):
            return self._colours(place)
        group, value = item.sense.pairs[0]
        of_sleeves = place in self.sleeves_at or (group == "length" and self._are_ones(place))
        if of_sleeves:
            group, value = "sleeves", _AS_SLEEVES[value]
        if self.degree and (group, value) in _SIGN:
            self._degree(group, _SIGN[group, value])
            return None
        if group == "category" and not self.is_caption and is_reference(self.items, place):
            self.spent = True
        elif self.keep:
            self._kept(item)
        elif self._is_negated() or self.degree < 0:
            self.negated_at.add(place)
            if group != "category" or not self.spent:  # "not a long dress" still means a dress
                self.edits.append(Edit("drop", group, value))
            self.spent = True
        else:
            pairs = ((group, value),) if of_sleeves else item.sense.pairs
            self.edits += [Edit("set", *pair) for pair in pairs]
            if item.sense.loosely:
                self.notes.append(f"Treated “{item.text}” as “{value}”")
        self.degree = 0
        return None

    def on_word(self, place: int, item: Item) -> int:
        run = extra_run(self.items, place)
        if self._is_negated():
            self.unwanted.append(run.core)
            self.spent = True
        elif not self.keep:
            self._keep_as_typed(run.core, run.phrase)
        self.degree = 0
        return run.end

    def _colours(self, place: int) -> int:
        joiners = JOINERS
        if self.negation in ("not", "without") or self.degree < 0:
            joiners = frozenset()  # "not red and white" takes away the red
        elif self.negation:
            joiners = frozenset({"and", "&"})  # "replace the white with red", "instead of red, blue"
        run = colour_run(self.items, place, self.negated_at, joiners)
        if self.keep:
            self._kept(self.items[place])
        elif self._is_negated() or self.degree < 0:
            if not run.of:
                self.edits += [Edit("drop", "colour", colour) for colour in run.colours]
                self.spent = True
            self.negated_at.update(range(place, run.end))
        else:
            if run.colour:
                self.edits.append(Edit("set", "colour", run.colour))
            if run.second:
                self.edits.append(Edit("set", "second_colour", run.second, of_trim=run.of == "trim"))
            if run.piece:
                self._keep_as_typed(run.piece, f"with {run.piece}")
                if run.piece_at is not None:
                    self.taken.add(run.piece_at)
            for item in self.items[place : run.end]:
                if item.sense.loosely:
                    self.notes.append(f"Treated “{item.text}” as “{item.value_of('colour')}”")
        self.degree = 0
        return run.end

    def _degree(self, group: str, sign: int) -> None:
        if not self.is_caption:
            self.edits.append(Edit("step", group, direction=sign * self.degree * self.rungs))
        self.negation, self.degree, self.rungs = "", 0, 1

    def _is_negated(self) -> bool:
        if self.negation in ("not", "without") and self.spent:
            self.negation = ""
        return bool(self.negation)

    def _are_ones(self, place: int) -> bool:
        """Whether "long" stands in "short sleeves instead of long ones": sleeves are many, a dress is one."""
        return self.items[place + 1 : place + 2] != () and self.items[place + 1].text == "ones"

    def _kept(self, item: Item) -> None:
        self.notes.append(f"Unchanged: {item.text}")

    def _keep_as_typed(self, core: str, phrase: str) -> None:
        self.extras.append(phrase)
        if not self.is_caption:
            self.notes.append(f"Not understood, used as typed: “{core}”")
