"""Images that look unlike one another, by their vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def farthest_first(vectors: npt.NDArray[np.float32], count: int) -> list[int]:
    """At most ``count`` rows of ``vectors`` (``[n, d]``, normalised): the first, then each time the one that is least
    like its nearest among those before (Gonzalez, 1985)."""
    chosen: list[int] = []
    nearest = np.full(len(vectors), -np.inf, dtype=np.float32)
    for _ in range(min(count, len(vectors))):
        chosen.append(int(np.argmin(nearest)))
        nearest = np.maximum(nearest, vectors @ vectors[chosen[-1]])
        nearest[chosen] = np.inf
    return chosen
