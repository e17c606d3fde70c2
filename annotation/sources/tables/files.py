"""Files of tables, told apart by their content: CSV, TSV, JSON, JSON lines, spreadsheets (XLSX, XLS, ODS), Parquet."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from pathlib import Path
from typing import Any

from cir_core.errors import DatasetError
from cir_core.support.tables import read_any_table
from cir_core.support.texts import counted, quoted

MOST_BYTES = 200 * 2**20
MOST_UNPACKED = 1000 * 2**20    # of a spreadsheet, which is an archive
MOST_ROWS = 200_000
MOST_CELLS = 20_000_000      # of a sheet, from its first to its last row and column
MOST_MEMORY, MOST_SECONDS = 4 * 2**30, 300
_READER = Path(__file__).with_name("spreadsheets.py")
_REMEDY = "Save the table again, or as “CSV UTF-8”"
_ZIP, _OLD_EXCEL, _PARQUET = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1"
_SHEETS = {"xl/workbook.xml", "xl/workbook.bin", "content.xml"}   # one of them is in every spreadsheet


@dataclass(frozen=True)
class Table:
    """``rows``: where each is ("line 7", "row 7") and its cells, as many as there are ``names``. ``json``: of a JSON
    file, which may be one of a data set."""

    file: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...] = ()
    json: bool = False


def read_table_file(path: Path, known: Sequence[str] = ()) -> Table:
    """The table in a file. ``known``: usual names of columns, by which the separator of cells is told.

    Cells are texts: numbers as they are written, lists as JSON. Empty rows are left out. Raises ``DatasetError`` with
    line and remedy for a file that cannot be read, too large, or without rows; for a repeated column name, and a row
    with more cells than there are columns.
    """
    head = _head(path)
    if head.startswith(_PARQUET):
        names, rows, notes = _parquet(path)
    elif head.startswith(_OLD_EXCEL) or (head.startswith(_ZIP) and is_spreadsheet(path)):
        names, rows, notes = _spreadsheet(path)
    elif head.startswith(_ZIP):
        raise DatasetError(f"{path.name} is an archive, not a table. Give the table, and the archive as its pictures.")
    else:
        found, lines = read_any_table(path.read_bytes(), path.name, known)
        names, notes = found, ()
        rows = [(f"line {line}", cells) for line, cells in lines]
    is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{")
    return replace(_checked(path.name, names, rows, notes), json=is_json)


def _head(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}. Check the path.") from error
    if size > MOST_BYTES:
        raise DatasetError(f"{path.name} has {size // 2**20:,} MB, and a table may have {MOST_BYTES // 2**20:,}. "
                           "Divide it, or leave columns out that the study does not need.")
    if not size:
        raise DatasetError(f"{path.name} is empty. Copy the file again.")
    return head


def is_spreadsheet(path: Path) -> bool:
    """Whether an archive is a spreadsheet."""
    try:
        with zipfile.ZipFile(path) as archive:
            return not _SHEETS.isdisjoint(archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def _checked(
    file: str, names: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], notes: Sequence[str],
) -> Table:
    named = [name for name in names if name]
    if repeated := next((name for name in named if named.count(name) > 1), None):
        raise DatasetError(f"{file} has two columns {quoted(repeated)}. Rename one of them.")
    kept = []
    for where, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if any(cell.strip() for cell in cells[len(names):]):
            raise DatasetError(f"{file}, {where}: it has {counted(len(cells), 'cell')}, and the table "
                               f"{counted(len(names), 'column')}. Put quotation marks around cells with a separator in "
                               "them, or name the columns.")
        kept.append((where, (*cells[:len(names)], *[""] * (len(names) - len(cells)))))
    if not kept:
        raise DatasetError(f"{file} has no row below its column names. Add the rows, or check that it is the right "
                           "file and sheet.")
    if len(kept) > MOST_ROWS:
        raise DatasetError(f"{file} has {len(kept):,} rows, and a study may have {MOST_ROWS:,}. Divide the file.")
    return Table(file, tuple(names), tuple(kept), tuple(notes))


def _spreadsheet(path: Path) -> tuple[list[str], list[tuple[str, list[str]]], tuple[str, ...]]:
    """The first sheet that is not empty."""
    _refuse_bomb(path)
    # In a process of its own: one cell in the last row and column makes a table of 17 thousand million cells, and a
    # program that is out of memory ends.
    try:
        done = subprocess.run([sys.executable, "-P", str(_READER), str(path.resolve()), str(MOST_CELLS),
                               str(MOST_MEMORY)], capture_output=True, timeout=MOST_SECONDS, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else {"problem": "large"}
    except subprocess.TimeoutExpired:
        found = {"problem": "large"}
    if found.get("problem") == "password":
        raise DatasetError(f"{path.name} is protected by a password. Save it without one.")
    if found.get("problem") == "large":
        raise DatasetError(f"{path.name} has a sheet that is too large to be read. Delete all rows below the table and "
                           "all columns next to it, including those that look empty, or save the table as “CSV "
                           "UTF-8”.")
    if found.get("problem"):
        raise DatasetError(f"{path.name} cannot be read as a spreadsheet. {_REMEDY}.")
    if not found["sheets"]:
        return [], [], ()
    texts = [(f"row {number}", [_text(cell) for cell in row]) for number, row in enumerate(found["rows"], 1)]
    first = next((at for at, (_, cells) in enumerate(texts) if any(cells)), 0)
    names = texts[first][1]
    while names and not names[-1]:
        names.pop()
    name, several = found["sheets"][0], len(found["sheets"]) > 1
    notes = (f"Read from the sheet {quoted(name)}; the other sheets are not used.",) if several else ()
    return names, texts[first + 1:], notes


def _refuse_bomb(path: Path) -> None:
    if not zipfile.is_zipfile(path):   # XLS is no archive
        return
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > MOST_UNPACKED:
            raise DatasetError(f"{path.name} unpacks to more than {MOST_UNPACKED // 2**20:,} MB. {_REMEDY}.")


def _parquet(path: Path) -> tuple[list[str], list[tuple[str, list[str]]], tuple[str, ...]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            if file.metadata.num_rows > MOST_ROWS:
                raise DatasetError(f"{path.name} has {file.metadata.num_rows:,} rows, and a study may have "
                                   f"{MOST_ROWS:,}. Divide the file.")
            if sum(file.metadata.row_group(at).total_byte_size for at in range(file.num_row_groups)) > MOST_UNPACKED:
                raise DatasetError(f"{path.name} has columns of more than {MOST_UNPACKED // 2**20:,} MB. Leave out "
                                   "those that the study does not need, such as pictures, and give these as files.")
            found = file.read()
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{path.name} cannot be read as Parquet. Copy the file again.") from error
    for column in found.schema:
        if pa.types.is_binary(column.type) or pa.types.is_struct(column.type):
            found = found.drop_columns(column.name)
    columns = [column.to_pylist() for column in found.columns]
    rows = [(f"row {number}", [_text(cell) for cell in cells])
            for number, cells in enumerate(zip(*columns, strict=True), 1)]
    return list(found.column_names), rows, ()


def _text(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case str():
            return cell.strip()
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer():   # spreadsheets have no whole numbers
            return str(int(cell))
        case date() | time():
            return cell.isoformat()
        case list() | dict() | tuple():
            return json.dumps(cell, ensure_ascii=False, default=str)
    return str(cell)
