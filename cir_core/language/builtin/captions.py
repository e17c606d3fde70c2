"""Parse captions into slots: a lenient inverse of :func:`cir_core.garments.describe.describe`."""

from __future__ import annotations

from dataclasses import dataclass, field

from cir_core.garments.describe import describe
from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.reading.edits import apply_edits
from cir_core.language.builtin.reading.parse import interpret


@dataclass(frozen=True)
class Caption:
    """A description in slots. ``noun`` is a garment outside the lexicon, ``extras`` the other words."""

    slots: dict[str, str] = field(default_factory=dict)
    noun: str = ""
    extras: tuple[str, ...] = ()

    @property
    def is_garment(self) -> bool:
        """Whether the caption is about clothing: a brown dog has a colour, too."""
        return bool(self.noun) or "category" in self.slots or "sleeves" in self.slots

    def sentence(self) -> str:
        """The description restored: slots in their plain words, then the extras as typed."""
        text = describe(self.slots)
        if self.noun and "category" not in self.slots:
            text = text.replace("garment", self.noun, 1)
            if text.startswith("a ") and text[2] in "aeiou":
                text = "an" + text[1:]
        return ", ".join([text, *self.extras])


def parse_caption(text: str) -> Caption:
    """Values in ``text``, by group. A caption that mentions no trim or second colour has none."""
    read = interpret(text, is_caption=True)
    slots = apply_edits({}, read)
    if slots:
        slots.setdefault("second_colour", NONE)
        slots.setdefault("trim", NONE)
    return Caption(slots, "" if "category" in slots else read.noun, read.extras)
