"""CSV files for spreadsheets, protected against formula injection."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

# OWASP, "CSV Injection": the full-width forms start a formula too in some locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
# Where the list separator is a semicolon (German, French, ...), spreadsheets split a text there, or at a tab or line
# end if configured so; whatever follows starts a new cell.
_PARTED = re.compile("([;\t\r\n][ \"']*)(?=[=+\\-@＝＋－＠])")


def as_text(value: str) -> str:
    """``value`` with a leading apostrophe if a spreadsheet would run it as a formula."""
    guarded = _PARTED.sub(r"\1'", value)
    return f"'{guarded}" if guarded.startswith(_FORMULA) else guarded


def csv_file(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A line of ``names``, then ``rows``."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")   # with both, a lone one of either is quoted in a text
    writer.writerow(map(as_text, names))
    writer.writerows([_cell(value) for value in row] for row in rows)
    return codecs.BOM_UTF8 + text.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list):
        return as_text(json.dumps(value, ensure_ascii=False))
    if isinstance(value, str):
        return as_text(value)
    return str(value)
