"""Tables as files: CSV, JSON, Markdown, LaTeX.

CSV and JSON are for programs: column keys, cells unrounded, a missing value is empty or null. Markdown and LaTeX are
for papers: column names, cells rounded, a missing value is a dash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, Literal

from cir_core.reports.cells import for_readers, reading
from cir_core.reports.latex_tables import latex_table
from cir_core.reports.latex_text import one_line
from cir_core.reports.records import ReportTable
from cir_core.support.tables import csv_file

Form = Literal["csv", "json", "md", "tex"]
FORMS: tuple[Form, ...] = ("csv", "json", "md", "tex")

_MARKDOWN = re.compile(r"[\\`*\[\]<>|~$&]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def table_file(table: ReportTable, form: Form) -> bytes:
    """The table as a file, UTF-8. CSV as :func:`~cir_core.support.tables.csv_file` writes it; JSON has rows as
    objects by column key; LaTeX needs `preamble.tex`."""
    if form == "csv":
        return csv_file([column.key for column in table.columns], [[_finite(cell) for cell in row]
                                                                     for row in table.rows])
    if form == "json":
        return (json.dumps(table_json(table), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
    return (markdown_table(table) if form == "md" else latex_table(table)).encode()


def table_json(table: ReportTable) -> dict[str, Any]:
    return {
        "key": table.key, "title": table.title, "note": table.note,
        "columns": [{"key": column.key, "name": column.name, "kind": column.kind} for column in table.columns],
        "rows": [{column.key: _finite(cell) for column, cell in zip(table.columns, row, strict=True)}
                 for row in table.rows],
    }


def markdown_table(table: ReportTable) -> str:
    """Title, table, note."""
    table = for_readers(table)
    parts = [f"**{markdown_text(table.title)}**"]
    if table.rows:
        read = reading(table)
        parts.append(markdown_grid(read.names, read.rows, read.right))
    else:
        parts.append(f"*{markdown_text(table.empty or 'No rows.')}*")
    if table.note:
        parts.append(markdown_text(table.note))
    return "\n\n".join(parts) + "\n"


def markdown_grid(names: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """A pipe table; ``right``: columns that stand at the right."""
    lines = [names, ["---:" if one else "---" for one in right]]
    head, rule = (f"| {' | '.join(line)} |" for line in ([*map(markdown_text, lines[0])], lines[1]))
    return "\n".join([head, rule, *(f"| {' | '.join(map(markdown_text, row))} |" for row in rows)])


def markdown_text(text: str) -> str:
    """Text of people's own as one line that Markdown takes for text and nothing else."""
    return _MARKDOWN.sub(lambda found: f"\\{found.group()}", one_line(text))


def _finite(cell: Any) -> Any:
    return None if isinstance(cell, float) and not isfinite(cell) else cell
