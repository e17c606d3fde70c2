"""Layout of a gallery's folder, and its write lock.

    <home>/galleries/<name>/
        gallery.json            the published generation: its header, replaced atomically
        images-<gen>.json       one column per field of its images
        features-<gen>.f32      [n, dim] float32, little endian, in the same order
        sums-<gen>.json         checksums of these three (see ``integrity.py``)
        thumbnails/ab/<sha>.webp
        listings/<tag>.json     what archives in a store hold
        originals/<sha>         originals that came over a network and were shown lately (see ``originals.py``)
        work/                   an unfinished index run (see ``journal.py``)
        index.json, index-<id>/ its approximate index, if it has one (see ``cir_core.index.stored``)
        index-work/             one that is being built
        lock
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from cir_core.errors import GalleryError
from cir_core.support.files import write_durably
from cir_core.support.texts import quoted
from cir_core.types.records import EncoderIdentity

FORMAT = 1
HEADER = "gallery.json"
# Valid in a URL, in a command and as a folder on every system.
_NAME = re.compile(r"[a-z0-9_][a-z0-9._-]{0,63}\Z")


@dataclass(frozen=True)
class Layout:
    """How images lie in a source that is no folder of image files.

    ``kind``: "objects" of a store, each an image; "tar" (WebDataset), "parquet", "arrow" (Hugging Face). ``column``,
    ``id_column`` and ``caption_column`` are those of a table, "" where there is none; ``fetch``: the column holds
    addresses, and pictures are fetched from them."""

    kind: str
    column: str = ""
    id_column: str = ""
    caption_column: str = ""
    fetch: bool = False


@dataclass(frozen=True)
class Header:
    """Content of gallery.json."""

    generation: str
    size: int
    encoder: EncoderIdentity
    source: str             # what the paths of images are relative to: an absolute path, or an address such as s3://…
    split: str
    digest: str
    max_megapixels: float
    updated_at: str         # ISO 8601, UTC
    layout: Layout | None = None    # None: a folder of image files


def gallery_folder(name: str, home: Path) -> Path:
    """The folder of gallery ``name``, which may not exist. Raises ``GalleryError`` on a bad name."""
    if not _NAME.match(name):
        raise GalleryError(f"{quoted(name)} cannot be the name of a gallery. Use 1 to 64 lower-case letters, digits, "
                           "dots, dashes or underscores, not starting with a dot or dash.")
    return home / "galleries" / name


def images_path(folder: Path, generation: str) -> Path:
    return folder / f"images-{generation}.json"


def features_path(folder: Path, generation: str) -> Path:
    return folder / f"features-{generation}.f32"


def sums_path(folder: Path, generation: str) -> Path:
    return folder / f"sums-{generation}.json"


def thumbnail_path(folder: Path, sha256: str) -> Path:
    return folder / "thumbnails" / sha256[:2] / f"{sha256[:32]}.webp"


def read_header(folder: Path) -> Header | None:
    """None if nothing is published here. Raises ``GalleryError`` for a damaged header."""
    try:
        content = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise GalleryError(f"Gallery {quoted(folder.name)} was written by another version of cirque. Index it "
                               "again.")
        if content.get("layout") is not None:
            content["layout"] = Layout(**content["layout"])
        return Header(**{**content, "encoder": EncoderIdentity(**content["encoder"])})
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise GalleryError(f"{folder / HEADER} is damaged ({error}). Run the 'cirque index' command that made gallery "
                           f"{quoted(folder.name)} again; its images are encoded again.") from error


def header_bytes(header: Header) -> bytes:
    """The content of gallery.json."""
    fields = asdict(header)
    if header.layout is None:   # as earlier versions write it, and read it
        del fields["layout"]
    return json.dumps({"format": FORMAT, **fields}, indent=1).encode()


def write_header(folder: Path, header: Header) -> None:
    write_durably(folder / HEADER, header_bytes(header))


@contextmanager
def disk_errors_explained(folder: Path, what: str, kept: str) -> Iterator[None]:
    """For work that has noted unreadable source files already: errors within concern cirque's own ``folder``."""
    try:
        yield
    except OSError as error:
        raise GalleryError(f"The {what} cannot be written to {folder}: {error.strerror or error}. Free some space or "
                           f"make the folder writable, then run the same command again: {kept} are not "
                           "lost.") from error


@contextmanager
def locked(folder: Path, gallery: str = "") -> Iterator[None]:
    """Exclusive write lock on ``folder``, whose name is the gallery's unless ``gallery`` is. Raises ``GalleryError``
    if another process holds it. The system releases the lock when its process dies, so a killed run leaves nothing
    stale."""
    with (folder / "lock").open("a+", encoding="ascii") as file:
        if not try_lock(file):
            file.seek(0)
            holder = file.read().strip()
            raise GalleryError(f"Gallery {quoted(gallery or folder.name)} is being indexed by another process"
                               f"{f' (process {holder})' if holder else ''}. Wait until it is done, or stop it: its "
                               "progress is saved.")
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def share_lock(file: IO[Any]) -> None:
    """Keep :func:`try_lock` of others from succeeding until the file is closed, where the system can share locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (ImportError, OSError):
        pass


def try_lock(file: IO[Any]) -> bool:
    """Try to lock an open file for this process; returns whether it succeeded. Closing the file releases it."""
    try:
        try:
            import fcntl
        except ImportError:  # Windows
            import msvcrt

            file.seek(1024)  # beyond the process id: a locked byte cannot be read there
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            return True
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
