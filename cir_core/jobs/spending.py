"""Count what a job asks of language models, and stop it at a budget."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from cir_core.errors import Stopped
from cir_core.language.base import LanguageModel, MeteredWatch, Observer
from cir_core.language.tasks import A, Task
from cir_core.language.wrappers.base import Wrapper
from cir_core.methods.observer import QueryWatch
from cir_core.types.composition import Usage


@dataclass(frozen=True)
class Budget:
    """Limits over all runs of one job; None: no limit. ``cost`` in the currency of the prices."""

    cost: float | None = None
    calls: int | None = None

    def reached(self, usage: Usage) -> str:
        """Which limit ``usage`` has reached, in words; "" if none."""
        if self.cost is not None and (usage.cost or 0.0) >= self.cost:
            return f"the budget of {self.cost:g} is spent"
        if self.calls is not None and usage.calls >= self.calls:
            return f"{self.calls:,} requests were sent"
        return ""


class Spending:
    """Usage so far, by role and in all. Thread-safe. Once the budget is reached or :meth:`stop` is called, items end
    before their next request; what was sent is waited for, as it is paid for, until :meth:`shutdown` is called."""

    def __init__(self, budget: Budget, before: Usage = Usage()) -> None:
        self._budget, self._before = budget, before
        self._lock = threading.Lock()
        self._stop, self._shut_down = threading.Event(), threading.Event()
        self.usage = Usage()
        self.answers: dict[str, int] = {}       # by role, cached ones included
        self.by_role: dict[str, Usage] = {}
        self.worked: dict[str, float] = {}      # seconds of processor time of the asking threads, by role
        self.reason = budget.reached(before)
        if self.reason:
            self._stop.set()

    @property
    def total(self) -> Usage:
        return self._before + self.usage

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    @property
    def shut_down(self) -> bool:
        return self._shut_down.is_set()

    def shutdown(self) -> None:
        """Stop, and do not wait for requests under way."""
        self.stop()
        self._shut_down.set()

    def stop(self, reason: str = "") -> None:
        self.reason = self.reason or reason
        self._stop.set()

    def spent(self, usage: Usage) -> None:
        with self._lock:
            self.usage += usage
            reached = self._budget.reached(self.total)
        if reached:
            self.stop(reached)

    def answered(self, role: str, usage: Usage, worked: float = 0.0) -> None:
        with self._lock:
            self.worked[role] = self.worked.get(role, 0.0) + worked
            self.answers[role] = self.answers.get(role, 0) + 1
            self.by_role[role] = self.by_role.get(role, Usage()) + usage


class ItemWatch(QueryWatch):
    """Watches one item: its usage counts towards the job's, whose end is its own."""

    def __init__(self, spending: Spending) -> None:
        super().__init__()
        self._spending = spending

    def spent(self, usage: Usage) -> None:
        super().spent(usage)
        self._spending.spent(usage)

    @property
    def stopped(self) -> bool:
        return self._spending.shut_down


class CountedAnswers(Wrapper):
    """Counts answers by role, and asks nothing once the job is stopped."""

    def __init__(self, inner: LanguageModel, spending: Spending) -> None:
        super().__init__(inner)
        self._spending = spending

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        if self._spending.stopped:
            raise Stopped(f"Stopped: {self._spending.reason or 'the job ends'}.")
        meter, began = MeteredWatch(watch or Observer()), time.thread_time()
        answer = self.inner.complete(task, meter)
        self._spending.answered(task.role, meter.usage, time.thread_time() - began)
        return answer
