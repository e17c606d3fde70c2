"""Building blocks of HTML and sentences for an audit report."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any


def section(title: str, *parts: str) -> str:
    return f"<section><h2>{text(title)}</h2>{''.join(parts)}</section>"


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """``words``: number of text columns. Neighbouring rows with the same first cell share it.
    The table may be wider than the screen, so it scrolls separately."""
    cells = "".join(
        f'<th scope="col"{_class(column, words)}>{text(cell)}</th>' for column, cell in enumerate(head)
    )
    body = []
    for first, group in groupby(rows, key=lambda row: row[0]):
        same = list(group)
        many = len(same) > 1
        scope = f'scope="rowgroup" rowspan="{len(same)}"' if many else 'scope="row"'
        for number, row in enumerate(same):
            shared = "" if number else f'<th class="name" {scope}>{text(first)}</th>'
            rest = "".join(
                f'<th scope="row">{text(cell)}</th>' if column < words else f"<td>{text(cell)}</td>"
                for column, cell in enumerate(row[1:], 1)
            )
            body.append(f"<tr>{shared}{rest}</tr>")
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
            f"<caption>{text(caption)}</caption><thead><tr>{cells}</tr></thead>"
            f"<tbody>{''.join(body)}</tbody></table></div>")


def _class(column: int, words: int) -> str:
    return ' class="name text"' if not column else ' class="text"' if column < words else ""


def joined(parts: Sequence[str]) -> str:
    """As in "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "no query"


def text(value: Any) -> str:
    return html.escape(str(value))
