"""How far a construction is that another process runs, from its growing journal."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from cir_core.datasets.readers.circled_raw import MOST_RECORD
from cir_core.errors import DatasetError
from cir_core.support.json_lines import whole_lines

_PERIOD = 120.0     # seconds that a rate is measured over


@dataclass
class _Followed:
    inode: int
    offset: int = 0
    over: set[int] = field(default_factory=set)
    seen: deque[tuple[float, int]] = field(default_factory=deque)


class JournalFollower:
    """Counts the queries in journals that are over, reading only what is new since the last look. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[Path, _Followed] = {}

    def look(self, path: Path) -> tuple[int, float | None]:
        """Queries that are over, and how many a second lately; None until that is known."""
        with self._lock:
            try:
                found = path.stat()
            except OSError:
                self._known.pop(path, None)
                return 0, None
            followed = self._known.get(path)
            if followed is None or followed.inode != found.st_ino or found.st_size < followed.offset:
                followed = self._known[path] = _Followed(found.st_ino)
            try:
                for _, end, line in whole_lines(path, start=followed.offset, most=MOST_RECORD):
                    followed.offset = end
                    if isinstance(at := line.get("at"), int):
                        followed.over.add(at)
            except (OSError, DatasetError):
                pass    # removed in the meantime, or a line that is none: what is known so far
            return len(followed.over), self._rate(followed)

    def _rate(self, followed: _Followed) -> float | None:
        now, seen = self._clock(), followed.seen
        seen.append((now, len(followed.over)))
        while len(seen) > 2 and now - seen[0][0] > _PERIOD:
            seen.popleft()
        (began, before), (_, count) = seen[0], seen[-1]
        return (count - before) / (now - began) if now > began and count > before else None
