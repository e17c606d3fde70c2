"""Modification texts that do not repeat earlier ones: CIRCLED's f_diff with its retries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cir_core.evaluation.metrics.consistency import TAU
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import DifferenceAnswer, DifferenceTask
from cir_core.types.vectors import TextEncoder

_QUOTES = "\"'“”‘’«»`"
_LABELS = ("relative caption:", "caption:", "result:", "instruction:", "output:", "answer:", "modification:")
_OPENINGS = ("the image shows ", "the second image shows ", "the target image shows ", "this image shows ")


def ask_difference(
    language: LanguageModel, encoder_texts: TextEncoder, task: DifferenceTask, *, tau: float = TAU,
    attempts: int = 3, watch: Observer | None = None,
) -> tuple[DifferenceAnswer, tuple[str, ...]]:
    """A modification text from reference to target, and notes on how it was found.

    An instruction whose cosine with any text of ``task.history`` is ``tau`` or more is requested again with the next
    ``attempt``, up to ``attempts`` times in all; the last answer is returned anyway, with a note. ``task.history``
    holds every text of the session so far, T_1 included; if it is empty there is nothing to compare with.
    ``encoder_texts`` need not be the gallery's encoder (CIRCLED: CLIP ViT-B/32).

    Source: CIRCLED, f_diff (section 3), tau = 0.8, three attempts; the published code does not
    compare with T_1. Raises what ``LanguageModel.complete`` does.
    """
    said = [text for text in task.history if text.strip()]
    tries = 0
    while True:
        answer = language.complete(replace(task, attempt=task.attempt + tries), watch)
        tries += 1
        cosine, closest = _closest(encoder_texts, answer.instruction, said) if said else (-1.0, "")
        if cosine < tau:
            return answer, ()
        if tries >= attempts:
            return answer, (
                f"kept after {tries} attempts, though as close as {cosine:.3f} (limit {tau:g}) to what was said "
                f"before: {closest}",
            )


def tidy_instruction(text: str) -> str:
    """A model's instruction without what the release removes: quotes around it, a label such as "Caption:", an opening
    such as "the image shows"; the first letter becomes a capital. White space is folded."""
    text = " ".join(text.split()).strip(_QUOTES).strip()
    for beginnings in (_LABELS, _OPENINGS):
        for beginning in beginnings:
            if text.casefold().startswith(beginning) and len(text) > len(beginning):
                text = text[len(beginning):].strip().strip(_QUOTES).strip()
                break
    return text[:1].upper() + text[1:]


def _closest(encoder_texts: TextEncoder, instruction: str, said: Sequence[str]) -> tuple[float, str]:
    """The largest cosine with one of ``said``, and that text."""
    features = encoder_texts.encode_texts([instruction, *said]).astype("float64")
    cosines = features[1:] @ features[0]
    best = int(cosines.argmax())
    return float(cosines[best]), said[best]
