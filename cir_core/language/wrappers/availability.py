"""Wrappers for servers that may be away: fail fast while one is known to be down, answer by the built-in model
meanwhile, and report the outcome of each request."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cir_core.errors import LanguageModelError, LanguageModelUnavailable, Stopped, UnsupportedTask
from cir_core.language.base import LanguageModel, Observer, model_alone
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.types.composition import Usage

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
