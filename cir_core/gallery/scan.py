"""Scan a folder for images; assign order and ids."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.errors import GalleryError
from cir_core.images.load import KNOWN, looks_like_image

_SUFFIXES = {
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".heic", ".heif", ".avif", ".tif", ".tiff",
    ".bmp",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file to index. ``path`` is relative to the source and spelled as in the file system."""

    image_id: str
    path: str
    caption: str | None = None


@dataclass(frozen=True)
class Scan:
    entries: tuple[Entry, ...]
    skipped: tuple[tuple[str, str], ...] = ()   # (path, reason)


def scan_folder(source: Path) -> Scan:
    """All image files under ``source``, by path; hidden files and folders are left out.

    An id is the path without its extension where that is unique, else with it. Files with
    neither the extension nor the header of an image are skipped. Raises ``GalleryError``.
    """
    if not source.is_dir():
        raise GalleryError(f"No folder {source}. Give the folder that holds the images.")
    found: list[str] = []
    skipped: list[tuple[str, str]] = []
    for path in sorted(_walk(source, skipped), key=_spelled):
        if Path(path).suffix.lower() in _SUFFIXES:
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
            reason = f"cannot be read as an image. Use {KNOWN}." if head else "is empty (0 bytes)."
            skipped.append((path, reason))
    ids = _ids([_spelled(path) for path in found])
    return Scan(tuple(Entry(i, p) for i, p in zip(ids, found, strict=True)), tuple(skipped))


def _walk(source: Path, skipped: list[tuple[str, str]]) -> Iterator[str]:
    """Relative paths of all files; unreadable folders are added to ``skipped``. A link to a folder is followed once,
    unless it points into the walked tree: loops end, and nothing is listed twice."""
    home = source.resolve()
    seen = {home}
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            inside = sorted(os.scandir(source / folder), key=lambda entry: entry.name)
        except OSError as error:
            skipped.append((folder or ".", f"is a folder that cannot be read: {error.strerror or error}."))
            continue
        for entry in inside:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                continue
            try:
                if entry.is_dir():
                    if entry.is_symlink():
                        target = Path(entry.path).resolve()
                        if target in seen or target.is_relative_to(home) or home.is_relative_to(target):
                            continue
                        seen.add(target)
                    folders.append(path)
                elif entry.is_file() or not Path(entry.path).exists():  # or a dangling link
                    yield path
            except OSError:
                continue  # a link to itself


def _spelled(path: str) -> str:
    """NFC, so that an id typed on one system is found on another; bytes that are not
    UTF-8 become a replacement character, as ids must survive JSON and URLs."""
    return unicodedata.normalize("NFC", os.fsencode(path).decode("utf-8", "replace"))


def _ids(paths: Sequence[str]) -> list[str]:
    stems = [_without_ending(path) for path in paths]
    count = Counter(stems)
    taken = {stem for stem in stems if count[stem] == 1}
    ids = []
    for path, stem in zip(paths, stems, strict=True):
        image_id, number = (stem, 1) if count[stem] == 1 else (path, 1)
        while count[stem] != 1 and image_id in taken:
            number += 1
            image_id = f"{path}~{number}"
        taken.add(image_id)
        ids.append(image_id)
    return ids


def _without_ending(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    return f"{folder}{slash}{stem}" if dot and stem and len(ending) <= 5 else path
