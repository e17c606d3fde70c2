"""Pairwise comparison of methods (:mod:`annotation.kinds.preference.method_results`) with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options
from annotation.analysis.statistics.answer_rows import over_draws
from annotation.analysis.statistics.paired_answers import Meetings, Values, drawn_sums
from annotation.analysis.statistics.shares import share
from annotation.kinds.preference.method_results import PairResult, method_results
from annotation.kinds.preference.report.records import MethodPair
from annotation.records import Item, Judgement

# Sums per pair and replicate: preferences for the first when shown first, all preferences then, the same with the
# second shown first, rating of the first minus that of the second, answers.
_SUMS = 6


def method_pairs(
    items: Iterable[Item], judgements: Sequence[Judgement], paired: Meetings, options: Options
) -> tuple[MethodPair, ...]:
    """Pairs by name. ``paired``: :func:`annotation.analysis.statistics.paired_answers.meetings` of ``judgements``."""
    places = {name: place for place, name in enumerate(paired.methods)}
    count = len(places)
    lower, higher = np.minimum(paired.one, paired.two), np.maximum(paired.one, paired.two)
    met_pairs, pair = np.unique(lower * max(count, 1) + higher, return_inverse=True)
    drawn = _drawn(paired, pair, len(met_pairs), options)
    found = []
    for result in method_results(items, judgements)[1]:
        if result.first == result.second:
            continue
        number = int(np.searchsorted(met_pairs, places[result.first] * count + places[result.second]))
        found.append(_with_intervals(result, paired, pair == number, drawn[:, number], options))
    return tuple(found)


def _with_intervals(
    result: PairResult, paired: Meetings, rows: NDArray[np.bool_], sums: Values, options: Options
) -> MethodPair:
    """``sums``: (draws, 6)."""
    with np.errstate(invalid="ignore"):     # 0 / 0: a replicate without an answer of that kind is nan
        adjusted = (sums[:, 0] / sums[:, 1] + sums[:, 2] / sums[:, 3]) / 2
        difference = sums[:, 4] / sums[:, 5]
    sided = result.first_leading.n + result.second_leading.n
    decided = rows & (paired.preferred != 0) & (paired.first != 0)
    return MethodPair(
        result.first, result.second, result.answers, result.ties, result.first_preferred,
        over_draws(Estimate(result.adjusted, sided, reason=result.unadjusted), adjusted, paired.unit[decided], options),
        share(int((paired.preferred == paired.first)[decided].sum()), int(decided.sum())),
        over_draws(Estimate(result.mean_difference, result.answers), difference, paired.unit[rows], options))


def _drawn(paired: Meetings, pair: NDArray[Any], pairs: int, options: Options) -> Values:
    """(draws, pairs, 6)."""
    if not options.draws or not pairs:
        return np.empty((0, pairs, _SUMS))
    turned = paired.one > paired.two      # the pair's first, by name, is stored set 2
    first_set = np.where(turned, 2, 1)
    decided = paired.preferred != 0
    led, followed = decided & (paired.first == first_set), decided & (paired.first == 3 - first_set)
    won = paired.preferred == first_set
    difference = np.where(turned, -1, 1) * (paired.ratings[:, 0] - paired.ratings[:, 1])
    values = np.stack([led & won, led, followed & won, followed, difference, np.ones(len(pair))]).astype(np.float64)
    column = pair * _SUMS + np.arange(_SUMS)[:, None]
    batches = drawn_sums(
        np.tile(paired.unit, _SUMS), column.ravel(), values.ravel(), paired.units, pairs * _SUMS, options)
    return np.concatenate([sums.reshape(-1, pairs, _SUMS) for sums in batches])
