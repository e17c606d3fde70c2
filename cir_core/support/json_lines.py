"""Append-only JSON lines files that survive a killed process.

The first line of :class:`Lines`, the heading, identifies the content. A line has been handed to the system when
``append`` returns, so a killed process loses none; a power failure loses those of the last
seconds at most. A partial last line is cut off when the file is opened again.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cir_core.errors import DatasetError
from cir_core.support.files import bounded_lines, open_regular, write_durably

_SYNC_LINES = 64
_SYNC_SECONDS = 2.0


class Lines:
    """Single-process writer; methods are thread-safe. Iterating gives each line after the heading with its offset,
    which ``read`` takes."""

    def __init__(self, path: Path, heading: Mapping[str, Any]) -> None:
        """Continue the file at ``path``, or start a new one if its heading differs."""
        if read_heading(path) != heading:
            write_durably(path, _encoded(heading))
        self._path = path
        self._end = max(end for _, end, _ in whole_lines(path))
        self._lock = threading.Lock()
        self._file = path.open("r+b")
        self._file.truncate(self._end)
        self._unsynced, self._synced = 0, time.monotonic()

    def append(self, line: Mapping[str, Any]) -> int:
        """Append ``line``; returns its offset."""
        content = _encoded(line)
        with self._lock:
            start = self._end
            self._file.seek(start)
            self._file.write(content)
            self._file.flush()
            self._end += len(content)
            self._unsynced += 1
            if self._unsynced >= _SYNC_LINES or time.monotonic() - self._synced >= _SYNC_SECONDS:
                self._sync()
        return start

    def read(self, offset: int) -> dict[str, Any]:
        with self._lock:
            self._file.seek(offset)
            content = self._file.readline()
        line: dict[str, Any] = json.loads(content)
        return line

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        lines = whole_lines(self._path)
        next(lines, None)
        return ((start, line) for start, _, line in lines)

    def close(self) -> None:
        with self._lock:
            self._sync()
            self._file.close()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._unsynced, self._synced = 0, time.monotonic()


def read_heading(path: Path, most: int | None = None) -> dict[str, Any] | None:
    """The heading of the file at ``path``; None if there is none. ``most``: as in :func:`whole_lines`."""
    return next((line for _, _, line in whole_lines(path, most=most)), None)


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def whole_lines(path: Path, kind: type = dict, start: int = 0,
                most: int | None = None) -> Iterator[tuple[int, int, Any]]:
    """Start, end and content (a ``kind``) of each line up to the first invalid one; none for a missing file. ``start``:
    offset of the first line to read. ``most``: bytes of a line of a file that others may have written; a longer one
    raises ``DatasetError``."""
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        for start, content in bounded_lines(file, most):
            if content is None:
                raise DatasetError(f"{path} has a line of more than {(most or 0) >> 20} MB, which no construction "
                                   "writes. Check the file, or construct it again.")
            try:
                line = json.loads(content)
            except (ValueError, RecursionError):
                return
            if not content.endswith(b"\n") or not isinstance(line, kind):
                return
            yield start, start + len(content), line
