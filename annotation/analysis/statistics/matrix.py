"""What people said of units, as a table of codes, and what every agreement statistic makes of it. The row of a
statistic of agreement among all people: how it is computed, drawn, named and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Scale, Undefined

Codes = NDArray[np.integer[Any]]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Ratings:
    """``codes``: ``[units, people]``, places in ``categories``; -1 where a person gave no answer.

    ``categories`` of an ordinal scale stand in their order. Of two categories the second is the one that
    :func:`annotation.analysis.statistics.shares.positive_rate` counts. ``unit``: what reasons call one row.
    """

    codes: NDArray[np.int16]
    categories: tuple[str, ...]
    unit: str = "item"

    def __post_init__(self) -> None:
        if self.codes.ndim != 2:
            raise ValueError("codes are a matrix [units, people]")
        if self.codes.size and not -1 <= self.codes.min() <= self.codes.max() < len(self.categories):
            raise ValueError(f"codes lie between -1 and {len(self.categories) - 1}, the last category")

    def people_per_unit(self) -> NDArray[np.int64]:
        """``[units]``: how many answers each unit has."""
        return np.asarray((self.codes >= 0).sum(axis=1), dtype=np.int64)


def paired_units(ratings: Ratings) -> NDArray[np.bool_]:
    """``[units]``: those with two answers or more."""
    return ratings.people_per_unit() >= 2


def all_same(codes: Codes) -> NDArray[np.bool_]:
    """``[units]``: whether all answers of a unit are the same; units without an answer count as such."""
    lowest = np.where(codes < 0, np.iinfo(codes.dtype).max, codes).min(axis=1, initial=np.iinfo(codes.dtype).max)
    return np.asarray(((codes < 0) | (codes == lowest[:, None])).all(axis=1))


def counts(codes: Codes, categories: int) -> NDArray[np.int64]:
    """``[units, categories]``: how many said each."""
    units = np.arange(len(codes))[:, None] * categories
    return np.bincount((units + codes)[codes >= 0], minlength=len(codes) * categories).reshape(-1, categories)


def one_category(codes: Codes) -> bool:
    given = codes[codes >= 0]
    return bool((given == given[0]).all())


def constant_estimate(why: str, n: int, undefined: Undefined, also: str = "") -> Estimate:
    reason = "; ".join(filter(None, (why, also)))
    return Estimate(1.0 if undefined == "one" else None, n, reason=reason)


def once(draws: Callable[[Values], Values], ratings: Ratings, n: int) -> Estimate:
    """The statistic of the units as they are, by its ``draws``: one in which each stands once."""
    value = float(draws(np.ones((1, len(ratings.codes))))[0])
    return Estimate(None, n, reason="undefined: 0 / 0") if np.isnan(value) else Estimate(value, n)


def too_few(ratings: Ratings) -> str:
    return f"no {ratings.unit} has answers from two people"


def uses_of(ratings: Ratings) -> Any:
    """``[units, categories]``, sparse: of hundreds of signatures a unit has a few."""
    from scipy.sparse import csr_array

    unit, person = np.nonzero(ratings.codes >= 0)
    given = np.ones(len(unit)), (unit, ratings.codes[unit, person])
    return csr_array(given, shape=(len(ratings.codes), len(ratings.categories)))


def sums_of(weight: Values, table: Any) -> Values:
    return np.asarray(table.T @ weight.T).T


def unless_constant(statistic: Values, found: Values, given: Values, constant: float) -> Values:
    """``found``: uses of each category in each draw, ``given``: all of them."""
    alike = (found.max(axis=1, initial=0) == given) & (given > 0)
    return np.where(alike, constant, np.where(given > 0, statistic, np.nan))


@dataclass(frozen=True)
class Statistic:
    """Reports, their JSON, tables and figures show every row of
    :data:`annotation.analysis.statistics.agreement.STATISTICS` that has the scale of the answers.

    ``draws`` takes ratings to a function from weights of all their units, ``[batch, units]``, to the statistic of each
    sample, ``[batch]``: nan where it is undefined, ``constant`` where the sample has a single category.
    """

    key: str                           # in JSON
    column: str                        # in tables
    name: str
    symbol: str                        # where there is little room: "α"
    scales: tuple[Scale, ...]
    how: str                           # with {scale} and {unit}, the singular of what is judged
    source: str                        # paper
    estimate: Callable[[Ratings, Scale, Undefined], Estimate]
    units: Callable[[Ratings], NDArray[np.bool_]]     # ``[units]``: those that it takes
    draws: Callable[[Ratings, Scale, float], Callable[[Values], Values]]
    when: str                          # to use it: a sentence, with {unit}
    rarity: bool = True                # whether few items or a rare answer make its interval unreliable
    single_answers: bool = False       # whether it takes units with one answer, too, which are drawn then as well

    def method(self, unit: str, scale: Scale = "nominal") -> str:
        """How it is computed and when to use it, for the Method section of a report."""
        return f"{self.how} {self.when}".format(unit=unit, scale=scale)
