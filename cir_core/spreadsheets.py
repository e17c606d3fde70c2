"""Texts in CSV files that people open in spreadsheets."""

from __future__ import annotations

# OWASP, "CSV Injection": the full-width forms start a formula too in some locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def as_text(value: str) -> str:
    """With an apostrophe in front where a spreadsheet would run it as a formula."""
    return f"'{value}" if value.startswith(_FORMULA) else value
