"""Array types of vectors and feature matrices, the protocol of what makes them of texts, and a part of a score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]  # [dim], unit length
Matrix = npt.NDArray[np.float32]  # [n, dim], unit rows


class TextEncoder(Protocol):
    """The half of an encoder that texts need."""

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]``, one unit row for each text."""


@dataclass(frozen=True)
class Summand:
    """A part of a score. ``of`` takes the products ``[n, c]`` with the vectors in the ``columns`` ``[c]`` to the part
    ``[n]``, and does the same wherever ``key`` is the same."""

    key: tuple[object, ...]
    columns: npt.NDArray[np.intp]
    of: Callable[[npt.NDArray[np.floating]], npt.NDArray[np.floating]]
