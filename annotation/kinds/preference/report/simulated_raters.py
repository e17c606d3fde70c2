"""Simulated raters of result sets, where what is true of a set is known.

A rater's impression of a set is its truth (the mean share of attributes that fit) and noise of that rater. The rating
is the impression on a scale from 1 to 5 that spans the truths of all sets; of two sets of a query, the rater prefers
the one of the better impression. The noise is such that two raters of the same set agree as far as people do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cir_core.errors import StudyError

AGREEMENT = 0.7
"""Spearman's correlation of the ratings of two raters of the same sets."""
LEVELS = 5
_STEPS = 40        # of the bisection: far below the precision of the correlation
_REPEATS = 8       # pairs of raters for each set in the calibration
Values = NDArray[np.float64]


@dataclass(frozen=True)
class SimulatedAnswers:
    """A row for each answer of one rater about two sets of a query. ``query`` and ``methods`` are indices into the two
    axes of the truth. ``methods`` and ``ratings`` are (rows, 2), of sets 1 and 2, whose order is random."""

    query: NDArray[np.int64]           # (rows,)
    queries: int
    methods: NDArray[np.int64]
    ratings: Values                    # 1 to 5
    preferred: NDArray[np.int8]        # (rows,): 1 or 2
    noise: float                       # standard deviation, in the unit of the truth
    agreement: float                   # of two raters of the same sets, with that noise

    def of(self, values: Values) -> Values:
        """(rows, 2): ``values``, [queries, methods], of sets 1 and 2 of each answer."""
        found: Values = values[self.query[:, None], self.methods]
        return found


def simulate_answers(
    truth: Values, sets: Sequence[Sequence[object]], *, seed: int, agreement: float = AGREEMENT
) -> SimulatedAnswers:
    """An answer to every pair of different sets of every query, each by a rater of its own.

    Args:
        truth: [queries, methods], what a rater without noise would see.
        sets: the shown images by query and method; two sets with the same images in the same order are no question.
        seed: determines sides, ratings and preferences.

    Raises ``StudyError`` if no query has two different sets, or if all sets are equally good.
    """
    pairs = [(query, one, two) for query, shown in enumerate(sets) for one, two in combinations(range(len(shown)), 2)
             if shown[one] != shown[two]]
    if not pairs:
        raise StudyError("No query has two different result sets: there is nothing to compare. Use other methods.")
    noise = calibrated_noise(truth, agreement=agreement, seed=seed)
    rng = np.random.default_rng(seed)
    rows = np.array(pairs, np.int64)
    query, methods = rows[:, 0], rows[:, 1:]
    swapped = rng.random(len(rows)) < 0.5
    methods = np.where(swapped[:, None], methods[:, ::-1], methods)
    impression = truth[query[:, None], methods] + rng.normal(0.0, noise, methods.shape)
    preferred = np.where(impression[:, 0] > impression[:, 1], 1, 2).astype(np.int8)
    low, high = float(truth.min()), float(truth.max())
    return SimulatedAnswers(query, len(truth), methods, to_likert(impression, low, high), preferred, noise,
                            rater_agreement(truth.ravel(), noise, seed=seed))


def to_likert(impression: Values, low: float, high: float) -> Values:
    """Whole numbers from 1 (at ``low`` and below) to 5 (at ``high`` and above), with equal steps between."""
    scaled = 1 + (LEVELS - 1) * (impression - low) / (high - low)
    return np.clip(np.rint(scaled), 1, LEVELS)


def calibrated_noise(truth: Values, *, agreement: float = AGREEMENT, seed: int) -> float:
    """Standard deviation of the noise with which two raters of the same sets correlate at ``agreement``.

    Raises ``StudyError`` if all sets are equally good, so that only noise could differ.
    """
    values = np.asarray(truth, np.float64).ravel()
    if not 0 < agreement < 1:
        raise StudyError("The correlation between raters must be above 0 and below 1.")
    spread = float(np.ptp(values)) if len(values) else 0.0
    if spread == 0:
        raise StudyError("All result sets fit equally well: raters could tell nothing apart. Use other methods, or "
                         "more queries.")
    low, high = 0.0, 10 * spread
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if rater_agreement(values, middle, seed=seed) > agreement:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def rater_agreement(truth: Values, noise: float, *, seed: int) -> float:
    """Spearman's correlation of the ratings that two raters with ``noise`` give the same sets. ``truth`` is (sets,);
    every set is rated by several pairs."""
    from scipy.stats import spearmanr

    rng = np.random.default_rng([seed, 1])    # not the noise of the answers
    sets = np.tile(truth, _REPEATS)
    low, high = float(truth.min()), float(truth.max())
    first, second = (to_likert(sets + noise * rng.standard_normal(len(sets)), low, high) for _ in range(2))
    return float(spearmanr(first, second).statistic)
