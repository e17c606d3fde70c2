"""Language model interface."""

from __future__ import annotations

from typing import Protocol

from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task


class LanguageModel(Protocol):
    """A model that supports some of the roles in :mod:`cir_core.language.tasks`."""

    @property
    def name(self) -> str:
        """For protocol cards, e.g. ``built-in/2`` or ``gpt-4o-mini@api.openai.com``."""

    @property
    def sees(self) -> bool:
        """Whether it processes pixels; others work from captions and feature vectors."""

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """The validated answer.

        Raises:
            UnsupportedTask: a role this model does not support.
            LanguageModelUnavailable: its server cannot be reached or keeps failing.
            Stopped: ``watch`` requested a stop while the answer was being received.
            LanguageModelError: anything else, e.g. an answer in the wrong form.
        """


def model_alone(name: str) -> str:
    """A language model's name without where its server is, for what searchers read: "qwen@host:8000" is "qwen"."""
    return " + ".join(part.rpartition("@")[0] or part for part in name.split(" + "))
