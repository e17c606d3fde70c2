"""Decode files ahead of the encoder, in order, in bounded memory."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from PIL import Image

from cir_core.errors import ImageUnreadable
from cir_core.gallery.journal import Record
from cir_core.gallery.paths import thumbnail_path
from cir_core.gallery.scan import Entry
from cir_core.gallery.sources.source import ImageSource
from cir_core.images.load import THUMBNAIL_EDGE, for_encoder, process_image, reason_of, thumbnail
from cir_core.support.process import cores

_In = TypeVar("_In")
_Out = TypeVar("_Out")

# Sixteen bits for each of four channels and some metadata: no image of the allowed size
# needs a longer file, and longer ones are not read into memory.
_BYTES_PER_PIXEL = 8
_SPARE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Decoded:
    """``thumbnail``: of a large image that has none yet; else empty."""

    record: Record
    image: Image.Image
    thumbnail: bytes = b""


@dataclass(frozen=True)
class Reusable:
    """The file's bytes were encoded before; ``record`` describes the file as it is now, without the image's size."""

    record: Record


@dataclass(frozen=True)
class Skipped:
    path: str
    reason: str


def most_bytes(max_megapixels: float) -> int:
    """Of a file of one image."""
    return int(max_megapixels * 1e6 * _BYTES_PER_PIXEL) + _SPARE_BYTES


def read_file(
    source: ImageSource, entry: Entry, *, folder: Path, max_megapixels: float, known: Callable[[str], bool],
) -> Decoded | Reusable | Skipped:
    """Read, hash and decode one image; of a large one, also make the thumbnail unless the gallery's ``folder`` has it.
    ``known(sha256)`` says whether these bytes were encoded before; then nothing is decoded."""
    path, name = entry.path, PurePosixPath(entry.path).name
    try:
        found = source.read(entry, most_bytes(max_megapixels))
        record = Record(path, found.size, found.tag, hashlib.sha256(found.content).hexdigest(), 0, 0)
        if known(record.sha256):
            return Reusable(record)
        # In the background: yields to requests that somebody is waiting for, however long.
        small, size = process_image(found.content, lambda image: (for_encoder(image), image.size),
                                    max_megapixels=max_megapixels, name=name, patience=None)
    except ImageUnreadable as error:
        return Skipped(path, reason_of(error, name))
    except FileNotFoundError:
        return Skipped(path, "is missing.")
    except OSError as error:
        return Skipped(path, f"cannot be read: {error.strerror or error}.")
    # A small image's thumbnail costs several times its decoding here and two milliseconds
    # when it is first shown, so it is created then (``Gallery.thumbnail_of``). Of other sources
    # than folders all are kept: the original may be away.
    is_wanted = (max(size) > THUMBNAIL_EDGE or source.layout is not None) and not thumbnail_path(
        folder, record.sha256).exists()
    return Decoded(replace(record, width=size[0], height=size[1]), small, thumbnail(small) if is_wanted else b"")


def ahead(work: Callable[[_In], _Out], inputs: Iterable[_In], *, threads: int, depth: int) -> Generator[_Out]:
    """``map(work, inputs)`` in threads, with at most ``depth`` results waiting."""
    waiting: deque[Future[_Out]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="decode")
    try:
        for item in inputs:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def default_threads() -> int:
    """Decoding releases the interpreter's lock; more threads than cores only take memory."""
    return min(8, max(2, cores()))
