"""Append-only JSON lines files that survive a killed process.

The first line of :class:`Lines`, the heading, identifies the content. A line has been handed to the system when
``append`` returns, so a killed process loses none; a power failure loses those of the last
seconds at most. A partial last line is cut off when the file is opened again.

Each line ends with its checksum, the key ``crc``, which readers do not get; lines of earlier versions have none. A line
that is damaged is left out, and those behind it are read.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cir_core.errors import DatasetError
from cir_core.support.checksums import signed, unsigned
from cir_core.support.files import bounded_lines, open_regular, write_durably
from cir_core.support.texts import counted

_log = logging.getLogger("cirque.files")
_SYNC_LINES = 64
_SYNC_SECONDS = 2.0


class Lines:
    """Single-process writer; methods are thread-safe. Iterating gives each line after the heading with its offset,
    which ``read`` takes."""

    def __init__(self, path: Path, heading: Mapping[str, Any]) -> None:
        """Continue the file at ``path``, or start a new one if its heading differs. A file whose heading is damaged is
        kept beside it: its lines may have cost money."""
        found = read_heading(path)
        if found != heading:
            if found is None and path.is_file() and path.stat().st_size:
                _keep_damaged(path)
            write_durably(path, _encoded(heading))
        self._path = path
        self._end = damaged = 0
        for start, end, _ in whole_lines(path):
            damaged += start != self._end
            self._end = end
        if damaged:
            _log.warning("%s is damaged in %s: the lines there are left out, and what they held is made again.",
                         path, counted(damaged, "place"))
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
        try:
            line: dict[str, Any] = unsigned(content, must=False)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{self._path} was damaged while it was in use. Run the same command again: what is "
                               "damaged is left out and made again.") from error
        return line

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        lines = whole_lines(self._path)
        next(lines, None)
        return ((start, line) for start, _, line in lines)

    def close(self) -> None:
        with self._lock:
            try:
                self._sync()
            finally:
                self._file.close()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._unsynced, self._synced = 0, time.monotonic()


def read_heading(path: Path, most: int | None = None) -> dict[str, Any] | None:
    """The heading of the file at ``path``; None if there is none. ``most``: as in :func:`whole_lines`."""
    return next((line for start, _, line in whole_lines(path, most=most) if start == 0), None)


def _keep_damaged(path: Path) -> None:
    kept, number = path.with_name(f"{path.name}.damaged"), 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.damaged-{number}")
    os.replace(path, kept)
    _log.warning("The first line of %s is damaged, so what is in it is not known. The file was renamed %s, and a new "
                 "one is begun.", path, kept.name)


def _encoded(line: Mapping[str, Any]) -> bytes:
    return signed(line) + b"\n"


def whole_lines(path: Path, kind: type = dict, start: int = 0,
                most: int | None = None) -> Iterator[tuple[int, int, Any]]:
    """Start, end and content (a ``kind``) of each line that is whole and sound; none for a missing file. ``start``:
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
            if not content.endswith(b"\n"):
                return
            with suppress(ValueError, RecursionError):
                line = unsigned(content, must=False)
                if isinstance(line, kind):
                    yield start, start + len(content), line
