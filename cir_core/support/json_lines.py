"""Append-only files of JSON lines that survive being killed.

The first line of :class:`Lines`, the heading, says what the file belongs to. A line is with the system when
``append`` returns, so a killed process loses none; a machine that loses power loses those
of the last seconds at most. What it tears is cut off when the file is opened again.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cir_core.support.files import write_durably

_SYNC_LINES = 64
_SYNC_SECONDS = 2.0


class Lines:
    """One process at a time writes; the methods may be called from several threads.

    Iterating gives each line behind the heading with its offset, which ``read`` takes.
    """

    def __init__(self, path: Path, heading: Mapping[str, Any]) -> None:
        """Go on with the file at ``path``, or begin it anew if its heading is another."""
        if read_heading(path) != heading:
            write_durably(path, _encoded(heading))
        self._path = path
        self._end = max(end for _, end, _ in whole_lines(path))
        self._lock = threading.Lock()
        self._file = path.open("r+b")
        self._file.truncate(self._end)
        self._unsynced, self._synced = 0, time.monotonic()

    def append(self, line: Mapping[str, Any]) -> int:
        """The offset of the new line."""
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


def read_heading(path: Path) -> dict[str, Any] | None:
    """The heading of the file at ``path``; None if there is none to go on with."""
    return next((line for _, _, line in whole_lines(path)), None)


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def whole_lines(path: Path, kind: type = dict) -> Iterator[tuple[int, int, Any]]:
    """Start, end and content, a ``kind``, of each line up to the first that is not one; none of no file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        start = 0
        for content in file:
            try:
                line = json.loads(content)
            except (ValueError, RecursionError):
                return
            if not content.endswith(b"\n") or not isinstance(line, kind):
                return
            yield start, start + len(content), line
            start += len(content)
