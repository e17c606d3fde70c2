"""Return freed memory to the system (glibc only; elsewhere a no-op)."""

from __future__ import annotations

import ctypes
import sys
import threading
from functools import cache
from typing import Any

_MMAP_THRESHOLD = -3          # M_MMAP_THRESHOLD of <malloc.h>
_LARGE_BLOCK = 2**20          # bytes
_SOON = 2.0                   # seconds

_lock = threading.Lock()
_timer: threading.Timer | None = None


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
