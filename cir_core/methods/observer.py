"""Somebody looking on while a turn is made."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.language.observer import MeteredWatch, Observer
from cir_core.types.composition import ReflectionRound
from cir_core.types.records import Hit


class TurnObserver(Observer):
    """Override what is of interest; all of it is called from the thread that makes the turn."""

    def stage(self, name: str) -> None:
        """A stage begins: "caption", "merge", "constraints", "reflect", …"""

    def found(self, hits: Sequence[Hit]) -> None:
        """The best so far, before the next round of reflection looks at them."""

    def reflected(self, finished: ReflectionRound) -> None:
        """A round is over."""


class PartWatch(MeteredWatch, TurnObserver):
    """Passes everything on to ``outer`` and counts what one part of a longer action used."""

    def __init__(self, outer: TurnObserver) -> None:
        super().__init__(outer)
        self._whole = outer

    def stage(self, name: str) -> None:
        self._whole.stage(name)

    def found(self, hits: Sequence[Hit]) -> None:
        self._whole.found(hits)

    def reflected(self, finished: ReflectionRound) -> None:
        self._whole.reflected(finished)
