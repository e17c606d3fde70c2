"""Scan a folder for images; assign order and ids. Manifests: a user's own list of images, with ids and captions, in
any form of :mod:`cir_core.support.tables`."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.errors import DatasetError, GalleryError
from cir_core.images import refusals
from cir_core.images.folders import IMAGE_SUFFIXES, walk
from cir_core.images.load import looks_like_image
from cir_core.support.tables import read_table
from cir_core.support.texts import quoted


@dataclass(frozen=True, slots=True)
class Entry:
    """An image to index. ``path`` is relative to the source and spelled as in the file system.

    Of a source that is no folder: ``at`` is where the image lies in its file (the offset in an archive, the row of a
    table), ``size`` its bytes (0 where only reading it tells), and ``tag`` changes whenever it may have changed."""

    image_id: str
    path: str
    caption: str | None = None
    at: int = 0
    size: int = 0
    tag: int = 0


@dataclass(frozen=True)
class Scan:
    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...] = ()   # (path, reason)
    left_out: tuple[tuple[str, str], ...] = ()  # (path, reason); the path of a folder ends with a slash
    notes: tuple[str, ...] = ()                 # remarks for the user


def scan_folder(source: Path, *, exclude: Sequence[str] = (), include: Sequence[str] = ()) -> Scan:
    """All image files under ``source``, by path, but those that :func:`cir_core.images.folders.walk` leaves out.

    An id is the path without its extension where that is unique, else with it. Files with
    neither the extension nor the header of an image are skipped. Raises ``GalleryError``.
    """
    if not source.is_dir():
        raise GalleryError(f"No folder {source}. Give the folder that contains the images.")
    found: list[str] = []
    walked = walk(source, exclude=exclude, include=include)
    skipped = list(walked.unreadable)
    for path in sorted(walked.files, key=spelled_id):
        if os.path.splitext(path)[1].lower() in IMAGE_SUFFIXES:  # noqa: PTH122 - a Path for each takes twice the time
            found.append(path)
            continue
        try:
            with (source / path).open("rb") as file:
                head = file.read(32)
        except OSError as error:
            skipped.append((path, f"cannot be opened: {error.strerror or error}."))
            continue
        if looks_like_image(head):
            found.append(path)
        else:
            skipped.append((path, refusals.unknown(head)))
    spelled = [spelled_id(path) for path in found]
    ids = unique_ids([without_ending(path) for path in spelled], spelled)
    return Scan(tuple(Entry(i, p) for i, p in zip(ids, found, strict=True)), tuple(skipped),
                tuple(sorted(walked.left_out)))


def spelled_id(path: str) -> str:
    """NFC, so that an id typed on one system is found on another; bytes that are not
    UTF-8 become a replacement character, as ids must survive JSON and URLs."""
    return unicodedata.normalize("NFC", os.fsencode(path).decode("utf-8", "replace"))


def unique_ids(names: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Each image's name where no other has it, else its path."""
    count = Counter(names)
    taken = {name for name in names if count[name] == 1}
    ids = []
    for path, name in zip(paths, names, strict=True):
        image_id, number = (name, 1) if count[name] == 1 else (path, 1)
        while count[name] != 1 and image_id in taken:
            number += 1
            image_id = f"{path}~{number}"
        taken.add(image_id)
        ids.append(image_id)
    return ids


def without_ending(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    return f"{folder}{slash}{stem}" if dot and stem and len(ending) <= 5 else path


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
