"""nDCG and reciprocal rank from the ranks of a query's targets.

Ranks start at 1. Over the whole gallery these are CIRCUS's full-catalogue measures: with one
target nDCG is 1 / log2(1 + r). The ideal of n targets is ranks 1 to n, so no value exceeds 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def ndcg(ranks: Sequence[int], targets: int | None = None) -> float:
    """nDCG of one query, every target with gain 1.

    Args:
        ranks: ranks of the retrieved targets, in any order, each rank once.
        targets: number of targets; those without a rank gain nothing. None: ``ranks`` has all of them.

    Raises ``ValueError`` without targets, for a rank under 1, a repeated rank, or more ranks than targets.
    """
    count = len(ranks) if targets is None else targets
    if count < 1:
        raise ValueError("nDCG needs at least one target")
    if len(ranks) > count:
        raise ValueError(f"{len(ranks)} ranks for {count} targets")
    if len(set(ranks)) < len(ranks) or any(rank < 1 for rank in ranks):
        raise ValueError(f"ranks must be distinct and start at 1, not {tuple(ranks)}")
    # Sorted, so that a perfect list sums the same numbers in the same order as the ideal.
    value = sum(map(_gain, sorted(ranks))) / sum(map(_gain, range(1, count + 1)))
    if value > 1 + 1e-12:
        raise AssertionError(f"nDCG {value} for ranks {tuple(ranks)}")
    return min(value, 1.0)


def reciprocal_rank(ranks: Sequence[int]) -> float:
    """1 / the best rank; 0 if no target was retrieved. Raises ``ValueError`` for a rank under 1."""
    if not ranks:
        return 0.0
    if min(ranks) < 1:
        raise ValueError(f"ranks start at 1, not at {min(ranks)}")
    return 1 / min(ranks)


def _gain(rank: int) -> float:
    return 1 / math.log2(1 + rank)
