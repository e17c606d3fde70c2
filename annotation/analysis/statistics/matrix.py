"""What people said of units, as a table of codes. Every agreement statistic starts from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Ratings:
    """``codes``: ``[units, people]``, places in ``categories``; -1 where a person gave no answer.

    ``categories`` of an ordinal scale stand in their order. Of two categories the second is the one that
    :func:`annotation.analysis.statistics.agreement.positive_rate` counts. ``unit``: what reasons call one row.
    """

    codes: NDArray[np.int16]
    categories: tuple[str, ...]
    unit: str = "item"

    def __post_init__(self) -> None:
        if self.codes.ndim != 2:
            raise ValueError("codes are a matrix [units, people]")
        if self.codes.size and not -1 <= self.codes.min() <= self.codes.max() < len(self.categories):
            raise ValueError(f"codes lie between -1 and {len(self.categories) - 1}, the last category")

    def people_per_unit(self) -> NDArray[np.int64]:
        """``[units]``: how many answers each unit has."""
        return np.asarray((self.codes >= 0).sum(axis=1), dtype=np.int64)
