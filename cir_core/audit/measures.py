"""Recall@K, nDCG and reciprocal rank per query and input, from full-catalogue ranks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from cir_core.audit.records import CUTOFF, VARIANTS, RetrieverRun
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
