"""What a person typed, as it is searched and stored."""

from __future__ import annotations

import unicodedata

from cir_core.errors import SearchError

MAX_TEXT = 1000
_DECOMPOSED = 4   # NFC makes one character of so many at most
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
    return SearchError(f"The text has {len(text)} characters; {MAX_TEXT} is the most. Shorten it.")


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
