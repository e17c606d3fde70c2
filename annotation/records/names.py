"""Comparison keys of the names of people and studies, from accounts, seats and imported files."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from cir_core.support.texts import can_be_stored, composed

MOST = 250        # characters; the limits of accounts, studies and scores are lower
LOCAL = "local"   # the user without accounts, and of the command line


@lru_cache(maxsize=4096)   # reports ask for the same few once an answer
def name_key(name: str) -> str:
    """Comparison key, which ignores case, Unicode normalisation and surrounding blanks. Text that cannot be stored, or
    is too long for a name, has an empty key, which matches nobody."""
    tidy = composed(name.strip(), MOST)
    if tidy is None or not can_be_stored(tidy):
        return ""
    return unicodedata.normalize("NFC", tidy.casefold())


def same_person(one: str | None, other: str | None) -> bool:
    """Whether two names are of the same person. None and empty names match nobody."""
    key = name_key(one or "")
    return key != "" and key == name_key(other or "")
