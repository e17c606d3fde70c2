"""Answers in memory, for as long as one evaluation runs."""

from __future__ import annotations

from typing import Any, cast

from cir_core.errors import LanguageModelError, LanguageModelUnavailable, Stopped
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.language.wrappers.cached import answer_key


class RememberingLanguageModel(Wrapper):
    """Asks ``inner`` once for each task. A refusal is remembered too: what is compared must fail at the same
    queries. An unavailable model is asked again."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._known: dict[str, Any] = {}

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        key = answer_key(self.name, task, self.conditions(task))
        if key not in self._known:
            try:
                self._known[key] = self.inner.complete(task, watch)
            except (LanguageModelUnavailable, Stopped):
                raise
            except LanguageModelError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, LanguageModelError):
            raise found
        return cast(A, found)

    def forget(self) -> None:
        """Drop all answers."""
        self._known.clear()
