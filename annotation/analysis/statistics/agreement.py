"""How far people agree: one number each, from the library that is known for it.

Cohen's and Fleiss' kappa by statsmodels, Krippendorff's alpha by evalica. Where a number means nothing
these libraries give nan, 1.0 or an exception; here it is None with the reason. Intervals:
:mod:`annotation.analysis.statistics.agreement_bootstrap`.
"""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Scale, Undefined
from annotation.analysis.statistics.matrix import Codes, Ratings
from cir_core.errors import StudyError
from cir_core.support.texts import shortened

NOT_SHARED = "no item was judged by both"
_SCALES: dict[str, tuple[Scale, str]] = {
    "validity": ("nominal", "Verdicts and flags have no order"),
    "preference": ("ordinal", "Ratings from 1 to 5 have an order"),
}


def scale_of(kind: str) -> Scale:
    """The scale of what a study of this kind collects: flags are nominal, ratings ordinal."""
    return _SCALES[kind][0]


def check_scale(kind: str, scale: str) -> Scale:
    """``scale``, if it is right for studies of this kind. Raises ``StudyError``."""
    right, why = _SCALES[kind]
    if scale == right:
        return right
    known = "" if scale in get_args(Scale) else f"There is no scale “{shortened(scale)}”. "
    raise StudyError(f"{known}{why}: Krippendorff's alpha of a {kind} study is {right}. Ask for {right}, or leave the "
                     "scale out.")


def cohen(a: Codes, b: Codes, categories: int, undefined: Undefined = "null") -> Estimate:
    """Cohen's kappa (1960) of two people, ``[units]`` each, -1 where one gave no answer; ``n``: units both judged.

    Where both used one and the same category throughout, chance alone agrees as well: None, or 1.0 if
    ``undefined`` says so.
    """
    both = (a >= 0) & (b >= 0)
    if not (n := int(both.sum())):
        return Estimate(None, 0, reason=NOT_SHARED)
    table = np.bincount(a[both].astype(np.int64) * categories + b[both], minlength=categories**2)
    if table.reshape(categories, categories).diagonal().max() == n:
        return _constant("both raters used a single category", n, undefined)
    # scikit-learn gives the same number (a test) in thirty times the time, which counts with many pairs.
    from statsmodels.stats.inter_rater import cohens_kappa

    kappa = cohens_kappa(table.reshape(categories, categories), return_results=False)
    return Estimate(float(kappa), n)


def agreement(a: Codes, b: Codes) -> Estimate:
    """Share of the units that two people both judged on which they say the same."""
    both = (a >= 0) & (b >= 0)
    if not (n := int(both.sum())):
        return Estimate(None, 0, reason=NOT_SHARED)
    return Estimate(float((a[both] == b[both]).mean()), n)


def fleiss(ratings: Ratings, undefined: Undefined = "null") -> Estimate:
    """Fleiss' kappa (1971) over the units of :func:`fleiss_units`; ``n`` counts them."""
    people, chosen = ratings.people_per_unit(), fleiss_units(ratings)
    if not (n := int(chosen.sum())):
        return Estimate(None, 0, reason=_too_few(ratings))
    each, left = int(people[chosen][0]), int((people >= 2).sum()) - n
    said = f"{_count(n, ratings.unit)} with {each} answers each; {left:,} with another number left out" if left else ""
    codes = ratings.codes[chosen]
    if _one_category(codes):
        return _constant("all raters used a single category", n, undefined, said)
    from statsmodels.stats.inter_rater import fleiss_kappa

    return Estimate(float(fleiss_kappa(counts(codes, len(ratings.categories)))), n, reason=said)


def fleiss_units(ratings: Ratings) -> NDArray[np.bool_]:
    """``[units]``: those that Fleiss' kappa can take together, for it wants as many answers for each. Of the units
    with two answers or more they are those with the most frequent number of answers; of two such numbers the larger.
    """
    people = ratings.people_per_unit()
    often = np.bincount(people[people >= 2])
    if not len(often):
        return np.zeros(len(people), dtype=np.bool_)
    return np.asarray(people == len(often) - 1 - int(often[::-1].argmax()))


def krippendorff(ratings: Ratings, scale: Scale, undefined: Undefined = "null") -> Estimate:
    """Krippendorff's alpha (2011), for any number of people and missing answers; ``n``: units with two or more."""
    paired = ratings.codes[ratings.people_per_unit() >= 2]
    if not len(paired):
        return Estimate(None, 0, reason=_too_few(ratings))
    if _one_category(paired):
        return _constant("all raters used a single category", len(paired), undefined)
    import evalica
    import pandas as pd

    table = pd.DataFrame(np.where(paired < 0, np.nan, paired).T)
    return Estimate(float(evalica.alpha(table, distance=scale).alpha), len(paired))


def unanimous(ratings: Ratings) -> Estimate:
    """Share of the units with two answers or more on which all say the same."""
    paired = ratings.codes[ratings.people_per_unit() >= 2]
    if not len(paired):
        return Estimate(None, 0, reason=_too_few(ratings))
    return Estimate(float(all_same(paired).mean()), len(paired))


def positive_rate(ratings: Ratings) -> Estimate:
    """Share of all answers that are the second of two categories; ``n`` counts answers."""
    if len(ratings.categories) != 2:
        raise ValueError("a positive rate needs two categories")
    if not (n := int((ratings.codes >= 0).sum())):
        return Estimate(None, 0, reason="no answers")
    return Estimate(float((ratings.codes == 1).sum() / n), n)


def all_same(codes: Codes) -> NDArray[np.bool_]:
    """``[units]``: whether all answers of a unit are the same; units without an answer count as such."""
    lowest = np.where(codes < 0, np.iinfo(codes.dtype).max, codes).min(axis=1, initial=np.iinfo(codes.dtype).max)
    return np.asarray(((codes < 0) | (codes == lowest[:, None])).all(axis=1))


def counts(codes: Codes, categories: int) -> NDArray[np.int64]:
    """``[units, categories]``: how many said each."""
    units = np.arange(len(codes))[:, None] * categories
    return np.bincount((units + codes)[codes >= 0], minlength=len(codes) * categories).reshape(-1, categories)


def _one_category(codes: Codes) -> bool:
    given = codes[codes >= 0]
    return bool((given == given[0]).all())


def _constant(why: str, n: int, undefined: Undefined, also: str = "") -> Estimate:
    reason = "; ".join(filter(None, (why, also)))
    return Estimate(1.0 if undefined == "one" else None, n, reason=reason)


def _too_few(ratings: Ratings) -> str:
    return f"no {ratings.unit} has answers from two people"


def _count(n: int, unit: str) -> str:
    return f"{n:,} {unit}" + ("" if n == 1 else "s")
