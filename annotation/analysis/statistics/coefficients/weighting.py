"""Agreement of a unit's answers with weights for near misses, which the coefficients of Gwet and of Brennan and
Prediger share: they differ in the agreement by chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.analysis.records import Scale
from annotation.analysis.statistics.matrix import Ratings, Values, uses_of


def weighting(scale: Scale, categories: int) -> Any:
    """``[categories, categories]``, sparse: 1 for the same answer; of an ordinal scale 1 - (k - l)² / (q - 1)² for two
    others (quadratic weights), of a nominal one 0."""
    from scipy.sparse import csr_array, eye_array

    if scale == "nominal" or categories < 2:
        return eye_array(categories, format="csr")
    place = np.arange(categories)
    return csr_array(1 - ((place[:, None] - place) / (categories - 1))**2)


def alike(ratings: Ratings, weights: Any) -> Values:
    """``[units]``: mean weight of two different people's answers; 0 where fewer than two answered."""
    uses, people = uses_of(ratings), ratings.people_per_unit()
    given = np.asarray(uses.multiply(uses @ weights).sum(axis=1)).ravel()
    pairs = people * (people - 1)
    mean: Values = np.divide(given - people, pairs, out=np.zeros(len(people)), where=pairs > 0)
    return mean
