"""Route roles to different models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cir_core.language.base import LanguageModel, Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Conditions, Wrapper, conditions_of


class RoutedLanguageModel(Wrapper):
    """``by_role`` names the model of some roles; ``default`` fills the others. ``sees`` is that of ``default``, which
    reflects and filters: a captioner's vision does not serve other roles."""

    def __init__(self, default: LanguageModel, by_role: Mapping[str, LanguageModel]) -> None:
        super().__init__(default)
        self._by_role = dict(by_role)

    @property
    def name(self) -> str:
        """All of them, e.g. ``gpt-4o-mini@api.openai.com + blip-large (caption)``."""
        others = [f"{model.name} ({role})" for role, model in self._by_role.items()]
        return " + ".join((self.inner.name, *others))

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        return self._model(task).complete(task, watch)

    def conditions(self, task: Task[Any]) -> Conditions:
        """Those of the model for the role of ``task``."""
        return conditions_of(self._model(task), task)

    def of_role(self, role: str) -> LanguageModel:
        return self._by_role.get(role, self.inner)

    def _model(self, task: Task[Any]) -> LanguageModel:
        return self.of_role(task.role)


def answering(model: LanguageModel, role: str) -> LanguageModel:
    """The model within its wrappers that is asked first for ``role``."""
    while isinstance(model, Wrapper):
        model = model.of_role(role) if isinstance(model, RoutedLanguageModel) else model.inner
    return model
