"""Vectors ↔ bytes: float32, little-endian, concatenated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cir_core.types.records import Vector


def pack_vectors(vectors: Sequence[Vector]) -> bytes:
    return b"".join(vector.astype("<f4", copy=False).tobytes() for vector in vectors)


def unpack_vectors(block: bytes, count: int) -> tuple[Vector, ...]:
    """``count`` vectors of equal length, bit-exact and read-only."""
    matrix = np.frombuffer(block, dtype="<f4").astype(np.float32, copy=False).reshape(count, -1)
    matrix.setflags(write=False)
    return tuple(matrix)
