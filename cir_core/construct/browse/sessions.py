"""The sessions of a construction in memory: its raw files, or its journal as far as it is."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from cir_core.construct.browse.folders import ConstructionFolder
from cir_core.construct.browse.journal import JournalReader, MemoryAllowance, reading
from cir_core.construct.filtering.files import stored_similarities
from cir_core.construct.filtering.stages import Dropped, FilterSettings, later_turns, ranks_of, texts_of, why_dropped
from cir_core.construct.judging.sample import content_digest
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession
from cir_core.datasets.files.issues import KEPT, ValidationIssues
from cir_core.datasets.files.json_files import read_array
from cir_core.datasets.readers.circled import gallery_id, session_of_raw
from cir_core.datasets.readers.circled_raw import RawResult, text_in
from cir_core.errors import DatasetError

_FIXED = frozenset(("success", "multi-turn", "text"))
"""Stages that neither ε nor τ changes."""
_VERDICTS = 8           # settings whose verdicts are kept
_MOST_BYTES, _MOST_RECORD = 2**25, 2**20


@dataclass(frozen=True)
class BrowsedSession:
    """``number``: its place among the sessions that were read, which changes while a construction runs; ``place``: in
    its subset's ``file``, or the query's in the journal. ``subset`` and ``file`` are "" while it is only in the
    journal, which has no subsets; ``dataset`` says whose image ids it has."""

    number: int
    place: int
    subset: str
    result: RawResult
    images: int | None
    file: str = ""
    dataset: str = ""

    @cached_property
    def key(self) -> str:
        """Its place and a digest of its file, subset and content: the same for as long as all of them are."""
        content = json.dumps([self.file, self.subset, self.result.model_dump()]).encode()
        return f"{self.place}.{hashlib.sha256(content).hexdigest()[:16]}"

    def gallery_id(self, image_id: str | int) -> str:
        """The id in a gallery of one of its images."""
        return gallery_id(self.subset or self.dataset, image_id)

    def gallery_ids(self) -> set[str]:
        """Of its reference images and targets."""
        result = self.result
        found = (result.reference_image_id, result.target_image_id, *result.ground_truth_ids,
                 *(turn.selected_image for turn in result.turns))
        return {self.gallery_id(image_id) for image_id in found if image_id}

    @cached_property
    def compared(self) -> bool:
        """Whether similarities of all its texts are known."""
        return not self.result.original_query.strip() or all(
            turn.text_similarity is not None for turn in later_turns(self.result))

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
    _verdicts: LRUCache[FilterSettings, Sequence[Dropped | None]] = field(
        default_factory=lambda: LRUCache(_VERDICTS), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def compared(self) -> int:
        """Sessions that the similarity of their texts can drop."""
        return sum(one.compared for one in self.sessions)

    @cached_property
    def image_ids(self) -> frozenset[str]:
        """Of all images that its sessions show."""
        return frozenset(image_id for one in self.sessions for image_id in one.gallery_ids())

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
        similarities = stored_similarities if one.compared else _unknown
        return why_dropped(one.result, settings, similarities, one.images)


class SessionReader:
    """Reads the sessions of one construction; of a journal, only what is new since the last time."""

    def __init__(self) -> None:
        self._journal: JournalReader[BrowsedSession] = JournalReader()

    def read(self, folder: ConstructionFolder) -> BrowsedSessions:
        """All sessions of ``folder``. Records that are not of the raw format are left out, with a note. Raises
        ``DatasetError`` for a file that cannot be read at all."""
        faults, allowance, dataset = ValidationIssues(collect=True), MemoryAllowance(), text_in(folder.card, "dataset")

        def parse(at: int, offset: int, content: Any) -> tuple[int, Callable[[], BrowsedSession]]:
            result = _slim(RawResult.model_validate(content))
            return _size(result), lambda: BrowsedSession(0, at, "", result, None, dataset=dataset)

        with reading(folder):
            if folder.raws:
                self._journal = JournalReader()      # done with
                found, failures = list(_from_raws(folder, faults, allowance)), _failed(folder)
            else:
                self._journal = self._journal.continued(folder.journal)
                found = self._journal.read(folder.journal, parse)
                failures, allowance = len(self._journal.failed), self._journal.allowance
        notes = list(allowance.notes("session", "sessions"))
        if faults.count:
            notes.append(f"{faults.count:,} records are not of CIRCLED's raw format and are left out; construct the "
                         "sessions again, or check the files with cirque datasets check circled.")
        without = sum(not one.compared for one in found)
        if without:
            notes.append(f"{without:,} of {len(found):,} sessions have no similarities of their texts, so τ drops none "
                         "of these. Filter them with cirque construct filter --encoder.")
        return BrowsedSessions(found, failures, tuple(notes))


def _from_raws(
    folder: ConstructionFolder, faults: ValidationIssues, allowance: MemoryAllowance,
) -> Iterator[BrowsedSession]:
    number = 0
    for raw in folder.raws:
        subset, images = raw.subset, raw.images
        for place, _, result in raw.results(faults):
            if allowance.takes(_size(result)):
                yield BrowsedSession(number, place, subset, _slim(result), images, raw.path.name)
                number += 1


def _failed(folder: ConstructionFolder) -> int:
    found = [raw.head.get("data_completeness") for raw in folder.raws]
    counts = [one.get("failed") for one in found if isinstance(one, dict)]
    return sum(count for count in counts if isinstance(count, int))


def _size(result: RawResult) -> int:
    """Bytes of memory for what is kept of ``result``, about."""
    texts = len(result.original_query) + sum(len(turn.relative_caption or "") for turn in result.turns)
    return 1500 + 1500 * len(result.turns) + 60 * len(result.ground_truth_ids) + 3 * texts


def _slim(result: RawResult) -> RawResult:
    """Without what is not shown: it is most of a file."""
    for turn in result.turns:
        turn.search_results, turn.gt_rankings, turn.selected_image_caption, turn.query_text = [], {}, None, None
    return result


def _unknown(result: RawResult) -> Sequence[tuple[int, float]]:
    return ()


def judged_files(folder: Path) -> list[Path]:
    """``judged.json`` in ``folder``, or in a folder in it."""
    try:
        found = [path for path in (folder / "judged.json", *sorted(folder.glob("*/judged.json")))
                 if path.is_file() and not path.is_symlink() and not path.parent.is_symlink()]
        return [path for path in found if path.stat().st_size <= _MOST_BYTES]
    except OSError:
        return []


def read_scores(files: list[Path], found: BrowsedSessions) -> dict[int, JudgedSession]:
    """Scores by the session's number. Sessions are recognized by their content, as filtered files number them anew; of
    several scores the last file's count. What cannot be read is left out."""
    judged = {(one.subset, one.content): one for path in files for one in _scores_in(path)}
    if not judged:
        return {}
    subsets = {subset for subset, _ in judged}
    scores = {}
    for one in found.sessions:
        if one.subset in subsets and (score := judged.get((one.subset, _content(one)))) is not None:
            scores[one.number] = score
    return scores


def _content(one: BrowsedSession) -> str:
    return content_digest(session_of_raw(one.result.model_dump(), one.subset, one.place))


def _scores_in(path: Path) -> Iterator[JudgedSession]:
    try:
        for _, one in read_array(path, ValidationIssues(collect=True, most=KEPT), key="sessions", most=_MOST_RECORD):
            try:
                score = JudgedSession.from_json(one)
            except (KeyError, TypeError, AttributeError):
                continue
            numbers = all(isinstance(score.scores[name], int | float) for name in DIMENSIONS)
            texts = all(isinstance(text, str) for text in (score.subset, score.reason, score.content))
            if numbers and texts and score.content:
                yield score
    except (OSError, DatasetError):
        return
