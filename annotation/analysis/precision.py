"""How many more items, questions or people make an interval as narrow as wanted, by simulation from the answers so far.

Units that contribute the same to a number are alike, so a study of any size is one multinomial draw over kinds of
units: as exact as drawing units one by one, and as quick for 60,000 of them as for 60.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.agreement import fleiss, fleiss_units
from annotation.analysis.answer_rows import AnswerRows, answer_rows
from annotation.analysis.draws import interval
from annotation.analysis.matrix import Ratings
from annotation.analysis.metric_reports import compared
from annotation.analysis.pooled_draws import pooled_statistics
from annotation.analysis.preference_report import K, counted
from annotation.analysis.recall import recall_scores
from annotation.analysis.records import (
    MetricScores,
    Options,
    PlanPoint,
    Precision,
    Selection,
    StudyAnswers,
)
from annotation.analysis.selection import select
from annotation.analysis.verdicts import BINARY, verdicts
from annotation.exclusion import Rules
from annotation.planner import drawn_width
from cir_core.errors import StudyError

KAPPA, RATE = "kappa", "preference rate"
_DRAWS = 10_000         # studies of each size; fewer where kinds are many
_AT_ONCE = 2**21        # numbers held in memory at a time
_FURTHEST = 20          # times what there is
_STEPS = 13             # sizes looked at, both ends included
_FLEISS = 1             # place among the pooled statistics
_AS_NOW = "supposing that what is still to come is like what is there"

Values = NDArray[np.float64]
Width = Callable[[int], float | None]
"""Of the interval at a size; None where fewer than half of the draws give the number at all."""


@dataclass(frozen=True)
class _Drawn:
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


def kappa_precision(
    answers: StudyAnswers, wanted: float, options: Options = Options(), selection: Selection = Selection(),
) -> tuple[Precision, ...]:
    """Of Fleiss' kappa, valid or not: for more items, and for more people who each judge the items there are.

    Args:
        wanted: width of the 95 % interval, upper less lower.

    Raises ``StudyError`` for a width that is not between 0 and 2, for a preference study, and as a selection does.
    """
    _check(wanted)
    ratings = verdicts(select(answers, selection)).ratings(BINARY)
    kappa, alike = fleiss(ratings), ratings.codes[fleiss_units(ratings)]
    said = [row[row >= 0] for row in alike]
    items, people = len(said), len(said[0]) if said else 0
    more_items = Precision(
        KAPPA, "items", items, None, wanted, None, (),
        f"Items are drawn from the {items:,} with {people} answers each, {_AS_NOW}.", kappa.reason)
    more_people = replace(
        more_items, more_of="people", have=people,
        assumption=f"More people judge the same {items:,} items. Each item has a chance of its own to be called "
                   "valid, drawn from the beta distribution with the share and the kappa seen so far. Widths are "
                   f"scaled so that the one with {people} people is that of the data.")
    if kappa.value is None:
        return more_items, more_people
    valid, counts = np.unique([int((codes == 1).sum()) for codes in said], return_counts=True)
    kinds = Ratings((np.arange(people) < valid[:, None]).astype(np.int16), ratings.categories)
    pooled = pooled_statistics(kinds, "nominal", np.nan)
    by_items = _Drawn(counts, lambda often: pooled(often)[_FLEISS], options.seed)
    share = float((valid * counts).sum() / (items * people))
    now = by_items.width(items)
    modelled = drawn_width({people: items}, share, kappa.value) if kappa.value < 1 else 0.0

    def with_people(size: int) -> float | None:
        return drawn_width({size: items}, share, kappa.value or 0.0) * (now or 0.0) / modelled if modelled else None

    return _planned(more_items, by_items.width), _planned(replace(more_people, width=now), with_people)


def rate_precision(
    answers: StudyAnswers, wanted: float, options: Options = Options(), selection: Selection = Selection(), *,
    rules: Rules | None = None, scores: Sequence[MetricScores] = (), metric: str = f"recall@{K}",
) -> tuple[Precision, ...]:
    """Of the symmetric preference rate of ``metric``: for more questions, and for more people, each with as many
    answers as those so far.

    Raises ``StudyError`` for a width that is not between 0 and 2, for a validity study, for a metric that is neither
    among ``scores`` nor recall, and as the report does.
    """
    _check(wanted)
    selected, valid, _, _ = counted(answers, selection, rules)
    rows = answer_rows(valid)
    given = {one.name: one for one in scores}
    name, _, k = metric.partition("@")
    if metric not in given and (name != "recall" or not k.isdecimal()):
        raise StudyError(f"There are no scores of a metric {metric!r}. There are: "
                         f"{', '.join(sorted({f'recall@{K}', *given}))}.")
    chosen = given.get(metric) or recall_scores(selected.items, int(k))
    return tuple(_rate_plan(rows, chosen, wanted, replace(options, resample=by)) for by in ("items", "people"))


def _rate_plan(rows: AnswerRows, metric: MetricScores, wanted: float, options: Options) -> Precision:
    questions = options.resample == "items"
    have = rows.units(options.resample)
    what, whole = ("questions", "question") if questions else ("people", "person")
    plan = Precision(
        RATE, what, have, None, wanted, None, (),
        f"{what.capitalize()} are drawn from the {have:,} there are, each with all answers, {_AS_NOW}. The rate is "
        f"the symmetric one of {metric.name}, over answers whose two scores differ.")
    answers = compared(rows, metric, None, options)
    differ = (answers.one > answers.two) | (answers.one < answers.two)
    if not differ.any():
        return replace(plan, reason="there is no answer in which the two scores differ")
    follows = (answers.preferred == np.where(answers.one > answers.two, 1, 2)) & differ
    of_unit = np.stack([np.bincount(answers.unit, follows, have), np.bincount(answers.unit, differ, have)], axis=1)
    kinds, counts = np.unique(of_unit, axis=0, return_counts=True)

    def rate(often: Values) -> Values:
        sums = often @ kinds
        return np.asarray(sums[:, 0] / sums[:, 1])

    if len(np.unique(answers.unit[differ])) < 2:
        return replace(plan, reason=f"all answers whose scores differ are of one {whole}")
    return _planned(plan, _Drawn(counts, rate, options.seed).width)


def _check(wanted: float) -> None:
    if not isfinite(wanted) or not 0 < wanted < 2:
        raise StudyError(f"An interval of width {wanted:g} cannot be planned for. Take a width above 0 and below 2, "
                         "such as 0.1, which reads as ± 0.05.")


def _planned(plan: Precision, width_of: Width) -> Precision:
    """``plan`` with its widths, and the smallest size that is narrow enough."""
    now = width_of(plan.have)
    if now is None:
        return replace(plan, reason="drawn again, these answers always give the same number or none: there are too few "
                                    "to say how far it would move")
    sizes = sorted({round(plan.have * _FURTHEST ** (step / (_STEPS - 1))) for step in range(_STEPS)})
    widths = {size: width for size in sizes if (width := width_of(size)) is not None}
    points = tuple(PlanPoint(size, width) for size, width in widths.items())
    plan = replace(plan, width=now, points=points)
    if now <= plan.wanted:
        return replace(plan, needed=plan.have, reason="it is as narrow already")
    narrow = next((place for place, point in enumerate(points) if point.width <= plan.wanted), None)
    if narrow is None:
        return replace(plan, reason=f"with {points[-1].size:,} {plan.more_of} it is still {points[-1].width:.3f} wide")
    return replace(plan, needed=_smallest(points[narrow - 1], points[narrow], plan.wanted, width_of))


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
