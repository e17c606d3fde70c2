"""The alternative-annotator test: may a language model stand in for one of the annotators?

Calderon, Reichart & Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge". Each person is left out in turn.
On each unit that somebody else answered too, the model wins over the person if it is as close to the others' answers
or closer: by the share of the same answers on a nominal scale, by the root of the mean squared distance on an ordinal
one. A person counts as beaten if the model's share of wins is significantly above the person's less ε (one-sided t-test
of the differences, Benjamini–Yekutieli over people at 5 %). ω is the share of people beaten; from one half on the model
may replace an annotator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Scale
from annotation.analysis.statistics.bootstrap import share_with_interval, weights, with_interval
from annotation.analysis.statistics.matrix import Codes, Ratings, Values, counts

EPSILON = 0.2
"""What a model may be worse than a person for being cheaper. The paper takes 0.2 where people are experts, 0.15 for
skilled and 0.1 for crowd workers."""
EPSILONS = (0.1, 0.15, EPSILON)
FDR = 0.05
LEAST_PEOPLE = 3
LEAST_UNITS = 30


@dataclass(frozen=True)
class Against:
    """One person who is left out. ``advantage``: share of units on which the model is as good as the person or better;
    ``person``: the reverse; ``p`` of the test at :data:`EPSILON`, ``p_by`` corrected for all people. None for a person
    with fewer than :data:`LEAST_UNITS` units."""

    advantage: Estimate
    person: float | None
    p: float | None
    p_by: float | None

    @property
    def beaten(self) -> bool | None:
        return None if self.p_by is None else self.p_by <= FDR


@dataclass(frozen=True)
class AlternativeTest:
    """``winning``: ω by ε; ``advantage``: the mean of the people's."""

    winning: dict[float, Estimate]
    advantage: Estimate
    people: tuple[Against, ...]


@dataclass(frozen=True)
class Wins:
    """``[units, people]``: where a person is compared at all; whether the model, and whether the person, is as close to
    the other people's answers as the other of the two or closer."""

    compared: NDArray[np.bool_]
    model: NDArray[np.bool_]
    person: NDArray[np.bool_]


def wins(ratings: Ratings, model: Codes, scale: Scale) -> Wins:
    """In whole numbers: on one unit both are compared with the same people, so sums order as means do. ``model``:
    ``[units]``, -1 without an answer."""
    codes, there = ratings.codes.astype(np.int64), ratings.codes >= 0
    said = np.asarray(model, np.int64)
    others = there.sum(axis=1, keepdims=True) - there
    compared = there & (others > 0) & (said >= 0)[:, None]
    if scale == "nominal":
        uses = counts(ratings.codes, len(ratings.categories))
        row = np.arange(len(codes))
        own = uses[row[:, None], np.maximum(codes, 0)] - 1
        its = uses[row, np.maximum(said, 0)][:, None] - (codes == said[:, None])
    else:
        values = np.where(there, codes, 0)
        total, squares = (of.sum(axis=1, keepdims=True) - of for of in (values, values**2))
        own, its = (-(others * of**2 - 2 * of * total + squares) for of in (values, said[:, None]))
    return Wins(compared, compared & (its >= own), compared & (own >= its))


def alternative_test(
    ratings: Ratings, model: Codes, scale: Scale, options: Options, groups: Codes | None = None,
) -> AlternativeTest:
    """Intervals are over draws of units; ``groups``: ``[units]``, numbers of what is drawn whole."""
    won, unit = wins(ratings, model, scale), ratings.unit
    n = won.compared.sum(axis=0)
    tested = n >= LEAST_UNITS
    ones, names = np.ones((1, len(ratings.codes))), f"{unit}s"
    shares, p = _shares(won, ones)[0], {epsilon: _p_values(won, ones, epsilon)[0, tested] for epsilon in EPSILONS}
    enough = int(tested.sum()) >= LEAST_PEOPLE
    drawn_shares = np.full((options.draws, len(n)), np.nan)
    drawn_winning = {epsilon: np.full(options.draws, np.nan) for epsilon in EPSILONS}
    start = 0
    for weight in weights(len(ratings.codes), options.draws if tested.any() else 0, options.seed, groups=groups):
        some = slice(start, start := start + len(weight))
        drawn_shares[some] = _shares(won, weight)
        for epsilon in EPSILONS:
            drawn_winning[epsilon][some] = winning_rate(_p_values(won, weight, epsilon)[:, tested])
    few = (f"the test needs {LEAST_PEOPLE} people with {LEAST_UNITS} {names} each that others answered too; there "
           f"{'is' if tested.sum() == 1 else 'are'} {int(tested.sum())}")
    units = int(won.compared[:, tested].any(axis=1).sum())
    corrected = iter(corrected_p(p[EPSILON][None])[0])
    tests = iter(p[EPSILON])
    people = tuple(
        Against(share_with_interval(Estimate(float(shares[at]), int(n[at])), drawn_shares[:, at], int(n[at]), names),
                float(won.person[:, at].sum() / n[at]), float(next(tests)), float(next(corrected)))
        if tested[at] else Against(
            Estimate(None, int(n[at]), reason=f"fewer than {LEAST_UNITS} {names} that others answered, too"),
            None, None, None) for at in range(len(n)))
    if not enough:
        none = Estimate(None, int(tested.sum()), reason=few)
        return AlternativeTest(dict.fromkeys(EPSILONS, none), none, people)
    how_many = int(tested.sum())
    return AlternativeTest(
        {epsilon: with_interval(Estimate(float(winning_rate(p[epsilon][None])[0]), how_many), drawn_winning[epsilon],
                                units, names) for epsilon in EPSILONS},
        with_interval(Estimate(float(shares[tested].mean()), how_many), drawn_shares[:, tested].mean(axis=1), units,
                      names), people)


def winning_rate(p: Values) -> Values:
    """``[batch]``: of ``[batch, people]``, the share whose hypothesis is rejected."""
    return np.asarray((corrected_p(p) <= FDR).mean(axis=1)) if p.shape[1] else np.full(len(p), np.nan)


def corrected_p(p: Values) -> Values:
    """Benjamini & Yekutieli (2001), of each row."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, axis=1, method="by")) if p.shape[1] else p


def _shares(won: Wins, weight: Values) -> Values:
    """``[batch, people]``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((weight @ won.model) / (weight @ won.compared))


def _p_values(won: Wins, weight: Values, epsilon: float) -> Values:
    """``[batch, people]``: that the person's wins exceed the model's by ``epsilon`` or more."""
    from scipy.special import stdtr

    difference = won.person.astype(np.float64) - won.model
    n, total, squares = weight @ won.compared, weight @ difference, weight @ difference**2
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / n
        spread = np.sqrt(np.maximum(squares - total * mean, 0) / (n - 1) / n)
        t = np.where(spread > 0, (mean - epsilon) / spread, np.where(mean < epsilon, -np.inf, np.inf))
        return np.asarray(np.where(n > 1, stdtr(n - 1, t), 1.0))
