"""Sample-size planning: questions or people needed for a given width of the interval of a preference rate, by
simulation from the existing answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.analysis.planning import AS_NOW, DrawnStudies, check_width, planned
from annotation.analysis.records import MetricScores, Options, Precision, Selection, StudyAnswers
from annotation.analysis.statistics.answer_rows import AnswerRows, answer_rows
from annotation.analysis.statistics.bootstrap import LEAST_PEOPLE
from annotation.analysis.statistics.matrix import Values
from annotation.kinds.preference.report.metric_reports import compared, recall_scores
from annotation.kinds.preference.report.report import K, answers_that_count
from annotation.quality.rules import Rules
from cir_core.errors import StudyError
from cir_core.evaluation.metrics.bootstrap import wilson
from cir_core.support.texts import quoted

RATE = "preference rate"


def rate_precision(
    answers: StudyAnswers, wanted: float, options: Options = Options(), selection: Selection = Selection(), *,
    rules: Rules | None = None, scores: Sequence[MetricScores] = (), metric: str = f"recall@{K}",
) -> tuple[Precision, ...]:
    """Plan for the symmetric preference rate of ``metric``: more questions, and more people, each with as many answers
    as now. Widths are at least that of Wilson's interval; with few people there is no plan for more of them.

    Raises ``StudyError`` for a width that is not between 0 and 2, a validity study, a metric that is neither among
    ``scores`` nor recall, and as the report does.
    """
    check_width(wanted)
    selected, valid, _, _ = answers_that_count(answers, selection, rules)
    rows = answer_rows(valid)
    given = {one.name: one for one in scores}
    name, _, k = metric.partition("@")
    if metric not in given and (name != "recall" or not k.isdecimal()):
        raise StudyError(f"There are no scores of a metric {quoted(metric)}. Available: "
                         f"{', '.join(sorted({f'recall@{K}', *given}))}.")
    chosen = given.get(metric) or recall_scores(selected.items, int(k))
    return tuple(_rate_plan(rows, chosen, wanted, replace(options, resample=by)) for by in ("items", "people"))


def _rate_plan(rows: AnswerRows, metric: MetricScores, wanted: float, options: Options) -> Precision:
    questions = options.resample == "items"
    have = rows.units(options.resample)
    what = "questions" if questions else "people"
    plan = Precision(
        RATE, what, have, None, wanted, None, (),
        f"{what.capitalize()} are resampled from the {have:,} existing ones, each with all its answers, {AS_NOW}. The "
        f"rate is the symmetric one of {metric.name}, over answers whose two scores differ. The interval is the "
        "bootstrap’s, or Wilson’s for as many answers if that is wider.")
    answers = compared(rows, metric, None, options)
    differ = (answers.one > answers.two) | (answers.one < answers.two)
    if not differ.any():
        return replace(plan, reason="no answer in which the two scores differ")
    there = len(np.unique(answers.unit[differ]))
    if not questions and there < LEAST_PEOPLE:
        return replace(plan, reason=f"resampling people needs at least {LEAST_PEOPLE}; answers with different scores "
                                    f"come from {there}")
    if there < 2:
        return replace(plan, reason="all answers with different scores belong to one question")
    follows = (answers.preferred == np.where(answers.one > answers.two, 1, 2)) & differ
    of_unit = np.stack([np.bincount(answers.unit, follows, have), np.bincount(answers.unit, differ, have)], axis=1)
    kinds, counts = np.unique(of_unit, axis=0, return_counts=True)

    def rate(often: Values) -> Values:
        sums = often @ kinds
        return np.asarray(sums[:, 0] / sums[:, 1])

    drawn, followed, n = DrawnStudies(counts, rate, options.seed), float(follows.sum()), int(differ.sum())

    def width(size: int) -> float | None:
        by_draws, more = drawn.width(size), size / have
        return None if by_draws is None else max(by_draws, _wilson_width(followed * more, n * more))

    return planned(plan, width)


def _wilson_width(count: float, n: float) -> float:
    low, high = wilson(count, n)
    return high - low
