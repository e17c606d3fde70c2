"""Validation of account names, which appear in judgements, lists and files."""

from __future__ import annotations

import re
import unicodedata

from annotation.records import LOCAL as LOCAL
from annotation.records import is_blank, looks_like, name_key
from cir_core.errors import AccessError
from cir_core.support.texts import composed, shortened

MAX_NAME = 64
_ZWNJ, _ZWJ, _VARIATION_SELECTOR = "\u200c", "\u200d", "\ufe0f"   # joiners are part of words and of emoji
_JOINERS = frozenset(_ZWNJ + _ZWJ)
# Scripts with confusable letters, which must not be mixed in one word.
_CONFUSABLE_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU")
_VIRAMA = 9   # combining class of the Indic signs after which joiners select a letter's shape
_INVISIBLE = "The name contains invisible characters, such as control characters. Type it again."


def clean_name(name: object) -> str:
    """``name`` in NFC, trimmed, with single blanks. Raises ``AccessError`` if it cannot be an account's. Invisible
    characters, and those that reorder the text around them, are refused: two names must not look the same."""
    if not isinstance(name, str):
        raise AccessError("A name must be a string.")
    tidy = composed(name.strip(), MAX_NAME)
    if tidy is None:
        raise _too_long(name)
    if any(_is_invisible(character) for character in tidy):
        raise AccessError(_INVISIBLE)
    tidy = " ".join(tidy.split())
    if not any(unicodedata.category(character)[0] in "LNSP" for character in tidy):
        raise AccessError(f"Give a name of 1 to {MAX_NAME} characters.")
    if len(tidy) > MAX_NAME:
        raise _too_long(tidy)
    if name_key(tidy) == LOCAL:
        raise _reserved()
    return tidy


def new_name(name: object) -> str:
    """``clean_name`` for a new account. Stricter, against confusable names; existing accounts with such a name can
    still sign in."""
    tidy = clean_name(name)
    if not all(_is_in_place(tidy, at) for at in range(len(tidy))):
        raise AccessError(_INVISIBLE)
    for word in re.findall(r"[^\W\d_]+", tidy):
        scripts = sorted({script for script in map(_script, word) if script in _CONFUSABLE_SCRIPTS})
        if len(scripts) > 1:
            both = " and ".join(map(str.capitalize, scripts))
            raise AccessError(f"“{shortened(word)}” in the name mixes {both} letters. Write each word in one script.")
    if looks_like(tidy, LOCAL):
        raise _reserved()
    return tidy


def _too_long(name: str) -> AccessError:
    return AccessError(f"The name has {len(name)} characters; the limit is {MAX_NAME}. Choose a shorter one.")


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp") and character not in _JOINERS


def _is_in_place(text: str, at: int) -> bool:
    """Whether a character is visible, or has a visible effect here: joins emoji, or shapes letters of a script that
    needs it."""
    here, before, after = text[at], text[at - 1:at], text[at + 1:at + 2]
    if here == _VARIATION_SELECTOR:
        return _is_sign(before)
    if here not in _JOINERS:
        return not is_blank(here)
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    if here == _ZWJ:
        return (before == _VARIATION_SELECTOR or _is_sign(before)) and _is_sign(after)
    return all(_script(one) in ("ARABIC", "SYRIAC") for one in (before, after))


def _is_sign(character: str) -> bool:
    """Whether a character is an emoji, or a skin-tone modifier."""
    return "\U0001f3fb" <= character <= "\U0001f3ff" or (
        character != "" and unicodedata.category(character) == "So" and not is_blank(character))


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character else ""


def _reserved() -> AccessError:
    return AccessError(f"“{LOCAL}” is reserved for the user of a cirque without accounts. Choose another name.")
