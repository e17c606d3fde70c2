"""Process-wide budget of memory for images being decoded.

A file of 200 kB may hold 64 megapixels, which take 250 MB decoded and twice that while they are converted. The limit of
an image alone does not bound a process that decodes many at a time, so uploads, thumbnails, images of studies,
indexing and the references of named calls all take their memory from here (:func:`cir_core.images.load.process_image`).

Peak memory is estimated from an image's header. Freed memory is returned to the system (glibc only; elsewhere a no-op).
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from PIL import Image

from cir_core.errors import DecodingBusy
from cir_core.images.tiff_numbers import Numbers
from cir_core.settings import get_settings

_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2, "I;16N": 2}   # per pixel; all others take 4
_RGB = 4
_SPARE = 2**20
_STRIPS = 24 * 2**20   # at most, for a strip of a million pixels in all its forms
_SCALING = 48 * 2**20   # at most, for intermediate forms between an image and its copy of 1024 pixels
# Memory of decoders besides the result, in bytes per pixel; measured with Pillow 12.3 and pillow-heif 1.8.
_DECODER = {"WEBP": 12, "AVIF": 8, "HEIF": 8}
_COEFFICIENTS = 6   # a progressive JPEG is held whole before its first line is decoded, at whatever scale
_MMAP_THRESHOLD = -3          # M_MMAP_THRESHOLD of <malloc.h>
_LARGE_BLOCK = 2**20          # bytes
_SOON = 2.0                   # seconds

_lock = threading.Lock()
_timer: threading.Timer | None = None
PATIENCE = 60.0         # seconds a request waits for its share
_MOST_WAITING = 16      # waiting requests: each occupies a worker thread
_LARGE = 32 * 2**20     # bytes after which freed memory is returned to the system


class DecodeBudget:
    """Fair semaphore over ``most_bytes``: first come, first served, so that small images never starve a large one.

    A request larger than the whole budget is admitted when nothing else is. A thread that already holds a share gets
    more at once; otherwise it would wait for itself.
    """

    def __init__(self, most_bytes: int, *, most_waiting: int = _MOST_WAITING) -> None:
        self._most, self._most_waiting = most_bytes, most_waiting
        self._free, self._waiting = most_bytes, 0
        self._queue: deque[object] = deque()
        self._changed = threading.Condition()
        self._mine = threading.local()

    @contextmanager
    def hold(self, needed: int, *, patience: float | None = PATIENCE) -> Iterator[None]:
        """Hold ``needed`` bytes. ``patience``: seconds to wait; None: without limit, for background work. Raises
        ``DecodingBusy`` after that time, or at once if too many are waiting."""
        if getattr(self._mine, "holds", False):
            yield
            return
        needed = min(needed, self._most)
        self._take(needed, patience)
        self._mine.holds = True
        try:
            yield
        finally:
            self._mine.holds = False
            with self._changed:
                self._free += needed
                idle = self._free == self._most
                self._changed.notify_all()
            if idle and needed >= _LARGE:
                trim_soon()

    def _take(self, needed: int, patience: float | None) -> None:
        until = None if patience is None else time.monotonic() + patience
        me = object()
        with self._changed:
            if not self._queue and needed <= self._free:
                self._free -= needed
                return
            if until is not None and self._waiting >= self._most_waiting:
                raise DecodingBusy
            self._queue.append(me)
            self._waiting += until is not None
            try:
                while self._queue[0] is not me or needed > self._free:
                    left = None if until is None else until - time.monotonic()
                    if left is not None and left <= 0:
                        raise DecodingBusy
                    self._changed.wait(left)
                self._free -= needed
            finally:
                self._queue.remove(me)
                self._waiting -= until is not None
                self._changed.notify_all()   # the next one may fit, too


_making = threading.Lock()
_budget: DecodeBudget | None = None


def budget() -> DecodeBudget:
    """The budget of this process."""
    global _budget
    with _making:
        if _budget is None:
            _budget = DecodeBudget(_bytes(get_settings().decode_memory_mb))
        return _budget


def set_budget(megabytes: int) -> None:
    """Replace the process's budget by one of ``megabytes``. Shares of an earlier one stay valid."""
    global _budget
    with _making:
        _budget = DecodeBudget(_bytes(megabytes))


def _bytes(megabytes: int) -> int:
    return megabytes * 2**20


def return_large_blocks() -> None:
    """Return freed blocks of a megabyte and more to the system at once.

    By default glibc raises this limit to the size of the last freed block, up to 32 MB. Pillow's blocks of 16 MB then
    come from the heap, where any small block behind them keeps them allocated.
    """
    if (libc := _glibc()) is not None:
        libc.mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)


def trim_soon() -> None:
    """Return free heap memory, at most once in two seconds, from a background thread."""
    global _timer
    if _glibc() is None:
        return
    with _lock:
        if _timer is not None:
            return
        _timer = threading.Timer(_SOON, _trim)
        _timer.daemon = True
        _timer.start()


def _trim() -> None:
    global _timer
    with _lock:
        _timer = None
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


@cache
def _glibc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018 - absent in other C libraries
        return libc if libc.malloc_trim and libc.mallopt else None
    except (OSError, AttributeError):
        return None


def decoding_bytes(image: Image.Image, full: tuple[int, int]) -> int:
    """Upper bound in bytes for decoding ``image`` to upright RGB. ``full``: its size, before any draft."""
    pixels, held = image.width * image.height, _BYTES.get(image.mode, 4)
    converted = image.mode != "RGBA" and (image.mode != "RGB" or image.has_transparency_data)
    turned = "exif" in image.info or image.format in ("TIFF", "HEIF", "AVIF")
    each = max(held + (_RGB if converted else 0), 2 * _RGB if turned else 0) + _DECODER.get(image.format or "", 0)
    if isinstance(image, Numbers):
        each += 3 * image.bytes_per_pixel   # the file, a strip that may be the whole image, and the numbers
    elif image.format == "TIFF":
        each += held   # a strip may be the whole image
    needed = pixels * each
    if image.info.get("progressive") or image.info.get("progression"):
        needed += full[0] * full[1] * _COEFFICIENTS
    return needed + min(pixels * 24, _STRIPS) + min(pixels * 3 // 2, _SCALING) + _SPARE
