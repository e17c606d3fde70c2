"""Tables that a person hands over, as spreadsheets and scripts save them: one reader for all of them. CSV files for
spreadsheets, protected against formula injection.

CSV with commas, semicolons or tabs, a JSON array, or JSON lines; UTF-8, or UTF-16 as spreadsheets call "Unicode text".
Format and delimiter are detected from the content, not from the file name.

Own code: csv.Sniffer and pandas guess what separates cells from the text; here the columns wanted tell it.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from cir_core.errors import DatasetError
from cir_core.support.texts import shortened

Rows = Iterator[tuple[int, list[str]]]
"""First line of each row, from 1, and its cells."""
_UNICODE = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SAVE = "Save it as “CSV UTF-8”"
_FAULTS = {   # of the csv and json modules, as they begin
    "unexpected end of data": "a quotation mark is never closed",
    "new-line character seen": "a line ends where no line end should be",
    "'": "there is text between a closing quotation mark and the end of its cell",
    "Expecting value": "a value is missing", "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "a colon is missing", "Expecting property name": "a name in double quotes is missing",
    "Unterminated string": "a text is not closed", "Invalid control character": "a text has a line end or a control "
    "character in it", "Extra data": "something follows the end",
    "Invalid \\": "there is a backslash where none is allowed",
    "Illegal trailing comma": "there is a comma before the closing bracket",
}
_VALUE = re.compile(r"[^\s,]")
# A caption, or the description of a whole outfit, may be longer than the module's own limit of 131,072 characters.
csv.field_size_limit(2**31 - 1)


def read_table(
    content: bytes | str, where: str, wanted: Sequence[Sequence[str]], remedy: str, known: Sequence[str] = (),
) -> tuple[list[str], Rows]:
    """Column names, without unnamed trailing columns, and the rows. Cells that JSON has as numbers, truth values or
    lists are given as JSON writes them, missing ones and null as "".

    The delimiter is a comma, semicolon or tab: the one that yields the columns ``wanted``.

    Args:
        where: the file, for errors.
        wanted: required columns, each one of several alternatives.
        remedy: for a missing column, a sentence without full stop.
        known: further columns. These and the ones ``wanted`` are found whatever their case, and with spaces, hyphens or
            underscores between their words.

    Raises ``DatasetError`` with line and remedy for what cannot be read, also while rows are iterated.
    """
    names, rows, at = _headed(content, where, (*known, *(name for one_of in wanted for name in one_of)),
                              lambda names: (0, len(names)) if _lacking(names, wanted) else (1, 0), remedy)
    if _lacking(names, wanted):
        raise _no_column(names, wanted, where, at, remedy)
    return names, rows


def read_any_table(content: bytes | str, where: str, known: Sequence[str]) -> tuple[list[str], Rows]:
    """:func:`read_table` of a table that may have any columns, which are called as in the file. The delimiter is the
    one that yields most of ``known``, however they are spelt, then most columns."""
    spelt = {_spelt(name) for name in known}

    def fits(names: Sequence[str]) -> tuple[int, int]:
        return sum(_spelt(name) in spelt for name in names), len(names)

    names, rows, _ = _headed(content, where, (), fits, "Begin it with a line of column names")
    return names, rows


def _headed(
    content: bytes | str, where: str, known: Sequence[str], fits: Callable[[Sequence[str]], tuple[int, int]],
    remedy: str,
) -> tuple[list[str], Rows, int]:
    """Column names, rows and the line of the former, by the delimiter whose names fit best; the first of equals."""
    text, skipped = _decoded(content, where), 0
    names_of = {_spelt(name): name for name in known}
    if text.lstrip()[:1] in ("[", "{"):
        return *_from_json(text, where, names_of), 1
    if declared := re.match(r"sep=(.)\r?\n", text):     # a line that declares the delimiter
        text, skipped = text[declared.end():], 1
    tried: list[tuple[tuple[int, int], list[str], str]] = []
    broken: DatasetError | None = None
    for delimiter in (declared[1],) if declared else (",", ";", "\t"):
        try:
            names = next((found for _, cells in _records(text, delimiter, where, skipped)
                          if any(found := [cell.strip() for cell in cells])), [])
        except DatasetError as error:       # quotation marks next to a character that is not the delimiter
            broken = error
            continue
        while names and not names[-1]:
            names.pop()
        names = _renamed(names, names_of)
        tried.append((fits(names), names, delimiter))
    _, names, delimiter = max(tried, key=lambda one: one[0], default=((0, 0), [], ""))
    if not names:
        raise broken or DatasetError(f"{where} is empty. {remedy}.")
    rows = _records(text, delimiter, where, skipped)
    next(cells for _, cells in rows if any(cell.strip() for cell in cells))   # the names
    return names, rows, 1 + skipped


def listed(names: Sequence[str], limit: int = 30) -> str:
    return ", ".join([shortened(name) for name in names if name][:limit] + ["…"] * (len(names) > limit))


def in_words(fault: str) -> str:
    """A Python module's error about a broken file, as a plain message."""
    return next((words for begins, words in _FAULTS.items() if fault.startswith(begins)), "it cannot be read")


def _no_column(
    names: Sequence[str], wanted: Sequence[Sequence[str]], where: str, line: int, remedy: str,
) -> DatasetError:
    return DatasetError(f"{where}, line {line}: there is no column {_lacking(names, wanted)} among {listed(names)}. "
                        f"{remedy}.")


def _lacking(names: Sequence[str], wanted: Sequence[Sequence[str]]) -> str:
    return next((one_of[0] for one_of in wanted if set(one_of).isdisjoint(names)), "")


def _spelt(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())


def _renamed(names: Sequence[str], names_of: dict[str, str]) -> list[str]:
    """``names``, of which the known ones are spelt as they are known; one that is there already is not had twice."""
    there, renamed = set(names), list[str]()
    for name in names:
        known = names_of.get(_spelt(name), name)
        renamed.append(name if known in there else known)
        there.add(renamed[-1])
    return renamed


def _decoded(content: bytes | str, where: str) -> str:
    if isinstance(content, bytes):
        content = _text_of(content, where)
    if "\0" in content:
        raise DatasetError(f"{where} is not a text file. Save the table as “CSV UTF-8”.")
    return content.removeprefix("\ufeff")


def _text_of(content: bytes, where: str) -> str:
    encoding = next((name for mark, name in _UNICODE.items() if content.startswith(mark)), "utf-8")
    for first, name in ((0, "utf-16-be"), (1, "utf-16-le")):    # without its mark: every other byte is nought
        high, low = content[first:1000:2], content[1 - first:1000:2]
        if encoding == "utf-8" and 2 * high.count(0) > len(high) and not low.count(0):
            encoding = name
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        at = error.start
    line, around = content.count(b"\n", 0, at) + 1, re.split(rb"[\s,;\"]+", content[max(0, at - 20):at + 20])
    try:
        seen = max((part.decode("cp1252") for part in around if not part.isascii()), key=len)
    except UnicodeDecodeError:
        raise DatasetError(f"{where}, line {line}: this is not UTF-8. {_SAVE}.") from None
    raise DatasetError(f"{where}, line {line}: this is not UTF-8. In Windows-1252 it would be “{seen}”. {_SAVE}.")


def _records(text: str, delimiter: str, where: str, line: int) -> Rows:
    """``line``: number of lines before ``text`` in the file."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for cells in reader:
            yield line + begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise DatasetError(f"{where}, line {line + begins}: this is not valid CSV, {in_words(str(error))}. Check the "
                           "quotation marks there, or save the table again as “CSV UTF-8”.") from None


def _from_json(text: str, where: str, names_of: dict[str, str]) -> tuple[list[str], Rows]:
    """An array of objects, or one object after another, as JSON lines are."""
    found = list(_objects(text, where))
    keys = list(dict.fromkeys(key for _, record in found for key in record))
    rows = ((line, [_cell(record.get(key)) for key in keys]) for line, record in found)
    return _renamed(keys, names_of), rows


def _objects(text: str, where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each with the line that it begins in."""
    decoder = json.JSONDecoder(strict=False)
    begin = _next(text, 0)
    array = text[begin] == "["
    at, line, counted = begin + array, 1, 0
    while (at := _next(text, at)) < len(text):
        line, counted = line + text.count("\n", counted, at), at
        if array and text[at] == "]":
            if rest := text[at + 1:].strip():
                line += text.count("\n", at, text.index(rest, at + 1))
                raise DatasetError(f"{where}, line {line}: “{shortened(rest)}” follows the end of the list. Delete it.")
            return
        try:
            record, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise _broken(error, text, where, line) from None
        if not isinstance(record, dict):
            raise DatasetError(f'{where}, line {line}: this is not an object like {{"id": "a", "path": "a.jpg"}}. '
                               "Write one for each row.")
        yield line, record
    if array:
        raise DatasetError(f"{where}: the list is not closed, so the file is incomplete. Copy it again.")


def _next(text: str, at: int) -> int:
    """Where the next value may begin."""
    found = _VALUE.search(text, at)
    return found.start() if found else len(text)


def _broken(error: Exception, text: str, where: str, line: int) -> DatasetError:
    if not isinstance(error, json.JSONDecodeError):
        return DatasetError(f"{where}, line {line}: this is nested too deeply. Write one object for each row.")
    return DatasetError(f"{where}, line {error.lineno}, column {error.colno}: this is not valid JSON, "
                        f"{in_words(error.msg)}. Correct it there, or save the table as “CSV UTF-8”.")


def _cell(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    writer.writerows([_safe_cell(value) for value in row] for row in rows)
    return codecs.BOM_UTF8 + text.getvalue().encode()


def _safe_cell(value: Any) -> str:
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
