"""What cirque asks of a language model, and what it must get back.

A task is a frozen record of the inputs; its ``answer_type`` is a pydantic model, so a
model that answers in JSON is validated by the same class that a rule-based one fills.
New roles are new tasks: the :class:`~cir_core.language.base.LanguageModel` protocol
does not change.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from cir_core.types import Vector


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)

    notes: tuple[str, ...] = Field(
        default=(), description="Remarks for the trace, e.g. words that were not understood."
    )


class CaptionAnswer(Answer):
    caption: str = Field(description="One or two sentences; empty if the model cannot tell.")


class MergeAnswer(Answer):
    query: str = Field(min_length=1, description="A short caption of the wanted image.")


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True)
class Task(Generic[A]):
    """Base of all tasks."""

    role: ClassVar[str]
    answer_type: ClassVar[type[Answer]]


@dataclass(frozen=True)
class CaptionTask(Task[CaptionAnswer]):
    """Describe the reference image (CIReVL step 1, CIRCLED f_caption).

    ``features`` is the image's vector under the gallery's encoder: the built-in model
    captions by zero-shot attributes from it and needs no pixels.
    """

    role: ClassVar[str] = "caption"
    answer_type: ClassVar[type[Answer]] = CaptionAnswer

    image: Image.Image | None = field(default=None, compare=False, repr=False)
    features: Vector | None = field(default=None, compare=False, repr=False)
    domain: str = "garment"
    known_caption: str | None = None   # from the gallery's manifest; used as it is


@dataclass(frozen=True)
class MergeTask(Task[MergeAnswer]):
    """Apply the modification text to the caption (CIReVL step 2, CIRCLED f_merge)."""

    role: ClassVar[str] = "merge"
    answer_type: ClassVar[type[Answer]] = MergeAnswer

    caption: str = ""
    modification_text: str = ""
