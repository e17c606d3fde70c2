"""The constructions of this server, each read once for as long as its files stay the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cir_core.construct.browse.folders import ConstructionFolder, list_constructions, open_construction
from cir_core.construct.browse.scores import judged_files, read_scores
from cir_core.construct.browse.sessions import BrowsedSessions, read_sessions
from cir_core.construct.judging.scores import JudgedSession
from web.limits.single_flight import SingleFlightCache

FOLDER = "benchmarks"
_IN_MEMORY = 3
_Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class OpenBenchmark:
    """``scores`` by the session's number."""

    folder: ConstructionFolder
    found: BrowsedSessions
    scores: Mapping[int, JudgedSession]


class BenchmarkShelf:
    """``root``: the folder of all constructions. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._sessions: SingleFlightCache[tuple[str, _Stamp], BrowsedSessions] = SingleFlightCache(_IN_MEMORY)
        self._scores: SingleFlightCache[tuple[str, _Stamp, _Stamp], Mapping[int, JudgedSession]] = (
            SingleFlightCache(_IN_MEMORY))

    def all(self) -> list[ConstructionFolder]:
        return list_constructions(self.root)

    def folder(self, name: str) -> ConstructionFolder:
        """Raises ``UnknownBenchmark``; ``DatasetError`` if it cannot be read."""
        return open_construction(self.root, name)

    def is_near(self, folder: ConstructionFolder) -> bool:
        """Whether its sessions are in memory."""
        return self._sessions.has((folder.name, folder.stamp))

    def opened(self, folder: ConstructionFolder) -> OpenBenchmark:
        """With its sessions. Raises ``DatasetError``."""
        stamp = folder.stamp
        found = self._sessions.get((folder.name, stamp), lambda: read_sessions(folder))
        files = judged_files(folder.path)
        key = (folder.name, stamp, tuple(_stamp(path) for path in files))
        scores = self._scores.get(key, lambda: read_scores(files, found)) if files else {}
        return OpenBenchmark(folder, found, scores)


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_size, found.st_mtime_ns
