"""What is kept of a journal that another process may be writing; each of its lines is read once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import ValidationError

from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.datasets.readers.circled_raw import MOST_RECORD
from cir_core.errors import DatasetError
from cir_core.support.json_lines import read_heading, whole_lines
from cir_core.support.texts import counted, quoted


class Numbered(Protocol):
    """A frozen dataclass with a ``number``: its place among what is kept."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def number(self) -> int: ...


T = TypeVar("T", bound=Numbered)
_BYTES = 180 * 2**20    # CIRCLED's 22,608 sessions of three or four turns take about 160 MB
_PERIOD = 120.0     # seconds that a rate is measured over


class MemoryAllowance:
    """Counts what is kept of one construction, whatever its files hold. What no longer fits is passed over, which
    :meth:`notes` says."""

    def __init__(self, most: int = _BYTES) -> None:
        self._left, self._passed_over = most, 0

    def takes(self, size: int) -> bool:
        """Whether ``size`` bytes more are kept."""
        if size > self._left:
            self._passed_over += 1
            return False
        self._left -= size
        return True

    def notes(self, thing: str, things: str) -> tuple[str, ...]:
        if not self._passed_over:
            return ()
        return (f"{counted(self._passed_over, thing, things)} more would not fit into memory and "
                f"{'is' if self._passed_over == 1 else 'are'} not shown. The command line reads all: cirque construct "
                "describe.",)


class JournalReader(Generic[T]):
    """What is known of a journal, up to ``offset``: ``failed`` items, and what is kept of the others. ``inode``: of
    its file."""

    def __init__(self, inode: int = 0) -> None:
        self.inode, self.offset = inode, 0
        self.heading: dict[str, Any] | None = None
        self.last: tuple[int, dict[str, Any] | None] = 0, None      # the last line, and where it begins
        self.failed: set[int] = set()
        self.allowance = MemoryAllowance()
        self._found: dict[int, T] = {}

    def continued(self, path: Path) -> JournalReader[T]:
        """This one if ``path`` still begins with what was read, else a new one."""
        now = path.stat()
        if now.st_ino == self.inode and now.st_size >= self.offset and read_heading(path, MOST_RECORD) == self.heading:
            start, last = self.last
            if next((line for _, _, line in whole_lines(path, start=start, most=MOST_RECORD)), None) == last:
                return self
        return JournalReader(now.st_ino)

    def read(self, path: Path, parse: Callable[[int, int, Any], tuple[int, Callable[[], T]]]) -> list[T]:
        """All that is kept, in the order of the items. ``parse`` takes the number of an item, the offset of its line
        and its result, and returns the bytes of memory that it needs, and what makes it. Of several lines of one item
        the last counts. Raises ``DatasetError`` at a line that is too long to be held."""
        for start, end, line in whole_lines(path, start=self.offset, most=MOST_RECORD):
            self.offset, self.last = end, (start, line)
            if self.heading is None:
                self.heading = line
            elif isinstance(at := line.get("at"), int):
                self.failed.discard(at)
                try:
                    size, make = parse(at, start, line["result"])
                except (KeyError, ValidationError):
                    self.failed.add(at)
                else:
                    if self.allowance.takes(size):
                        self._found[at] = make()
        for number, at in enumerate(sorted(self._found)):
            if (one := self._found[at]).number != number:
                self._found[at] = replace(one, number=number)
        return [self._found[at] for at in sorted(self._found)]


@contextmanager
def reading(folder: ConstructionFolder) -> Iterator[None]:
    """Raises ``DatasetError`` for files that cannot be read at all."""
    try:
        yield
    except OSError as error:
        raise DatasetError(f"The files of {quoted(folder.name)} cannot be read: {error.strerror}. Reload the "
                           "page.") from error


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
