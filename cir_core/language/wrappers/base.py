"""Base class of language models that stand around another one. Dependencies of answers besides model and task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import A, Task


@dataclass(frozen=True)
class Conditions:
    """Everything besides model and inputs that an answer depends on."""

    prompt_version: str = ""
    image_edge: int = 0          # pixels; 0: no images are shown
    temperature: float = 0.0


def conditions_of(language: LanguageModel, task: Task[Any]) -> Conditions:
    """The declared conditions of ``language`` for ``task``; empty if it has none."""
    tell: Callable[[Task[Any]], Conditions] | None = getattr(language, "conditions", None)
    return Conditions() if tell is None else tell(task)


class Wrapper:
    """Name, sight, conditions and answers of ``inner``; a subclass overrides what it changes."""

    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def sees(self) -> bool:
        return self.inner.sees

    def conditions(self, task: Task[Any]) -> Conditions:
        """What the answer to ``task`` depends on besides its inputs and the model."""
        return conditions_of(self.inner, task)

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        return self.inner.complete(task, watch)
