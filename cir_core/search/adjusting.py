"""Change one part of a finished turn, without a language model call."""

from __future__ import annotations

from dataclasses import replace

from cir_core.encoders.base import Encoder
from cir_core.methods.feedback import ComposedQuery, compose
from cir_core.methods.steps import STEPS, same_query, steps_of
from cir_core.methods.timings import StageTimer
from cir_core.search.result import TurnResult
from cir_core.types.composition import Adjustment, Composition
from cir_core.types.records import MethodSettings


def adjusted(
    found: TurnResult, method: MethodSettings, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
) -> tuple[ComposedQuery, Composition, tuple[str, ...]]:
    """The query of ``found`` after ``adjustment``, with its composition and notes.

    Raises ``SearchError`` for what no step can use.
    """
    composition, notes = found.composition, found.notes
    for step in STEPS.values():
        composition, notes = step.adjust(composition, notes, adjustment, encoder, stages)
    terms = dict(composition.terms)
    query = ComposedQuery(compose(terms).vector, terms)
    for step, settings in steps_of(method):
        query = step.replay(query, settings, composition)
    if same_query(found.composition, composition):
        query = replace(query, vector=found.vector)  # the stored one, to the last bit
    return query, composition, notes
