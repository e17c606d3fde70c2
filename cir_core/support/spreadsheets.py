"""Protection against formula injection in CSV files."""

from __future__ import annotations

import re

# OWASP, "CSV Injection": the full-width forms start a formula too in some locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Where the list separator is a semicolon (German, French, ...), spreadsheets split a text there, or at a tab or line
# end if configured so; whatever follows starts a new cell.
_PARTED = re.compile("([;\t\r\n][ \"']*)(?=[=+\\-@＝＋－＠])")


def as_text(value: str) -> str:
    """``value`` with a leading apostrophe if a spreadsheet would run it as a formula."""
    guarded = _PARTED.sub(r"\1'", value)
    return f"'{guarded}" if guarded.startswith(_FORMULA) else guarded
