"""Scan a folder for images; assign order and ids."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.errors import GalleryError
from cir_core.images import refusals
from cir_core.images.folders import IMAGE_SUFFIXES, walk
from cir_core.images.load import looks_like_image


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
    left_out: tuple[tuple[str, str], ...] = ()  # (path, reason); the path of a folder ends with a slash


def scan_folder(source: Path, *, exclude: Sequence[str] = (), include: Sequence[str] = ()) -> Scan:
    """All image files under ``source``, by path, but those that :func:`cir_core.images.folders.walk` leaves out.

    An id is the path without its extension where that is unique, else with it. Files with
    neither the extension nor the header of an image are skipped. Raises ``GalleryError``.
    """
    if not source.is_dir():
        raise GalleryError(f"No folder {source}. Give the folder that holds the images.")
    found: list[str] = []
    walked = walk(source, exclude=exclude, include=include)
    skipped = list(walked.unreadable)
    for path in sorted(walked.files, key=_spelled):
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
    ids = _ids([_spelled(path) for path in found])
    return Scan(tuple(Entry(i, p) for i, p in zip(ids, found, strict=True)), tuple(skipped),
                tuple(sorted(walked.left_out)))


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
