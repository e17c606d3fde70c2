"""Search for the sample size at which an interval is narrow enough. Precision with more answers per item, by a
beta-binomial model of answers.

Units with equal contributions to a statistic form one kind, so a study of any size is one multinomial sample over
kinds of units: as exact as sampling units one by one, and as fast for 60,000 units as for 60.

Each item has its own probability of a valid judgement, from the beta distribution with the observed share and
agreement; answers are independent given it (the model of :mod:`annotation.studies.planner`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import PlanPoint, Precision
from annotation.analysis.statistics.bootstrap import interval
from annotation.analysis.statistics.matrix import Values
from cir_core.errors import StudyError

_DRAWS = 10_000         # simulated studies per size; fewer with many kinds
_AT_ONCE = 2**21        # numbers held in memory at a time
_FURTHEST = 20          # maximum size, relative to the existing one
_STEPS = 13             # sizes to evaluate, both ends included

AS_NOW = "assuming that further answers are like the existing ones"

Width = Callable[[int], float | None]
"""Width of the interval at a size; None if undefined, see
:func:`~annotation.analysis.statistics.bootstrap.interval`."""


@dataclass(frozen=True)
class DrawnStudies:
    """Simulated studies from ``counts`` per kind of unit; ``statistic`` maps sampled counts, (draws, kinds), to the
    statistic, (draws,)."""

    counts: NDArray[np.int64]
    statistic: Callable[[Values], Values]
    seed: int

    def width(self, size: int) -> float | None:
        draws = max(500, min(_DRAWS, _AT_ONCE // len(self.counts)))
        drawn = np.random.default_rng(self.seed).multinomial(size, self.counts / self.counts.sum(), draws)
        with np.errstate(divide="ignore", invalid="ignore"):    # 0 / 0: undefined in that replicate
            low, high, _ = interval(self.statistic(drawn.astype(np.float64)))
        return None if low is None or high is None else high - low


def check_width(wanted: float) -> None:
    """Raises ``StudyError`` for an impossible width."""
    if not isfinite(wanted) or not 0 < wanted < 2:
        raise StudyError(f"Cannot plan for an interval of width {wanted:g}. Choose a width above 0 and below 2, "
                         "such as 0.1, which is ± 0.05.")


def planned(plan: Precision, width_of: Width, now: float | None = None) -> Precision:
    """``plan`` with interval widths, and the smallest size that is narrow enough, rounded up. ``now``: the report's
    width, to which simulated ones are scaled, so that both are consistent."""
    simulated = width_of(plan.have)
    if simulated is None:
        return replace(plan, reason="resampling these answers always gives the same value or none: there are too few "
                                    "to estimate its variance")
    now = simulated if now is None else now
    scale = now / simulated

    def scaled(size: int) -> float | None:
        width = width_of(size)
        return None if width is None else width * scale

    sizes = sorted({round(plan.have * _FURTHEST ** (step / (_STEPS - 1))) for step in range(_STEPS)})
    points = tuple(PlanPoint(size, width) for size in sizes if (width := scaled(size)) is not None)
    plan = replace(plan, width=now, points=points)
    if now <= plan.wanted:
        return _with_reason(replace(plan, needed=plan.have), "it is already narrow enough")
    narrow = next((place for place, point in enumerate(points) if place and point.width <= plan.wanted), None)
    if narrow is None:
        return _with_reason(plan, f"with {points[-1].size:,} {plan.more_of} it is still {points[-1].width:.3f} wide")
    return replace(plan, needed=_about(_smallest(points[narrow - 1], points[narrow], plan.wanted, scaled)))


def _with_reason(plan: Precision, reason: str) -> Precision:
    return replace(plan, reason="; ".join(filter(None, (reason, plan.reason))))


def _about(size: int) -> int:
    """Rounded up to two digits, because another sample of answers may give half or twice as much."""
    step = int(10 ** max(0, len(str(size)) - 2))
    return -(-size // step) * step


def _smallest(wide: PlanPoint, narrow: PlanPoint, wanted: float, width_of: Width) -> int:
    """Smallest narrow enough size between a too wide and a narrow enough one: log-linear interpolation, then upwards
    to the first that holds."""
    part = np.log(wide.width / wanted) / np.log(wide.width / narrow.width)
    size = int(np.ceil(wide.size * (narrow.size / wide.size) ** part))
    while size < narrow.size:
        width = width_of(size)
        if width is not None and width <= wanted:
            return size
        size += max(1, size // 100)
    return narrow.size


_ANSWER_DRAWS = 2_000
_ITEMS = 200     # maximum of simulated items; the width shrinks with the root of the items


def alpha_width(items: Mapping[int, int], share: float, alpha: float, seed: int) -> float | None:
    """Width of the 95 % interval of Krippendorff's alpha (with equal numbers of answers per item, of Fleiss' kappa up
    to O(1/answers)). ``items``: number of answers (2 or more) to number of items. None if the model has no variance."""
    part = min(1.0, _ITEMS / sum(items.values()))
    random = np.random.default_rng(seed)
    differ, valid, given = np.zeros(_ANSWER_DRAWS), np.zeros(_ANSWER_DRAWS), 0
    for answers, number in items.items():
        some = max(1, round(number * part))
        if alpha > 0:
            spread = (1 - alpha) / alpha
            chance = random.beta(share * spread, (1 - share) * spread, (_ANSWER_DRAWS, some))
        else:
            chance = np.full((_ANSWER_DRAWS, some), share)
        positives = random.binomial(answers, chance)
        differ += (positives * (answers - positives)).sum(axis=1) / (answers - 1)
        valid += positives.sum(axis=1)
        given += some * answers
    with np.errstate(divide="ignore", invalid="ignore"):    # 0 / 0: a single category
        low, high, _ = interval(1 - differ * (given - 1) / (valid * (given - valid)))
    return None if low is None or high is None else float((high - low) * part**0.5)
