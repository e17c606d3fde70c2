"""Observer of a language model call: partial text, usage, stop requests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

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
