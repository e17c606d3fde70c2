"""CIReVL's composition: caption the reference, merge in the modification, encode the text.

Source: CIReVL section 3, which CIRCLED uses for every turn's text (its eq. 4 and 8).
"""

from __future__ import annotations

from dataclasses import dataclass

from cir_core.language.base import LanguageModel
from cir_core.language.tasks import CaptionAnswer, Domain, MergeTask
from cir_core.stages import Stages


@dataclass(frozen=True)
class MergedText:
    """The text side of a turn."""

    caption: str
    merged: str
    notes: tuple[str, ...]


def merge_texts(
    language: LanguageModel, caption: CaptionAnswer, text: str, domain: Domain, stages: Stages
) -> MergedText:
    """The description of the wanted image. Raises ``LanguageModelError``."""
    with stages("merge"):
        answer = language.complete(MergeTask(caption.caption, text, domain), stages.watch)
    return MergedText(caption.caption, answer.query, (*caption.notes, *answer.notes))
