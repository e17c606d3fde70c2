"""What may be the name of an account. Judgements carry it, lists and files show it."""

from __future__ import annotations

import re
import unicodedata

from annotation.records import LOCAL as LOCAL
from annotation.records import is_blank, looks_like, name_key
from cir_core.errors import AccessError
from cir_core.support.texts import composed, shortened

MAX_NAME = 64
_APART, _TOGETHER, _EMOJI = "\u200c", "\u200d", "\ufe0f"   # the joiners are parts of words and of emoji
_JOINERS = frozenset(_APART + _TOGETHER)
# Scripts whose letters pass for each other's. In one word they make a name that is not what it looks like.
_PASSING = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU")
_VIRAMA = 9   # the class of the signs of Indic scripts after which joiners choose a letter's shape
_UNSEEN = "The name holds characters that are not seen, such as control characters. Type it anew."


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
        raise AccessError(_UNSEEN)
    tidy = " ".join(tidy.split())
    if not any(unicodedata.category(character)[0] in "LNSP" for character in tidy):
        raise AccessError(f"Give a name of 1 to {MAX_NAME} characters.")
    if len(tidy) > MAX_NAME:
        raise _too_long(tidy)
    if name_key(tidy) == LOCAL:
        raise _kept()
    return tidy


def new_name(name: object) -> str:
    """``clean_name`` of a name that nobody has yet. Stricter, so that it does not pass for another; whoever has
    such a name from before still signs in with it."""
    tidy = clean_name(name)
    if not all(_is_in_place(tidy, at) for at in range(len(tidy))):
        raise AccessError(_UNSEEN)
    for word in re.findall(r"[^\W\d_]+", tidy):
        scripts = sorted({script for script in map(_script, word) if script in _PASSING})
        if len(scripts) > 1:
            both = " and ".join(map(str.capitalize, scripts))
            raise AccessError(f"“{shortened(word)}” in the name mixes {both} letters. Write each word in one script.")
    if looks_like(tidy, LOCAL):
        raise _kept()
    return tidy


def _too_long(name: str) -> AccessError:
    return AccessError(f"The name has {len(name)} characters; the limit is {MAX_NAME}. Choose a shorter one.")


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp") and character not in _JOINERS


def _is_in_place(text: str, at: int) -> bool:
    """Whether a character is seen, or does something here that is seen: joins emoji, shapes letters of a script
    that needs it."""
    here, before, after = text[at], text[at - 1:at], text[at + 1:at + 2]
    if here == _EMOJI:
        return _is_sign(before)
    if here not in _JOINERS:
        return not is_blank(here)
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    if here == _TOGETHER:
        return (before == _EMOJI or _is_sign(before)) and _is_sign(after)
    return all(_script(one) in ("ARABIC", "SYRIAC") for one in (before, after))


def _is_sign(character: str) -> bool:
    """An emoji, or its colour of skin."""
    return "\U0001f3fb" <= character <= "\U0001f3ff" or (
        character != "" and unicodedata.category(character) == "So" and not is_blank(character))


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character else ""


def _kept() -> AccessError:
    return AccessError(f"“{LOCAL}” is kept for the person at a cirque without accounts. Take another name.")
