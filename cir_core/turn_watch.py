"""Somebody looking on while a turn is made."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.composition import ReflectionRound
from cir_core.language.watch import Watch
from cir_core.types import Hit


class TurnWatch(Watch):
    """Override what is of interest; all of it is called from the thread that makes the turn."""

    def stage(self, name: str) -> None:
        """A stage begins: "caption", "merge", "constraints", "reflect 1", …"""

    def found(self, hits: Sequence[Hit]) -> None:
        """The best so far, before the next round of reflection looks at them."""

    def reflected(self, finished: ReflectionRound) -> None:
        """A round is over."""
