"""Queries with their scored candidates: of the files of provenance, or of the journal as far as it is.

In memory are the confidences and the words of each query; its candidates stay in the file, and are read for the page
that shows them.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.browse.journal import JournalReader, MemoryAllowance, reading
from cir_core.construct.targets.provenance import MOST_LINE, Candidate, QueryCandidates, from_json, from_line
from cir_core.errors import DatasetError
from cir_core.support.files import bounded_lines, open_regular
from cir_core.support.texts import counted


@dataclass(frozen=True, eq=False)
class BrowsedQuery:
    """``number``: its place among the queries that were read, which changes while a construction runs; ``place``: in
    its file, or of the query in the journal. ``subset`` is "" while it is only in the journal, which has no subsets.
    ``confidences``: those of the scored candidates, the lowest first; ``original``: that of the data set's own target,
    None if it has none. ``words``: what a search looks in."""

    number: int
    place: int
    subset: str
    file: Path
    offset: int
    digest: str
    confidences: array[float]
    original: float | None
    words: str

    @property
    def key(self) -> str:
        """The same for as long as its place and content are."""
        return f"{self.place}.{self.digest}"

    def targets(self, threshold: float) -> int:
        """How many candidates have at least that confidence."""
        return len(self.confidences) - bisect_left(self.confidences, threshold)

    def lowest(self, threshold: float) -> float | None:
        """The lowest confidence of a target; None without targets."""
        place = bisect_left(self.confidences, threshold)
        return self.confidences[place] if place < len(self.confidences) else None

    def loses_original(self, threshold: float) -> bool:
        """Whether it has targets, but not the data set's own."""
        return self.targets(threshold) > 0 and (self.original is None or self.original < threshold)

    def read(self) -> QueryCandidates:
        """With its candidates. Raises ``DatasetError`` if the file has changed."""
        try:
            with open_regular(self.file) as file:
                line = _line_at(file, self.offset)
            if _digest(self.file, line) == self.digest:
                return from_line(line) if self.subset else from_json(json.loads(line)["result"])
        except (OSError, ValueError):   # ValidationError is one
            pass
        raise DatasetError("The files of this benchmark have changed since they were read. Reload the page.")


@dataclass(frozen=True, eq=False)
class BrowsedTargets:
    """``image_ids``: of all references, targets and scored candidates. ``failures``: queries that failed."""

    queries: Sequence[BrowsedQuery]
    image_ids: frozenset[str]
    failures: int = 0
    notes: tuple[str, ...] = ()

    def find(self, key: str) -> BrowsedQuery | None:
        """The query with this ``key``; None if it is no longer there, or has changed."""
        return next((one for one in self.queries if one.key == key), None)


def scored(record: QueryCandidates) -> list[tuple[Candidate, float]]:
    """Candidates that have a confidence, the highest first, of equal ones the first found. So the targets at any
    threshold come first."""
    known = [(one, one.confidence) for one in record.candidates if one.confidence is not None]
    return sorted(known, key=lambda pair: -pair[1])


def broken_lines(count: int) -> str:
    """What a reader must know where files of provenance have lines that are no queries."""
    return (f"{counted(count, 'line is not a query', 'lines are not queries')} with candidates and "
            f"{'is' if count == 1 else 'are'} left out. Construct the files again.")


class TargetReader:
    """Reads the queries of one construction; of a journal, only what is new since the last time."""

    def __init__(self) -> None:
        self._journal: JournalReader[BrowsedQuery] = JournalReader()
        self._images = set[str]()

    def read(self, folder: ConstructionFolder) -> BrowsedTargets:
        """All queries of ``folder``. Lines that are no queries are left out, with a note. Raises ``DatasetError`` for a
        file that cannot be read at all."""
        with reading(folder):
            if folder.provenance:
                self._journal = JournalReader()      # done with
                return _from_files(folder.provenance)
            path = folder.journal
            if (journal := self._journal.continued(path)) is not self._journal:
                self._journal, self._images = journal, set()
            with open_regular(path) as file:

                def parse(at: int, offset: int, content: Any) -> tuple[int, Callable[[], BrowsedQuery]]:
                    record = from_json(content)
                    return _size(record), lambda: _browsed(record, 0, at, "", path, offset, _line_at(file, offset),
                                                           self._images)

                queries = journal.read(path, parse)
        return BrowsedTargets(queries, frozenset(self._images), len(journal.failed),
                              journal.allowance.notes("query", "queries"))


def _from_files(paths: Sequence[Path]) -> BrowsedTargets:
    queries, images, faults = list[BrowsedQuery](), set[str](), 0
    room = MemoryAllowance()
    for path in paths:
        with open_regular(path) as file:
            for place, (offset, line) in enumerate(bounded_lines(file, MOST_LINE)):
                try:
                    record = from_line(line or b"")
                except ValidationError:
                    faults += 1
                    continue
                if room.takes(_size(record)):
                    queries.append(_browsed(record, len(queries), place, path.stem, path, offset, line or b"", images))
    notes = (broken_lines(faults),) if faults else ()
    return BrowsedTargets(queries, frozenset(images), 0, (*notes, *room.notes("query", "queries")))


def _browsed(
    record: QueryCandidates, number: int, place: int, subset: str, path: Path, offset: int, line: bytes,
    images: set[str],
) -> BrowsedQuery:
    """``record``, which is in ``line``; its images are added to ``images``."""
    found = scored(record)
    ids = [one.image for one, _ in found]
    images.update(ids, (record.reference, record.original_target))
    words = (record.text, *record.captions, *record.sentences, record.query_id, record.reference,
             record.original_target, *ids)
    return BrowsedQuery(number, place, subset, path, offset, _digest(path, line),
                        array("d", [confidence for _, confidence in reversed(found)]), record.original_confidence,
                        "\n".join(words).casefold())


def _line_at(file: BinaryIO, offset: int) -> bytes:
    file.seek(offset)
    return file.readline(MOST_LINE + 1)


def _size(record: QueryCandidates) -> int:
    """Bytes of memory for what is kept of ``record``, about."""
    return 4 * len(record.text) + 200 * len(record.candidates) + 1000


def _digest(path: Path, line: bytes) -> str:
    return hashlib.sha256(path.name.encode() + b"\0" + line).hexdigest()[:16]
