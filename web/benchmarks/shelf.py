"""The constructions of this server. The newest version of the last few is in memory; a journal is read on from where it
ended at the last look."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from cachetools import LRUCache

from cir_core.construct.browse.folders import ConstructionFolder, Kind, list_constructions, open_construction
from cir_core.construct.browse.sessions import BrowsedSessions, SessionReader, judged_files, read_scores
from cir_core.construct.browse.targets import BrowsedTargets, TargetReader
from cir_core.construct.judging.scores import JudgedSession
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted
from web.limits.single_flight import LatestVersionCache

FOLDER = "benchmarks"
_IN_MEMORY, _NUMBERED = 3, 1000


Found = TypeVar("Found", bound=BrowsedSessions | BrowsedTargets)
_READERS: Mapping[Kind, Callable[[], SessionReader | TargetReader]] = {
    "sessions": SessionReader, "targets": TargetReader}
_THINGS: Mapping[Kind, str] = {"sessions": "multi-turn sessions", "targets": "queries with their targets"}


@dataclass(frozen=True)
class OpenBenchmark(Generic[Found]):
    """``scores`` by the session's number."""

    folder: ConstructionFolder
    found: Found
    scores: Mapping[int, JudgedSession] = field(default_factory=dict)


class BenchmarkShelf:
    """``root``: the folder of all constructions. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._found: LatestVersionCache[str, Any] = LatestVersionCache(_IN_MEMORY)
        self._scores: LatestVersionCache[str, Mapping[int, JudgedSession]] = LatestVersionCache(_IN_MEMORY)
        self._readers: LRUCache[tuple[str, Kind], SessionReader | TargetReader] = LRUCache(_IN_MEMORY)
        self._numbers: LRUCache[Hashable, tuple[Hashable, int]] = LRUCache(_NUMBERED)
        self._lock = threading.Lock()
        self._counted = 0

    def all(self) -> list[ConstructionFolder]:
        return list_constructions(self.root)

    def folder(self, name: str) -> ConstructionFolder:
        """Raises ``UnknownBenchmark``; ``DatasetError`` if it cannot be read."""
        return open_construction(self.root, name)

    def is_near(self, folder: ConstructionFolder) -> bool:
        """Whether its sessions or queries are in memory."""
        return self._found.has(folder.name, self._number(folder.name, folder.stamp))

    def image_ids(self, folder: ConstructionFolder) -> frozenset[str]:
        """Of all images that its page shows. Raises ``DatasetError``."""
        found: frozenset[str] = self._read(folder, folder.kind).image_ids
        return found

    def targets(self, folder: ConstructionFolder) -> OpenBenchmark[BrowsedTargets]:
        """With its queries. Raises ``DatasetError``."""
        return OpenBenchmark(folder, self._read(folder, "targets"))

    def opened(self, folder: ConstructionFolder) -> OpenBenchmark[BrowsedSessions]:
        """With its sessions. Raises ``DatasetError``."""
        found: BrowsedSessions = self._read(folder, "sessions")
        files = judged_files(folder.path)
        number = self._number((folder.name, "scores"), (folder.stamp, tuple(_stamp(path) for path in files)))
        scores = self._scores.get(folder.name, number, lambda: read_scores(files, found)) if files else {}
        return OpenBenchmark(folder, found, scores)

    def _read(self, folder: ConstructionFolder, kind: Kind) -> Any:
        if folder.kind != kind:
            raise DatasetError(f"{quoted(folder.name)} contains {_THINGS[folder.kind]}, not {_THINGS[kind]}. Reload "
                               "the page.")
        with self._lock:
            reader = self._readers.setdefault((folder.name, kind), _READERS[kind]())
        return self._found.get(folder.name, self._number(folder.name, folder.stamp), lambda: reader.read(folder))

    def _number(self, of: Hashable, stamp: Hashable) -> int:
        """A larger one each time that ``stamp`` is another."""
        with self._lock:
            before, number = self._numbers.get(of, (None, 0))
            if before != stamp:
                self._counted = number = self._counted + 1
                self._numbers[of] = stamp, number
            return number


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_size, found.st_mtime_ns
