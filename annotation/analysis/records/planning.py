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

    what: str                      # "Fleiss' kappa", "Krippendorff's alpha", "preference rate"
    more_of: str                   # "items", "questions", "people"; "answers per item" where not all judge the same
    have: int                      # that the number rests on; of answers per item the fewest
    width: float | None            # now, as the report prints it
    wanted: float
    needed: int | None             # about so many in all, not more of, rounded up to two digits; ``have`` where it is
                                   # as narrow already; None: not within ``points``, or not to be had
    points: tuple[PlanPoint, ...]
    assumption: str                # a sentence
    reason: str = ""
