"""Manifests: a user's own list of images, with ids and captions, in any form of :mod:`cir_core.support.tables`."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

from cir_core.errors import DatasetError, GalleryError
from cir_core.gallery.scan import Entry, Scan
from cir_core.support.tables import read_table
from cir_core.support.texts import quoted

_ID, _PATH = ("id", "image_id"), ("path", "file", "file_name", "filename")
_CAPTION = ("caption",)
_REMEDY = "Name the columns id and path; caption is optional"
_SHOWN = 10  # problems listed in one error; a broken file has the same one on every line


def read_manifest(manifest: Path, root: Path) -> Scan:
    """Entries in the manifest's order. Columns: id, path (relative to ``root``), caption
    (optional); others are ignored. A missing file is skipped with its line number.

    Raises ``GalleryError`` naming the lines with a missing value, a repeated id, or what cannot be read.
    """
    if not manifest.is_file():
        raise GalleryError(f"No manifest {manifest}. Give a table (CSV, JSON) with columns id and path.")
    entries: list[Entry] = []
    skipped: list[tuple[str, str]] = []
    problems: list[str] = []
    lines: dict[str, int] = {}
    try:
        for line, row in _rows(manifest):
            image_id, caption = _text(row, "id"), _text(row, "caption")
            path = row.get("path", "")  # unchanged: a file system may distinguish Unicode forms
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
    except DatasetError as error:
        raise GalleryError(f"{error} Nothing was indexed.") from None
    except OSError as error:
        raise GalleryError(f"{manifest} cannot be read: {error.strerror or error}.") from error
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise GalleryError(f"{manifest.name} cannot be used: {'; '.join(problems[:_SHOWN])}{more}.")
    return Scan(tuple(entries), tuple(skipped))


def _rows(manifest: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    names, rows = read_table(manifest.read_bytes(), manifest.name, (_ID, _PATH), _REMEDY, _CAPTION)
    kept = {next(name for name in names if name in one_of): one_of[0] for one_of in (_ID, _PATH, _CAPTION)
            if not set(names).isdisjoint(one_of)}
    for line, cells in rows:
        if any(cell.strip() for cell in cells):
            yield line, {kept[name]: cell for name, cell in zip(names, cells, strict=False) if name in kept}


def _text(row: Mapping[str, str], key: str) -> str:
    return unicodedata.normalize("NFC", row.get(key, "").strip())
