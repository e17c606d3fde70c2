"""Manifests: a user's own list of images, with ids and captions (CSV, TSV or JSONL)."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cir_core.errors import GalleryError
from cir_core.gallery.scan import Entry, Scan
from cir_core.support.texts import quoted, shortened

_COLUMNS = 30   # column names listed in an error
_SHOWN = 10  # problems listed in one error; a broken file has the same one on every line


def read_manifest(manifest: Path, root: Path) -> Scan:
    """Entries in the manifest's order. Columns: id, path (relative to ``root``), caption
    (optional); others are ignored. A missing file is skipped with its line number.

    Raises ``GalleryError`` naming the lines with a missing value, a repeated id, or JSON that does not parse.
    """
    if not manifest.is_file():
        raise GalleryError(f"No manifest {manifest}. Give a CSV, TSV or JSONL file with columns id and path.")
    entries: list[Entry] = []
    skipped: list[tuple[str, str]] = []
    problems: list[str] = []
    lines: dict[str, int] = {}
    try:
        for line, row in _rows(manifest):
            image_id, caption = _text(row, "id"), _text(row, "caption")
            path = str(row.get("path") or "")  # unchanged: a file system may distinguish Unicode forms
            if not image_id or not path:
                absent = " and ".join(key for key, value in (("id", image_id), ("path", path)) if not value)
                problems.append(f"line {line}: no {absent}")
                continue
            if image_id in lines:
                problems.append(f"line {line}: id {quoted(image_id)} is already on line {lines[image_id]}")
                continue
            lines[image_id] = line
            if (root / path).is_file():
                entries.append(Entry(image_id, path, caption or None))
            else:
                skipped.append((path, f"is not in {root} ({manifest.name}, line {line})."))
    except (ValueError, csv.Error) as error:  # UnicodeDecodeError, JSONDecodeError
        problems.append(str(error))
    except OSError as error:
        raise GalleryError(f"{manifest} cannot be read: {error.strerror or error}.") from error
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise GalleryError(f"{manifest.name} cannot be used: {'; '.join(problems[:_SHOWN])}{more}.")
    return Scan(tuple(entries), tuple(skipped))


def _rows(manifest: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with manifest.open(encoding="utf-8-sig", newline="") as file:
        if manifest.suffix.lower() in (".jsonl", ".ndjson", ".json"):
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise ValueError(f"line {number}: not JSON ({error})") from error
                if not isinstance(row, dict):
                    raise ValueError(f'line {number}: expected {{"id": "a", "path": "a.jpg"}}')
                yield number, row
            return
        reader = csv.DictReader(file, delimiter="\t" if manifest.suffix.lower() == ".tsv" else ",")
        columns = reader.fieldnames or []
        absent = [key for key in ("id", "path") if key not in columns]
        if absent:
            raise ValueError(f"line 1: no column {' or '.join(absent)} among {_named(columns) or 'none'}")
        for row in reader:
            yield reader.line_num, row


def _named(columns: Sequence[str]) -> str:
    shown = [shortened(column) for column in columns[:_COLUMNS]]
    return ", ".join([*shown, "…"] if len(columns) > _COLUMNS else shown)


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return "" if value is None else unicodedata.normalize("NFC", str(value).strip())
