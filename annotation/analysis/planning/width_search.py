"""From how wide an interval is at a size to the size that makes it narrow enough.

Units that contribute the same to a number are alike, so a study of any size is one multinomial draw over kinds of
units: as exact as drawing units one by one, and as quick for 60,000 of them as for 60.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import PlanPoint, Precision
from annotation.analysis.statistics.bootstrap import interval
from annotation.analysis.statistics.matrix import Values
from cir_core.errors import StudyError

_DRAWS = 10_000         # studies of each size; fewer where kinds are many
_AT_ONCE = 2**21        # numbers held in memory at a time
_FURTHEST = 20          # times what there is
_STEPS = 13             # sizes looked at, both ends included

Width = Callable[[int], float | None]
"""Of the interval at a size; None where there is no interval, see
:func:`~annotation.analysis.statistics.bootstrap.interval`."""


@dataclass(frozen=True)
class DrawnStudies:
    """Studies drawn from ``counts`` of each kind of unit; ``statistic`` takes how often each kind was drawn,
    (draws, kinds), to the number, (draws,)."""

    counts: NDArray[np.int64]
    statistic: Callable[[Values], Values]
    seed: int

    def width(self, size: int) -> float | None:
        draws = max(500, min(_DRAWS, _AT_ONCE // len(self.counts)))
        drawn = np.random.default_rng(self.seed).multinomial(size, self.counts / self.counts.sum(), draws)
        with np.errstate(divide="ignore", invalid="ignore"):    # 0 / 0: undefined in that draw
            low, high, _ = interval(self.statistic(drawn.astype(np.float64)))
        return None if low is None or high is None else high - low


def check_width(wanted: float) -> None:
    """Raises ``StudyError`` for a width that no interval can be planned for."""
    if not isfinite(wanted) or not 0 < wanted < 2:
        raise StudyError(f"An interval of width {wanted:g} cannot be planned. Choose a width above 0 and below 2, "
                         "such as 0.1, which means ± 0.05.")


def planned(plan: Precision, width_of: Width, now: float | None = None) -> Precision:
    """``plan`` with its widths, and the smallest size that is narrow enough, rounded up.

    ``now``: the width that the report prints; simulated ones are scaled to it, so that nothing is called narrow
    enough that the report shows to be wider."""
    simulated = width_of(plan.have)
    if simulated is None:
        return replace(plan, reason="too few answers: resampling them always gives the same number, or none")
    now = simulated if now is None else now
    scale = now / simulated

    def scaled(size: int) -> float | None:
        width = width_of(size)
        return None if width is None else width * scale

    sizes = sorted({round(plan.have * _FURTHEST ** (step / (_STEPS - 1))) for step in range(_STEPS)})
    points = tuple(PlanPoint(size, width) for size in sizes if (width := scaled(size)) is not None)
    plan = replace(plan, width=now, points=points)
    if now <= plan.wanted:
        return _said(replace(plan, needed=plan.have), "already as narrow")
    narrow = next((place for place, point in enumerate(points) if place and point.width <= plan.wanted), None)
    if narrow is None:
        return _said(plan, f"with {points[-1].size:,} {plan.more_of} the interval is still {points[-1].width:.3f} wide")
    return replace(plan, needed=_about(_smallest(points[narrow - 1], points[narrow], plan.wanted, scaled)))


def _said(plan: Precision, reason: str) -> Precision:
    return replace(plan, reason="; ".join(filter(None, (reason, plan.reason))))


def _about(size: int) -> int:
    """Rounded up to two digits: of the same people another sample of answers can ask for half as much or twice."""
    step = int(10 ** max(0, len(str(size)) - 2))
    return -(-size // step) * step


def _smallest(wide: PlanPoint, narrow: PlanPoint, wanted: float, width_of: Width) -> int:
    """Between two sizes, one just wide and one narrow enough: where the line between them, in logarithms, meets
    ``wanted``, and from there up to the first that holds."""
    part = np.log(wide.width / wanted) / np.log(wide.width / narrow.width)
    size = int(np.ceil(wide.size * (narrow.size / wide.size) ** part))
    while size < narrow.size:
        width = width_of(size)
        if width is not None and width <= wanted:
            return size
        size += max(1, size // 100)
    return narrow.size
