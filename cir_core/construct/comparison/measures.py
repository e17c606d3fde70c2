"""Measures of the sessions of one source, before and after the filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from cir_core.construct.describe.words import words_of
from cir_core.construct.filtering.files import closest_earlier
from cir_core.construct.filtering.stages import STAGES, FilterSettings, Stage, ranks_of, texts_of, why_dropped
from cir_core.datasets.readers.circled_raw import RawFile, RawResult
from cir_core.encoders.base import Encoder


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
