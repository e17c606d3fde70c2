"""Sample-size planning: items or answers needed for a given width of the interval of an agreement, by simulation from
the existing answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from annotation.analysis.planning import AS_NOW, DrawnStudies, alpha_width, check_width, planned
from annotation.analysis.records import Options, Precision, Selection, StudyAnswers
from annotation.analysis.selection import select
from annotation.analysis.statistics.agreement import agreement_draws, agreement_estimates
from annotation.analysis.statistics.coefficients.fleiss import FLEISS
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.analysis.statistics.matrix import Ratings
from annotation.kinds.validity.report.verdicts import BINARY, verdicts

FLEISS_NAME, ALPHA_NAME = "Fleiss' kappa", "Krippendorff's alpha"


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
    statistic = ALPHA if by_alpha else FLEISS
    drawn = agreement_draws(ratings, (), options.draws, options.seed, undefined=options.undefined)
    found = agreement_estimates(ratings, drawn, replace(options, undefined="null"))[statistic.key]
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
    of_draws = statistic.draws(Ratings(by_kind, ratings.categories), "nominal", constant)
    by_items = DrawnStudies(counts, of_draws, options.seed)
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
    return f"Items are resampled from the {items:,} with {has}, each with all its answers, {AS_NOW}.{others}"


def _of_answers(least: int, most: int, items: int, everybody: bool) -> str:
    more = (f"More people judge the same {items:,} items." if everybody else
            f"Each of the same {items:,} items gets that many answers; now each has {least}." if least == most else
            f"Each of the same {items:,} items gets that many answers, unless it has more; now they have {least} "
            f"to {most}.")
    return (f"{more} Each item has its own probability of a valid judgement, from the beta distribution with the "
            "observed share and agreement. Widths are scaled so that the current one is the report's.")
