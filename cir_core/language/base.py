"""The seam between retrieval and language models."""

from __future__ import annotations

from typing import Protocol

from cir_core.language.tasks import A, Task


class LanguageModel(Protocol):
    """Anything that can fill some of the roles in :mod:`cir_core.language.tasks`."""

    @property
    def name(self) -> str:
        """For protocol cards, e.g. ``built-in/1`` or ``openai/gpt-4o-mini``."""
        ...

    def complete(self, task: Task[A]) -> A:
        """The validated answer. Raises ``UnsupportedTask`` or ``LanguageModelError``."""
        ...
