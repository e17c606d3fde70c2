"""Progress observer and stage times of a search turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from cir_core.errors import CirqueError
from cir_core.language.base import MeteredWatch, Observer
from cir_core.types.composition import ReflectionRound
from cir_core.types.records import Hit


class TurnObserver(Observer):
    """Override the methods of interest; all are called from the thread that runs the turn."""

    def stage(self, name: str) -> None:
        """A stage begins: "caption", "merge", "constraints", "reflect", …"""

    def found(self, hits: Sequence[Hit]) -> None:
        """The best hits so far, before the next round of reflection."""

    def reflected(self, finished: ReflectionRound) -> None:
        """A round has finished."""


class QueryWatch(TurnObserver):
    """Records the first failure of one query."""

    def __init__(self) -> None:
        super().__init__()
        self.error: CirqueError | None = None


class PartWatch(MeteredWatch, TurnObserver):
    """Forwards everything to ``outer`` and counts the usage of one part of a longer action."""

    def __init__(self, outer: TurnObserver) -> None:
        super().__init__(outer)
        self._whole = outer

    def stage(self, name: str) -> None:
        self._whole.stage(name)

    def found(self, hits: Sequence[Hit]) -> None:
        self._whole.found(hits)

    def reflected(self, finished: ReflectionRound) -> None:
        self._whole.reflected(finished)


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
