"""Progress of an index run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_EVERY_SECONDS = 0.1  # terminals and browsers need no more, and a callback may be slow


@dataclass(frozen=True)
class IndexProgress:
    done: int                       # files processed, skipped ones included
    total: int
    skipped: int
    images_per_second: float        # encoding rate; 0 before the first image
    eta_seconds: float | None       # None until the rate is known
    current: str                    # path of the last file


class IndexMeter:
    """Counts files, and calls ``progress`` at most ten times a second, and once at the end."""

    def __init__(self, total: int, skipped: int, progress: Callable[[IndexProgress], None] | None) -> None:
        self._total, self._done, self._skipped, self._encoded = total, skipped, skipped, 0
        self._progress = progress
        self._started = time.perf_counter()
        self._shown = 0.0
        self._current = ""

    def encoded(self, n: int, path: str) -> None:
        self._encoded += n
        self._step(n, path)

    def reused(self, path: str) -> None:
        self._step(1, path)

    def skip(self, path: str) -> None:
        self._skipped += 1
        self._step(1, path)

    def finish(self) -> None:
        self._show()

    def _step(self, n: int, path: str) -> None:
        self._done += n
        self._current = path
        if self._progress is not None and time.perf_counter() - self._shown >= _EVERY_SECONDS:
            self._show()

    def _show(self) -> None:
        if self._progress is None:
            return
        self._shown = time.perf_counter()
        rate = self._encoded / max(self._shown - self._started, 1e-9)
        eta = (self._total - self._done) / rate if rate else None
        self._progress(IndexProgress(self._done, self._total, self._skipped, rate, eta, self._current))
