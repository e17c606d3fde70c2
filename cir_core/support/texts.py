"""Cleaning of typed text for search and storage, and quoting in error messages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from cir_core.errors import SearchError

MAX_TEXT = 1000
MAX_QUOTED = 60   # characters of a caller's text that an error message quotes
_DECOMPOSED = 4   # code points that NFC composes into one, at most
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85]")
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
# Marks that reorder the text around them: stored, they would garble every list that shows them.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean_text(text: str, *, required: bool = True) -> str:
    """NFC, one line, no control characters. Raises ``SearchError``: empty or too long."""
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text or "" if c not in _BIDI)
    text = " ".join(encodable(text).split())
    nfc = composed(text, MAX_TEXT)
    if nfc is None:
        raise _too_long(text)
    text = nfc
    if all(unicodedata.category(c) in ("Cf", "Zs") for c in text):  # joiners and spaces alone show nothing
        text = ""
    if required and not text:
        raise SearchError("Say what should be different, for example “in red, with long sleeves”.")
    if len(text) > MAX_TEXT:
        raise _too_long(text)
    return text


def composed(text: str, most: int) -> str | None:
    """``text`` in NFC; None if it has more than ``most`` characters in any form. Decided by its length alone: composing
    a run of accents takes time quadratic in its length, while holding the interpreter's lock."""
    return None if len(text) > _DECOMPOSED * most else unicodedata.normalize("NFC", text)


def _too_long(text: str) -> SearchError:
    return SearchError(f"The text has {len(text):,} characters; the limit is {MAX_TEXT:,}. Shorten it.")


def shortened(text: object, most: int = MAX_QUOTED) -> str:
    """``text`` cut to ``most`` characters, ending in an ellipsis if anything was cut. For outside input in error
    messages: they reach logs and browsers, which must not have to handle a megabyte because somebody sent one."""
    whole = text if isinstance(text, str) else _as_text(text, str)
    return whole if len(whole) <= most else whole[:most - 1] + "…"


def quoted(value: object, most: int = MAX_QUOTED) -> str:
    """``repr(value)`` for an error message, cut to ``most`` characters."""
    if isinstance(value, str):
        return repr(shortened(value, most))
    return shortened(_as_text(value, repr), most)


def _as_text(value: object, written: Callable[[object], str]) -> str:
    try:
        return written(value)
    except (RecursionError, ValueError):    # nested too deep, or an integer with more digits than Python prints
        return f"a value of the type {type(value).__name__}"


def counted(count: int, one: str, many: str = "") -> str:
    """Count with noun, such as "1 query" and "1,200 queries"; ``many`` defaults to ``one`` with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def can_be_stored(text: str) -> bool:
    """Whether ``text`` contains neither NUL, which PostgreSQL refuses, nor lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def encodable(text: str) -> str:
    """``text`` with a question mark for each lone surrogate, which UTF-8 cannot hold and JSON's escapes can."""
    return text.encode("utf-8", "replace").decode()


def printable(text: str) -> str:
    """``text`` without control characters except newlines and tabs, encodable as UTF-8; otherwise unchanged."""
    text = _LINE_ENDS.sub("\n", encodable(text))
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")


def tidy(text: str) -> str:
    """:func:`printable` without trailing white space; empty if nothing visible is left."""
    text = printable(text).rstrip()
    return text if any(unicodedata.category(c) not in _UNSEEN for c in text) else ""
