"""Ask once where several threads ask the same at one time."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any, cast

from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.language.wrappers.cached import answer_key


class SingleFlightLanguageModel(Wrapper):
    """While a task is being answered, others with the same key wait for that answer instead of paying for another one,
    which could differ. If it fails, one of them asks in its own name. Wrap it around the cache."""

    def __init__(self, inner: LanguageModel) -> None:
        super().__init__(inner)
        self._lock = threading.Lock()
        self._asked: dict[str, Future[Any]] = {}

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        key = answer_key(self.name, task, self.conditions(task))
        while True:
            with self._lock:
                pending = self._asked.get(key)
                if pending is None:
                    mine = self._asked[key] = Future()
                    break
            if pending.exception() is None:
                return cast(A, pending.result())
        try:
            answer = self.inner.complete(task, watch)
        except BaseException as error:
            self._end(key)
            mine.set_exception(error)
            raise
        self._end(key)
        mine.set_result(answer)
        return answer

    def _end(self, key: str) -> None:
        with self._lock:
            del self._asked[key]
