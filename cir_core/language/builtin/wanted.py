"""Requested attributes of an image, the basis of every role except captioning."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cir_core.garments.lexicon import GROUPS, NONE
from cir_core.language.builtin.captions import Caption, parse_caption
from cir_core.language.builtin.reading.edits import Edit, Edits, apply_with_notes
from cir_core.language.builtin.reading.ladders import step
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
            return self.gone.get(group) != value
        return value == wanted or value in self._beyond(group, wanted)

    def _beyond(self, group: str, wanted: str) -> frozenset[str]:
        steps = [edit for edit in self.edits.edits if _group(edit) == group]
        if not steps or any(edit.operation != "step" for edit in steps) or group not in self.gone:
            return frozenset()
        found: list[str] = []
        following = step(steps[-1].group, wanted, 1 if steps[-1].direction > 0 else -1)
        while following is not None and following not in found:
            found.append(following)
            following = step(steps[-1].group, following, 1 if steps[-1].direction > 0 else -1)
        return frozenset(found)


def understand(caption: str, modification_text: str) -> Wanted:
    """Apply ``modification_text`` to an image described by ``caption``. Never fails."""
    reference, edits = parse_caption(caption), parse_edits(modification_text)
    slots, notes = apply_with_notes(reference.slots, edits)
    spoken = {_group(edit) for edit in edits.edits if edit.group}
    spoken |= {group for group in (*reference.slots, *slots)
               if group != "second_colour" and slots.get(group) != reference.slots.get(group)}
    order = [group.key for group in GROUPS]
    edited = tuple(group for group in order if group in spoken and not _is_open(group, slots, spoken))
    kept = tuple(group for group in order
                 if group in slots and group not in spoken and not _is_open(group, slots, spoken))
    return Wanted(reference, edits, slots, edited, kept, _gone(reference.slots, slots, edits), (*edits.notes, *notes))


def said(slots: Slots, groups: Collection[str]) -> dict[str, str]:
    """``groups`` of ``slots`` for a sentence, with those a second colour needs:
    the colour and the pattern, and the trim if that shows it."""
    wanted = set(groups)
    if "second_colour" in wanted and slots.get("second_colour", NONE) != NONE:
        wanted |= {"colour", "pattern"} | ({"trim"} if slots.get("pattern") == "plain" else set())
    return {group: value for group, value in slots.items() if group in wanted}


def _group(edit: Edit) -> str:
    return "colour" if edit.group == "shade" else edit.group


def _is_open(group: str, slots: Slots, spoken: set[str]) -> bool:
    """Whether no second colour was named for a pattern or trim that the text adds."""
    return (
        group == "second_colour" and slots.get(group, NONE) == NONE
        and (slots.get("pattern", "plain") != "plain" or ("trim" in spoken and slots.get("trim", NONE) != NONE))
    )


def _gone(old: Slots, new: Slots, edits: Edits) -> dict[str, str]:
    gone = {edit.group: edit.value for edit in edits.edits
            if edit.operation == "drop" and edit.value and edit.group not in old}
    gone |= {group: value for group, value in old.items() if value != NONE and new.get(group) != value}
    return {group.key: gone[group.key] for group in GROUPS if group.key in gone}
