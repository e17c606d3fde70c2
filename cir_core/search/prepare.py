"""Intermediate records of a turn's query, before the gallery is ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.language.tasks import CaptionAnswer
from cir_core.methods.base_query import NAMES, BaseQuery, Words
from cir_core.methods.feedback import ComposedQuery, aggregate, update_query, wanted_and_unwanted
from cir_core.methods.observer import StageTimer
from cir_core.methods.references import Previous, Reference
from cir_core.types.composition import Composition, Constraints, Marks
from cir_core.types.records import Matrix, MethodSettings


@dataclass(frozen=True)
class PreparedTurn:
    """Reference and text, captioned and merged as the method requires; nothing is encoded yet."""

    reference: Reference
    text: str                        # cleaned; "" if the reference alone is the query
    caption: CaptionAnswer | None    # None if the method needs none
    words: Words
    stages: StageTimer
    constraints: Constraints | None = None   # SoFT's, given in advance

    @property
    def said(self) -> str:
        return self.caption.caption if self.caption else ""


@dataclass(frozen=True)
class Composed:
    """A query that is ready to be ranked by: :func:`cir_core.methods.steps.step_score` of it says how."""

    caption: str
    merged: str
    notes: tuple[str, ...]
    query: ComposedQuery
    composition: Composition
    excluded: tuple[str, ...]
    stages: StageTimer
    method: MethodSettings


def apply_history(
    base: BaseQuery, reference: Reference, previous: Previous | None, marks: Marks, method: MethodSettings,
    features_of: Callable[[Sequence[str]], Matrix],
) -> ComposedQuery:
    """Combine this turn's own query with those before it, by the method's history step."""
    if previous is None:
        return ComposedQuery(base.vector, base.terms)
    name = NAMES[method.base]
    if method.history != "feedback":
        return aggregate(previous.features, base.vector, how=method.history, decay=method.decay, latest_name=name)
    seen = [hit.image_id for hit in previous.hits[: method.feedback_depth]]
    wanted, unwanted = wanted_and_unwanted(reference.image_ids, marks, seen)
    given = np.stack([part.features for part in reference.parts])
    picked = np.concatenate([given, features_of(wanted[len(given):])])
    return update_query(
        previous.vector, picked, features_of(unwanted), base.vector,
        alpha=method.alpha, beta=method.beta, gamma=method.gamma, text_name=name,
    )
