"""Query update of multi-turn search: CIRCLED, eq. 9.

    v ← normalise(v + α·y⁺ − β·mean(Y \\ {y⁺}) + γ·h)

v is the query so far, y⁺ the image the user picked, Y the best K images they saw,
h the encoded merged text of the new turn. All are unit vectors of one space; the mean
is not normalised again. With several images marked, y⁺ is their mean and the negative
part the mean of those marked against (docs/search.md relates this to Rocchio's formula).
The published text leaves α, β, γ open; the defaults in
:class:`~cir_core.types.records.MethodSettings` are those of its released code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.methods.parameters import Label, Section, declare
from cir_core.support.maths import unit
from cir_core.types.composition import Marks
from cir_core.types.methods import MethodSettings
from cir_core.types.records import Matrix, Vector

TEXT, HISTORY, PICKED, OTHERS, IMAGE = "text", "history", "picked", "not picked", "image"
BOTH = "image and text"
EDITED = "edited text"   # instead of TEXT where the user wrote the query

FEEDBACK_SECTION = Section("Feedback weights, from turn 2 on", "history", declare(
    MethodSettings, Label("alpha", "towards the picked image", "α", most=1),
    Label("beta", "away from images not picked", "β", most=1), Label("gamma", "towards the new text", "γ", most=1),
), "feedback")


@dataclass(frozen=True)
class ComposedQuery:
    """A query vector as a sum of terms.

    ``terms`` are already divided by the length of their sum, so they add up to
    ``vector``, and for any image x the inner products with the terms add up to the
    score of x. The score parts of a hit are these products.
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
    if norm == 0.0:  # the terms cancel out
        return ComposedQuery(total.astype(np.float32), {})
    return ComposedQuery(unit(total), {name: term / np.float32(norm) for name, term in kept.items()})


def update_query(
    history: Vector, picked: Vector | Matrix, others: Matrix, text: Vector,
    *, alpha: float, beta: float, gamma: float, text_name: str = TEXT,
) -> ComposedQuery:
    """Eq. 9, for one picked image or the mean of several.

    Args:
        history: ``[dim]``, the query of the previous turn.
        picked: y⁺, ``[dim]``, or ``[p, dim]`` for all wanted images.
        others: ``[m, dim]``, the unwanted images; m may be 0.
        text: ``[dim]``, h; ``text_name`` is the name of its term.
    """
    mean_picked = np.atleast_2d(picked).mean(axis=0)
    mean_others = others.mean(axis=0) if len(others) else np.zeros_like(history)
    return compose({
        HISTORY: history,
        PICKED: np.float32(alpha) * mean_picked,
        OTHERS: np.float32(-beta) * mean_others,
        text_name: np.float32(gamma) * text,
    })


def wanted_and_unwanted(
    picked: Sequence[str], marks: Marks, seen: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Ids of the positive and the negative images of eq. 9.

    Wanted are the ``picked`` ones (one, in the paper) and those marked "more like this". Without any mark "less like
    this" the paper's rule applies: all others that were ``seen`` (the best K) are negative.
    With one, only the marked images are: marking one result as wrong says nothing about the
    others.
    """
    wanted = tuple(dict.fromkeys((*picked, *marks.more_like)))
    if marks.less_like:
        return wanted, tuple(dict.fromkeys(marks.less_like))
    return wanted, tuple(image_id for image_id in seen if image_id not in wanted)
