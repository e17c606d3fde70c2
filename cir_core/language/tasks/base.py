"""Base classes of tasks and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field

from cir_core.types.records import Domain as Domain
from cir_core.types.vectors import Vector

CUT_OFF = "the language model's answer was cut off; what it had not finished is left out"


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True)

    notes: tuple[str, ...] = Field(
        default=(), description="Remarks for the trace, e.g. words that were not understood."
    )


A = TypeVar("A", bound=Answer)


class Wording(str):
    """An input that stands in a prompt as it is, not in quotation marks: words of cirque, or of who made a study."""


@dataclass(frozen=True)
class Picture:
    """An image for a language model.

    Vision models get the pixels from ``load``, which is called on demand; the built-in
    one reads ``features``, the image's vector under the gallery's encoder, or the caption.
    ``digest`` identifies the content for the cache; without one the pixels are hashed.
    """

    caption: str | None = None
    digest: str = ""
    features: Vector | None = field(default=None, compare=False, repr=False)
    load: Callable[[], Image.Image] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, image: Image.Image, caption: str | None = None) -> Picture:
        return cls(caption, load=lambda: image)


@dataclass(frozen=True)
class Task(Generic[A]):
    """Base of all tasks: a frozen record of the inputs. ``answer_type`` is a pydantic model, so that JSON answers are
    validated by the same class that a rule-based model fills."""

    role: ClassVar[str]
    answer_type: ClassVar[type[Answer]]

    def inputs(self) -> dict[str, Any]:
        """The texts and numbers the answer depends on, as plain types: for prompts
        and cache keys. Images are not included."""
        return {}

    def schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """Fields of the answer that are objects, with a JSON schema for each of their own fields."""
        return {}

    def fault(self, answer: A) -> tuple[str, str] | None:
        """Field and fault of an answer that breaks a rule which no schema expresses; None for a good one."""
        return None

    def pictures(self) -> Sequence[Picture]:
        """The images in the prompt: those of the fields, in their order."""
        values = (getattr(self, one.name) for one in fields(self))
        parts = (part for value in values for part in (value if isinstance(value, tuple) else (value,)))
        return [part for part in parts if isinstance(part, Picture)]
