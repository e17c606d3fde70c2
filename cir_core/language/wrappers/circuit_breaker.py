"""Circuit breaker: fail fast while a server is known to be down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cir_core.errors import LanguageModelUnavailable, Stopped
from cir_core.language.base import LanguageModel
from cir_core.language.observer import Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper

# Own code: pybreaker holds its lock during a call, so that only one could be under way.
REST = 30.0  # seconds


class BreakerLanguageModel(Wrapper):
    """Once ``inner`` was unavailable, fails immediately for ``rest`` seconds without calling it. Then one request is a
    probe; the others still fail until it succeeds."""

    def __init__(
        self, inner: LanguageModel, *, rest: float = REST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(inner)
        self._rest, self._clock = rest, clock
        self._lock = threading.Lock()
        self._failure: str | None = None
        self._until = 0.0

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        self._pass()
        try:
            answer = self.inner.complete(task, watch)
        except LanguageModelUnavailable as error:
            # One sentence for the first failure and those after it: a turn that asks twice says it once.
            failure = f"{error} It is not asked again for {self._rest:g} s."
            with self._lock:
                self._failure, self._until = failure, self._clock() + self._rest
            raise LanguageModelUnavailable(failure) from None
        except Stopped:  # no evidence about the server
            raise
        except Exception:
            self._failure = None
            raise
        self._failure = None
        return answer

    def _pass(self) -> None:
        with self._lock:
            if self._failure is None:
                return
            if self._clock() < self._until:
                raise LanguageModelUnavailable(self._failure)
            self._until = self._clock() + self._rest
