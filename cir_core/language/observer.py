"""Somebody looking on while a language model works: text as it comes, what it cost, when to stop."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from cir_core.types.composition import Usage


class Observer:
    """Handed down to every ``complete`` of one turn. Thread-safe; subclasses override
    :meth:`partial` to see an answer grow.

    ``stop`` asks to finish early: methods look at it between their rounds, a model that
    waits for a server all the while (it then raises ``Stopped``).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()
        self._stop = threading.Event()

    def partial(self, role: str, fields: Mapping[str, Any]) -> None:
        """``fields`` of the answer so far; the last text may be cut anywhere."""

    @property
    def follows(self) -> bool:
        """Whether anybody looks at :meth:`partial`; else an answer may come in one piece."""
        return type(self).partial is not Observer.partial

    def spent(self, usage: Usage) -> None:
        """Counts a request, or an answer from the cache."""
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
    """Passes everything on to ``outer``, and counts what one part of the work used."""

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
