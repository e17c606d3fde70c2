"""What may be the name of an account. Judgements carry it, lists and files show it."""

from __future__ import annotations

import unicodedata

from annotation.records import LOCAL as LOCAL
from annotation.records import name_key
from cir_core.errors import AccessError
from cir_core.texts import composed

MAX_NAME = 64
_JOINERS = frozenset("\u200c\u200d")   # parts of words and of emoji


def clean_name(name: object) -> str:
    """``name`` in NFC, trimmed, with single blanks. Raises ``AccessError`` if it cannot be an account's.

    Characters that are not seen or that reorder the text around them are refused: two names
    must not look the same.
    """
    if not isinstance(name, str):
        raise AccessError("A name is a text.")
    tidy = composed(name.strip(), MAX_NAME)
    if tidy is None:
        raise _too_long(name)
    if any(_unseen(character) for character in tidy):
        raise AccessError("The name holds characters that are not seen, such as control characters. "
                          "Type it anew.")
    tidy = " ".join(tidy.split())
    if not any(unicodedata.category(character)[0] in "LNSP" for character in tidy):
        raise AccessError(f"Give a name of 1 to {MAX_NAME} characters.")
    if len(tidy) > MAX_NAME:
        raise _too_long(tidy)
    if name_key(tidy) == LOCAL:
        raise AccessError(f"“{LOCAL}” is kept for the person at a cirque without accounts. Take another name.")
    return tidy


def _too_long(name: str) -> AccessError:
    return AccessError(f"The name has {len(name)} characters; {MAX_NAME} is the most. Take a shorter one.")


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp") and character not in _JOINERS
