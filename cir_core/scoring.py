"""Scores made of more than one product per image."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from cir_core.types import Matrix


class Scoring(Protocol):
    """A score made of the products with several vectors, e.g. a filtered one."""

    @property
    def vectors(self) -> Matrix:
        """``[m, dim]``."""
        ...

    def combine(self, products: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """``[n, m]`` products to ``[n]`` scores."""
        ...

    def error(self, errors: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> float:
        """How far a score can be off when column j is off by ``errors[j]`` at most and no
        larger than ``sizes[j]``."""
        ...
