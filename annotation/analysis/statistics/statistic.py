"""The row of a statistic of agreement among all people: how it is computed, drawn, named and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Scale, Undefined
from annotation.analysis.statistics.matrix import Ratings, Values


@dataclass(frozen=True)
class Statistic:
    """Reports, their JSON, tables and figures show every row of
    :data:`annotation.analysis.statistics.agreement.STATISTICS` that has the scale of the answers.

    ``draws`` takes ratings to a function from weights of all their units, ``[batch, units]``, to the statistic of each
    sample, ``[batch]``: nan where it is undefined, ``constant`` where the sample has a single category.
    """

    key: str                           # in JSON
    column: str                        # in tables
    name: str
    symbol: str                        # where there is little room: "α"
    scales: tuple[Scale, ...]
    how: str                           # with {scale} and {unit}, the singular of what is judged
    source: str                        # paper
    estimate: Callable[[Ratings, Scale, Undefined], Estimate]
    units: Callable[[Ratings], NDArray[np.bool_]]     # ``[units]``: those that it takes
    draws: Callable[[Ratings, Scale, float], Callable[[Values], Values]]

    def method(self, unit: str, scale: Scale = "nominal") -> str:
        """How it is computed, for the Method section of a report."""
        return self.how.format(unit=unit, scale=scale)
