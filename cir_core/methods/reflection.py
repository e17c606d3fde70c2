"""CoRR: inspect the retrieved images, refine the query, fuse it with the query so far (section 3).

    v_t = Slerp(u_t, v_{t−1}; α),  u_t the encoded refined query of round t = 1 … T

The paper leaves open when to stop early (here: when the user does, or by a setting), what to do
when the language model fails in a round (earlier rounds count), and whether a round sees the
previous query (a setting, off).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Final

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.errors import ImageUnreadable, LanguageModelError, SearchError, Stopped
from cir_core.language.tasks import (
    Answer,
    Domain,
    FreeReflectAnswer,
    FreeReflectTask,
    ReflectAnswer,
    ReflectTask,
    SilentReflectTask,
    Task,
)
from cir_core.methods.feedback import ComposedQuery
from cir_core.methods.fusion import blend
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Label, declare
from cir_core.methods.step import Notes, Step, StepTurn
from cir_core.support.maths import unit
from cir_core.support.texts import clean_text
from cir_core.types.composition import Adjustment, Composition, ReflectionRound
from cir_core.types.methods import Reflection
from cir_core.types.records import Hit, Vector

PSEUDO_FEEDBACK: Final = "pseudo-feedback"
FUSIONS = {
    "slerp": "Slerp", "linear": "Linear", "replace": "Replace",
    PSEUDO_FEEDBACK: "Mean of the best, no language model",
}

REASONING = {"steps": "Four steps, written down", "free": "Its own way, written down",
             "silent": "Four steps, unwritten"}
STOPS = {"never": "Never", "same-results": "When the images shown stay the same",
         "nothing-missing": "When nothing is missing"}
_TASKS: Mapping[str, type[ReflectTask]] = {
    "steps": ReflectTask, "free": FreeReflectTask, "silent": SilentReflectTask}

_NO_CAPTIONS = (
    "the rounds saw pictures alone: this gallery has no stored captions (make them with “cirque captions build”)"
)


class ReflectionStep(Step[Reflection]):
    name, label, title, bare, reads_captions = "reflection", "CoRR", "Reflection (CoRR)", True, True
    settings = Reflection
    moves_query = ("rounds",)
    parameters = declare(
        Reflection, Label("rounds", "rounds", "T"), Label("images", "images shown to the model", "K"),
        Label("captions", "captions used", "N"),
        Label("history_weight", "weight of the previous query", "α", "reflection alpha"),
        Label("fusion", "Fusion", choices=FUSIONS), Label("reasoning", "Reasoning of the model", choices=REASONING),
        Label("stop", "Stop early", choices=STOPS),
    )

    @property
    def keeps(self) -> Mapping[str, type[Any]]:
        return {"rounds": ReflectionRound}

    def label_of(self, settings: Reflection) -> str:
        return PSEUDO_FEEDBACK if settings.fusion == PSEUDO_FEEDBACK else self.label

    def labelled_parameters(self, settings: Reflection) -> frozenset[str]:
        return frozenset({"fusion"} if settings.fusion == PSEUDO_FEEDBACK else ())

    def figure(self, settings: Reflection) -> str:
        return f"{settings.rounds} round{'' if settings.rounds == 1 else 's'}"

    def summary(self, settings: Reflection) -> tuple[str, str]:
        rounds, history = self.figure(settings), f"history {settings.history_weight:g}"
        if settings.fusion == PSEUDO_FEEDBACK:
            return "Reflection", f"mean of the best {settings.images}, {rounds}, {history}"
        seen = ", sees its query" if settings.show_query else ""
        reasons = f", reasoning {settings.reasoning}" if settings.reasoning != "steps" else ""
        stops = f", stops at {settings.stop}" if settings.stop != "never" else ""
        return "Reflection", (f"{self.label}, {rounds}, {settings.images} images, {settings.captions} captions, "
                              f"{settings.fusion}, {history}{seen}{reasons}{stops}")

    def trace(self, composition: Composition) -> list[tuple[str, str]]:
        return [(f"Round {one.number}", one.query) for one in composition.rounds if one.query]

    def tasks(self, settings: Reflection, domain: Domain) -> tuple[Task[Any], ...]:
        return () if settings.fusion == PSEUDO_FEEDBACK else (_TASKS[settings.reasoning](domain=domain),)

    def ask(self, settings: Reflection, turn: StepTurn) -> tuple[Mapping[str, Any], Notes]:
        return {}, ()

    def refine(
        self, query: ComposedQuery, settings: Reflection, turn: StepTurn
    ) -> tuple[ComposedQuery, Mapping[str, Any], Notes]:
        query, rounds, notes = reflect(query, settings, turn)
        if turn.gallery_view.captions_problem and settings.fusion != PSEUDO_FEEDBACK:
            notes = (turn.gallery_view.captions_problem, *notes)
        return query, {"rounds": rounds}, notes

    def replay(self, query: ComposedQuery, settings: Reflection, composition: Composition) -> ComposedQuery:
        return fuse_rounds(query, composition.rounds, settings)

    def adjust(
        self, composition: Composition, notes: Notes, adjustment: Adjustment, encoder: Encoder, stages: StageTimer
    ) -> tuple[Composition, Notes]:
        """The first rounds, the last of them with another query. Notes of rounds that were taken back are dropped."""
        before, kept = composition.rounds, list(composition.rounds)
        if adjustment.rounds is not None:
            kept = kept[: max(0, adjustment.rounds)]
        if adjustment.rewritten is not None:
            if not kept:
                raise SearchError("There is no refined query to rewrite in this turn.")
            text = clean_text(adjustment.rewritten)
            with stages("encode text"):
                vector = encoder.encode_texts([text])[0]
            kept[-1] = replace(kept[-1], query=text, vector=vector, edited=True)
        gone = {note for one in before for note in one.notes} - {note for one in kept for note in one.notes}
        lines = [note for note in notes if note not in gone]
        if len(kept) < len(before):
            lines.append(f"{len(kept)} of {len(before)} rounds of reflection are applied")
        if any(one.edited and not was.edited for one, was in zip(kept, before, strict=False)):
            lines.append(f"the query of round {len(kept)} was rewritten by hand")
        return replace(composition, rounds=tuple(kept)), tuple(dict.fromkeys(lines))


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
    how = "slerp" if reflection.fusion == PSEUDO_FEEDBACK else reflection.fusion
    mix = blend(new, query.vector, history_weight=reflection.history_weight, how=how)
    terms: dict[str, Vector] = {}
    if mix.history:
        terms |= {key: np.float32(mix.history) * term for key, term in query.terms.items()}
    if mix.new:
        terms[name] = np.float32(mix.new) * new
    return ComposedQuery(mix.of(new, query.vector), terms)


def reflect(
    start: ComposedQuery, reflection: Reflection, turn: StepTurn
) -> tuple[ComposedQuery, tuple[ReflectionRound, ...], Notes]:
    """Run the rounds. Returns the query, the rounds and notes for the person."""
    query, rounds, notes = start, list[ReflectionRound](), list[str]()
    watch = turn.stages.watch
    previous_query = turn.merged
    for number in range(1, reflection.rounds + 1):
        if watch.stopped:
            notes.append(f"stopped after {len(rounds)} of {reflection.rounds} rounds of reflection")
            break
        began = perf_counter()
        depth = reflection.images if reflection.fusion == PSEUDO_FEEDBACK else \
            max(reflection.images, reflection.captions)
        try:
            with turn.stages("reflect"):
                hits = turn.gallery_view.best(query.vector, depth)
                watch.found(hits)
                if why := _stops(reflection, rounds, hits):
                    notes.append(f"reflection ended after {len(rounds)} of {reflection.rounds} rounds: {why}")
                    break
                one = _round(number, hits, reflection, turn, previous_query)
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


def _stops(reflection: Reflection, rounds: Sequence[ReflectionRound], hits: Sequence[Hit]) -> str:
    """Why there is no further round after ``rounds``, whose query found ``hits``; "" if there is one."""
    if not rounds:
        return ""
    last = rounds[-1]
    best = tuple(hit.image_id for hit in hits[: reflection.images])
    if reflection.stop == "same-results" and best == last.looked_at[: reflection.images]:
        return f"the first {len(best)} results stayed the same"
    # Only a model that writes its four steps down says what is missing.
    lists = reflection.reasoning == "steps" and reflection.fusion != PSEUDO_FEEDBACK
    if reflection.stop == "nothing-missing" and lists and not last.problems:
        return "the language model found nothing missing"
    return ""


def _round(
    number: int, hits: Sequence[Hit], reflection: Reflection, turn: StepTurn, previous_query: str
) -> ReflectionRound:
    gallery_view = turn.gallery_view
    shown = [hit.image_id for hit in hits]
    pictured = shown[: reflection.images]
    if reflection.fusion == PSEUDO_FEEDBACK:
        mean = unit(gallery_view.features(pictured).mean(axis=0)) if pictured else None
        return ReflectionRound(number, "", looked_at=tuple(pictured), pictures=len(pictured), vector=mean)
    captions = gallery_view.captions(shown[: reflection.captions])
    answer: Any = turn.language.complete(_TASKS[reflection.reasoning](
        reference=turn.reference.picture, reference_caption=turn.caption_shown, modification_text=turn.text,
        candidates=tuple(gallery_view.picture(image_id) for image_id in pictured), captions=captions,
        previous_query=previous_query if reflection.show_query else None, domain=turn.domain,
        round_number=number,
    ), turn.stages.watch)
    return ReflectionRound(
        number, answer.query, **_thoughts(answer),
        looked_at=tuple(shown[: max(len(pictured), len(captions))]), pictures=len(pictured),
        notes=answer.notes if any(captions) or not reflection.captions else (*answer.notes, _NO_CAPTIONS),
        vector=turn.encoder.encode_texts([answer.query])[0],
    )


def _thoughts(answer: Answer) -> dict[str, Any]:
    """What the answer says besides its query, as fields of a :class:`ReflectionRound`."""
    if isinstance(answer, ReflectAnswer):
        return {"intent": answer.intent, "satisfied": answer.satisfied, "problems": answer.problems,
                "strategy": answer.strategy}
    return {"strategy": answer.reasoning} if isinstance(answer, FreeReflectAnswer) else {}
