"""Sample-size planning: items, answers, questions or people needed for a given interval width, by simulation from the
existing answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotation.analysis.planning.answer_model import alpha_width
from annotation.analysis.planning.width_search import DrawnStudies, check_width, planned
from annotation.analysis.preference.metric_reports import compared
from annotation.analysis.preference.recall import recall_scores
from annotation.analysis.preference.report import K, answers_that_count
from annotation.analysis.records import MetricScores, Options, Precision, Selection, StudyAnswers
from annotation.analysis.selection import select
from annotation.analysis.statistics.agreement import ALPHA, FLEISS, agreement_draws, pooled_statistics
from annotation.analysis.statistics.answer_rows import AnswerRows, answer_rows
from annotation.analysis.statistics.bootstrap import LEAST_PEOPLE, shared_with_interval
from annotation.analysis.statistics.fleiss import fleiss, fleiss_with_interval
from annotation.analysis.statistics.krippendorff import krippendorff
from annotation.analysis.statistics.matrix import Ratings, Values
from annotation.analysis.validity.verdicts import BINARY, verdicts
from annotation.preference.exclusion import Rules
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

FLEISS_NAME, ALPHA_NAME, RATE = "Fleiss' kappa", "Krippendorff's alpha", "preference rate"
_AS_NOW = "assuming that further answers are like the existing ones"


def kappa_precision(
    answers: StudyAnswers, wanted: float, options: Options = Options(), selection: Selection = Selection(),
) -> tuple[Precision, ...]:
    """Plan for the agreement on valid or not: more items, and more answers to the existing items.

    This is Fleiss' kappa if all items with at least two answers have equally many, else Krippendorff's alpha, which
    uses all answers. The current width is the report's.

    Args:
        wanted: width of the 95 % interval, upper minus lower.

    Raises ``StudyError`` for a width that is not between 0 and 2, a preference study, and an invalid selection.
    """
    check_width(wanted)
    selected = select(answers, selection)
    ratings = verdicts(selected).ratings(BINARY)
    each = ratings.people_per_unit()
    codes, each = ratings.codes[each > 1], each[each > 1]
    numbers = {int(people): int(items) for people, items in zip(*np.unique(each, return_counts=True), strict=True)}
    least, items = min(numbers, default=0), len(codes)
    by_alpha = len(numbers) > 1
    drawn = agreement_draws(ratings, (), options.draws, options.seed, undefined=options.undefined)
    found = (shared_with_interval(krippendorff(ratings, "nominal"), drawn.alpha, ratings) if by_alpha
             else fleiss_with_interval(fleiss(ratings), drawn.fleiss, ratings))
    more_items = Precision(ALPHA_NAME if by_alpha else FLEISS_NAME, "items", items, None, wanted, None, (),
                           _of_items(least, max(numbers, default=0), items, len(selected.items)), found.reason)
    everybody = not by_alpha and least == int((codes >= 0).any(axis=0).sum())
    more_answers = replace(
        more_items, more_of="people" if everybody else "answers per item", have=least,
        assumption=_of_answers(least, max(numbers, default=0), items, everybody))
    if found.value is None or (options.draws and found.low is None):
        return more_items, more_answers
    kinds, counts = np.unique(np.stack([each, (codes == 1).sum(axis=1)], axis=1), axis=0, return_counts=True)
    place = np.arange(codes.shape[1])
    by_kind = np.where(place >= kinds[:, :1], -1, place < kinds[:, 1:]).astype(np.int16)
    constant = 1.0 if options.undefined == "one" else np.nan
    pooled = pooled_statistics(Ratings(by_kind, ratings.categories), "nominal", constant)
    by_items = DrawnStudies(counts, lambda often: pooled(often)[ALPHA if by_alpha else FLEISS], options.seed)
    now = by_items.width(items) if found.low is None or found.high is None else found.high - found.low
    share, value = float((codes == 1).sum() / each.sum()), found.value

    def with_answers(size: int) -> float | None:
        topped = Counter[int]()
        for people, number in numbers.items():
            topped[max(size, people)] += number
        return alpha_width(topped, share, value, options.seed) if value < 1 else None

    return planned(more_items, by_items.width, now), planned(more_answers, with_answers, now)


def _of_items(least: int, most: int, items: int, of: int) -> str:
    has = f"{least} answers each" if least == most else "two answers or more"
    others = (f" The {of - items:,} other{'' if of - items == 1 else 's'} of the study, with fewer than two answers, "
              "are not among them." if of > items else "")
    return f"Items are resampled from the {items:,} with {has}, each with all its answers, {_AS_NOW}.{others}"


def _of_answers(least: int, most: int, items: int, everybody: bool) -> str:
    more = (f"More people judge the same {items:,} items." if everybody else
            f"Each of the same {items:,} items gets as many answers; now each has {least}." if least == most else
            f"Each of the same {items:,} items gets as many answers, if it does not have more; now they have {least} "
            f"to {most}.")
    return (f"{more} Each item has its own probability of a valid judgement, from the beta distribution with the "
            "observed share and agreement. Widths are scaled so that the current one is the report's.")


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
        f"{what.capitalize()} are resampled from the {have:,} existing ones, each with all answers, {_AS_NOW}. The "
        f"rate is the symmetric one of {metric.name}, over answers whose two scores differ. The interval is "
        "that of draws, or Wilson’s of as many answers where that one is wider.")
    answers = compared(rows, metric, None, options)
    differ = (answers.one > answers.two) | (answers.one < answers.two)
    if not differ.any():
        return replace(plan, reason="no answer in which the two scores differ")
    there = len(np.unique(answers.unit[differ]))
    if not questions and there < LEAST_PEOPLE:
        return replace(plan, reason=f"resampling people needs at least {LEAST_PEOPLE}; answers with different scores "
                                    f"come from {there}")
    if there < 2:
        return replace(plan, reason="all answers with different scores are of one question")
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
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, n, method="wilson")
    return float(high - low)
