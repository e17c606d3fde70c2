"""What names of people and studies are compared by, wherever they come from: accounts, seats, imported files."""

from __future__ import annotations

import unicodedata

from cir_core.texts import can_be_stored

LOCAL = "local"   # the person at a cirque without accounts, and at its command line


def name_key(name: str) -> str:
    """The same for names that differ in letter case, in how an accent is written, or in blanks around them.

    What no database keeps has an empty key, which is nobody's.
    """
    if not can_be_stored(name):
        return ""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name.strip()).casefold())


def same_person(one: str | None, other: str | None) -> bool:
    """Whether both name one person. None and empty names are nobody."""
    key = name_key(one or "")
    return key != "" and key == name_key(other or "")
