"""Measure this process's memory during a task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil


def own_memory(mapped: int = 0) -> int:
    """Private memory in bytes, without mapped files. ``mapped``: their size, where the system does not report it."""
    memory = psutil.Process().memory_info()
    return int(memory.rss - getattr(memory, "shared", mapped))


@contextmanager
def peak_memory(before: int, mapped: int = 0) -> Iterator[Callable[[], float]]:
    """Yields a function that returns the peak of private memory above ``before``, in MB."""
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
