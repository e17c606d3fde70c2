"""Precision with more answers per item, by a beta-binomial model of answers.

Each item has its own probability of a valid judgement, from the beta distribution with the observed share and
agreement; answers are independent given it (the model of :mod:`annotation.studies.planner`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from annotation.analysis.statistics.bootstrap import interval

_DRAWS = 2_000
_ITEMS = 200     # maximum of simulated items; the width shrinks with the root of the items


def alpha_width(items: Mapping[int, int], share: float, alpha: float, seed: int) -> float | None:
    """Width of the 95 % interval of Krippendorff's alpha (with equal numbers of answers per item, of Fleiss' kappa up
    to O(1/answers)). ``items``: number of answers (2 or more) to number of items. None if the model has no variance."""
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
        positives = random.binomial(answers, chance)
        differ += (positives * (answers - positives)).sum(axis=1) / (answers - 1)
        valid += positives.sum(axis=1)
        given += some * answers
    with np.errstate(divide="ignore", invalid="ignore"):    # 0 / 0: a single category
        low, high, _ = interval(1 - differ * (given - 1) / (valid * (given - valid)))
    return None if low is None or high is None else float((high - low) * part**0.5)
