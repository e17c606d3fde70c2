"""Tables that come back from a spreadsheet: their encoding, what separates cells, and the lines rows begin in.

Own code: csv.Sniffer and pandas guess what separates cells from the text; here the columns wanted tell it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence

from cir_core.errors import DatasetError
from cir_core.support.texts import shortened

Rows = Iterator[tuple[int, list[str]]]
"""First line of each row, from 1, and its cells."""
_UNICODE = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_table(
    content: bytes | str, where: str, wanted: Sequence[Sequence[str]], remedy: str
) -> tuple[list[str], Rows]:
    """Column names, without unnamed trailing columns, and the rows.

    The delimiter is a comma, semicolon or tab: the one that yields the columns ``wanted``.

    Args:
        where: the file, for errors.
        wanted: required columns, each one of several alternatives.
        remedy: for a missing column, a sentence without full stop.

    Raises ``DatasetError`` for malformed CSV, also while rows are iterated.
    """
    text, skipped = _decoded(content, where), 0
    if declared := re.match(r"sep=(.)\r?\n", text):     # a line that declares the delimiter
        text, skipped = text[declared.end():], 1
    best: list[str] = []
    broken: DatasetError | None = None
    for delimiter in (declared[1],) if declared else (",", ";", "\t"):
        rows = _records(text, delimiter, where, skipped)
        try:
            names = next((found for _, cells in rows if any(found := [cell.strip() for cell in cells])), [])
        except DatasetError as error:       # quotation marks next to a character that is not the delimiter
            broken = error
            continue
        while names and not names[-1]:
            names.pop()
        if not _lacking(names, wanted):
            return names, rows
        best = max(best, names, key=len)
    if not best:
        raise broken or DatasetError(f"{where} is empty. {remedy}.")
    raise DatasetError(f"{where}, line {1 + skipped}: there is no column {_lacking(best, wanted)} among "
                       f"{listed(best)}. {remedy}.")


def listed(names: Sequence[str], limit: int = 30) -> str:
    return ", ".join([shortened(name) for name in names if name][:limit] + ["…"] * (len(names) > limit))


def _lacking(names: Sequence[str], wanted: Sequence[Sequence[str]]) -> str:
    return next((one_of[0] for one_of in wanted if set(one_of).isdisjoint(names)), "")


def _decoded(content: bytes | str, where: str) -> str:
    if isinstance(content, bytes):
        encoding = next((name for mark, name in _UNICODE.items() if content.startswith(mark)), "utf-8")
        try:
            content = content.decode(encoding)
        except UnicodeDecodeError:
            raise DatasetError(f"{where} is not UTF-8. Save it as “CSV UTF-8”.") from None
    if "\0" in content:
        raise DatasetError(f"{where} is not a text file. Save the table as “CSV UTF-8”.")
    return content.removeprefix("\ufeff")


def _records(text: str, delimiter: str, where: str, line: int) -> Rows:
    """``line``: number of lines before ``text`` in the file."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for cells in reader:
            yield line + begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise DatasetError(f"{where}, line {line + begins}: this is not valid CSV ({error}). Check the quotation marks "
                           "there, or save the table again as “CSV UTF-8”.") from None
