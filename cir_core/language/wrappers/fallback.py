"""Going on with the built-in model while a server is away."""

from __future__ import annotations

from typing import Any

from cir_core.errors import LanguageModelError, LanguageModelUnavailable, Stopped, UnsupportedTask
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.conditions import Conditions, conditions_of
from cir_core.types.composition import Usage


class FallbackLanguageModel:
    """Asks ``primary``; while that is unavailable, ``builtin`` answers and the answer says so.

    Other errors, and being stopped, are not covered up.
    """

    def __init__(self, primary: LanguageModel, builtin: LanguageModel) -> None:
        self._primary, self._builtin = primary, builtin

    @property
    def name(self) -> str:
        return self._primary.name

    @property
    def sees(self) -> bool:
        return self._primary.sees

    def conditions(self, task: Task[Any]) -> Conditions:
        """Those of the model that is asked first."""
        return conditions_of(self._primary, task)

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """See :class:`~cir_core.language.base.LanguageModel`."""
        try:
            return self._primary.complete(task, watch)
        except LanguageModelUnavailable as error:
            reason = str(error)
        try:
            answer = self._builtin.complete(task, watch)
        except UnsupportedTask:
            raise LanguageModelUnavailable(
                f"{reason} The built-in language model cannot fill the role '{task.role}' in its place."
            ) from None
        except Stopped:
            raise
        except LanguageModelError as error:
            raise LanguageModelUnavailable(f"{reason} The built-in language model failed too: {error}") from None
        if watch is not None:
            watch.spent(Usage(models=(self._builtin.name,)))
        note = f"the built-in language model answered instead of {self._primary.name}: {reason}"
        return answer.model_copy(update={"notes": (*answer.notes, note)})
