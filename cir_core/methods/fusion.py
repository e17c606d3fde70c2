"""Fuse two unit vectors: slerp (CoRR eq. 2 and 3), and its ablations.

    Slerp(new, history; α) = sin((1−α)θ)/sin θ · new + sin(αθ)/sin θ · history,  θ = arccos(new·history)

α weighs the *history*: 1 keeps it, 0 takes the new vector. (The paper's typesetting of
eq. 3 drops a bracket.) The result is a linear combination of both inputs, as
score parts require.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from cir_core.support.maths import unit
from cir_core.types.records import Vector

# Below this sin θ, or this length of the sum, the coefficients would be so large that the
# rounding of single-precision vectors would be visible in the result and its score parts.
_STRAIGHT = 1e-2


@dataclass(frozen=True)
class Blend:
    """``new · coefficient + history · coefficient`` has unit length."""

    new: float
    history: float

    def of(self, new: Vector, history: Vector) -> Vector:
        """``[dim]``, unit length; exactly the input if it has all the weight."""
        if self.history == 0.0:
            return new
        if self.new == 0.0:
            return history
        return unit(self._sum(new, history))

    def _sum(self, new: Vector, history: Vector) -> npt.NDArray[np.float64]:
        return self.new * new.astype(np.float64) + self.history * history.astype(np.float64)


def blend(
    new: Vector, history: Vector, *, history_weight: float,
    how: Literal["slerp", "linear", "replace"] = "slerp",
) -> Blend:
    """The coefficients of unit vectors ``new`` and ``history``, both ``[dim]``.

    (Nearly) collinear vectors have no arc between them: equal ones and opposite ones are
    blended linearly, and if even that vanishes, history remains.
    """
    if how == "replace" or history_weight == 0.0:
        return Blend(1.0, 0.0)
    if history_weight == 1.0:
        return Blend(0.0, 1.0)
    a = history_weight
    theta = _angle(new, history)
    if how == "slerp" and math.sin(theta) >= _STRAIGHT:
        raw = Blend(math.sin((1 - a) * theta) / math.sin(theta), math.sin(a * theta) / math.sin(theta))
    else:
        raw = Blend(1 - a, a)
    length = float(np.linalg.norm(raw._sum(new, history)))
    if length < _STRAIGHT:
        return Blend(0.0, 1.0)
    return Blend(raw.new / length, raw.history / length)


def _angle(new: Vector, history: Vector) -> float:
    """θ. Divided by the lengths, which are 1 up to rounding: an error of ε in the
    cosine of collinear vectors is one of √ε in the angle."""
    x, y = new.astype(np.float64), history.astype(np.float64)
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    return math.acos(float(np.clip(x @ y / lengths, -1.0, 1.0))) if lengths else math.pi / 2


def slerp(new: Vector, history: Vector, *, history_weight: float) -> Vector:
    """CoRR eq. 3, safe at the ends: ``[dim]``, unit length. A zero vector yields the other one."""
    new, history = unit(new), unit(history)
    if not np.any(new) or not np.any(history):
        return history if np.any(history) else new
    return blend(new, history, history_weight=history_weight).of(new, history)
