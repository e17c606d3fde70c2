"""Dependencies of answers besides model and task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Task


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
