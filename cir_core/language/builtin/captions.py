"""Parse captions into slots: a lenient inverse of :func:`cir_core.garments.describe.describe`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cir_core.garments.describe import describe
from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.reading.edits import apply_edits
from cir_core.language.builtin.reading.parse import interpret
from cir_core.language.several import captions_in


@dataclass(frozen=True)
class Caption:
    """A description in slots. ``noun`` is a garment outside the lexicon, ``extras`` the other words.
    ``kind`` is a category to speak of where it describes garments of several."""

    slots: dict[str, str] = field(default_factory=dict)
    noun: str = ""
    extras: tuple[str, ...] = ()
    kind: str = ""

    @property
    def is_garment(self) -> bool:
        """Whether the caption is about clothing: a brown dog has a colour, too."""
        return bool(self.noun or self.kind) or "category" in self.slots or "sleeves" in self.slots

    def sentence(self) -> str:
        """The description restored: slots in their plain words, then the extras as typed."""
        text = describe(self.slots)
        if self.noun and "category" not in self.slots:
            text = text.replace("garment", self.noun, 1)
            if text.startswith("a ") and text[2] in "aeiou":
                text = "an" + text[1:]
        return ", ".join([text, *self.extras])


def parse_caption(text: str) -> Caption:
    """Values in ``text``, by group. A caption that mentions no trim or second colour has none. Of the captions of
    several images (:mod:`cir_core.language.several`), what they agree on."""
    if several := captions_in(text):
        return _shared([parse_caption(one) for one in several])
    read = interpret(text, is_caption=True)
    slots = apply_edits({}, read)
    if slots:
        slots.setdefault("second_colour", NONE)
        slots.setdefault("trim", NONE)
    return Caption(slots, "" if "category" in slots else read.noun, read.extras)


def _shared(captions: Sequence[Caption]) -> Caption:
    """What all of ``captions`` say; empty if one of them is not about a garment."""
    first, *others = captions
    if not all(one.is_garment for one in captions):
        return Caption()
    slots = {group: value for group, value in first.slots.items()
             if all(one.slots.get(group) == value for one in others)}
    extras = tuple(extra for extra in first.extras if all(extra in one.extras for one in others))
    if all(one.noun == first.noun for one in others) and (first.noun or "category" in slots):
        return Caption(slots, first.noun, extras)
    kinds = (one.slots["category"] for one in captions if "category" in one.slots)
    return Caption(slots, "", extras, next(kinds, "dress"))
