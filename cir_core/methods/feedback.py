"""The query update of multi-turn search: CIRCLED, eq. 9.

    v ← normalise(v + α·y⁺ − β·mean(Y \\ {y⁺}) + γ·h)

v is the query so far, y⁺ the image the person picked, Y the best K images they saw,
h the encoded merged text of the new turn. All are unit vectors of one space; the mean
is not normalised again. The published text leaves α, β, γ open; the defaults in
:class:`~cir_core.types.MethodSettings` are those of its released code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cir_core.maths import unit
from cir_core.types import Matrix, Vector

TEXT, HISTORY, PICKED, OTHERS, IMAGE = "text", "history", "picked", "not picked", "image"


@dataclass(frozen=True)
class ComposedQuery:
    """A query vector and the terms it is the sum of.

    ``terms`` are already divided by the length of their sum, so they add up to
    ``vector``, and for any image x the inner products with the terms add up to the
    score of x. That is what the ledger of a hit shows.
    """

    vector: Vector
    terms: Mapping[str, Vector]


def compose(terms: Mapping[str, Vector]) -> ComposedQuery:
    """The normalised sum of ``terms``; zero terms are dropped."""
    kept = {name: np.asarray(term, np.float32) for name, term in terms.items() if np.any(term)}
    if not kept:
        first = next(iter(terms.values()))
        return ComposedQuery(np.zeros_like(first, dtype=np.float32), {})
    total = np.sum(np.stack(list(kept.values())), axis=0)
    norm = float(np.linalg.norm(total))
    if norm == 0.0:  # the terms cancel out: nothing is left to search with
        return ComposedQuery(total.astype(np.float32), {})
    return ComposedQuery(unit(total), {name: term / np.float32(norm) for name, term in kept.items()})


def update_query(
    history: Vector, picked: Vector, others: Matrix, text: Vector,
    *, alpha: float, beta: float, gamma: float, text_name: str = TEXT,
) -> ComposedQuery:
    """Eq. 9 for one picked image.

    Args:
        history: ``[dim]``, the query of the turn before.
        picked: ``[dim]``, y⁺.
        others: ``[m, dim]``, the seen images without the picked one; m may be 0.
        text: ``[dim]``, h; ``text_name`` is what its term is called.
    """
    mean_others = others.mean(axis=0) if len(others) else np.zeros_like(history)
    return compose({
        HISTORY: history,
        PICKED: np.float32(alpha) * picked,
        OTHERS: np.float32(-beta) * mean_others,
        text_name: np.float32(gamma) * text,
    })
