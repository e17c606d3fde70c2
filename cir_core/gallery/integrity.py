"""Checksums of a published gallery, and what damage leaves of it.

``sums-<gen>.json`` is written with a generation and has the checksums of its header, of its columns and of its vectors,
by row. Galleries of earlier versions have none: of their vectors those are damaged that no encoder gives, which are not
finite or not of unit length; ``cirque index`` adds the checksums.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cir_core.errors import GalleryError
from cir_core.gallery.paths import (
    HEADER,
    Header,
    features_path,
    gallery_folder,
    images_path,
    read_header,
    sums_path,
)
from cir_core.support.checksums import Rows, RowSums, means_damage, parts_of, signed, sum_of, unsigned
from cir_core.support.files import write_durably
from cir_core.support.texts import counted, quoted

UNIT = 0.02     # how far the squared length of a vector may be from 1, half precision included
DAMAGE_NOTE = "damaged vectors"
_MOST = 0.5     # of the images, beyond which the gallery is refused
Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class GallerySums:
    header: str
    images: str
    features: RowSums


def write_sums(folder: Path, generation: str, header: bytes, columns: bytes, features: RowSums) -> None:
    """``header`` and ``columns``: the content of gallery.json and of the images' file."""
    write_durably(sums_path(folder, generation), signed({
        "header": _header_sum(header), "images": sum_of(columns), "features": features.as_json()}))


def read_sums(folder: Path, generation: str) -> GallerySums | None:
    """None for a gallery of an earlier version. Raises ``ValueError`` if they are damaged themselves."""
    try:
        content = unsigned(sums_path(folder, generation).read_bytes())
        return GallerySums(content["header"], content["images"], RowSums.from_json(content["features"]))
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def check_texts(folder: Path, header: Header, columns: bytes, sums: GallerySums | None) -> None:
    """Raises ``ValueError`` if the header or the columns do not match their checksum."""
    if sums is None:
        return
    if sums.header != _header_sum((folder / HEADER).read_bytes()):
        raise ValueError("gallery.json does not match its checksum")
    if sums.images != sum_of(columns) or len(sums.features) != header.size:
        raise ValueError(f"{images_path(Path(), header.generation).name} does not match its checksum")


def damaged_rows(folder: Path, header: Header, sums: GallerySums | None) -> Rows:
    """Rows whose vectors are damaged, in ascending order. Raises ``OSError`` if there is no file of vectors."""
    path = features_path(folder, header.generation)
    if sums is not None:
        return sums.features.damaged(path)
    path.stat()
    sound = np.zeros(header.size, dtype=np.bool_)
    for start, part in _parts(path, header):
        with np.errstate(all="ignore"):
            sound[start:start + len(part)] = np.abs(np.einsum("ij,ij->i", part, part) - 1) <= UNIT   # nan is not
    return np.flatnonzero(~sound)


def mapped_rows(folder: Path, header: Header, damaged: Rows) -> Vectors:
    """The vectors of the rows that are not ``damaged``: mapped if all are sound, in memory if not."""
    path, shape = features_path(folder, header.generation), (header.size, header.encoder.dim)
    if not len(damaged):
        return np.memmap(path, dtype="<f4", mode="r", shape=shape)
    kept = np.ones(header.size, dtype=np.bool_)
    kept[damaged] = False
    found = np.empty((header.size - len(damaged), header.encoder.dim), dtype=np.float32)
    end = 0
    for start, part in _parts(path, header):
        some = part[kept[start:start + len(part)]]
        found[end:end + len(some)] = some
        end += len(some)
    if end != len(found):
        raise OSError("the file of vectors changed while it was read")
    return found


def little_is_left(header: Header, damaged: Rows, name: str) -> str:
    """Why the gallery is refused; "" if it is not."""
    if len(damaged) <= _MOST * header.size:
        return ""
    return (f"Gallery {quoted(name)} is damaged: {_which(header, damaged)} cannot be used, too many to search the "
            f"others. {remedy(name)}")


def damage_in_words(header: Header, damaged: Rows, name: str) -> str:
    """For logs and commands."""
    return (f"Gallery {quoted(name)} is damaged: {_which(header, damaged)} cannot be used, so "
            f"{'its image is' if len(damaged) == 1 else 'their images are'} left out of searches. {remedy(name)}")


def damage_note(lost: int) -> str:
    """For people who search, and cannot repair it."""
    return (f"{DAMAGE_NOTE}: {counted(lost, 'image')} of this gallery {'is' if lost == 1 else 'are'} left out until "
            "an administrator repairs it (cirque galleries check)")


def remedy(name: str) -> str:
    return f"To encode these images again, and no others: cirque galleries repair {name}"


def remedy_for_all(name: str) -> str:
    """Where it cannot be told which vector is whose."""
    return f"Run the 'cirque index' command that made gallery {quoted(name)} again; its images are encoded again."


def unreadable(name: str, error: Exception) -> str:
    """Why the gallery is refused after an error of reading it."""
    if isinstance(error, OSError) and not means_damage(error):
        return (f"Gallery {quoted(name)} cannot be read: {error.strerror or error}. Its files may be intact: "
                "make its folder readable, or try again when fewer files are open.")
    return f"Gallery {quoted(name)} is damaged ({error}). {remedy_for_all(name)}"


def digest_without(header: Header, ids: Iterable[str]) -> str:
    """The digest of the gallery without the images ``ids``: what is searched is not what was indexed."""
    left_out = "\n".join(ids).encode("utf-8", "surrogatepass")
    return f"{sum_of(header.digest.encode() + left_out)}{sum_of(left_out + header.digest.encode())}"


def _header_sum(content: bytes) -> str:
    """Of what gallery.json says, in any layout and order, without the folder of the images, which people move."""
    fields = json.loads(content)
    fields.pop("source", None)
    return sum_of(json.dumps(fields, sort_keys=True).encode())


def _which(header: Header, damaged: Rows) -> str:
    return (f"{counted(len(damaged), 'vector')} of {header.size:,} in {features_path(Path(), header.generation).name} "
            f"({_ranges(damaged)})")


def _ranges(rows: Rows) -> str:
    """``rows 3-7, 12 and 90 more``"""
    ends = np.flatnonzero(np.diff(rows) != 1)
    first, last = [0, *(ends + 1)], [*ends, len(rows) - 1]
    ranges = [f"{rows[a]}" if a == b else f"{rows[a]}-{rows[b]}" for a, b in zip(first, last, strict=True)]
    more = f" and {len(ranges) - 5:,} more" if len(ranges) > 5 else ""
    return f"row{'s' if len(rows) > 1 else ''} {', '.join(ranges[:5])}{more}"


def _parts(path: Path, header: Header) -> Iterable[tuple[int, Vectors]]:
    for start, content in parts_of(path, 4 * header.encoder.dim, header.size):
        part: Vectors = np.frombuffer(content, dtype="<f4").reshape(-1, header.encoder.dim)
        yield start, part


@dataclass(frozen=True)
class GalleryCheck:
    """``damage``: what is wrong and what to do; "" for a gallery in order. ``has_sums``: whether its vectors can be
    compared with what was written."""

    name: str
    images: int
    damage: str = ""
    has_sums: bool = True


def check_gallery(name: str, *, home: Path) -> GalleryCheck | None:
    """None if gallery ``name`` is not published. Reads all of it. Raises ``GalleryError`` for a name that cannot be."""
    folder = gallery_folder(name, home)
    try:
        header = read_header(folder)
    except GalleryError as error:
        return GalleryCheck(name, 0, str(error))
    if header is None:
        return None
    try:
        _, sums, problem = read_columns(folder, header)
        damaged = damaged_rows(folder, header, sums)
    except (ValueError, OSError) as error:
        return GalleryCheck(name, header.size, unreadable(name, error))
    if refusal := little_is_left(header, damaged, name):
        return GalleryCheck(name, header.size, refusal, sums is not None)
    if len(damaged):
        return GalleryCheck(name, header.size, damage_in_words(header, damaged, name), sums is not None)
    return GalleryCheck(name, header.size, problem and f"{problem}. To write it again: cirque galleries repair {name}",
                        sums is not None)


def read_columns(folder: Path, header: Header) -> tuple[bytes, GallerySums | None, str]:
    """The columns' file, the checksums, and what is wrong with those ("" if nothing). Raises ``OSError``, and
    ``ValueError`` for a header or columns that are damaged."""
    problem = ""
    try:
        sums = read_sums(folder, header.generation)
    except ValueError as error:
        sums, problem = None, f"{sums_path(folder, header.generation).name} is damaged ({error})"
    columns = images_path(folder, header.generation).read_bytes()
    check_texts(folder, header, columns, sums)
    return columns, sums, problem


def without(columns: dict[str, Any], damaged: Rows) -> dict[str, Any]:
    """The columns of the images whose rows are not ``damaged``."""
    gone = set(damaged.tolist())
    kept = [row for row in range(len(columns["id"])) if row not in gone]
    return {
        key: "".join(value[64 * row:64 * row + 64] for row in kept) if key == "sha256"
        else value and [value[row] for row in kept]
        for key, value in columns.items()
    }
