"""Comparison keys of the names of people and studies, from accounts, seats and imported files."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from cir_core.support.texts import can_be_stored, composed

MOST = 250        # characters; the limits of accounts, studies and scores are lower
LOCAL = "local"   # the user without accounts, and of the command line


def name_key(name: str) -> str:
    """Comparison key, which ignores case, Unicode normalisation and surrounding blanks. Text that cannot be stored, or
    is too long for a name, has an empty key, which matches nobody."""
    return _kept_key(name) if len(name) <= MOST else _key(name)


def _key(name: str) -> str:
    tidy = composed(name.strip(), MOST)
    if tidy is None or not can_be_stored(tidy):
        return ""
    return unicodedata.normalize("NFC", tidy.casefold())


# Reports ask for the same few once an answer. Long texts, which strangers may send as names, are not kept.
_kept_key = lru_cache(maxsize=4096)(_key)


def same_person(one: str | None, other: str | None) -> bool:
    """Whether two names are of the same person. None and empty names match nobody."""
    key = name_key(one or "")
    return key != "" and key == name_key(other or "")
