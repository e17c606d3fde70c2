"""Texts in CSV files that people open in spreadsheets."""

from __future__ import annotations

import re

# OWASP, "CSV Injection": the full-width forms start a formula too in some locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Where lists are parted by semicolons (German, French, ...), spreadsheets take a text apart there, or at a tab or the
# end of a line if that was chosen; and what comes after begins a cell of its own.
_PARTED = re.compile("([;\t\r\n][ \"']*)(?=[=+\\-@＝＋－＠])")


def as_text(value: str) -> str:
    """With an apostrophe in front where a spreadsheet would run it as a formula."""
    guarded = _PARTED.sub(r"\1'", value)
    return f"'{guarded}" if guarded.startswith(_FORMULA) else guarded
