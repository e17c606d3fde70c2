"""Aggregate the turns of a session to one query, as in CIRCLED's experiments.

A single-turn retriever gives each turn l a vector f_l. Latest takes f_L; average their
mean; weighted Σ a^(L−l) f_l / Σ a^(L−l) with a = 0.8. The sums are normalised at the end,
so the common divisor does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cir_core.methods.feedback import HISTORY, ComposedQuery, compose
from cir_core.methods.parameters import Label, Section, declare
from cir_core.types.methods import History, MethodSettings
from cir_core.types.records import Vector

HISTORY_SECTION = Section(
    "Turns", "history", declare(MethodSettings, Label("decay", "weight of each earlier turn", "a")), "weighted")


def aggregate(
    earlier: Sequence[Vector], latest: Vector, *, how: History, decay: float, latest_name: str
) -> ComposedQuery:
    """One query from f_1 … f_{L-1} (``earlier``, oldest first) and f_L, each ``[dim]``, unit.

    Terms: everything before as ``history``, this turn's own vector as ``latest_name``.
    """
    if how == "latest" or not earlier:
        return compose({latest_name: latest})
    ages = np.arange(len(earlier), 0, -1)
    weights = np.ones(len(earlier)) if how == "average" else np.power(float(decay), ages)
    before = (weights.astype(np.float32)[:, None] * np.stack(list(earlier))).sum(axis=0)
    return compose({HISTORY: before, latest_name: latest})
