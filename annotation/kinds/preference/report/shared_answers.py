"""Agreement on shared questions: ratings of sets, and preferences."""

from __future__ import annotations

import numpy as np

from annotation.analysis.records import Estimate, Options, Scale
from annotation.analysis.statistics.agreement import agreement_draws
from annotation.analysis.statistics.answer_rows import AnswerRows
from annotation.analysis.statistics.bootstrap import with_interval
from annotation.analysis.statistics.krippendorff import ALPHA
from annotation.analysis.statistics.matrix import Codes, Ratings

_RATINGS = ("1", "2", "3", "4", "5")
_PREFERRED = ("tie", "set 1", "set 2")
NOT_SHARED = "no question was answered by two people"


def shared_questions(rows: AnswerRows) -> int:
    """Number of questions with answers of two people or more."""
    return int((np.bincount(rows.question, minlength=len(rows.item_ids)) > 1).sum())


def ratings_alpha(rows: AnswerRows, options: Options) -> Estimate:
    """Krippendorff's alpha of ratings, ordinal; ``n`` counts sets. Bootstrap unit: question, with both sets."""
    codes = np.full((2 * len(rows.item_ids), rows.people), -1, np.int16)
    for which in (0, 1):
        codes[2 * rows.question + which, rows.person] = rows.ratings[:, which] - 1
    questions = np.repeat(np.arange(len(rows.item_ids)), 2)
    return _alpha(Ratings(codes, _RATINGS, "set"), questions, "ordinal", options)


def preference_alpha(rows: AnswerRows, options: Options) -> Estimate:
    """Krippendorff's alpha of preferences, nominal with ties as a third category; ``n`` counts questions."""
    codes = np.full((len(rows.item_ids), rows.people), -1, np.int16)
    codes[rows.question, rows.person] = rows.preferred
    return _alpha(Ratings(codes, _PREFERRED, "question"), np.arange(len(rows.item_ids)), "nominal", options)


def _alpha(ratings: Ratings, question: Codes, scale: Scale, options: Options) -> Estimate:
    shared = ratings.people_per_unit() > 1
    if not shared.any():
        return Estimate(None, 0, reason=NOT_SHARED)
    ratings, question = Ratings(ratings.codes[shared], ratings.categories, ratings.unit), question[shared]
    drawn = agreement_draws(ratings, (), options.draws, options.seed, scale=scale, undefined=options.undefined,
                            kappas=False, groups=question)
    return with_interval(ALPHA.estimate(ratings, scale, options.undefined), drawn.pooled[ALPHA.key],
                         len(np.unique(question)), "questions")
