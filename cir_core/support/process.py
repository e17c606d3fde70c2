"""Pause of Python's cyclic garbage collector. Number of processor cores."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Run a block that creates objects to stay (imports, the application) without collecting.

    What the block leaves is exempt from later collections too. Importing Gradio and building the app take a fifth
    longer with the collector, which looks again and again at objects that are all in use.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def cores() -> int:
    """Those that this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
