"""Requested attributes of an image, the basis of every role except captioning."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cir_core.garments.lexicon import GROUPS, NONE
from cir_core.language.builtin.captions import Caption, parse_caption
from cir_core.language.builtin.reading.edits import (
    Edit,
    Edits,
    apply_with_notes,
    beyond,
    past,
    settled,
    target,
    traded,
)
from cir_core.language.builtin.reading.parse import parse_edits

Slots = Mapping[str, str]


@dataclass(frozen=True)
class Wanted:
    """A reference description combined with a modification text.

    ``slots`` are those of the merged description. ``edited`` are the groups the text mentions, ``kept`` the other
    groups with a value, both in the lexicon's order. ``gone`` are values of the reference, or named in the text, that
    must be removed. A group that the request leaves open is in none of them.
    """

    reference: Caption
    edits: Edits
    slots: Slots
    edited: tuple[str, ...]
    kept: tuple[str, ...]
    gone: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def noun(self) -> str:
        """The wanted category of garment outside the lexicon, if any."""
        return self.edits.noun or self.reference.noun

    def accepts(self, group: str, value: str) -> bool:
        """Whether an image with ``value`` satisfies the request in ``group``. A comparative is satisfied by every value
        beyond: three-quarter and long sleeves are both longer than short ones."""
        wanted = self.slots.get(group)
        if wanted is None:
            return value not in self._unwanted(group)
        return value == wanted or value in self._as_good(group, wanted)

    def alternatives(self, group: str) -> tuple[str, ...]:
        """Other values than the slot's that the text names: "red or orange"."""
        return tuple(value for edit in self.edits.of(group) if edit.value == self.slots.get(group)
                     for value in edit.either if value != "pinstripes")

    def _unwanted(self, group: str) -> frozenset[str]:
        named = (edit.value for edit in self.edits.of(group) if edit.operation == "drop")
        return frozenset((self.gone.get(group, ""), *named))

    def _as_good(self, group: str, wanted: str) -> frozenset[str]:
        edits = self.edits.of(group) or (self.edits.of("colour") if group == "second_colour" else ())
        old = self.reference.slots.get(group)
        steps = [edit for edit in edits if edit.operation == "step"]
        if steps and all(edit.operation in ("step", "sleeved") for edit in edits):   # "sleeves that go lower"
            return _past(steps[-1], old, wanted) if group in self.gone else frozenset()
        if group == "sleeves" and old != wanted and not any(edit.operation == "set" for edit in edits):
            if any((edit.operation, edit.value) in (("sleeved", ""), ("drop", "sleeveless")) for edit in edits):
                return frozenset({"short", "elbow", "long"}) if wanted == "short" else frozenset()
            if wanted == "sleeveless" and all(edit.operation == "drop" and edit.value != "straps" for edit in edits):
                return frozenset({"straps"})
        either = (set(edit.either) for edit in edits if edit.operation in ("set", "keep") and edit.value == wanted)
        return frozenset().union(*either)


def _past(edit: Edit, old: str | None, wanted: str) -> frozenset[str]:
    sign = 1 if edit.direction > 0 else -1
    if old is None:
        return frozenset()
    found = past(edit.group, old, sign)
    return found if abs(edit.direction) < 2 or wanted not in found else beyond(edit.group, wanted, sign)


def understand(caption: str, modification_text: str) -> Wanted:
    """Apply ``modification_text`` to an image described by ``caption``. Never fails."""
    reference = parse_caption(caption)
    edits = settled(reference.slots, traded(reference.slots, parse_edits(modification_text)))
    slots, notes = apply_with_notes(reference.slots, edits)
    spoken = {target(edit) for edit in edits.edits if edit.group}
    spoken |= {"second_colour" for edit in edits.edits if edit.operation == "swap"}
    spoken |= {group for group in (*reference.slots, *slots)
               if group != "second_colour" and slots.get(group) != reference.slots.get(group)}
    if _is_of_second(reference.slots, slots, edits):
        spoken = (spoken - {"colour"}) | {"second_colour"}
    order = [group.key for group in GROUPS]
    edited = tuple(group for group in order if group in spoken and not _is_open(group, slots, spoken))
    kept = tuple(group for group in order
                 if group in slots and group not in spoken and not _is_open(group, slots, spoken))
    return Wanted(reference, edits, slots, edited, kept, _gone(reference.slots, slots, edits), (*edits.notes, *notes))


def _is_of_second(old: Slots, new: Slots, edits: Edits) -> bool:
    """Whether the colours named are those of the pattern or trim alone: "the stripes not green but blue"."""
    if old.get("colour") != new.get("colour") or old.get("second_colour") == new.get("second_colour"):
        return False
    of_colour = edits.of("colour")
    return bool(of_colour) and all(
        edit.operation in ("set", "drop") and edit.value not in ("", new.get("colour")) for edit in of_colour)


def said(slots: Slots, groups: Collection[str]) -> dict[str, str]:
    """``groups`` of ``slots`` for a sentence, with those a second colour needs:
    the colour and the pattern, and the trim if that shows it."""
    wanted = set(groups)
    if "second_colour" in wanted and slots.get("second_colour", NONE) != NONE:
        wanted |= {"colour", "pattern"} | ({"trim"} if slots.get("pattern") == "plain" else set())
    return {group: value for group, value in slots.items() if group in wanted}


def _is_open(group: str, slots: Slots, spoken: set[str]) -> bool:
    """Whether no second colour was named for a pattern or trim that the text adds."""
    return (
        group == "second_colour" and slots.get(group, NONE) == NONE
        and (slots.get("pattern", "plain") != "plain" or ("trim" in spoken and slots.get("trim", NONE) != NONE))
    )


def _gone(old: Slots, new: Slots, edits: Edits) -> dict[str, str]:
    gone = {edit.group: edit.value for edit in edits.edits
            if edit.operation == "drop" and edit.value and edit.group not in old and new.get(edit.group) != edit.value}
    gone |= {group: value for group, value in old.items() if value != NONE and new.get(group) != value}
    return {group.key: gone[group.key] for group in GROUPS if group.key in gone}
