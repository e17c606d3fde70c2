"""Summary of an audit as plain counts: CIRCUS's table 1 and its basis. Recall@K, nDCG and reciprocal rank per query
and input, from full-catalogue ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from cir_core.audit.records import CUTOFF, VARIANTS, Aggregate, Detail, Label, RetrieverRun, Variant
from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.ndcg import ndcg, reciprocal_rank
from cir_core.support.texts import quoted

Measure = Literal["recall", "ndcg", "mrr"]
MEASURES: tuple[Measure, ...] = ("recall", "ndcg", "mrr")
Scores = npt.NDArray[np.float64]
_DIGITS = 9


def rounded(value: float) -> float:
    """``value`` as reported: its last bits depend on the number of threads, as may the sign of a zero."""
    return round(float(value), _DIGITS) + 0.0


def scores(runs: Sequence[RetrieverRun], query_ids: Collection[str], k: int = CUTOFF) -> Scores:
    """``[retrievers, variants, measures, queries]``, the axes in the order of ``runs``, ``VARIANTS``,
    ``MEASURES`` and the runs' queries.

    With several targets recall uses the best one (CIRCUS on CIRCO), nDCG all.
    Raises ``DatasetError`` for a query that a retriever has not ranked.
    """
    wanted = frozenset(query_ids)
    one = lru_cache(maxsize=2**16)(lambda ranks: (float(min(ranks) <= k), ndcg(ranks), reciprocal_rank(ranks)))
    found = np.empty((len(runs), len(VARIANTS), len(MEASURES), len(wanted)))
    for row, run in enumerate(runs):
        answers = [query for query in run.queries if query.query_id in wanted]
        if len(answers) < len(wanted):
            missing = min(wanted - {query.query_id for query in answers})
            raise DatasetError(f"{run.card.retriever} has no query {quoted(missing)}. Take the queries from its "
                               "aggregate.")
        for column, answer in enumerate(answers):
            for place, variant in enumerate(VARIANTS):
                if variant not in answer.rankings:
                    raise DatasetError(f"{run.card.retriever} did not rank query {quoted(answer.query_id)} under "
                                       f"{variant} ({answer.problem or 'no reason given'}). Take the queries from its "
                                       "aggregate.")
                found[row, place, :, column] = one(answer.rankings[variant].ranks)
    return found


INPUTS = (*VARIANTS, "either_unimodal")


@dataclass(frozen=True)
class RetrieverSummary:
    """Means over the labelled queries: measure to its value under each input; {} without any."""

    retriever: str
    means: Mapping[Measure, Mapping[Variant, float]]
    problems: int          # queries that this retriever could not rank


@dataclass(frozen=True)
class Summary:
    """``labels`` add up to ``labelled``, ``details`` too; ``labelled`` and ``skipped`` to ``queries``.

    ``support``: input to the number of queries found by 0, 1, 2, … retrievers; "either_unimodal"
    counts retrievers that find the target by at least one of the inputs.
    """

    queries: int
    labelled: int
    skipped: Mapping[str, int]            # reason to queries
    labels: Mapping[Label, int]
    details: Mapping[Detail, int]
    shortcut_free: int
    retrievers: Sequence[RetrieverSummary]
    support: Mapping[str, tuple[int, ...]]
    k: int
    min_support: int

    def share(self, count: int) -> float | None:
        """``count`` as a share of the labelled queries; None if there are none."""
        return count / self.labelled if self.labelled else None


def summarise(runs: Sequence[RetrieverRun], aggregate: Aggregate) -> Summary:
    """Summarise an audit. ``runs`` are those from which ``aggregate`` was computed."""
    labels, details = Counter(q.label for q in aggregate.labels), Counter(q.detail for q in aggregate.labels)
    counted = {name: Counter(q.support.get(name, 0) for q in aggregate.labels) for name in INPUTS}
    # Support may exceed the number of named retrievers: external aggregates have such labels.
    most = max([len(aggregate.retrievers), *(n for counter in counted.values() for n in counter)])
    return Summary(
        queries=len(aggregate.labels) + len(aggregate.skipped),
        labelled=len(aggregate.labels),
        skipped=dict(sorted(Counter(aggregate.skipped.values()).items())),
        labels={label: labels[label] for label in get_args(Label)},
        details={detail: details[detail] for detail in get_args(Detail)},
        shortcut_free=sum(q.shortcut_free for q in aggregate.labels),
        retrievers=_of_each(runs, aggregate),
        support={name: tuple(counter[n] for n in range(most + 1)) for name, counter in counted.items()},
        k=aggregate.k,
        min_support=aggregate.min_support,
    )


def _of_each(runs: Sequence[RetrieverRun], aggregate: Aggregate) -> tuple[RetrieverSummary, ...]:
    found = scores(runs, [label.query_id for label in aggregate.labels], aggregate.k)
    rows = []
    for row, run in enumerate(runs):
        means: dict[Measure, dict[Variant, float]] = {}
        if aggregate.labels:
            means = {measure: {variant: rounded(found[row, v, m].mean()) for v, variant in enumerate(VARIANTS)}
                     for m, measure in enumerate(MEASURES)}
        problems = sum(bool(query.problem) for query in run.queries)
        rows.append(RetrieverSummary(run.card.retriever, means, problems))
    return tuple(rows)
