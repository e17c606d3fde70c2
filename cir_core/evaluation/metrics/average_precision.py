"""Average precision at k, as defined by CIRCO and by SoFT.

Both sum the precision at every hit among the first k. CIRCO divides by min(k, n), n the number of targets; SoFT's
evaluator by the number of hits, so that one early hit among many targets scores as much as all of them. trec_eval's
AP@k divides by n and is a third measure (:mod:`cir_core.evaluation.metrics.standard`).

The ranks are those of the targets in a list, from 1, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence


def average_precision_at(ranks: Sequence[int], k: int, targets: int) -> float:
    """CIRCO's AP@k (its paper, equation 1). Raises ``ValueError`` without targets or for k < 1."""
    _check(ranks, k)
    if targets < max(1, len(ranks)):
        raise ValueError(f"{len(ranks)} ranks for {targets} targets")
    return sum(_precisions(ranks, k)) / min(k, targets)


def soft_average_precision_at(ranks: Sequence[int], k: int) -> float:
    """SoFT's AP@k: the mean precision over the hits; 0 without any. For its tables only.
    Raises ``ValueError`` for k < 1."""
    _check(ranks, k)
    found = _precisions(ranks, k)
    return sum(found) / len(found) if found else 0.0


def _precisions(ranks: Sequence[int], k: int) -> list[float]:
    return [hits / rank for hits, rank in enumerate(sorted(ranks), 1) if rank <= k]


def _check(ranks: Sequence[int], k: int) -> None:
    if k < 1:
        raise ValueError(f"k starts at 1, not {k}")
    if len(set(ranks)) < len(ranks) or any(rank < 1 for rank in ranks):
        raise ValueError(f"ranks must be distinct and start at 1, not {tuple(ranks)}")
