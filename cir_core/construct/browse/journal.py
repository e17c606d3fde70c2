"""A journal that another process may be writing, of which each line is read once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cir_core.datasets.readers.circled_raw import MOST_RECORD
from cir_core.support.json_lines import read_heading, whole_lines


class JournalReader:
    """What is known of a journal, up to ``offset``. ``inode``: of its file."""

    def __init__(self, inode: int = 0) -> None:
        self.inode, self.offset = inode, 0
        self.heading: dict[str, Any] | None = None
        self.last: tuple[int, dict[str, Any] | None] = 0, None      # the last line, and where it begins

    def continues(self, path: Path) -> bool:
        """Whether ``path`` still begins with what was read."""
        now = path.stat()
        if now.st_ino != self.inode or now.st_size < self.offset or read_heading(path, MOST_RECORD) != self.heading:
            return False
        start, last = self.last
        return next((line for _, _, line in whole_lines(path, start=start, most=MOST_RECORD)), None) == last

    def new_lines(self, path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
        """Position of the query, offset and content of each line since the last time; of several with one position the
        last counts. Raises ``DatasetError`` at a line that is too long to be held."""
        for start, end, line in whole_lines(path, start=self.offset, most=MOST_RECORD):
            self.offset, self.last = end, (start, line)
            if self.heading is None:
                self.heading = line
            elif isinstance(at := line.get("at"), int):
                yield at, start, line
