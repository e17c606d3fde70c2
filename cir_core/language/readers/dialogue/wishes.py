"""The wishes of a dialogue: what each turn asks of each attribute, and what holds after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.captions import parse_caption
from cir_core.language.builtin.reading.edits import Edit, target
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.readers.dialogue.phrasing import Words, edits_in, groups, in_words
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import TAKEN, Pointed
from cir_core.language.readers.scene import Scene, Unclear
from cir_core.types.records import Turn

NOTHING_EARLIER = "nothing earlier to go back to"


def edits_of(turn: Turn) -> tuple[Edit, ...]:
    """What ``turn`` asks for, once earlier ones are looked up."""
    composition = turn.composition
    return edits_in(translate((composition.read_as if composition else "") or turn.modification_text).text)


@dataclass(frozen=True)
class Wishes:
    """Of the ``turns`` of a branch, in order."""

    turns: Sequence[Turn]

    @cached_property
    def edits(self) -> tuple[tuple[Edit, ...], ...]:
        """Of each turn."""
        return tuple(map(edits_of, self.turns))

    @property
    def last(self) -> tuple[Edit, ...]:
        return self.edits[-1] if self.turns else ()

    def asked(self, group: str) -> list[Turn]:
        """The turns that ask for something of ``group``."""
        return [turn for turn, edits in zip(self.turns, self.edits, strict=True) if group in groups(edits)]

    def recent(self) -> list[str]:
        """The groups that something was asked of, the last one first."""
        return list(dict.fromkeys(target(edit) for edits in reversed(self.edits) for edit in reversed(edits)
                                  if edit.operation != "keep" and edit.group))

    def values(self, group: str) -> list[str]:
        """The values that were asked for, the last one first."""
        return list(dict.fromkeys(one for edits in reversed(self.edits) for edit in reversed(edits)
                                  if (edit.operation, edit.group) == ("set", group)
                                  for one in (edit.value, *edit.either)))

    def refused(self, group: str) -> list[str]:
        """The values that were refused, and not asked for since."""
        found: dict[str, None] = {}
        for edits in self.edits:
            for edit in edits:
                if edit.operation == "drop" and edit.group == group and edit.value:
                    found[edit.value] = None
                elif edit.operation == "set" and edit.group == group:
                    for one in (edit.value, *edit.either):
                        found.pop(one, None)
        return list(found)

    def wished(self, group: str) -> list[str]:
        """The values that the last turn about ``group`` asks for, of which any would do."""
        last = next((edits for edits in reversed(self.edits)
                     if any(edit.operation != "keep" and target(edit) == group for edit in edits)), ())
        return [one for edit in last if edit.operation == "set" and target(edit) == group
                for one in (edit.value, *edit.either)]

    def naming(self, edits: Iterable[Edit]) -> Turn | None:
        """The last turn that asked for something that ``edits`` name: "in red" for "I meant blue, not red"."""
        named = {(edit.group, edit.value) for edit in edits if edit.operation in ("set", "drop")}
        return next((turn for turn, asked in zip(reversed(self.turns), reversed(self.edits), strict=True) if any(
            edit.operation == "set" and (edit.group, edit.value) in named for edit in asked)), None)

    def holding(self, number: int) -> Mapping[str, Edit]:
        """What holds after so many turns: for each group the last edit that asks something of it."""
        return {target(edit): edit for edits in self.edits[:number] for edit in edits
                if edit.operation != "keep" and edit.group}


class Talk:
    """The ``words`` of a text, and what they can be about in ``scene``."""

    def __init__(self, words: Words, scene: Scene) -> None:
        self.words, self.scene = words, scene
        self.said = in_words(words)
        self.wishes = Wishes(scene.turns)

    @property
    def turns(self) -> Sequence[Turn]:
        return self.scene.turns

    def last(self) -> Turn:
        """Raises ``Unclear`` where there is none."""
        if not self.turns:
            raise Unclear(self.said, NOTHING_EARLIER)
        return self.turns[-1]

    def asked(self, group: str) -> list[Turn]:
        return self.wishes.asked(group)

    def pointed(self, text: str, *notes: str) -> Pointed:
        return Pointed(text, self.scene.reference_id, notes)

    def taken(self, text: str, more: str = "") -> Pointed:
        """``text`` in the place of the words, which is said."""
        return self.pointed(text, f"{TAKEN}{text}{more}")

    def instead_of(self, last: Turn, text: str) -> Pointed:
        """``text`` in the place of what the turn ``last`` asks, which no longer holds."""
        return Pointed(text, last.reference_id, (in_place_of(text, last),), len(self.turns) - 1, last.further)

    def value(self, group: str, turn: Turn, *, every: bool = False) -> str:
        """A request for what the reference of ``turn`` has of ``group``. Raises ``Unclear``."""
        if turn.further:
            raise Unclear(self.said, f"the reference of turn {turn.number} is several pictures: say what it should be "
                                     "like")
        slots = self.slots(turn.reference_id)
        value = slots.get(group)
        if value is None:
            raise Unclear(self.said, f"the caption of the reference of turn {turn.number} says nothing about it")
        if group == "trim" and value == NONE:
            return "no trim"
        second = slots.get("second_colour", NONE)
        if group == "colour" and every and second != NONE:
            return f"in {value}, {second} as the second colour"
        return request(group, value, slots.get("category", "dress"))

    def original(self, group: str, turn: Turn) -> str:
        """A request for what the first reference has of ``group``, which is what was there before anything was asked of
        it in ``turn``: the reference of that turn has other values than it only where nobody minded. Raises
        ``Unclear``."""
        first = self.turns[0]
        return self.value(group, first if not first.further and self.slots(first.reference_id).get(group) else turn)

    def slots(self, image_id: str | None) -> dict[str, str]:
        return parse_caption(self.scene.caption(image_id or "")).slots


def in_place_of(text: str, turn: Turn) -> str:
    return f"{TAKEN}{text}, in the place of “{turn.modification_text}”"
