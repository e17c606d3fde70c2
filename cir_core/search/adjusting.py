"""Change one part of a finished turn, without a language model call. Search result of one turn, before it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.errors import SearchError
from cir_core.methods.feedback import EDITED, TEXT, ComposedQuery, compose
from cir_core.methods.observer import StageTimer
from cir_core.methods.steps import STEPS, same_query, steps_of
from cir_core.types.composition import Adjustment, Composition, Usage, Wording
from cir_core.types.records import Hit, MethodSettings, Turn, Vector


@dataclass(frozen=True)
class TurnResult:
    """Result of one turn (see :class:`~cir_core.types.records.Turn` for the fields). ``method``: what it was searched
    with, if that is known."""

    caption: str
    merged_text: str
    notes: tuple[str, ...]
    vector: Vector = field(compare=False, repr=False)
    hits: tuple[Hit, ...]
    excluded_ids: tuple[str, ...]
    target_rank: int | None
    timings_ms: Mapping[str, float]
    composition: Composition
    method: MethodSettings | None = None

    @classmethod
    def of(cls, turn: Turn) -> TurnResult:
        """A stored turn. Raises ``SearchError`` for one stored before methods were recorded."""
        if turn.composition is None:
            raise SearchError("This turn was made by an earlier version, which did not store enough to change it. "
                              "Search again to get one that can be changed.")
        return cls(turn.caption, turn.merged_text, turn.notes, turn.vector, turn.hits, turn.excluded_ids,
                   turn.target_rank, turn.timings_ms, turn.composition)


def adjusted(
    found: TurnResult, method: MethodSettings, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
) -> tuple[ComposedQuery, Composition, tuple[str, ...]]:
    """The query of ``found`` after ``adjustment``, with its composition and notes.

    Raises ``SearchError`` for what no step can use.
    """
    composition, notes = found.composition, found.notes
    if adjustment.wording is not None:
        composition = _reworded(found, adjustment.wording, adjustment.usage, encoder, stages)
    for step in STEPS.values():
        composition, notes = step.adjust(composition, notes, adjustment, encoder, stages)
    terms = dict(composition.terms)
    query = ComposedQuery(compose(terms).vector, terms)
    for step, settings in steps_of(method):
        query = step.replay(query, settings, composition)
    if adjustment.wording is None and same_query(found.composition, composition):
        query = replace(query, vector=found.vector)  # the stored one, to the last bit
    return query, composition, notes


def _reworded(
    found: TurnResult, wording: Wording, usage: Usage, encoder: Encoder, stages: StageTimer
) -> Composition:
    """The term of the text in the direction of the new one, its weight as it was."""
    with stages("encode text"):
        [vector] = encoder.encode_texts([wording.merged_text])
    made = found.composition
    terms = tuple((EDITED, np.linalg.norm(term).astype(np.float32) * vector) if name in (TEXT, EDITED) else (name, term)
                  for name, term in made.terms)
    before = made.edited or Wording(found.caption, found.merged_text)
    return replace(made, base=vector, terms=terms, edited=before, usage=made.usage + usage)
