"""The comparison of sources of sessions as JSON and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from cir_core.construct.describe.words import expected_types, wording, words_of
from cir_core.construct.filtering.files import closest_earlier
from cir_core.construct.filtering.stages import STAGES, FilterSettings, Stage, ranks_of, texts_of, why_dropped
from cir_core.construct.judging.scores import JudgedSession, ScoreRow, score_rows
from cir_core.datasets.readers.circled_raw import RawFile, RawResult
from cir_core.encoders.base import Encoder
from cir_core.errors import DatasetError
from cir_core.reports.cells import shown
from cir_core.reports.records import ReportTable, count, text

_MEASURES: tuple[tuple[str, str, str], ...] = (
    ("sessions", "sessions", "count"), ("mean_turns", "turns, mean", "number"),
    ("found", "target found", "share"), ("median_final_rank", "final rank, median", "count"),
    ("words_first", "words of the first text, mean", "number"), ("words_later", "words of later texts, mean", "number"),
    ("types", "different words", "count"), ("type_token_ratio", "type-token ratio", "number"),
    ("type_token_ratio_equal", "type-token ratio at equal words", "number"),
    ("similarity", "similarity of successive texts, mean", "number"),
)


@dataclass
class Group:
    """Sums over sessions. ``final_ranks``: of the best target after the last turn; ``similarities``: cosines of texts
    of turns that follow one another."""

    sessions: int = 0
    turns: int = 0
    found: int = 0
    final_ranks: list[int] = field(default_factory=list, repr=False)
    first_texts: list[str] = field(default_factory=list, repr=False)
    later_texts: list[str] = field(default_factory=list, repr=False)
    similarities: list[float] = field(default_factory=list, repr=False)

    def add(self, result: RawResult, texts: Sequence[str], ranks: Sequence[int], similarities: Sequence[float]) -> None:
        self.sessions += 1
        self.turns += len(texts)
        self.found += result.success
        self.final_ranks += ranks[-1:]
        self.first_texts.append(texts[0])
        self.later_texts += texts[1:]
        self.similarities += similarities

    @property
    def texts(self) -> list[str]:
        return [*self.first_texts, *self.later_texts]

    @property
    def words(self) -> int:
        return sum(len(words_of(text)) for text in self.texts)


@dataclass(frozen=True)
class SourceMeasures:
    """``kept_after``: sessions that are left after each filter; ``kept`` has those that all filters leave."""

    name: str
    kept_after: dict[Stage, int]
    all: Group
    kept: Group


def measure(
    name: str, raws: Sequence[RawFile], encoder: Encoder, settings: FilterSettings = FilterSettings(),
    progress: Callable[[int], None] | None = None,
) -> SourceMeasures:
    """Read ``raws``, one session at a time. ``encoder`` compares texts, for the filter of redundancy as well, whatever
    similarities the files have: those of different encoders do not compare. Raises ``DatasetError``."""
    whole, kept = Group(), Group()
    dropped: Counter[Stage] = Counter()
    for raw in raws:
        for _, _, result in raw.results():
            texts, ranks = texts_of(result), ranks_of(result, settings.missing, raw.images)
            cosines = _cosines(encoder, texts)
            near, following = closest_earlier(cosines), [float(cosines[i, i + 1]) for i in range(len(texts) - 1)]
            whole.add(result, texts, ranks, following)
            gone = why_dropped(result, settings, partial(_known, near), raw.images)
            if gone is None:
                kept.add(result, texts, ranks, following)
            else:
                dropped[gone.stage] += 1
            if progress:
                progress(whole.sessions)
    left, kept_after = whole.sessions, dict[Stage, int]()
    for stage in STAGES:
        left -= dropped[stage]
        kept_after[stage] = left
    return SourceMeasures(name, kept_after, whole, kept)


def _known(near: Sequence[tuple[int, float]], result: RawResult) -> Sequence[tuple[int, float]]:
    return near


def _cosines(encoder: Encoder, texts: Sequence[str]) -> npt.NDArray[np.float64]:
    features = encoder.encode_texts(texts).astype(np.float64)
    cosines: npt.NDArray[np.float64] = features @ features.T
    return cosines


@dataclass(frozen=True)
class Comparison:
    """``judged``: rows of whole sources."""

    sources: tuple[SourceMeasures, ...]
    settings: FilterSettings
    encoder: str
    judged: tuple[ScoreRow, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[int, int]:
        """Numbers of words at which type-token ratios compare, of all and of kept sessions: those of the source with
        the fewest; sources without any do not count."""
        fewest = [min(filter(None, (group.words for group in groups)), default=0)
                  for groups in ([one.all for one in self.sources], [one.kept for one in self.sources])]
        return fewest[0], fewest[1]

    def measures(self) -> list[tuple[SourceMeasures, Mapping[str, Any], Mapping[str, Any]]]:
        """Each source with the numbers of all and of its kept sessions."""
        every, kept = self.words
        return [(one, _numbers(one.all, every), _numbers(one.kept, kept)) for one in self.sources]

    def as_json(self) -> dict[str, Any]:
        """Numbers that are not there, e.g. a mean over no session, are null."""
        scores = {row.source: row.as_json() for row in self.judged}
        return {
            "encoder": self.encoder, "epsilon": self.settings.epsilon, "tau": self.settings.tau,
            "equal_words": dict(zip(("all", "kept"), self.words, strict=True)), "notes": list(self.notes),
            "sources": [{"source": one.name, "sessions": one.all.sessions, "kept_after": dict(one.kept_after),
                         "all": dict(whole), "kept": dict(kept), "judged": scores.get(one.name)}
                        for one, whole, kept in self.measures()],
        }


def judged_rows(judged: Any, names: Sequence[str]) -> list[ScoreRow]:
    """Of the content of ``judged.json``, the rows of the sources that ``names`` has. Raises ``DatasetError``."""
    try:
        sessions = [JudgedSession.from_json(one) for one in judged["sessions"]]
        seed = int(judged["card"]["seed"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError("The file of scores is not one that cirque construct judge wrote (judged.json).") from error
    return [row for row in score_rows([one for one in sessions if one.source in names], seed)
            if row.subset is None and row.turns is None]


def filter_table(found: Comparison) -> ReportTable:
    """Sessions left after each filter."""
    columns = (text("source", "source"), count("sessions", "sessions"),
               *(count(stage, f"after {stage}") for stage in STAGES))
    rows = tuple((one.name, one.all.sessions, *(one.kept_after[stage] for stage in STAGES)) for one in found.sources)
    return ReportTable("filters", "Sessions left after each filter", columns, rows)


def measure_table(found: Comparison) -> ReportTable:
    """A row for each measure; for each source a column of all sessions and one of those that the filters keep."""
    columns = (text("measure", ""), *(text(f"{one.name} {which}", f"{one.name}, {which}")
                                      for one in found.sources for which in ("all", "kept")))
    groups = [numbers for _, *both in found.measures() for numbers in both]
    rows = tuple((title, *(shown(numbers[key], kind) for numbers in groups))
                 for key, title, kind in _MEASURES)
    return ReportTable("measures", "Sessions compared", columns, rows,
                       f"Texts are compared by {found.encoder}. The type-token ratio falls with the number of words; "
                       f"equal words: {found.words[0]:,} of all sessions, {found.words[1]:,} of kept ones.")


def _numbers(group: Group, words: int) -> dict[str, Any]:
    first, later, every = (wording("", texts) for texts in (group.first_texts, group.later_texts, group.texts))
    types = expected_types(group.texts, words)
    return {
        "sessions": group.sessions, "turns": group.turns,
        "mean_turns": group.turns / group.sessions if group.sessions else None,
        "found": group.found / group.sessions if group.sessions else None,
        "median_final_rank": median(group.final_ranks) if group.final_ranks else None,
        "words_first": first.mean_words, "words_later": later.mean_words, "words": every.words, "types": every.types,
        "type_token_ratio": every.type_token_ratio,
        "type_token_ratio_equal": None if types is None else types / words,
        "similarity": sum(group.similarities) / len(group.similarities) if group.similarities else None,
    }
