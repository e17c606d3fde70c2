"""Base class of language models that stand around another one."""

from __future__ import annotations

from typing import Any

from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.conditions import Conditions, conditions_of


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
