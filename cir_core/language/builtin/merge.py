"""Merge caption and modification text into one description (CIReVL step 2) by rules."""

from __future__ import annotations

from dataclasses import replace

from cir_core.language.builtin.captions import Caption, parse_caption
from cir_core.language.builtin.reading.edits import Edits, apply_with_notes
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.remarks import AS_IT_IS, NOTHING
from cir_core.language.several import captions_in
from cir_core.language.tasks import MergeAnswer

_ONLY_TEXT = "No caption of the reference: the query is the modification text only"
_ONLY_CAPTION = "No modification text: the query is the caption"
_NOT_A_GARMENT = ("The caption describes no garment, and the built-in model edits nothing else: the modification was "
                  "added as typed. Connect a language model for other images")


def merge(caption: str, modification_text: str) -> MergeAnswer:
    """The description of the wanted image. Never fails; limitations are in the notes.

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
    merged = replace(known, slots=slots, noun=edits.noun or known.noun, extras=extras)
    notes = [*edits.notes, *applied, *removed]
    if edits.is_empty:
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
