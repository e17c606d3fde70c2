"""Composition Gap: the share of ranking quality that neither input alone recovers (CIRCUS).

For one retriever and subset ``CompGap = 1 − max(I, T) / MM``, with I, T and MM the means of full-catalogue nDCG (or
reciprocal rank) under the image alone, the text alone, and both. A ratio of means, not a mean of ratios; negative where
one input alone does better; not clamped. A pool's figure is the mean over its retrievers that take both inputs: of one
that takes a single input the gap is 0 by construction, which says nothing of composing. ``recall_gap`` is another
quantity, the difference ``R@K(MM) − max(R@K(T), R@K(I))``.

Intervals are 95 % percentile bootstraps over queries: the same resampled queries for every retriever,
2,000 replicates. Subsets are fixed: labels are not recomputed. All figures are rounded
(:func:`~cir_core.audit.summary.rounded`), so that they do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from cir_core.audit.records import CUTOFF, VARIANTS, Aggregate, RetrieverRun, Variant
from cir_core.audit.summary import MEASURES, Measure, Scores, rounded, scores
from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.bootstrap import CONFIDENCE, DRAWINGS
from cir_core.methods.steps import STEPS
from cir_core.support.texts import quoted

GapMeasure = Literal["ndcg", "mrr"]
GAP_MEASURES: tuple[GapMeasure, ...] = ("ndcg", "mrr")
_TAKES = {"text-only": "the text", "image-only": "the image"}
_SINGLE: Mapping[Variant, str] = {"text_only": "the text", "image_only": "the image"}
_LEAST = 20               # queries; the ranks of fewer may be the same by chance
_AT_ONCE = 2**22  # resampled queries in memory at a time
_Array = npt.NDArray[np.float64]
_BOTH, _TEXT, _IMAGE = (VARIANTS.index(variant) for variant in ("multimodal", "text_only", "image_only"))


@dataclass(frozen=True)
class Gap:
    """``value`` is None if undefined, with a ``reason``; the ends of the interval
    are also None for fewer than two queries."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class RetrieverGaps:
    """One retriever on one subset. ``means``: measure to its mean under each input, {} for an
    empty subset. ``recall_gap`` is a difference of Recall@K, the others are CompGaps."""

    retriever: str
    subset: str
    queries: int
    means: Mapping[Measure, Mapping[Variant, float]]
    gaps: Mapping[GapMeasure, Gap]
    recall_gap: Gap


@dataclass(frozen=True)
class MeanGap:
    """Mean over the retrievers whose gap is defined; ``undefined`` counts the others, and ``left_out`` those that take
    one input alone (:attr:`GapReport.one_input`), which are in neither."""

    subset: str
    measure: GapMeasure
    gap: Gap
    retrievers: int
    undefined: int
    left_out: int = 0


@dataclass(frozen=True)
class GapReport:
    """``subsets``: name to its number of queries, in the order given. ``one_input``: the retrievers that take one input
    alone, which no mean contains."""

    k: int
    seed: int
    drawings: int
    subsets: Mapping[str, int]
    retrievers: Sequence[RetrieverGaps]
    means: Sequence[MeanGap]
    notes: tuple[str, ...] = ()
    one_input: tuple[str, ...] = ()

    def of(self, retriever: str, subset: str) -> RetrieverGaps:
        return next(row for row in self.retrievers if (row.retriever, row.subset) == (retriever, subset))

    def mean(self, subset: str, measure: GapMeasure) -> MeanGap:
        return next(row for row in self.means if (row.subset, row.measure) == (subset, measure))


def composition_gap(multimodal: float, text_only: float, image_only: float) -> float | None:
    """1 − max(text, image) / multimodal; None if ``multimodal`` is 0."""
    return None if multimodal == 0 else 1 - max(text_only, image_only) / multimodal


def subsets_of(aggregate: Aggregate, validated: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Query ids by subset: full, each label, shortcut_free, and those validated by annotators.

    Args:
        validated: ids that annotators found well-formed. "validated" holds those with a label;
            its halves ("validated_solved" and "validated_unsolved", CIRCUS table 2) only those
            that are composition_required and unresolved here.

    Raises ``DatasetError`` if ``validated`` names a query that is not in the audit, or none that
    has a label: an empty subset indicates a wrong file, not a result.
    """
    of: dict[str, tuple[str, ...]] = {"full": tuple(label.query_id for label in aggregate.labels)}
    for name in ("shortcut_solvable", "shortcut_free", "composition_required", "unresolved"):
        of[name] = tuple(
            label.query_id for label in aggregate.labels
            if (label.shortcut_free if name == "shortcut_free" else label.label == name)
        )
    if validated is None:
        return of
    kept = frozenset(validated)
    if unknown := kept - set(of["full"]) - set(aggregate.skipped):
        raise DatasetError(f"{len(unknown)} of {len(kept)} validated queries are not in this audit, "
                           f"{quoted(min(unknown))} for one. Check that they come from the same data set and split.")
    for name, source in (("validated", "full"), ("validated_solved", "composition_required"),
                         ("validated_unsolved", "unresolved")):
        of[name] = tuple(query_id for query_id in of[source] if query_id in kept)
    if not of["validated"]:
        raise DatasetError("None of the validated queries has a label. Check that the file is of this data set.")
    return of


def gaps(
    runs: Sequence[RetrieverRun], subsets: Mapping[str, Collection[str]], *,
    k: int = CUTOFF, seed: int = 0, drawings: int = DRAWINGS,
) -> GapReport:
    """Means, gaps and their intervals for every retriever and subset. Raises ``DatasetError`` for a query in a subset
    that a retriever has not ranked."""
    rows: list[RetrieverGaps] = []
    means: list[MeanGap] = []
    single = {run.card.retriever: taken for run in runs if (taken := _only_input(run))}
    composing = [row for row, run in enumerate(runs) if run.card.retriever not in single]
    nothing = "every retriever takes one input alone" if not composing else "no retriever has a gap"
    for subset, query_ids in subsets.items():
        found = scores(runs, query_ids, k)
        values = found.mean(axis=-1) if found.shape[-1] else np.zeros(found.shape[:-1])
        low, high = _intervals(found, composing, seed, drawings)
        for row, run in enumerate(runs):
            rows.append(_retriever(run.card.retriever, subset, found.shape[-1], values[row], low[row], high[row]))
        for measure in GAP_MEASURES:
            column = MEASURES.index(measure)
            each = [rows[row - len(runs)].gaps[measure].value for row in composing]
            defined = [value for value in each if value is not None]
            ends = (_number(low[-1, column]), _number(high[-1, column]))
            mean = (Gap(rounded(sum(defined) / len(defined)), *ends) if defined
                    else Gap(None, reason=nothing))
            means.append(MeanGap(subset, measure, mean, len(defined), len(each) - len(defined), len(single)))
    counts = {name: len(frozenset(query_ids)) for name, query_ids in subsets.items()}
    left = " and is left out of the mean" if len(runs) > 1 else ""
    notes = [f"{name} takes {taken} alone: its gap is 0 by construction{left}." for name, taken in single.items()]
    return GapReport(k, seed, drawings, counts, tuple(rows), tuple(means), (*notes, *_of_best_ranks(runs)),
                     tuple(single))


def _retriever(name: str, subset: str, queries: int, values: _Array, low: _Array, high: _Array) -> RetrieverGaps:
    """``values``: ``[variants, measures]``; ``low`` and ``high``: ``[measures]``."""
    if not queries:
        none = Gap(None, reason="the subset is empty")
        return RetrieverGaps(name, subset, 0, {}, dict.fromkeys(GAP_MEASURES, none), none)
    means = {
        measure: {variant: rounded(values[v, m]) for v, variant in enumerate(VARIANTS)}
        for m, measure in enumerate(MEASURES)
    }
    of: dict[GapMeasure, Gap] = {}
    for measure in GAP_MEASURES:
        m = MEASURES.index(measure)
        value = composition_gap(*(float(values[v, m]) for v in (_BOTH, _TEXT, _IMAGE)))
        of[measure] = (Gap(None, reason="nothing is found with both inputs") if value is None
                       else Gap(rounded(value), _number(low[m]), _number(high[m])))
    m = MEASURES.index("recall")
    difference = rounded(values[_BOTH, m] - max(values[_TEXT, m], values[_IMAGE, m]))
    return RetrieverGaps(name, subset, queries, means, of, Gap(difference, _number(low[m]), _number(high[m])))


def _intervals(found: Scores, composing: Sequence[int], seed: int, drawings: int) -> tuple[_Array, _Array]:
    """Ends of the intervals, ``[retrievers + 1, measures]``, the last row for the mean over the
    ``composing`` retrievers; nan if undefined."""
    from scipy.stats import bootstrap

    retrievers, variants, measures, queries = found.shape
    if queries < 2:
        nothing = np.full((retrievers + 1, measures), np.nan)
        return nothing, nothing
    flat = found.reshape(-1, queries)

    def statistic(drawn: npt.NDArray[np.int64], axis: int = -1) -> _Array:
        # Resampling counts times scores: one matrix product instead of
        # gathering retrievers × inputs × measures numbers for every replicate.
        rows = np.arange(len(drawn))[:, None] * queries
        times = np.bincount((drawn + rows).ravel(), minlength=drawn.size).reshape(len(drawn), queries)
        of_drawing = (flat @ times.T / queries).reshape(retrievers, variants, measures, len(drawn))
        each = _gaps_of(of_drawing)
        mean = each[composing].mean(axis=0, keepdims=True) if composing else np.zeros_like(each[:1])
        return np.concatenate([each, mean])

    drawn = bootstrap(
        (np.arange(queries),), statistic, n_resamples=drawings, confidence_level=CONFIDENCE, method="percentile",
        vectorized=True, batch=max(1, _AT_ONCE // queries), rng=np.random.default_rng(seed),
    )
    return drawn.confidence_interval.low, drawn.confidence_interval.high


def _gaps_of(means: _Array) -> _Array:
    """``[retrievers, variants, measures, …]`` to ``[retrievers, measures, …]``. nDCG and reciprocal
    rank of a full-catalogue rank are positive, so that no replicate has an undefined gap."""
    both, best = means[:, _BOTH], np.maximum(means[:, _TEXT], means[:, _IMAGE])
    gap = np.empty_like(both)
    for m, measure in enumerate(MEASURES):
        gap[:, m] = both[:, m] - best[:, m] if measure == "recall" else 1 - best[:, m] / both[:, m]
    return gap


def _only_input(run: RetrieverRun) -> str:
    """"the text" or "the image" if the retriever takes nothing else; "" otherwise. By its method, or for ranks from a
    file because they are the same with both inputs."""
    method = run.card.identity.get("method")
    if isinstance(method, Mapping):
        return "" if any(map(method.get, STEPS)) else _TAKES.get(str(method.get("base")), "")
    ranked = [query.rankings for query in run.queries if query.rankings]
    if len(ranked) >= _LEAST:
        for variant, taken in _SINGLE.items():
            if all(one["multimodal"].ranks == one[variant].ranks for one in ranked):
                return taken
    return ""


def _of_best_ranks(runs: Sequence[RetrieverRun]) -> tuple[str, ...]:
    """Notes on files with the best target's rank only: their nDCG differs from the other retrievers'."""
    counts = {
        run.card.retriever: [len(q.rankings["multimodal"].ranks) if q.rankings else 0 for q in run.queries]
        for run in runs
    }
    most = [max(column) for column in zip(*counts.values(), strict=True)]
    return tuple(
        f"{name} has only the best target's rank of queries with several targets: its nDCG is of that target alone."
        for name, own in counts.items()
        if any(0 < mine < other for mine, other in zip(own, most, strict=True))
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else rounded(value)
