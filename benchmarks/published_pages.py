"""Write results to the pages: what stands between ``<!-- results: … -->`` and ``<!-- end -->``.

    <!-- results: single -->                     date, revisions and command of benchmarks/results/single.json
    <!-- results: single.single -->              its table "single"
    <!-- results: single.single: R@1, R@10 -->   these columns of it
    <!-- results: summary -->                    columns of several tables, side by side
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from cir_core.reports.cells import for_readers, reading, shown
from cir_core.reports.formats import markdown_grid
from cir_core.reports.records import ReportColumn, ReportTable

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
Results = Mapping[str, Mapping[str, Any]]       # by file name without suffix

SUMMARY = (     # results, table, column, heading; rows in the order of the first column
    ("single", "single", "R@1", "R@1, single turn"), ("single", "single", "R@10", "R@10"),
    ("sessions", "sessions-neutral", "AUC", "AUC, neutral sessions"),
    ("sessions", "sessions-built", "AUC", "AUC, built sessions"),
    ("requests", "requests", "satisfaction@5", "satisfaction@5"),
    ("requests", "requests", "preservation@5", "preservation@5"),
)
_MARKED = re.compile(r"(<!-- results: ([\w.-]+)(?:: ([^\n]+?))? -->\n).*?(<!-- end -->)", re.DOTALL)
_NOT_SHOWN = {"protocol"}


def pages() -> list[Path]:
    """All pages that have such places."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "benchmarks").rglob("*.md"))]
    return [path for path in found if "<!-- results: " in path.read_text("utf-8")]


def read_results(folder: Path = RESULTS) -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}


def write_pages() -> list[Path]:
    """The pages that changed."""
    results, changed = read_results(), []
    for path in pages():
        text = path.read_text("utf-8")
        if (now := written(text, results)) != text:
            path.write_text(now, "utf-8")
            changed.append(path)
    return changed


def written(text: str, results: Results) -> str:
    """``text`` with what ``results`` have at its marked places. Raises ``KeyError`` for what they lack."""
    def place(found: re.Match[str]) -> str:
        start, what, columns, end = found.groups()
        chosen = [name.strip() for name in columns.split(",")] if columns else []
        return f"{start}\n{_content(what, chosen, results)}\n\n{end}"

    return _MARKED.sub(place, text)


def _content(what: str, columns: Sequence[str], results: Results) -> str:
    if what == "summary":
        return _summary(results)
    name, _, key = what.partition(".")
    return _grid(results[name]["tables"][key], columns) if key else _facts(results[name])


def _facts(one: Mapping[str, Any]) -> str:
    day, gallery = date.fromisoformat(one["date"]), one["gallery"]
    model, _, answers = one["model"].partition(", ")
    return (f"{day.day} {day:%B %Y}, commit `{one['commit']}`, version {one['version']}, gallery digest "
            f"`{gallery['digest']}` ({gallery['images']:,} images),\nencoder revision `{one['encoder']}`, "
            f"language model {model} (`{answers}`), seed {one['seed']}, {one['cpu_seconds']:,} CPU seconds:\n\n"
            f"    {one['command']}")


def _grid(table: Mapping[str, Any], chosen: Sequence[str]) -> str:
    """With intervals. Raises ``KeyError`` for a column that is not there."""
    columns = [ReportColumn(**column) for column in table["columns"]]
    names = [column.name for column in columns]
    if missing := set(chosen) - set(names):
        raise KeyError(*sorted(missing))
    kept = [number for number, column in enumerate(columns) if column.key not in _NOT_SHOWN and (
        not chosen or not number or re.sub(" (low|high)$", "", column.name) in chosen)]
    rows = tuple(tuple(row[number] for number in kept) for row in table["rows"])
    read_as = for_readers(ReportTable("", "", tuple(columns[number] for number in kept), rows, table["note"]))
    read = reading(read_as)
    return "\n\n".join(filter(None, (markdown_grid(read.names, read.rows, read.right), read_as.note)))


def _summary(results: Results) -> str:
    """Without columns of which there are no results."""
    there = [one for one in SUMMARY if one[0] in results]
    columns = []
    for name, key, column, _ in there:
        table = results[name]["tables"][key]
        place = next(number for number, one in enumerate(table["columns"]) if one["key"] == column)
        kind = table["columns"][place]["kind"]
        columns.append({row[0]: (row[place], shown(row[place], kind)) for row in table["rows"]})
    order = sorted(columns[0], key=lambda method: -columns[0][method][0])
    return markdown_grid(["Method", *(heading for *_, heading in there)],
                         [[method, *(column[method][1] for column in columns)] for method in order],
                         [False, *[True] * len(columns)])
