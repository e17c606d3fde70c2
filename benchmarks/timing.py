"""Paired timings and their ratio."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True)
class Pairs:
    """Milliseconds of both sides, pair by pair."""

    ours: list[float]
    bare: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(a / b for a, b in zip(self.ours, self.bare, strict=True))

    def line(self, label: str) -> str:
        ratios = sorted(a / b for a, b in zip(self.ours, self.bare, strict=True))
        quarter = len(ratios) // 4
        return (
            f"{label:<44} {statistics.median(self.ours):9.1f} ms  {statistics.median(self.bare):9.1f} ms  "
            f"{self.ratio:6.3f}  ({ratios[quarter]:.3f} to {ratios[-1 - quarter]:.3f})"
        )


def in_turn(ours: Callable[[int], object], bare: Callable[[int], object], pairs: int) -> Pairs:
    """Time ``ours(i)`` and ``bare(i)`` alternately; the first pair warms up and is dropped."""
    a, b = [], []
    for i in range(pairs + 1):
        # The order alternates with every pair, so that neither side always has a warm cache.
        first, second = (ours, bare) if i % 2 else (bare, ours)
        times = {}
        for side in (first, second):
            started = perf_counter()
            side(i)
            times[side] = (perf_counter() - started) * 1000
        if i:
            a.append(times[ours])
            b.append(times[bare])
    return Pairs(a, b)


HEADER = f"{'':<44} {'cirque':>12}  {'bare':>12}  ratio   (middle half)"
