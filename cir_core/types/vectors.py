"""Array types of vectors and feature matrices, and the protocol of what makes them of texts."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]  # [dim], unit length
Matrix = npt.NDArray[np.float32]  # [n, dim], unit rows


class TextEncoder(Protocol):
    """The half of an encoder that texts need."""

    def encode_texts(self, texts: Sequence[str]) -> Matrix:
        """``[n, dim]``, one unit row for each text."""
