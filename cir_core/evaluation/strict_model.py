"""Language models whose failures are not passed over.

A search goes on without a filter or a round that failed and says so. A measurement that
did would count the base method under the name of another.
"""

from __future__ import annotations

from cir_core.errors import CirqueError
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.methods.observer import TurnObserver


class QueryWatch(TurnObserver):
    """Remembers the first thing that went wrong with one query."""

    def __init__(self) -> None:
        super().__init__()
        self.error: CirqueError | None = None


class StrictLanguageModel:
    """Tells a :class:`QueryWatch` of every error of ``inner``, also of those a method gets over."""

    def __init__(self, inner: LanguageModel) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def sees(self) -> bool:
        return self._inner.sees

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """See :class:`~cir_core.language.base.LanguageModel`."""
        try:
            return self._inner.complete(task, watch)
        except CirqueError as error:
            if isinstance(watch, QueryWatch) and watch.error is None:
                watch.error = error
            raise
