"""Report the outcome of each language model request."""

from __future__ import annotations

from collections.abc import Callable

from cir_core.errors import LanguageModelUnavailable, Stopped
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper


class CountedLanguageModel(Wrapper):
    """``heard`` is called with the role and ``answered``, ``unavailable``, ``stopped`` or ``failed``."""

    def __init__(self, inner: LanguageModel, heard: Callable[[str, str], None]) -> None:
        super().__init__(inner)
        self._heard = heard

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        outcome = "failed"
        try:
            answer = self.inner.complete(task, watch)
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
