"""Agreement of two people: Cohen's kappa, the share of the same answers, and both in many draws at once.

The sums of a draw are its weights times what each unit contributes: whether both judged it, said the same, and which
category each of them used. So a batch of draws costs a matrix product, whose width grows with the number of categories.
"""

from __future__ import annotations

import numpy as np

from annotation.analysis.records import Estimate, Undefined
from annotation.analysis.statistics.matrix import Codes, Values, constant_estimate

NOT_SHARED = "no item was judged by both"


def cohen(a: Codes, b: Codes, categories: int, undefined: Undefined = "null") -> Estimate:
    """Cohen's kappa (1960) of two people, ``[units]`` each, -1 where one gave no answer; ``n``: units both judged.
    Where both raters used a single category, chance alone agrees as well: None, or 1.0 if ``undefined`` says so."""
    both = (a >= 0) & (b >= 0)
    if not (n := int(both.sum())):
        return Estimate(None, 0, reason=NOT_SHARED)
    if len(np.unique([a[both], b[both]])) == 1:
        return constant_estimate("both raters used a single category", n, undefined)
    # Statsmodels and scikit-learn give the same number (a test); importing the first takes longer than a whole report.
    sums = contributions(np.stack([a, b], axis=1), np.array([[0, 1]]), categories).sum(axis=0, keepdims=True)
    return Estimate(float(two_by_two(sums, 1, np.nan)[0].item()), n)


def agreement(a: Codes, b: Codes) -> Estimate:
    """Share of the units that two people both judged on which they say the same."""
    both = (a >= 0) & (b >= 0)
    if not (n := int(both.sum())):
        return Estimate(None, 0, reason=NOT_SHARED)
    return Estimate(float((a[both] == b[both]).mean()), n)


def contributions(codes: Codes, pairs: Codes, categories: int) -> Values:
    """``[units, columns]``, a column for each pair and, one after the other: judged by both, the same answer, then
    for each category but the first its use by one and its use by the other."""
    one, other = codes[:, pairs[:, 0]], codes[:, pairs[:, 1]]
    both = (one >= 0) & (other >= 0)
    uses = [both & (of == category) for category in range(1, categories) for of in (one, other)]
    return np.concatenate([both, both & (one == other), *uses], axis=1, dtype=np.float64)


def two_by_two(sums: Values, pairs: int, constant: float) -> tuple[Values, Values]:
    """Cohen's kappa and the share of the same answers, ``[batch, pairs]`` each."""
    columns = sums.reshape(len(sums), -1, pairs)
    n, same, one, other = columns[:, 0], columns[:, 1], columns[:, 2::2], columns[:, 3::2]
    first = (n - one.sum(axis=1)) * (n - other.sum(axis=1))   # of the first category, by both
    chance = n**2 - first - (one * other).sum(axis=1)
    kappa = 1 - n * (n - same) / chance
    return np.where((chance == 0) & (n > 0), constant, kappa), same / n


def mean_of_pairs(values: Values) -> Values:
    """``[draws]``, over the pairs that are defined in a draw."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, values, 0).sum(axis=1) / defined.sum(axis=1))
