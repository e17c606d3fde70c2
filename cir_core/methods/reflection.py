"""CoRR: inspect the retrieved images, refine the query, fuse it with the query so far (section 3).

    v_t = Slerp(u_t, v_{t−1}; α),  u_t the encoded refined query of round t = 1 … T

The paper leaves open when to stop early (here: when the user does), what to do when the
language model fails in a round (earlier rounds count), and whether a round sees the
previous query (a setting, off).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.errors import ImageUnreadable, LanguageModelError, Stopped
from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Domain, Picture, ReflectTask
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.fusion import blend
from cir_core.methods.references import Reference
from cir_core.methods.timings import StageTimer
from cir_core.support.maths import unit
from cir_core.types.composition import ReflectionRound
from cir_core.types.methods import Reflection
from cir_core.types.records import Hit, Matrix, Vector

_NO_CAPTIONS = (
    "the rounds saw pictures alone: this gallery has no stored captions (make them with “cirque captions build”)"
)


@dataclass(frozen=True)
class Looking:
    """Access of a round to the gallery."""

    best: Callable[[Vector, int], Sequence[Hit]]            # the best k for a query
    features: Callable[[Sequence[str]], Matrix]
    picture: Callable[[str], Picture]
    captions: Callable[[Sequence[str]], tuple[str, ...]]    # of these images; () if none has one


def fuse_rounds(
    start: ComposedQuery, rounds: Sequence[ReflectionRound], reflection: Reflection
) -> ComposedQuery:
    """The query after ``rounds``; its terms are those of ``start`` and one per round,
    scaled to sum up to it. Without rounds it is ``start`` itself."""
    query = start
    for one in rounds:
        if one.vector is not None:
            query = _fused(query, one.vector, f"reflection {one.number}", reflection)
    return query


def _fused(query: ComposedQuery, new: Vector, name: str, reflection: Reflection) -> ComposedQuery:
    how = "slerp" if reflection.fusion == "pseudo-feedback" else reflection.fusion
    mix = blend(new, query.vector, history_weight=reflection.history_weight, how=how)
    terms: dict[str, Vector] = {}
    if mix.history:
        terms |= {key: np.float32(mix.history) * term for key, term in query.terms.items()}
    if mix.new:
        terms[name] = np.float32(mix.new) * new
    return ComposedQuery(mix.of(new, query.vector), terms)


def reflect(
    start: ComposedQuery, reflection: Reflection, *, reference: Reference, caption: str, text: str, merged: str,
    looking: Looking, encoder: Encoder, language: LanguageModel, domain: Domain, stages: StageTimer,
) -> tuple[ComposedQuery, tuple[ReflectionRound, ...], tuple[str, ...]]:
    """Run the rounds. Returns the query, the rounds and notes for the user.

    ``merged`` is the text of the query so far; the rounds see it only if the method is set to.
    """
    query, rounds, notes = start, list[ReflectionRound](), list[str]()
    watch = stages.watch
    previous_query = merged
    for number in range(1, reflection.rounds + 1):
        if watch.stopped:
            notes.append(f"stopped after {len(rounds)} of {reflection.rounds} rounds of reflection")
            break
        began = perf_counter()
        depth = reflection.images if reflection.fusion == "pseudo-feedback" else \
            max(reflection.images, reflection.captions)
        try:
            with stages("reflect"):
                hits = looking.best(query.vector, depth)
                watch.found(hits)
                one = _round(number, hits, reflection, reference, caption, text, previous_query, looking,
                             encoder, language, domain, stages)
        except Stopped:
            notes.append(f"stopped after {len(rounds)} of {reflection.rounds} rounds of reflection")
            break
        except (LanguageModelError, ImageUnreadable) as error:
            notes.append(f"round {number} of reflection failed, the results are those before it: {error}")
            break
        one = replace(one, milliseconds=(perf_counter() - began) * 1000)
        rounds.append(one)
        notes += one.notes
        if one.vector is not None:
            query = _fused(query, one.vector, f"reflection {number}", reflection)
        previous_query = one.query
        watch.reflected(one)
    return query, tuple(rounds), tuple(dict.fromkeys(notes))


def _round(
    number: int, hits: Sequence[Hit], reflection: Reflection, reference: Reference, caption: str, text: str,
    previous_query: str, looking: Looking, encoder: Encoder, language: LanguageModel, domain: Domain,
    stages: StageTimer,
) -> ReflectionRound:
    shown = [hit.image_id for hit in hits]
    pictured = shown[: reflection.images]
    if reflection.fusion == "pseudo-feedback":
        mean = unit(looking.features(pictured).mean(axis=0)) if pictured else None
        return ReflectionRound(number, "", looked_at=tuple(pictured), pictures=len(pictured), vector=mean)
    captions = looking.captions(shown[: reflection.captions])
    answer = language.complete(ReflectTask(
        reference=reference.picture, reference_caption=caption, modification_text=text,
        candidates=tuple(looking.picture(image_id) for image_id in pictured), captions=captions,
        previous_query=previous_query if reflection.show_query else None, domain=domain, round_number=number,
    ), stages.watch)
    return ReflectionRound(
        number, answer.query, answer.intent, answer.satisfied, answer.problems, answer.strategy,
        looked_at=tuple(shown[: max(len(pictured), len(captions))]), pictures=len(pictured),
        notes=answer.notes if any(captions) or not reflection.captions else (*answer.notes, _NO_CAPTIONS),
        vector=encoder.encode_texts([answer.query])[0],
    )
