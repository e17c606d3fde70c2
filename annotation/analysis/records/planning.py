"""How many more answers a narrower interval takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlanPoint:
    """``width``: of the 95 % interval, upper less lower."""

    size: int
    width: float


@dataclass(frozen=True)
class Precision:
    """How wide the interval of one number would be with more of something."""

    what: str                      # "kappa", "preference rate"
    more_of: str                   # "items", "people", "questions"
    have: int
    width: float | None            # now
    wanted: float
    needed: int | None             # in all, not more of; None: not within ``points``, or not to be had
    points: tuple[PlanPoint, ...]
    assumption: str                # a sentence
    reason: str = ""
