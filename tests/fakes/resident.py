"""A hook of pytest: what tests have loaded is let go."""

from __future__ import annotations

import ctypes
import gc
import platform
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

_GROWN = 32 * 2**20    # bytes
_STATM, _PAGE = Path("/proc/self/statm"), 4096
_GLIBC = platform.libc_ver()[0] == "glibc"
_resident_before = 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """What a test has loaded goes with it, as soon as pytest has let go of its fixtures: a process runs thousands."""
    global _resident_before
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path != item.path:
            _forget_apps()
        if _resident() > _resident_before + _GROWN:
            gc.collect()
            if _GLIBC:    # keeps the blocks that torch had, hundreds of MB
                ctypes.CDLL(None).malloc_trim(0)
            _resident_before = _resident()


def _forget_apps() -> None:
    """FastAPI remembers the last thousands of functions that it has looked at, and with them the apps they belong to,
    of which Gradio's take 15 MB and more."""
    models = sys.modules.get("fastapi.dependencies.models")
    for one in vars(models).values() if models else ():
        if hasattr(one, "cache_clear"):
            one.cache_clear()


def _resident() -> int:
    """Bytes of memory; 0 where the system does not tell."""
    try:
        return int(_STATM.read_text().split()[1]) * _PAGE
    except OSError:
        return 0
