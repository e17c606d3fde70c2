"""The constructions of this server. The newest version of the last few is in memory; a journal is read on from where it
ended at the last look."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cachetools import LRUCache

from cir_core.construct.browse.folders import ConstructionFolder, Kind, list_constructions, open_construction
from cir_core.construct.browse.scores import judged_files, read_scores
from cir_core.construct.browse.sessions import BrowsedSessions, SessionReader
from cir_core.construct.browse.targets import BrowsedTargets, TargetReader
from cir_core.construct.judging.scores import JudgedSession
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted
from web.limits.single_flight import LatestVersionCache

FOLDER = "benchmarks"
_IN_MEMORY, _NUMBERED = 3, 1000


@dataclass(frozen=True)
class OpenBenchmark:
    """``scores`` by the session's number."""

    folder: ConstructionFolder
    found: BrowsedSessions
    scores: Mapping[int, JudgedSession]


@dataclass(frozen=True)
class OpenTargets:
    folder: ConstructionFolder
    found: BrowsedTargets


class BenchmarkShelf:
    """``root``: the folder of all constructions. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._sessions: LatestVersionCache[str, BrowsedSessions] = LatestVersionCache(_IN_MEMORY)
        self._scores: LatestVersionCache[str, Mapping[int, JudgedSession]] = LatestVersionCache(_IN_MEMORY)
        self._targets: LatestVersionCache[str, BrowsedTargets] = LatestVersionCache(_IN_MEMORY)
        self._readers: LRUCache[str, SessionReader] = LRUCache(_IN_MEMORY)
        self._target_readers: LRUCache[str, TargetReader] = LRUCache(_IN_MEMORY)
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
        number = self._number(folder.name, folder.stamp)
        if folder.kind == "targets":
            return self._targets.has(folder.name, number)
        return self._sessions.has(folder.name, number)

    def image_ids(self, folder: ConstructionFolder) -> frozenset[str]:
        """Of all images that its page shows. Raises ``DatasetError``."""
        if folder.kind == "targets":
            return self.targets(folder).found.image_ids
        return self.opened(folder).found.gallery_ids

    def targets(self, folder: ConstructionFolder) -> OpenTargets:
        """With its queries. Raises ``DatasetError``."""
        name = folder.name
        _check_kind(folder, "targets")
        number = self._number(name, folder.stamp)
        found = self._targets.get(name, number, lambda: self._target_reader(name).read(folder))
        return OpenTargets(folder, found)

    def opened(self, folder: ConstructionFolder) -> OpenBenchmark:
        """With its sessions. Raises ``DatasetError``."""
        _check_kind(folder, "sessions")
        name, stamp = folder.name, folder.stamp
        found = self._sessions.get(name, self._number(name, stamp), lambda: self._reader(name).read(folder))
        files = judged_files(folder.path)
        number = self._number((name, "scores"), (stamp, tuple(_stamp(path) for path in files)))
        scores = self._scores.get(name, number, lambda: read_scores(files, found)) if files else {}
        return OpenBenchmark(folder, found, scores)

    def _reader(self, name: str) -> SessionReader:
        with self._lock:
            return self._readers.setdefault(name, SessionReader())

    def _target_reader(self, name: str) -> TargetReader:
        with self._lock:
            return self._target_readers.setdefault(name, TargetReader())

    def _number(self, of: Hashable, stamp: Hashable) -> int:
        """A larger one each time that ``stamp`` is another."""
        with self._lock:
            before, number = self._numbers.get(of, (None, 0))
            if before != stamp:
                self._counted = number = self._counted + 1
                self._numbers[of] = stamp, number
            return number


def _check_kind(folder: ConstructionFolder, kind: Kind) -> None:
    if folder.kind != kind:
        things = {"sessions": "multi-turn sessions", "targets": "queries with their targets"}
        raise DatasetError(f"{quoted(folder.name)} holds {things[folder.kind]}, not {things[kind]}. Reload the page.")


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_size, found.st_mtime_ns
