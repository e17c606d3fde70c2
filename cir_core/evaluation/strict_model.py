"""Language model wrapper that makes failures visible to evaluations.

A search tolerates a failed filter or round, with a note. A measurement that
did would report the base method under the name of another.
"""

from __future__ import annotations

from cir_core.errors import CirqueError
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.methods.observer import TurnObserver


class QueryWatch(TurnObserver):
    """Records the first failure of one query."""

    def __init__(self) -> None:
        super().__init__()
        self.error: CirqueError | None = None


class StrictLanguageModel(Wrapper):
    """Reports every error of ``inner`` to a :class:`QueryWatch`, including those a method tolerates."""

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        try:
            return self.inner.complete(task, watch)
        except CirqueError as error:
            if isinstance(watch, QueryWatch) and watch.error is None:
                watch.error = error
            raise
