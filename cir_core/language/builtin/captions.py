"""Parse captions into slots: a lenient inverse of :func:`cir_core.garments.lexicon.describe`. Merge caption and
modification text into one description (CIReVL step 2) by rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from cir_core.garments.lexicon import NONE, describe
from cir_core.language.builtin.reading.edits import Edits, apply_edits, apply_with_notes
from cir_core.language.builtin.reading.parse import AS_IT_IS, NOTHING, interpret, parse_edits
from cir_core.language.several import captions_in
from cir_core.language.tasks import MergeAnswer


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
    found = _parsed(text)
    return replace(found, slots=dict(found.slots))


@lru_cache(maxsize=4096)   # a turn reads the reference's several times, and its results are the next turn's references
def _parsed(text: str) -> Caption:
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


_ONLY_TEXT = "No caption of the reference: the query is the modification text only"
_ONLY_CAPTION = "No modification text: the query is the caption"
_NOT_A_GARMENT = ("The caption describes no garment, and the built-in model edits nothing else: the modification was "
                  "added as typed. Connect a language model for other images")


def merge(caption: str, modification_text: str, *, pieces: bool = True) -> MergeAnswer:
    """The description of the wanted image. Never fails; limitations are in the notes. Without ``pieces`` a piece in a
    colour of its own ("blue sleeves") is left out of it, for encoders that would take the colour for the whole.

    Without a caption the query is the modification text itself (CIReVL's fallback); with
    one that is not about a garment, both are joined by a comma.
    """
    caption, modification_text = " ".join(caption.split()), " ".join(modification_text.split())
    if not caption and not modification_text:
        return MergeAnswer(query="a photo", notes=("No caption and no modification text",))
    if not caption:
        return MergeAnswer(query=modification_text, notes=(_ONLY_TEXT,))
    if not modification_text:
        return MergeAnswer(query=caption, notes=(_ONLY_CAPTION,))
    known = parse_caption(caption)
    if not known.is_garment:
        shown = ", ".join(one.rstrip(".") for one in captions_in(caption) or (caption,) if one)
        return MergeAnswer(query=f"{shown}, {modification_text}", notes=(_NOT_A_GARMENT,))
    edits = parse_edits(modification_text)
    slots, applied = apply_with_notes(known.slots, edits)
    extras, removed = _extras(known, edits)
    if not pieces:
        extras = tuple(extra for extra in extras if extra.removeprefix("with ") not in edits.pieces)
    merged = replace(known, slots=slots, noun=edits.noun or known.noun, extras=extras)
    notes = [*edits.notes, *applied, *removed]
    if edits.is_empty and not edits.pieces:
        notes.append(NOTHING)
    elif merged == known and not notes and all(edit.operation == "set" for edit in edits.edits):
        notes.append(AS_IT_IS)
    elif merged == known and not notes:
        notes.append(NOTHING)
    return MergeAnswer(query=merged.sentence(), notes=tuple(notes))


def _extras(known: Caption, edits: Edits) -> tuple[tuple[str, ...], list[str]]:
    """The caption's extras without the unwanted ones, then the new ones."""
    kept, notes = list(known.extras), []
    for unwanted in edits.unwanted:
        words = set(unwanted.split())
        left = [extra for extra in kept if not words & set(extra.split())]
        if len(left) == len(kept):
            notes.append(f"nothing to remove: '{unwanted}' is not in the description")
        kept = left
    return tuple(dict.fromkeys([*kept, *edits.extras])), notes
