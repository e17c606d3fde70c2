"""Decode files ahead of the encoder, in order, in bounded memory."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from PIL import Image

from cir_core.errors import ImageUnreadable
from cir_core.gallery.journal import Record
from cir_core.gallery.paths import thumbnail_path
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


def read_file(
    root: Path, path: str, *, folder: Path, max_megapixels: float, known: Callable[[str], bool]
) -> Decoded | Reusable | Skipped:
    """Read, hash and decode one file; of a large one, also make the thumbnail unless the gallery's ``folder`` has it.
    ``known(sha256)`` says whether these bytes were encoded before; then nothing is decoded."""
    file = root / path
    try:
        state = file.stat()
        if state.st_size > max_megapixels * 1e6 * _BYTES_PER_PIXEL + _SPARE_BYTES:
            return Skipped(path, f"is {state.st_size / 1e6:.0f} MB, too large for one image.")
        content = file.read_bytes()
        if len(content) != state.st_size:
            return Skipped(path, "changed while it was read. Index again when it is complete.")
        record = Record(path, state.st_size, state.st_mtime_ns, hashlib.sha256(content).hexdigest(), 0, 0)
        if known(record.sha256):
            return Reusable(record)
        # In the background: yields to requests that somebody is waiting for, however long.
        small, size = process_image(content, lambda image: (for_encoder(image), image.size),
                                    max_megapixels=max_megapixels, name=file.name, patience=None)
    except ImageUnreadable as error:
        return Skipped(path, reason_of(error, file.name))
    except FileNotFoundError:
        return Skipped(path, "is missing.")
    except OSError as error:
        return Skipped(path, f"cannot be read: {error.strerror or error}.")
    # A small image's thumbnail costs several times its decoding here and two milliseconds
    # when it is first shown, so it is created then (``Gallery.thumbnail_of``).
    is_wanted = max(size) > THUMBNAIL_EDGE and not thumbnail_path(folder, record.sha256).exists()
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
