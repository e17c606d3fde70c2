"""What a person typed, as it is searched and stored, and as error sentences quote it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from cir_core.errors import SearchError

MAX_TEXT = 1000
MAX_QUOTED = 60   # characters of a caller's text that an error sentence repeats
_DECOMPOSED = 4   # NFC makes one character of so many at most
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85]")
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
# Marks that reorder the text around them: stored, they would garble every list that shows it.
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean_text(text: str, *, required: bool = True) -> str:
    """NFC, one line, no control characters. Raises ``SearchError``: empty or too long."""
    text = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text or "" if c not in _BIDI)
    text = " ".join(text.encode("utf-8", "replace").decode().split())
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
    """``text`` in NFC; None where it has more than ``most`` characters in whatever form.

    That is told by its length alone: a run of accents takes the square of its length to compose, while all threads
    wait.
    """
    return None if len(text) > _DECOMPOSED * most else unicodedata.normalize("NFC", text)


def _too_long(text: str) -> SearchError:
    return SearchError(f"Your text has {len(text):,} characters; the limit is {MAX_TEXT:,}.")


def shortened(text: object, most: int = MAX_QUOTED) -> str:
    """``text`` cut to ``most`` characters, the last of them an ellipsis where something was cut.

    For whatever comes from outside and goes into an error sentence: what is composed of sentences reaches logs and
    browsers, and none of them is to handle a megabyte because somebody sent one.
    """
    whole = text if isinstance(text, str) else _as_text(text, str)
    return whole if len(whole) <= most else whole[:most - 1] + "…"


def quoted(value: object, most: int = MAX_QUOTED) -> str:
    """``value`` in quotation marks for an error sentence, as Python writes it, cut to ``most`` characters."""
    if isinstance(value, str):
        return repr(shortened(value, most))
    return shortened(_as_text(value, repr), most)


def _as_text(value: object, written: Callable[[object], str]) -> str:
    try:
        return written(value)
    except (RecursionError, ValueError):    # nested too deep, or a whole number of more digits than Python writes
        return f"a value of the type {type(value).__name__}"


def counted(count: int, one: str, many: str = "") -> str:
    """As in "1 query" and "1,200 queries"; ``many`` is ``one`` with an s if it is not given."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def can_be_stored(text: str) -> bool:
    """Whether ``text`` has neither NUL, which PostgreSQL refuses, nor half characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def printable(text: str) -> str:
    """Without control characters but new lines and tabs, and writable as UTF-8; else as it was typed."""
    text = _LINE_ENDS.sub("\n", text.encode("utf-8", "replace").decode())
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")


def tidy(text: str) -> str:
    """:func:`printable`, and without the white space at its end; without anything to see it is empty."""
    text = printable(text).rstrip()
    return text if any(unicodedata.category(c) not in _UNSEEN for c in text) else ""
