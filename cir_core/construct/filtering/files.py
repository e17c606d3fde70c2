"""Filter raw files of sessions into a benchmark, with the count after each stage.

    DIR/public/SUBSET.json   the kept sessions in CIRCLED's public format
    DIR/raw/SUBSET.json      the same in its raw format, with ``filtering_info``
    DIR/excluded/SUBSET.json if asked for: those that the rank margin or redundancy drops, in the public format; "w/o
                             quality filter" of the paper's Table 5
    DIR/stages.json          counts by subset, as in the paper's Table 3
    DIR/dropped.jsonl        if asked for: every dropped session with the stage and the number that dropped it
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from cir_core.construct.filtering.stages import (
    STAGES,
    STAGES_FILE,
    Dropped,
    FilterSettings,
    Similarities,
    Stage,
    later_turns,
    texts_of,
    why_dropped,
)
from cir_core.construct.sessions.builder import DIGITS
from cir_core.datasets.readers.circled import CircledSession, session_of_raw, write_sessions
from cir_core.datasets.readers.circled_raw import RawFile, RawResult, open_raw, text_in, write_raw
from cir_core.encoders.base import Encoder
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

EXCLUDED = "excluded"
_QUALITY: tuple[Stage, ...] = ("rank margin", "redundancy")     # the paper's filters 3 and 4


@dataclass(frozen=True)
class SubsetFiltering:
    """``removed`` by stage, in their order; ``kept`` of ``sessions`` are left."""

    subset: str
    sessions: int
    removed: Mapping[str, int]
    kept: int


@dataclass(frozen=True)
class FilterReport:
    subsets: Sequence[SubsetFiltering]
    outputs: Sequence[Path]     # of the public format
    excluded: Sequence[Path] = ()


def raw_files(path: Path) -> list[RawFile]:
    """The raw files of a construction's folder, of its ``raw`` folder, or one file. Raises ``DatasetError``."""
    if not path.is_dir():
        return [open_raw(path)]
    folder = path / "raw" if (path / "raw").is_dir() else path
    found = [open_raw(one) for one in sorted(folder.glob("*.json")) if not one.name.startswith(".")]
    if not found:
        raise DatasetError(f"{path} contains no raw file of sessions. A construction writes them when it has ended: "
                           "run cirque construct sessions with --resume to its end.")
    twice = [name for name, count in Counter(one.subset for one in found).items() if count > 1]
    if twice:
        raise DatasetError(f"{folder} contains several files of the subset {quoted(twice[0])}. Leave one of them.")
    return found


def filter_sessions(
    raws: Sequence[RawFile], folder: Path, settings: FilterSettings = FilterSettings(), *,
    encoder: Encoder | None = None, explain: bool = False, write_excluded: bool = False,
    progress: Callable[[int], None] | None = None,
) -> FilterReport:
    """Write the kept sessions of each of ``raws`` to ``folder``. Sessions are read and written one at a time.

    ``encoder`` compares the texts; without one, the similarities that the construction stored do. Raises
    ``DatasetError`` if they are not there, or ``folder`` is where ``raws`` are.
    """
    for raw in raws:
        if raw.path.resolve() == _raw_path(folder, raw).resolve():
            raise DatasetError(f"{folder} contains the unfiltered sessions. Choose another folder with --out.")
    similarities = stored_similarities if encoder is None else encoded_similarities(encoder)
    with ExitStack() as stack:
        folder.mkdir(parents=True, exist_ok=True)
        dropped = stack.enter_context((folder / "dropped.jsonl").open("w", encoding="ascii")) if explain else None
        found = [_filter_one(raw, folder, settings, similarities,
                             encoder.identity.spec if encoder else named_encoder(raw), dropped, progress)
                 for raw in raws]
    outputs, excluded = [], []
    for raw, (_, places) in zip(raws, found, strict=True):
        outputs.append(folder / "public" / f"{raw.subset}.json")
        kept = open_raw(_raw_path(folder, raw)).results()
        write_sessions(outputs[-1], (session_of_raw(record, raw.subset, number) for number, record, _ in kept))
        if write_excluded:
            excluded.append(folder / EXCLUDED / f"{raw.subset}.json")
            write_sessions(excluded[-1], _at(raw, places))
    stages = {"settings": asdict(settings), "subsets": [asdict(one) for one, _ in found]}
    write_atomically(folder / STAGES_FILE, json.dumps(stages, indent=1, ensure_ascii=False).encode() + b"\n")
    return FilterReport(tuple(one for one, _ in found), tuple(outputs), tuple(excluded))


def stored_similarities(result: RawResult) -> list[tuple[int, float]]:
    """Those of the raw file. Raises ``DatasetError`` if it has none."""
    found = []
    for turn in later_turns(result):
        if turn.text_similarity is None and texts_of(result)[0].strip():
            raise DatasetError("The raw file has no similarities of texts: cirque did not construct it. Name the "
                               "encoder that compares them, for example --encoder ViT-B-32/openai (the paper's).")
        found.append(((turn.similar_turn or 0) + 1, -1.0 if turn.text_similarity is None else turn.text_similarity))
    return found


def encoded_similarities(encoder: Encoder) -> Similarities:
    """By ``encoder``: cosines, rounded as stored ones are."""
    closest = closest_texts(encoder)
    return lambda result: closest(texts_of(result))


def closest_texts(encoder: Encoder) -> Callable[[Sequence[str]], list[tuple[int, float]]]:
    """For each of some texts after the first the place, from 1, of the most similar earlier one, and the cosine."""
    def closest(texts: Sequence[str]) -> list[tuple[int, float]]:
        features = encoder.encode_texts(texts).astype(np.float64)
        return closest_earlier(features @ features.T)

    return closest


def closest_earlier(cosines: npt.NDArray[np.float64]) -> list[tuple[int, float]]:
    """Of the ``[n, n]`` cosines of n texts, for each after the first; rounded as stored ones are."""
    found = []
    for place in range(1, len(cosines)):
        best = int(np.argmax(cosines[place, :place]))
        found.append((best + 1, round(float(cosines[place, best]), DIGITS)))
    return found


def _filter_one(
    raw: RawFile, folder: Path, settings: FilterSettings, similarities: Similarities, comparison: str,
    explained: IO[str] | None, progress: Callable[[int], None] | None,
) -> tuple[SubsetFiltering, Sequence[int]]:
    """Counts, and the places in the file of those that the filters of quality drop."""
    sessions, removed, places = 0, Counter[str](), list[int]()

    def kept() -> Iterator[dict[str, Any]]:
        nonlocal sessions
        for _, record, result in raw.results():
            sessions += 1
            if progress:
                progress(sessions)
            dropped = why_dropped(result, settings, similarities, raw.images)
            if dropped is None:
                yield record
                continue
            removed[dropped.stage] += 1
            if dropped.stage in _QUALITY:
                places.append(sessions - 1)
            if explained:
                explained.write(json.dumps(_line(raw, result, dropped)) + "\n")

    def counts() -> SubsetFiltering:
        return SubsetFiltering(raw.subset, sessions, {stage: removed[stage] for stage in STAGES},
                               sessions - removed.total())

    write_raw(_raw_path(folder, raw), raw.head, kept(), lambda: {"filtering_info": {
        **asdict(settings), "texts_compared_by": comparison, "sessions": counts().sessions,
        "removed": counts().removed, "kept": counts().kept}})
    return counts(), places


def _at(raw: RawFile, places: Sequence[int]) -> Iterator[CircledSession]:
    """Sessions of a raw file at these places, numbered from 0. They are read again: a file may be large."""
    wanted, number = set(places), 0
    for place, (_, record, _) in enumerate(raw.results()):
        if place in wanted:
            yield session_of_raw(record, raw.subset, number)
            number += 1


def _line(raw: RawFile, result: RawResult, dropped: Dropped) -> dict[str, Any]:
    return {"subset": raw.subset, "query_id": str(result.query_id), "stage": dropped.stage, "number": dropped.number,
            "why": dropped.why}


def named_encoder(raw: RawFile) -> str:
    """The encoder that compared the texts of ``raw``; "" if the file does not say."""
    return text_in(raw.head, "config", "encoders", "diversity", "spec")


def _raw_path(folder: Path, raw: RawFile) -> Path:
    return folder / "raw" / f"{raw.subset}.json"
