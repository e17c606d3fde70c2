"""Different models for different roles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.conditions import Conditions, conditions_of


class RoutedLanguageModel:
    """``by_role`` names the model of some roles; ``default`` fills the others."""

    def __init__(self, default: LanguageModel, by_role: Mapping[str, LanguageModel]) -> None:
        self._default, self._by_role = default, dict(by_role)

    @property
    def name(self) -> str:
        """All of them, e.g. ``gpt-4o-mini@api.openai.com + blip-large (caption)``."""
        others = [f"{model.name} ({role})" for role, model in self._by_role.items()]
        return " + ".join((self._default.name, *others))

    @property
    def sees(self) -> bool:
        """Of the model that reflects and filters: a captioner sees, but not for the others."""
        return self._default.sees

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """See :class:`~cir_core.language.base.LanguageModel`."""
        return self._model(task).complete(task, watch)

    def conditions(self, task: Task[Any]) -> Conditions:
        """Those of the model that fills the role of ``task``."""
        return conditions_of(self._model(task), task)

    def _model(self, task: Task[Any]) -> LanguageModel:
        return self._by_role.get(task.role, self._default)
