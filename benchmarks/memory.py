"""Memory of this process while something runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil


def own_memory(mapped: int = 0) -> int:
    """Bytes, without the pages of mapped files. ``mapped``: what those are where the system does not say."""
    memory = psutil.Process().memory_info()
    return int(memory.rss - getattr(memory, "shared", mapped))


@contextmanager
def peak_memory(before: int, mapped: int = 0) -> Iterator[Callable[[], float]]:
    """Gives the most memory of our own above ``before``, in MB."""
    peak, over = before, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not over.wait(0.005):
            peak = max(peak, own_memory(mapped))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield lambda: (peak - before) / 1e6
    finally:
        over.set()
        watching.join()
