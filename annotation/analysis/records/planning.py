"""Records of sample-size planning."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlanPoint:
    """``width``: of the 95 % interval, upper minus lower."""

    size: int
    width: float


@dataclass(frozen=True)
class Precision:
    """Forecast of the interval width of one statistic with more items, answers, questions or people."""

    what: str                      # "Fleiss' kappa", "Krippendorff's alpha", "preference rate"
    more_of: str                   # "items", "questions", "people"; "answers per item" if people judge different items
    have: int                      # current number; minimum of answers per item
    width: float | None            # current, as in the report
    wanted: float
    needed: int | None             # approximate total, rounded up to two digits; ``have`` if already narrow enough;
                                   # None: not within ``points``, or impossible
    points: tuple[PlanPoint, ...]
    assumption: str                # a sentence
    reason: str = ""
