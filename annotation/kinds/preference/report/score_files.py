"""Import of externally computed metric scores from a table, with one column per metric.

Such a file is made from cirque's ``sets.csv`` of a study, by adding columns. So changes by spreadsheet programs are
accepted: semicolons or tabs, a byte-order mark, trailing empty cells, truncated rows, an apostrophe before a
formula. Ambiguous content is refused: decimal commas, changed ids.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from annotation.kinds.preference.exports import SET_COLUMNS
from annotation.records import Item, MetricScores
from annotation.records.studies import NAME_LIMIT
from annotation.sources.queries import refuse
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.support.tables import as_text, listed, read_table
from cir_core.support.texts import quoted

_QUESTION = ("item", "query_id")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?[\d.]*,\d+([eE][+-]?\d+)?", re.ASCII)
_WORDS = {"true": 1.0, "false": 0.0}
_SETS = {"1": 1, "2": 2, "1.0": 1, "2.0": 2}
_START = "Start from the study's sets.csv and add a column of numbers to it"


@dataclass(frozen=True)
class _Row:
    line: int              # first line, from 1
    cells: Mapping[str, str]


def read_scores(content: bytes | str, items: Sequence[Item], *, where: str) -> tuple[MetricScores, ...]:
    """Read each column of numbers as a metric, in file order.

    Columns are ``item``, a question's key (or a unique ``query_id``), ``set``, 1 or 2 as stored, and one per metric;
    the other columns of cirque's ``sets.csv`` are skipped. An empty cell is a set without a score. "true" and "false"
    are 1 and 0. Several rows of one set must agree.

    Args:
        where: the file's name, for errors and the metrics' descriptions.

    Raises ``DatasetError`` with all faults.
    """
    faults = ValidationIssues(collect=True)
    path = Path(where)
    names, rows = read_table(content, where, (("set",), _QUESTION), _START, SET_COLUMNS)
    metrics = _metric_columns(names, path, faults)
    refuse(faults, where)
    by = "item" if "item" in names else "query_id"
    found = _Finder(items, by)
    scores: dict[str, dict[tuple[str, int], float]] = {name: {} for name in metrics}
    lines: dict[tuple[str, str, int], int] = {}
    for row in _rows(names, rows, path, faults):
        item, why = found(row.cells[by])
        if item is None:
            faults.add(path, f"line {row.line}, column {by}", *why)
        number = _SETS.get(row.cells["set"].strip())
        if number is None:
            faults.add(path, f"line {row.line}, column set", f"{quoted(row.cells['set'])} is not a set of a question",
                       "Write 1 or 2, as sets.csv does")
        for name in metrics:
            value, why = _score(row.cells[name])
            if why:
                faults.add(path, f"line {row.line}, column {name}", *why)
            elif value is not None and item is not None and number is not None:
                before = scores[name].setdefault((item.item_id, number), value)
                first = lines.setdefault((name, item.item_id, number), row.line)
                if before != value:
                    faults.add(path, f"line {row.line}, column {name}",
                               f"set {number} of {quoted(item.key)} has {quoted(value)} here and {quoted(before)} in "
                               f"line {first}",
                               "A metric gives a set one score, the same for all raters")
    for name in metrics:
        if not scores[name] and not faults.count:
            faults.add(path, f"column {name}", "there is no number in it", "Fill it, or delete the column")
    refuse(faults, where)
    return tuple(_metric(name, scores[name], items, where) for name in metrics)


def _metric_columns(names: Sequence[str], path: Path, faults: ValidationIssues) -> list[str]:
    """Columns that are not part of ``sets.csv``."""
    metrics: list[str] = []
    seen: dict[str, str] = {}
    for number, name in enumerate(names, 1):
        record = f"column {number}"
        if name.casefold() in seen:
            faults.add(path, record, f"two columns have the name {quoted(name)}", "Rename or delete one")
        seen[name.casefold()] = name
        if name in SET_COLUMNS:
            continue
        if not name:
            faults.add(path, record, "it has no name", "Name it after its metric, or delete it")
        elif len(name) > NAME_LIMIT or not name.isprintable():
            faults.add(path, record, f"{quoted(name)} is not a valid metric name",
                       f"Choose up to {NAME_LIMIT} characters on one line, none of them invisible")
        elif name.casefold().startswith("recall@"):
            faults.add(path, record, f"{quoted(name)} is reserved: cirque computes recall itself",
                       "Rename or delete the column")
        else:
            metrics.append(name)
    if not metrics and not faults.count:
        faults.add(path, "", f"there is no column of scores, only cirque's columns {listed(names)}", _START)
    return metrics


def _rows(
    names: Sequence[str], rows: Iterator[tuple[int, list[str]]], path: Path, faults: ValidationIssues
) -> Iterator[_Row]:
    """Non-empty rows. Missing cells at the end of a row are empty."""
    empty = True
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        empty = False
        if any(cell.strip() for cell in cells[len(names):]):
            faults.add(path, f"line {line}", f"it has {len(cells)} cells for {len(names)} columns",
                       "Write numbers with a decimal point, and put texts that contain commas in quotation marks")
            continue
        yield _Row(line, dict(zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=False)))
    if empty:
        faults.add(path, "", "it has no rows below its column names", _START)


def _score(cell: str) -> tuple[float | None, tuple[str, ...]]:
    """The number, None for an empty cell; or a fault with its remedy."""
    text = cell.strip().replace("−", "-")
    if not text:
        return None, ()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()], ()
    if _NUMBER.fullmatch(text) and math.isfinite(value := float(text)):
        return value, ()
    if _COMMA.fullmatch(text):
        return None, (f"{quoted(text)} is written with a comma", "Write numbers with a decimal point and no other mark")
    return None, (f"{quoted(text)} is not a finite number", "Write a number, or leave the cell empty for no score")


class _Finder:
    """Look-up of the question that a cell names."""

    def __init__(self, items: Sequence[Item], by: str) -> None:
        self._by = by
        self._found: dict[str, set[str]] = {}
        self._items = {item.item_id: item for item in items}
        for item in items:
            name = item.key if by == "item" else item.hidden.get("query_id")
            if name not in (None, ""):
                for text in {str(name), as_text(str(name))}:
                    self._found.setdefault(text, set()).add(item.item_id)

    def __call__(self, cell: str) -> tuple[Item | None, tuple[str, ...]]:
        """The question, or None with a fault and its remedy."""
        found = self._found.get(cell) or self._found.get(cell.strip()) or set()
        if len(found) == 1:
            return self._items[next(iter(found))], ()
        if found:
            return None, (f"{quoted(cell)} is the name of {len(found)} questions of the study",
                          "Name questions in a column item, as sets.csv does")
        if not cell.strip():
            return None, ("the question is missing", f"Write its {self._by} as sets.csv has it")
        return None, (f"the study has no question {quoted(cell)}",
                      "Check that the file is of this study, and that no spreadsheet changed ids that look like "
                      "numbers")


def _metric(name: str, scores: Mapping[tuple[str, int], float], items: Sequence[Item], where: str) -> MetricScores:
    missing = 2 * len(items) - len(scores)
    notes = (f"Sets to which {name} gives no score: {missing:,} of {2 * len(items):,}.",) if missing else ()
    # The file name only, because reports are published and must not contain local paths.
    return MetricScores(name, f"Column {name} of {PureWindowsPath(where).name or where}.", scores, notes)
