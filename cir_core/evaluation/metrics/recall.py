"""Recall@k where each query has one target (FashionIQ, CIRR)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def recall_at(ranks: Sequence[int] | npt.NDArray[np.int64], k: int) -> float:
    """Share of queries whose target has rank ≤ ``k`` (ranks from 1). nan without queries."""
    array = np.asarray(ranks)
    return float(np.mean(array <= k)) if array.size else float("nan")
