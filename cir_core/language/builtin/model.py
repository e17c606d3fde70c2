"""The built-in language model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from cir_core.errors import UnsupportedTask
from cir_core.garments.known import knows_garments_only
from cir_core.garments.zero_shot import ZeroShotAttributes, attributes_of
from cir_core.language.base import Observer
from cir_core.language.builtin.aspects import aspects
from cir_core.language.builtin.captions import merge, parse_caption
from cir_core.language.builtin.difference import difference
from cir_core.language.builtin.reflect import reflect
from cir_core.language.builtin.seeing import FeatureCaptioner
from cir_core.language.builtin.soft import constraints, rewrite, two_sentences
from cir_core.language.tasks import (
    A,
    Answer,
    AspectsTask,
    CaptionTask,
    ConstraintsTask,
    DifferenceTask,
    Domain,
    FreeReflectAnswer,
    FreeReflectTask,
    MergeTask,
    Picture,
    ReflectAnswer,
    ReflectTask,
    RewriteTask,
    SilentReflectAnswer,
    SilentReflectTask,
    Task,
    TwoSentencesTask,
)
from cir_core.types.vectors import TextEncoder

_CONNECT = "Connect a language model (docs/how-to/language-models.md)"


class BuiltinLanguageModel:
    """Captions by zero-shot attributes, everything else by rules. Deterministic, offline, thread-safe.

    ``encoder_texts`` must be the encoder that computed the images' features; it may be None
    if every image has a caption. It supports every role except judging and confidences, over garments.
    """

    name = "built-in/2"
    sees = False

    def __init__(
        self, encoder_texts: TextEncoder | None = None, *,
        attributes: Callable[[TextEncoder], ZeroShotAttributes] = attributes_of,
    ) -> None:
        pieces = not knows_garments_only(encoder_texts)
        self._captioner = FeatureCaptioner(encoder_texts, attributes)
        self._roles: dict[type[Task[Any]], Callable[[Any], Answer]] = {
            CaptionTask: self._caption, AspectsTask: self._aspects, ConstraintsTask: self._constraints,
            MergeTask: lambda task: merge(task.caption, task.modification_text, pieces=pieces),
            ReflectTask: self._reflect, FreeReflectTask: self._reflect_freely,
            SilentReflectTask: lambda task: _silent(self._reflect(task)),
            DifferenceTask: self._difference, TwoSentencesTask: self._two_sentences, RewriteTask: self._rewrite,
        }

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """The answer to ``task``.

        Raises:
            UnsupportedTask: a role that rules cannot support, or images they cannot describe.
            LanguageModelError: features of another encoder; images without a difference.
        """
        role = self._roles.get(type(task))
        if role is None:
            raise UnsupportedTask(f"The built-in language model cannot fill the role '{task.role}': it is rule-based, "
                                  f"and this role needs judgement. {_CONNECT} for it.")
        return cast(A, role(task))

    def _caption(self, task: CaptionTask) -> Answer:
        return self._captioner.captions([task.picture], task.domain, task.sample)[0]

    def _constraints(self, task: ConstraintsTask) -> Answer:
        caption = task.caption.strip() or self._text(task.reference, task.domain)
        return constraints(caption, task.modification_text)

    def _aspects(self, task: AspectsTask) -> Answer:
        return aspects(task.caption.strip() or self._text(task.reference, task.domain), task.modification_text)

    def _reflect(self, task: ReflectTask) -> ReflectAnswer:
        reference = task.reference_caption.strip() or self._text(task.reference, task.domain)
        _garment(reference, "the reference", task.role)
        candidates = [text for text in self._candidates(task) if parse_caption(text).is_garment]
        if not candidates:
            raise _unsupported(task.role, "any of the candidates")
        return reflect(reference, task.modification_text, candidates, task.previous_query)

    def _reflect_freely(self, task: FreeReflectTask) -> Answer:
        """The rules have one way to reason, so the query is that of :meth:`_reflect`."""
        found = self._reflect(task)
        return FreeReflectAnswer(reasoning=f"{found.intent} {found.strategy}", query=found.query, notes=found.notes)

    def _candidates(self, task: ReflectTask) -> list[str]:
        """Captions of the best candidates, from their images if none was given."""
        texts = list(task.captions) + [""] * (len(task.candidates) - len(task.captions))
        places = [place for place, picture in enumerate(task.candidates) if not texts[place].strip()]
        found = self._texts([task.candidates[place] for place in places], task.domain)
        for place, text in zip(places, found, strict=True):
            texts[place] = text
        return texts

    def _difference(self, task: DifferenceTask) -> Answer:
        reference, target = self._texts([task.reference, task.target], task.domain)
        _garment(reference, "the reference", task.role)
        _garment(target, "the target", task.role)
        return difference(reference, target, task.history, task.attempt)

    def _two_sentences(self, task: TwoSentencesTask) -> Answer:
        reference = self._text(task.reference, task.domain)
        _garment(reference, "the reference", task.role)
        return two_sentences(reference, task.modification_text)

    def _rewrite(self, task: RewriteTask) -> Answer:
        reference, target, *distractors = self._texts([task.reference, task.target, *task.distractors], task.domain)
        _garment(target, "the target", task.role)
        for number, caption in enumerate(distractors, start=1):
            _garment(caption, f"distractor {number}", task.role)
        return rewrite(reference, target, distractors, task.modification_text)

    def _text(self, picture: Picture, domain: Domain) -> str:
        return self._texts([picture], domain)[0]

    def _texts(self, pictures: Sequence[Picture], domain: Domain) -> list[str]:
        return [answer.caption for answer in self._captioner.captions(pictures, domain)]


def _silent(found: ReflectAnswer) -> Answer:
    return SilentReflectAnswer(query=found.query, notes=found.notes)


def _garment(caption: str, what: str, role: str) -> None:
    if not parse_caption(caption).is_garment:
        raise _unsupported(role, what)


def _unsupported(role: str, what: str) -> UnsupportedTask:
    return UnsupportedTask(f"The built-in language model cannot fill the role '{role}' here: it knows garments only, "
                           f"and {what} has no caption of one and no features that look like one. Add captions to the "
                           "gallery's manifest, index it with the encoder in use, or connect a language model "
                           "(docs/how-to/language-models.md).")
