"""What any store of sessions checks before it writes."""

from __future__ import annotations

import unicodedata

import numpy as np

from cir_core.errors import SearchError
from cir_core.types import Branch, Turn

NAME_LIMIT = 80
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINER = "\u200d"  # within an emoji; at the end it would join what follows the name


def clean_name(text: str) -> str:
    """A title or branch name for one line: no control characters, at most 80 characters.

    Marks that turn the direction of writing go too; they would reverse what follows.
    """
    kept = "".join(" " if char.isspace() else char for char in text
                   if char.isspace() or (unicodedata.category(char) not in ("Cc", "Cs")
                                         and char not in _DIRECTION_MARKS))
    return " ".join(kept.split())[:NAME_LIMIT].rstrip(" " + _JOINER)


def check_turn(
    turn: Turn, session_id: str, parent_id: str | None, branch: Branch, number: int
) -> None:
    """Refuse text that a database cannot keep; a turn put in another place is a defect."""
    place = (turn.session_id, turn.parent_id, turn.branch_id, turn.number)
    if place != (session_id, parent_id, branch.branch_id, number):
        raise ValueError(f"the turn was made for another place than the store gave it: {place}")
    if turn.vector.dtype != np.float32 or turn.vector.ndim != 1:
        raise ValueError(f"a turn's vector is a row of float32, not {turn.vector.dtype}{turn.vector.shape}")
    if turn.created_at.tzinfo is None:
        raise ValueError("a turn's created_at has no time zone")
    for text in (turn.modification_text, turn.caption, turn.merged_text, *turn.notes):
        if "\0" in text or any(unicodedata.category(char) == "Cs" for char in text):
            raise SearchError("The text holds characters that cannot be stored. Type it again instead of "
                              "pasting it.")
