"""Vector arithmetic shared by several methods."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cir_core.types.records import Vector


def unit(vector: npt.ArrayLike) -> Vector:
    """``vector`` scaled to length 1, float32. A zero vector stays zero and matches nothing."""
    array = np.asarray(vector, dtype=np.float32)
    norm = float(np.linalg.norm(array))
    return array if norm == 0.0 else array / np.float32(norm)
