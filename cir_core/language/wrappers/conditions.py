"""What answers depend on besides the model and the task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cir_core.language.base import LanguageModel
from cir_core.language.tasks import Task


@dataclass(frozen=True)
class Conditions:
    """What an answer depends on besides the model and the task's inputs."""

    prompt_version: str = ""
    image_edge: int = 0          # pixels; 0: no images are shown
    temperature: float = 0.0


def conditions_of(language: LanguageModel, task: Task[Any]) -> Conditions:
    """What ``language`` says its answer to ``task`` depends on; nothing where it has no ``conditions``."""
    tell: Callable[[Task[Any]], Conditions] | None = getattr(language, "conditions", None)
    return Conditions() if tell is None else tell(task)
