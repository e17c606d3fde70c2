"""Spearman's rho in many bootstrap draws at once.

A draw is a weight for each unit: how often it was drawn. Rank and moments of a sample with repeated rows follow from
weights alone, so no sample is ever written out. Values are those of scipy on the repeated rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.statistics.bootstrap import weights

_AT_ONCE = 2**18        # numbers of one array, of which there are some: 2 MiB each, which a cache holds


def spearman_draws(
    x: NDArray[np.float64], y: NDArray[np.float64], unit: NDArray[np.int64], units: int, draws: int, seed: int,
) -> NDArray[np.float64]:
    """Spearman's rho of ``x`` and ``y`` in each of ``draws`` draws of units: (draws,), nan where it is undefined.

    Args:
        x, y: (rows,), finite.
        unit: (rows,), whose each row is, from 0 up to ``units``; all rows of a unit are drawn together.
        units: how many are drawn from; some may have no row.
    """
    from scipy.sparse import csr_array

    xs, x_code = np.unique(x, return_inverse=True)
    ys, y_code = np.unique(y, return_inverse=True)
    # Rows with the same x and y have the same ranks in every draw. Cells are sorted by x, then by y.
    cells, cell_of = np.unique(x_code * len(ys) + y_code, return_inverse=True)
    held = csr_array((np.ones(len(x)), (unit, cell_of)), shape=(units, len(cells)))
    of_x, of_y = cells // len(ys), cells % len(ys)
    by_y = np.argsort(of_y, kind="stable")
    starts_x, starts_y = (np.searchsorted(codes, np.arange(len(values)))
                          for codes, values in ((of_x, xs), (of_y[by_y], ys)))
    found = []
    for drawn in weights(units, draws, seed, batch=max(1, _AT_ONCE // max(units, len(cells)))):
        weight = drawn @ held
        total = weight.sum(axis=1, keepdims=True)
        rank_x = _mid_ranks(np.add.reduceat(weight, starts_x, axis=1), total)[:, of_x]
        rank_y = _mid_ranks(np.add.reduceat(weight[:, by_y], starts_y, axis=1), total)[:, of_y]
        weighted = weight * rank_x
        covariance = np.einsum("bc,bc->b", weighted, rank_y)
        spread_x = np.einsum("bc,bc->b", weighted, rank_x)
        spread_y = np.einsum("bc,bc,bc->b", weight, rank_y, rank_y)
        with np.errstate(invalid="ignore"):     # 0 / 0: one value only in that draw
            found.append(covariance / np.sqrt(spread_x * spread_y))
    return np.clip(np.concatenate(found), -1.0, 1.0) if found else np.empty(0)


def _mid_ranks(weight: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean rank of each value, less the mean of all ranks, ``(total + 1) / 2``.

    Args:
        weight: (draws, values), how often each stands in the sample, values ascending.
        total: (draws, 1), the size of the sample.
    """
    return np.cumsum(weight, axis=1) - weight / 2 - total / 2
