"""Fall back to the built-in model while a server is unavailable."""

from __future__ import annotations

from cir_core.errors import LanguageModelError, LanguageModelUnavailable, Stopped, UnsupportedTask
from cir_core.language.base import LanguageModel, model_alone
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.types.composition import Usage


class FallbackLanguageModel(Wrapper):
    """Calls ``primary``; while that is unavailable, ``builtin`` answers, with a note. Other errors, and stops, are
    passed on."""

    def __init__(self, primary: LanguageModel, builtin: LanguageModel) -> None:
        super().__init__(primary)
        self._builtin = builtin

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        try:
            return self.inner.complete(task, watch)
        except LanguageModelUnavailable as error:
            reason = str(error)
        try:
            answer = self._builtin.complete(task, watch)
        except UnsupportedTask:
            raise LanguageModelUnavailable(f"{reason} The built-in language model cannot fill the role '{task.role}' "
                                           "in its place.") from None
        except Stopped:
            raise
        except LanguageModelError as error:
            raise LanguageModelUnavailable(f"{reason} The built-in language model failed too: {error}") from None
        if watch is not None:
            watch.spent(Usage(models=(self._builtin.name,), stand_ins=(self._builtin.name,)))
        note = f"the built-in language model answered instead of {model_alone(self.inner.name)}: {reason}"
        return answer.model_copy(update={"notes": (*answer.notes, note)})
