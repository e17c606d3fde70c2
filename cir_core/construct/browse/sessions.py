"""The sessions of a construction in memory: its raw files, or its journal as far as it is."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cachetools import LRUCache
from pydantic import ValidationError

from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.filtering.files import stored_similarities
from cir_core.construct.filtering.stages import Dropped, FilterSettings, ranks_of, texts_of, why_dropped
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.circled_raw import RawResult
from cir_core.errors import DatasetError
from cir_core.support.json_lines import whole_lines

_FIXED = frozenset(("success", "multi-turn", "text"))
"""Stages that neither ε nor τ changes."""
_VERDICTS = 8           # settings whose verdicts are kept
_FAULTS_NAMED = 3


@dataclass(frozen=True)
class BrowsedSession:
    """``number``: its place among the sessions that were read, which changes while a construction runs; ``place``: in
    its subset's ``file``, or the query's in the journal. ``subset`` and ``file`` are "" while it is only in the
    journal, which has no subsets."""

    number: int
    place: int
    subset: str
    result: RawResult
    images: int | None
    file: str = ""

    @cached_property
    def key(self) -> str:
        """Its place and a digest of its file, subset and content: the same for as long as all of them are."""
        content = json.dumps([self.file, self.subset, self.result.model_dump()]).encode()
        return f"{self.place}.{hashlib.sha256(content).hexdigest()[:16]}"

    @cached_property
    def ranks(self) -> list[int]:
        return ranks_of(self.result, images=self.images)

    @cached_property
    def setback(self) -> int:
        """The most that a turn moved the rank back; negative if every turn improved it, 0 for a session of one turn."""
        return max((after - before for before, after in zip(self.ranks, self.ranks[1:], strict=False)), default=0)

    @cached_property
    def similarity(self) -> float | None:
        """The highest cosine of two of its texts; None for one text, or if the file has none."""
        return max((turn.text_similarity for turn in self.result.turns if turn.text_similarity is not None),
                   default=None)

    @cached_property
    def words(self) -> str:
        """What a search looks in: texts and ids."""
        result = self.result
        ids = (result.query_id, result.reference_image_id, *result.ground_truth_ids,
               *(turn.selected_image for turn in result.turns if turn.selected_image))
        return "\n".join((*texts_of(result), *map(str, ids))).casefold()


@dataclass
class BrowsedSessions:
    """Read once, then only asked. Thread-safe."""

    sessions: Sequence[BrowsedSession]
    failures: int = 0
    notes: tuple[str, ...] = ()
    compared: bool = True       # whether similarities of texts are known
    _verdicts: LRUCache[FilterSettings, Sequence[Dropped | None]] = field(
        default_factory=lambda: LRUCache(_VERDICTS), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def find(self, key: str) -> BrowsedSession | None:
        """The session with this ``key``; None if it is no longer there, or has changed."""
        place = key.partition(".")[0]
        return next((one for one in self.sessions if str(one.place) == place and one.key == key), None)

    def verdicts(self, settings: FilterSettings) -> Sequence[Dropped | None]:
        """For each session None if it is kept, else why it is dropped."""
        with self._lock:
            found = self._verdicts.get(settings)
            fixed = next(iter(self._verdicts.values()), None) if found is None else None
        if found is None:
            found = [self._verdict(one, settings, fixed[at] if fixed else None)
                     for at, one in enumerate(self.sessions)]
            with self._lock:
                self._verdicts[settings] = found
        return found

    def _verdict(self, one: BrowsedSession, settings: FilterSettings, before: Dropped | None) -> Dropped | None:
        """``before``: the verdict under other settings."""
        if before is not None and before.stage in _FIXED:
            return before
        similarities = stored_similarities if self.compared else _unknown
        return why_dropped(one.result, settings, similarities, one.images)


def read_sessions(folder: ConstructionFolder) -> BrowsedSessions:
    """All sessions of ``folder``. Records that are not of the raw form are left out, with a note. Raises
    ``DatasetError`` for a file that cannot be read at all."""
    faults = ValidationIssues(collect=True)
    try:
        found, failures = (list(_from_raws(folder, faults)), _failed(folder)) if folder.raws else _from_journal(folder)
    except OSError as error:
        raise DatasetError(f"The files of {folder.name} cannot be read: {error.strerror}. Reload the page.") from error
    notes = []
    if faults.count:
        notes.append(f"{faults.count:,} records are not of CIRCLED's raw form and are left out; construct the sessions "
                     "again, or check the files with cirque datasets check circled.")
    compared = all(turn.text_similarity is not None for one in found for turn in one.result.turns[1:]
                   if one.result.original_query.strip() and turn.relative_caption)
    if not compared:
        notes.append("The files have no similarities of texts, so τ drops nothing here. Filter them with cirque "
                     "construct filter --encoder.")
    return BrowsedSessions(found, failures, tuple(notes), compared)


def _from_raws(folder: ConstructionFolder, faults: ValidationIssues) -> Iterator[BrowsedSession]:
    number = 0
    for raw in folder.raws:
        subset, images = raw.subset, raw.images
        for place, _, result in raw.results(faults):
            yield BrowsedSession(number, place, subset, _slim(result), images, raw.path.name)
            number += 1


def _failed(folder: ConstructionFolder) -> int:
    found = [raw.head.get("data_completeness") for raw in folder.raws]
    counts = [one.get("failed") for one in found if isinstance(one, dict)]
    return sum(count for count in counts if isinstance(count, int))


def _from_journal(folder: ConstructionFolder) -> tuple[list[BrowsedSession], int]:
    found: dict[int, RawResult] = {}
    failed: set[int] = set()
    for line in _after_heading(line for _, _, line in whole_lines(folder.journal)):
        at = line.get("at")
        if not isinstance(at, int):
            continue
        failed.discard(at)
        try:
            found[at] = _slim(RawResult.model_validate(line["result"]))
        except (KeyError, ValidationError):
            failed.add(at)
    return [BrowsedSession(number, at, "", found[at], None) for number, at in enumerate(sorted(found))], len(failed)


def _after_heading(lines: Iterator[dict[str, object]]) -> Iterable[dict[str, object]]:
    next(lines, None)
    return lines


def _slim(result: RawResult) -> RawResult:
    """Without what is not shown: it is most of a file."""
    for turn in result.turns:
        turn.search_results, turn.gt_rankings, turn.selected_image_caption, turn.query_text = [], {}, None, None
    return result


def _unknown(result: RawResult) -> Sequence[tuple[int, float]]:
    return ()


