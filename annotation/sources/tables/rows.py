"""Rows of a table as fields, with all faults of the file at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotation.sources.queries import refuse
from annotation.sources.tables.columns import Columns, Field
from annotation.sources.tables.files import Table
from annotation.sources.tables.pictures import PictureFiles
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.errors import DatasetError
from cir_core.support.texts import can_be_stored, counted, quoted, shortened

LISTED = 10        # of missing pictures
_SEPARATORS = ("\n", "|", ";", ",")
MOST_TEXT = 20_000


@dataclass(frozen=True)
class Row:
    """``values`` of fields with a single column, "" where empty; ``lists`` of the others, by column."""

    number: int                    # from 0
    where: str                     # "line 7"
    values: Mapping[str, str]
    lists: Mapping[str, Mapping[str, tuple[str, ...]]]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")

    def all_of(self, name: str) -> tuple[str, ...]:
        """A list over its columns, each entry once."""
        return tuple(dict.fromkeys(one for of in self.lists.get(name, {}).values() for one in of))


@dataclass(frozen=True)
class TableRows:
    """``fields``: those of the kind of study."""

    table: Table
    rows: tuple[Row, ...]
    fields: tuple[Field, ...]
    faults: ValidationIssues = field(default_factory=lambda: ValidationIssues(collect=True), compare=False)

    def fault(self, row: Row, problem: str, remedy: str) -> None:
        self.faults.add(Path(self.table.file), row.where, problem, remedy)

    def refuse(self) -> None:
        """Raises ``DatasetError`` with all faults, if there are any."""
        refuse(self.faults, self.table.file)

    def of(self, kept: Iterable[Row]) -> TableRows:
        return TableRows(self.table, tuple(kept), self.fields, self.faults)


def read_rows(table: Table, columns: Columns, fields: Sequence[Field]) -> TableRows:
    """The rows. A cell that a required field needs and that is empty is a fault, which is kept until
    :meth:`TableRows.refuse`."""
    place = {name: at for at, name in enumerate(table.names)}
    by_name = {one.name: one for one in fields}
    found = TableRows(table, (), tuple(fields))
    rows = []
    for number, (where, cells) in enumerate(table.rows):
        values, lists = {}, {}
        for name, of in columns.items():
            asked = by_name[name]
            if asked.many:
                lists[name] = {column: split_list(cells[place[column]]) for column in of}
            else:
                values[name] = _path(cells[place[of[0]]]) if asked.pictures else _words(cells[place[of[0]]])
            empty = not any(lists[name].values()) if asked.many else not values[name]
            if asked.required and empty:
                found.faults.add(Path(table.file), f"{where}, column {' or '.join(of)}", "it is empty",
                                 f"Fill in the {asked.title.lower()}, or delete the row")
            elif not asked.many and (len(values[name]) > MOST_TEXT or not can_be_stored(values[name])):
                found.faults.add(Path(table.file), f"{where}, column {of[0]}",
                                 f"it is longer than {MOST_TEXT:,} characters, or contains characters that are not "
                                 "text",
                                 "Shorten it")
        rows.append(Row(number, where, values, lists))
    return TableRows(table, tuple(rows), found.fields, found.faults)


def check_pictures(of: TableRows, pictures: PictureFiles, *, skip_missing: bool) -> None:
    """Raises ``DatasetError`` with the first pictures that are not there, and their number. ``skip_missing``: unless
    some are."""
    named: dict[str, str] = {}
    for row in of.rows:
        for one in of.fields:
            if one.pictures:
                for name in row.all_of(one.name) if one.many else filter(None, (row[one.name],)):
                    named.setdefault(name, f"{row.where}, {one.name}")
    reasons = {name: reason for name in named if (reason := pictures.why_not(name))}
    if not reasons or (skip_missing and len(reasons) < len(named)):
        return
    lines = "\n".join(f"  {of.table.file}, {named[name]}: {shortened(name, 200)} {reason}"
                      for name, reason in list(reasons.items())[:LISTED])
    more = f"\n  and {len(reasons) - LISTED:,} more" if len(reasons) > LISTED else ""
    raise DatasetError(
        f"{len(reasons):,} of {counted(len(named), 'picture')} {'is' if len(named) == 1 else 'are'} not in "
        f"{pictures.name}; nothing was created. Add them, check the names, or skip items without a picture "
        f"(--skip-missing).\n{lines}{more}")


def unique_ids(of: TableRows, name: str = "id") -> list[tuple[Row, str]]:
    """Rows with their ids, the number of the row, from 1, where none is given. A repeated id is a fault."""
    first: dict[str, str] = {}
    found = []
    for row in of.rows:
        key = row[name] or str(row.number + 1)
        if (there := first.setdefault(key, row.where)) != row.where:
            of.fault(row, f"the id {quoted(key)} is also in {there}",
                     "Give each row its own id, or leave the column out")
            continue
        found.append((row, key))
    return found


def split_list(cell: str) -> tuple[str, ...]:
    """A JSON array, or entries with line ends, bars, semicolons or commas between them, whichever comes first here."""
    text = cell.strip()
    if text.startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list):
            return tuple(_path(str(one)) for one in found if str(one).strip())
    separator = next((sign for sign in _SEPARATORS if sign in text), None)
    parts: Collection[str] = text.split(separator) if separator else (text,)
    return tuple(filter(None, map(_path, parts)))


def _path(cell: str) -> str:
    return cell.strip().strip('"').strip()


def _words(cell: str) -> str:
    """A text; of a list of texts, as FashionIQ has two captions, all of them."""
    text = cell.strip()
    if text.startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(found, list) and found and all(isinstance(one, str) for one in found):
            return " and ".join(one.strip() for one in found if one.strip())
    return text
