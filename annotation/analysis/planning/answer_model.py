"""What more answers to the same items would tell, from a model of how people answer.

Each item has a chance of its own to be called valid, drawn from the beta distribution with the share and the
agreement seen so far, and its people call it so independently (the model of :mod:`annotation.studies.planner`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from annotation.analysis.statistics.bootstrap import interval

_DRAWS = 2_000
_ITEMS = 200     # drawn at most; an interval narrows with the root of the items


def alpha_width(items: Mapping[int, int], share: float, alpha: float, seed: int) -> float | None:
    """Width of the 95 % interval of Krippendorff's alpha (of as many answers for each item: of Fleiss' kappa, but for
    one part in all answers). ``items``: number of answers, 2 or more, to items with so many. None where the model has
    nothing that varies."""
    part = min(1.0, _ITEMS / sum(items.values()))
    random = np.random.default_rng(seed)
    differ, valid, given = np.zeros(_DRAWS), np.zeros(_DRAWS), 0
    for answers, number in items.items():
        some = max(1, round(number * part))
        if alpha > 0:
            spread = (1 - alpha) / alpha
            chance = random.beta(share * spread, (1 - share) * spread, (_DRAWS, some))
        else:
            chance = np.full((_DRAWS, some), share)
        said = random.binomial(answers, chance)
        differ += (said * (answers - said)).sum(axis=1) / (answers - 1)
        valid += said.sum(axis=1)
        given += some * answers
    with np.errstate(divide="ignore", invalid="ignore"):    # 0 / 0: one category throughout
        low, high, _ = interval(1 - differ * (given - 1) / (valid * (given - valid)))
    return None if low is None or high is None else float((high - low) * part**0.5)
