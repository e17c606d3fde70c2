"""Words outside the vocabulary, as a phrase appended to the description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cir_core.language.builtin.reading.reader import ReadItem

CHATTY = 40  # words; in a longer text the unknown ones are talk, not the description of a garment
_INSIDE = frozenset({"stop", "a", "the", "with", "in", "head"})
_PREPOSITIONS = frozenset({"in", "on", "of", "for", "at", "by", "from", "to", "like", "about"})


@dataclass(frozen=True)
class ExtraRun:
    core: str    # "dragon on the back", for notes
    phrase: str  # "with a dragon on the back", for the description
    end: int     # the position after it


def extra_run(items: Sequence[ReadItem], place: int) -> ExtraRun:
    """The unknown words from ``place`` on, including small words between and before them."""
    end = look = place + 1
    while look < len(items) and (items[look].kind == "word" or items[look].kind in _INSIDE):
        look += 1
        if items[look - 1].kind == "word":
            end = look
    core = " ".join(item.text for item in items[place:end]).replace("aline", "a-line")
    lead: list[str] = []
    back = place - 1
    while back >= 0 and items[back].kind in ("a", "the", "more", "less") and len(lead) < 3:
        lead.insert(0, items[back].text)
        back -= 1
    if back >= 0:
        before = items[back]
        if before.kind == "with" or before.text in ("has", "have", "add", "put"):
            lead.insert(0, "with")
        elif before.text in _PREPOSITIONS:
            lead.insert(0, before.text)
    return ExtraRun(core, " ".join([*lead, core]), end)
