"""Somebody looking on while a turn is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cir_core.composition import ReflectionRound, Usage
from cir_core.language.watch import Watch
from cir_core.types import Hit


class TurnWatch(Watch):
    """Override what is of interest; all of it is called from the thread that makes the turn."""

    def stage(self, name: str) -> None:
        """A stage begins: "caption", "merge", "constraints", "reflect", …"""

    def found(self, hits: Sequence[Hit]) -> None:
        """The best so far, before the next round of reflection looks at them."""

    def reflected(self, finished: ReflectionRound) -> None:
        """A round is over."""


class PartWatch(TurnWatch):
    """Passes everything on to ``outer`` and counts what one part of a longer action used."""

    def __init__(self, outer: TurnWatch) -> None:
        super().__init__()
        self._outer = outer

    def stage(self, name: str) -> None:
        self._outer.stage(name)

    def found(self, hits: Sequence[Hit]) -> None:
        self._outer.found(hits)

    def reflected(self, finished: ReflectionRound) -> None:
        self._outer.reflected(finished)

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
