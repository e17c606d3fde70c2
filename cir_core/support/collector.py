"""Pause of Python's cyclic garbage collector."""

from __future__ import annotations

import gc
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
