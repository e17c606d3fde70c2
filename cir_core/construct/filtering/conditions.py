"""CIRCLED's two conditions over a file of sessions: ε-consistency and τ-diversity (definitions 1 and 2).

The filters make sessions that satisfy both; this verifies it for files of other tools too. Ranks, and the
similarities that the construction stored, are in the raw format only. In the public format, τ is checked with an
encoder, and ε is not checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cir_core.construct.filtering.files import closest_texts, encoded_similarities, raw_files, stored_similarities
from cir_core.construct.filtering.stages import FilterSettings, Similarities, ranks_of
from cir_core.datasets.files.json_files import first_byte
from cir_core.datasets.readers.circled import read_sessions
from cir_core.datasets.readers.circled_raw import RawFile
from cir_core.encoders.base import Encoder
from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.consistency import RankSetback, RepeatedText, rank_setbacks

NAMED = 100   # violations listed by name; all are counted


@dataclass(frozen=True)
class Violation:
    """A session that breaks a condition: the turns that do."""

    subset: str
    session: str                               # query id in the raw format, session id in the public one
    setbacks: Sequence[RankSetback] = ()       # against ε
    repeated: Sequence[RepeatedText] = ()      # against τ


@dataclass(frozen=True)
class SubsetConditions:
    """``inconsistent`` and ``worst_setback`` are None where ranks are not in the file. ``worst_setback``: the most
    ranks that a turn lost (negative if every turn gained), between known ranks; ``closest_texts``: the highest cosine
    of two texts of a session. Both are None without a later turn."""

    subset: str
    sessions: int
    inconsistent: int | None
    repetitive: int
    worst_setback: int | None
    closest_texts: float | None


@dataclass(frozen=True)
class ConditionsReport:
    settings: FilterSettings
    subsets: Sequence[SubsetConditions]
    violations: Sequence[Violation]            # at most ``NAMED``
    broken: int                                # sessions that break a condition
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.broken

    def as_json(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}


@dataclass(frozen=True)
class _Measured:
    session: str
    ranks: Sequence[int] | None
    closest: Sequence[tuple[int, float]]       # of each later turn: its most similar earlier turn, and the cosine


def check_conditions(
    path: Path, settings: FilterSettings = FilterSettings(), *, encoder: Encoder | None = None,
    progress: Callable[[int], None] | None = None,
) -> ConditionsReport:
    """Check every session of a construction's or a filter's folder, or of one file in raw or public format.

    ``encoder`` compares the texts; without one, the similarities stored in the raw format do. Raises ``DatasetError``
    for a broken file, without any session, and where there are neither.
    """
    if not path.exists():
        raise DatasetError(f"{path} is missing. Check the path.")
    notes: tuple[str, ...] = ()
    if not path.is_dir() and first_byte(path) == b"[":
        notes = ("The public format has no ranks: ε was not checked. Give the raw file or the folder for that.",)
        subsets = _of_public(path, encoder)
    else:
        similarities = stored_similarities if encoder is None else encoded_similarities(encoder)
        subsets = {raw.subset: _of_raw(raw, settings, similarities) for raw in raw_files(path)}
    report = _report(subsets, settings, notes, progress)
    if not any(one.sessions for one in report.subsets):
        raise DatasetError(f"{path} has no sessions to check. Check that it is the right file.")
    return report


def _of_raw(raw: RawFile, settings: FilterSettings, similarities: Similarities) -> Iterator[_Measured]:
    for _, _, result in raw.results():
        yield _Measured(str(result.query_id), ranks_of(result, settings.missing, raw.images), similarities(result))


def _of_public(path: Path, encoder: Encoder | None) -> dict[str, Iterator[_Measured]]:
    if encoder is None:
        raise DatasetError(f"{path} is in CIRCLED's public format, which has neither ranks nor similarities of texts. "
                           "Name the encoder that compares the texts, for example --encoder ViT-B-32/openai (the "
                           "paper's), or give the raw file.")
    closest = closest_texts(encoder)
    found: dict[str, list[Any]] = {}
    for session in read_sessions(path):
        found.setdefault(session.subset, []).append(session)
    return {subset: (_Measured(one.session_id, None, closest([turn.text for turn in one.turns])) for one in sessions)
            for subset, sessions in found.items()}


def _report(
    subsets: dict[str, Iterator[_Measured]], settings: FilterSettings, notes: tuple[str, ...],
    progress: Callable[[int], None] | None,
) -> ConditionsReport:
    rows: list[SubsetConditions] = []
    violations: list[Violation] = []
    done = broken = 0
    for subset, sessions in subsets.items():
        count = inconsistent = repetitive = 0
        ranked, losses, cosines = False, [], []
        for one in sessions:
            done, count = done + 1, count + 1
            if progress:
                progress(done)
            setbacks = rank_setbacks(one.ranks, settings.epsilon) if one.ranks is not None else ()
            repeated = tuple(RepeatedText(turn, earlier, cosine) for turn, (earlier, cosine)
                             in enumerate(one.closest, start=2) if cosine >= settings.tau)
            if one.ranks is not None:
                ranked = True
                losses += [after - before for before, after in zip(one.ranks, one.ranks[1:], strict=False)
                           if max(before, after) < sys.maxsize]
            cosines += [cosine for _, cosine in one.closest]
            inconsistent, repetitive = inconsistent + bool(setbacks), repetitive + bool(repeated)
            if setbacks or repeated:
                broken += 1
                if len(violations) < NAMED:
                    violations.append(Violation(subset, one.session, setbacks, repeated))
        rows.append(SubsetConditions(subset, count, inconsistent if ranked else None, repetitive,
                                     max(losses, default=None), max(cosines, default=None)))
    return ConditionsReport(settings, tuple(rows), tuple(violations), broken, notes)
