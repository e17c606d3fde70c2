"""Queries with their candidates, from a folder that SoFT's stage 1 wrote."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.sources.queries import spread
from cir_core.construct.targets.files import ENDING, PROVENANCE, SELECTION
from cir_core.construct.targets.provenance import Candidate, QueryCandidates, read_provenance
from cir_core.construct.targets.settings import THRESHOLD
from cir_core.datasets.readers.soft import read_multi_target
from cir_core.errors import StudyError
from cir_core.jobs.job import read_run
from cir_core.support.texts import counted, quoted


@dataclass(frozen=True)
class TargetQuery:
    """A query of the file ``label``. ``shown``: the candidates with a confidence, those that were given and not
    found, and the data set's own target whether it was found or not."""

    label: str
    found: QueryCandidates

    @property
    def key(self) -> str:
        return f"{self.label}::{self.found.query_id}"

    @property
    def shown(self) -> tuple[Candidate, ...]:
        own = self.found.original_target   # "" of queries that came without one
        chosen = tuple(one for one in self.found.candidates
                       if one.confidence is not None or not one.found or one.image == own)
        return chosen if not own or any(one.image == own for one in chosen) else (*chosen, Candidate(own, ()))


@dataclass(frozen=True)
class TargetQueries:
    """``threshold``: from which on the files count a candidate as a target; with a note where they do not say.
    ``source``: plain JSON."""

    queries: tuple[TargetQuery, ...]
    threshold: float
    source: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def read_target_queries(folder: Path, only: Collection[str] = ()) -> TargetQueries:
    """All queries of ``folder``, with those that have no target, in the order of its files. ``only``: labels, such as
    "shirt".

    Raises ``DatasetError`` for a file that cannot be read, ``StudyError`` for a folder without queries, an unknown
    label, files of different thresholds and a query that occurs twice.
    """
    paths = {path.stem: path for path in sorted((folder / PROVENANCE).glob("*.jsonl"))}
    if not paths:
        raise StudyError(f"{folder} contains no {PROVENANCE}/LABEL.jsonl. Give the folder that cirque construct "
                         "multi-target wrote.")
    if unknown := [name for name in only if name not in paths]:
        raise StudyError(f"{folder} has no file of {quoted(unknown[0])}. It has {', '.join(paths)}.")
    chosen = {label: path for label, path in paths.items() if not only or label in only}
    queries = tuple(TargetQuery(label, one) for label, path in chosen.items() for one in read_provenance(path))
    if not queries:
        raise StudyError(f"{folder} has no query. Construct the files again.")
    key, times = Counter(one.key for one in queries).most_common(1)[0]
    if times > 1:
        raise StudyError(f"The query {quoted(key)} occurs {times:,} times in {folder}. Keep one of them.")
    source = {"form": "multi-target", "files": {label: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
                                                for label, path in chosen.items()}}
    threshold, notes = _threshold(folder, list(chosen))
    return TargetQueries(queries, threshold, source, notes)


def sample_targets(found: TargetQueries, size: int | None, seed: int) -> tuple[TargetQuery, ...]:
    """``size`` of the queries, equally of each file as far as possible; None: all. The sample depends on the seed and
    the queries alone. Raises ``StudyError`` if there are too few."""
    if size is None:
        return found.queries
    if not 0 < size <= len(found.queries):
        raise StudyError(f"Cannot sample {size:,} of {counted(len(found.queries), 'query', 'queries')}. Choose 1 to "
                         f"{len(found.queries):,}.")
    return tuple(spread(found.queries, size, stratum=lambda one: one.label, key=lambda one: one.key, seed=seed,
                        purpose="targets"))


def _threshold(folder: Path, labels: Sequence[str]) -> tuple[float, tuple[str, ...]]:
    """What stage 1 recorded, and what the files of targets say; with a note that of the paper where neither does, as in
    a folder of an earlier version in which no query has a target."""
    run = read_run(folder)
    recorded = {label: run.thresholds[label] for label in labels if label in run.thresholds} if run else {}
    paths = [path for label in labels if (path := folder / SELECTION / f"{label}{ENDING}.json").is_file()]
    there = sorted({*recorded.values(), *(record.threshold for path in paths for record in read_multi_target(path))})
    if len(there) > 1:
        raise StudyError(f"The files of {folder} have different thresholds: "
                         f"{', '.join(f'{one:g}' for one in there)}. Write them with one (cirque construct "
                         "multi-target --resume --threshold), or name one file with --subset.")
    if there:
        return there[0], ()
    return THRESHOLD, ("The files of targets do not record the confidence from which a candidate counts as one; it is "
                       f"taken as {THRESHOLD:g}. To record it, write them again (cirque construct multi-target "
                       "--resume).",)
