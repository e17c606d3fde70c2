"""Stage timer of a turn, which also notifies an observer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from cir_core.methods.observer import TurnObserver


class StageTimer:
    """``with stages("merge"): …`` adds the milliseconds to ``milliseconds["merge"]``."""

    def __init__(self, watch: TurnObserver | None = None) -> None:
        self.watch = watch or TurnObserver()
        self.milliseconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        self.watch.stage(name)
        began = perf_counter()
        try:
            yield
        finally:
            took = (perf_counter() - began) * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + took
