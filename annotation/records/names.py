"""What names of people and studies are compared by, wherever they come from: accounts, seats, imported files."""

from __future__ import annotations

import unicodedata

from cir_core.support.texts import can_be_stored, composed

MOST = 250        # characters; names of accounts, studies and scores have fewer
LOCAL = "local"   # the person at a cirque without accounts, and at its command line


def name_key(name: str) -> str:
    """The same for names that differ in letter case, in how an accent is written, or in blanks around them.

    What no database keeps, and what is too long for a name, has an empty key, which is nobody's.
    """
    tidy = composed(name.strip(), MOST)
    if tidy is None or not can_be_stored(tidy):
        return ""
    return unicodedata.normalize("NFC", tidy.casefold())


def same_person(one: str | None, other: str | None) -> bool:
    """Whether both name one person. None and empty names are nobody."""
    key = name_key(one or "")
    return key != "" and key == name_key(other or "")
