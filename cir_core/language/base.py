"""Language model interface. Observer of a language model call: partial text, usage, stop requests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol

from cir_core.language.tasks import A, Task
from cir_core.types.composition import Usage


class Observer:
    """Passed down to every ``complete`` of one turn. Thread-safe; subclasses override
    :meth:`partial` to follow an answer as it is written.

    ``stop`` requests an early end: methods check it between their rounds, a model that
    waits for a server checks it continuously (and then raises ``Stopped``).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()
        self._stop = threading.Event()

    def partial(self, role: str, fields: Mapping[str, Any]) -> None:
        """``fields`` of the answer so far; the last text may be truncated anywhere."""

    @property
    def follows(self) -> bool:
        """Whether :meth:`partial` is used; if not, an answer may come in one piece."""
        return type(self).partial is not Observer.partial

    def spent(self, usage: Usage) -> None:
        """Count the usage of a request or of a cached answer."""
        with self._lock:
            self._usage += usage

    @property
    def usage(self) -> Usage:
        return self._usage

    def stop(self) -> None:
        self._stop.set()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()


class MeteredWatch(Observer):
    """Forwards everything to ``outer``, and counts the usage of one part of the work."""

    def __init__(self, outer: Observer) -> None:
        super().__init__()
        self._outer = outer

    def partial(self, role: str, fields: Mapping[str, Any]) -> None:
        self._outer.partial(role, fields)

    @property
    def follows(self) -> bool:
        return self._outer.follows

    def spent(self, usage: Usage) -> None:
        super().spent(usage)
        self._outer.spent(usage)

    def stop(self) -> None:
        self._outer.stop()

    @property
    def stopped(self) -> bool:
        return self._outer.stopped


class LanguageModel(Protocol):
    """A model that supports some of the roles in :mod:`cir_core.language.tasks`."""

    @property
    def name(self) -> str:
        """For protocol cards, e.g. ``built-in/2`` or ``gpt-4o-mini@api.openai.com``."""

    @property
    def sees(self) -> bool:
        """Whether it processes pixels; others work from captions and feature vectors."""

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        """The validated answer.

        Raises:
            UnsupportedTask: a role this model does not support.
            LanguageModelUnavailable: its server cannot be reached or keeps failing.
            Stopped: ``watch`` requested a stop while the answer was being received.
            LanguageModelError: anything else, e.g. an answer in the wrong form.
        """


def model_alone(name: str) -> str:
    """A language model's name without where its server is, for what searchers read: "qwen@host:8000" is "qwen"."""
    return " + ".join(part.rpartition("@")[0] or part for part in name.split(" + "))
