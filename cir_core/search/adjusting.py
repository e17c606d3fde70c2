"""Change one part of a finished turn, without a language model call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cir_core.encoders.base import Encoder
from cir_core.errors import SearchError
from cir_core.methods.constraints import checked_constraints, checked_soft_filter
from cir_core.methods.feedback import ComposedQuery, compose
from cir_core.methods.reflection import fuse_rounds
from cir_core.methods.timings import StageTimer
from cir_core.search.result import TurnResult
from cir_core.support.texts import clean_text
from cir_core.types.composition import Adjustment, Composition, ReflectionRound
from cir_core.types.records import MethodSettings, SoftFilter


def adjusted(
    found: TurnResult, method: MethodSettings, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
) -> tuple[ComposedQuery, Composition, tuple[str, ...]]:
    """The query of ``found`` after ``adjustment``, with its composition and notes.

    Raises ``SearchError`` for invalid chips, λ or text.
    """
    old = found.composition
    constraints, soft_filter = old.constraints, old.soft_filter
    if adjustment.soft_filter is not None:
        soft_filter = checked_soft_filter(adjustment.soft_filter)
    if adjustment.constraints is not None:
        constraints, soft_filter = checked_constraints(adjustment.constraints), soft_filter or SoftFilter()
    rounds = _rounds(old.rounds, adjustment, encoder, stages)
    terms = dict(old.terms)
    start = ComposedQuery(compose(terms).vector, terms)
    query = fuse_rounds(start, rounds, method.reflection) if method.reflection else start
    if rounds == old.rounds:
        query = replace(query, vector=found.vector)  # the stored one, bit for bit
    composition = replace(old, rounds=rounds, constraints=constraints, soft_filter=soft_filter)
    return query, composition, (*_notes(found, rounds), *_filter_notes(adjustment, composition))


def _notes(found: TurnResult, rounds: Sequence[ReflectionRound]) -> tuple[str, ...]:
    """Notes of the turn without those of discarded rounds."""
    before = found.composition.rounds
    kept = {note for one in rounds for note in one.notes}
    gone = {note for one in before for note in one.notes} - kept
    notes = [note for note in found.notes if note not in gone]
    if len(rounds) < len(before):
        notes.append(f"{len(rounds)} of {len(before)} rounds of reflection are applied")
    if any(one.edited and not was.edited for one, was in zip(rounds, before, strict=False)):
        notes.append(f"the query of round {len(rounds)} was rewritten by hand")
    return tuple(dict.fromkeys(notes))


def _filter_notes(adjustment: Adjustment, made: Composition) -> tuple[str, ...]:
    """A note if the user has removed every text: attributes alone rank nothing."""
    said = made.constraints
    if adjustment.constraints is None or said is None or made.soft_filter is None:
        return ()
    return () if said.prescriptive or said.proscriptive else ("there is no text left to filter by",)


def _rounds(
    rounds: Sequence[ReflectionRound], adjustment: Adjustment, encoder: Encoder, stages: StageTimer
) -> tuple[ReflectionRound, ...]:
    kept = list(rounds if adjustment.rounds is None else rounds[: max(0, adjustment.rounds)])
    if adjustment.rewritten is not None:
        if not kept:
            raise SearchError("There is no refined query to rewrite in this turn.")
        text = clean_text(adjustment.rewritten)
        with stages("encode text"):
            vector = encoder.encode_texts([text])[0]
        kept[-1] = replace(kept[-1], query=text, vector=vector, edited=True)
    return tuple(kept)
