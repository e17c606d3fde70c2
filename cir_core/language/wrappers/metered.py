"""Telling how each request to a language model ended."""

from __future__ import annotations

from collections.abc import Callable

from cir_core.errors import LanguageModelUnavailable, Stopped
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task


class CountedLanguageModel:
    """``heard`` gets the role and ``answered``, ``unavailable``, ``stopped`` or ``failed``."""

    def __init__(self, inner: LanguageModel, heard: Callable[[str, str], None]) -> None:
        self._inner, self._heard = inner, heard

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def sees(self) -> bool:
        return self._inner.sees

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """See :class:`~cir_core.language.base.LanguageModel`."""
        outcome = "failed"
        try:
            answer = self._inner.complete(task, watch)
            outcome = "answered"
            return answer
        except LanguageModelUnavailable:
            outcome = "unavailable"
            raise
        except Stopped:
            outcome = "stopped"
            raise
        finally:
            self._heard(task.role, outcome)
