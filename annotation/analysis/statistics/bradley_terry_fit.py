"""Strengths of methods from counts of preferences, for many bootstrap draws at once: Newton's method on the likelihood
of Bradley and Terry (1952), and on that of the same model with a term for the side, as Davidson and Beaver (1977) have
it. Single fits by evalica and statsmodels are in :mod:`annotation.analysis.statistics.bradley_terry`; these equal
them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
_ROUNDS = 40
_ROUNDS_EACH = 5    # more for each method: chains of lopsided pairs have their ends far out
_LONGEST = 2.0      # of a step, in each coordinate: full steps may overshoot where counts are lopsided
_CLOSE = 1e-9       # a step so short is the last; where there is no maximum, steps stay near 1
_FARTHEST = 20.0    # from where the search for the term for the side begins: so far it only goes where there is none
_RIDGE = 1e-12      # keeps matrices regular; it slows steps down and moves no maximum
_FLAT = 1e-9        # of the largest curvature: where a method always stood first, side and method cannot be told apart


def connected(wins: Values) -> NDArray[np.bool_]:
    """(draws,): whether a chain of wins leads from each method to each other one. Else some group never lost, or never
    met another one, and the likelihood has no maximum (Ford, 1957).

    Args:
        wins: (draws, methods, methods), of the row's method over the column's.
    """
    methods = wins.shape[-1]
    reach: NDArray[np.bool_] = np.logical_or(wins > 0, np.eye(methods, dtype=bool))
    for _ in range(max(1, (methods - 1).bit_length())):
        reach = np.asarray(np.matmul(reach.astype(np.float32), reach.astype(np.float32)) > 0)
    return np.asarray(reach.all(axis=(1, 2)))


def fit(wins: Values, *, sides: bool) -> Values:
    """(draws, methods): natural logarithms of strengths around a mean of 0; nan for draws without a maximum.

    Args:
        wins: (draws, 3, methods, methods), of the row's method over the column's where the row's stood first, where
            the column's did, and where nobody recorded it. A tie is half a win of each.
        sides: with a term for what stood first, from those of which it is known.
    """
    draws, _, methods, _ = wins.shape
    found = np.full((draws, methods), np.nan)
    if methods < 2 or not draws:
        return found
    total = wins[:, :2].sum(axis=1) if sides else wins.sum(axis=1)
    usable = connected(total)
    if not usable.any():
        return found
    total = total[usable]
    first, second = np.triu(total, 1), np.tril(total, -1)
    strength = _newton(np.zeros((len(total), methods)), first, first + second.transpose(0, 2, 1), sides=False)
    if sides:
        first, second = wins[usable, 0], wins[usable, 1]
        start = np.concatenate([strength, np.zeros((len(total), 1))], axis=1)
        strength = _newton(start, first, first + second.transpose(0, 2, 1), sides=True)
    found[usable] = strength
    return found


def _newton(start: Values, won: Values, met: Values, *, sides: bool) -> Values:
    """(draws, methods). Without sides there is a maximum wherever it is called, however far; with them there may be
    none, and the search ends :data:`_FARTHEST` from ``start``.

    Args:
        won: (draws, methods, methods), answers that the row's method won where it stood first against the column's.
        met: likewise, all in which it stood first.
    """
    draws, methods, _ = won.shape
    at = start.copy()
    last = np.full(draws, np.inf)
    farthest = _FARTHEST if sides else np.inf
    if sides:
        _, bend = _slope_and_bend(np.zeros_like(at), won, met, sides)
        steepness = np.linalg.eigvalsh(bend)
        at[(steepness[:, 0] <= _FLAT * steepness[:, -1]) | np.isnan(start).any(axis=1)] = np.inf
    for _ in range(_ROUNDS + _ROUNDS_EACH * methods):
        going = np.flatnonzero((last > _CLOSE) & (np.abs(at - start).max(axis=1) < farthest))
        if not len(going):
            break
        slope, bend = _slope_and_bend(at[going], won[going], met[going], sides)
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=1)
        at[going] += step * np.minimum(1.0, _LONGEST / np.maximum(longest, _CLOSE))[:, None]
        last[going] = longest
    lost = (last > _CLOSE) | ~(np.abs(at - start).max(axis=1) < farthest)
    at[lost] = np.nan
    strength: Values = at[:, :methods] - at[:, :methods].mean(axis=1, keepdims=True)
    return strength


def _slope_and_bend(at: Values, won: Values, met: Values, sides: bool) -> tuple[Values, Values]:
    """First derivatives of the log-likelihood, and the second ones with their sign turned."""
    from scipy.special import expit

    draws, methods, _ = won.shape
    size = methods + sides
    gap = at[:, :methods, None] - at[:, None, :methods]
    if sides:
        gap = gap + at[:, methods, None, None]
    chance = expit(gap)
    left, weight = won - met * chance, met * chance * (1 - chance)
    slope, bend = np.empty((draws, size)), np.empty((draws, size, size))
    slope[:, :methods] = left.sum(axis=2) - left.sum(axis=1)
    rows, columns = weight.sum(axis=2), weight.sum(axis=1)
    bend[:, :methods, :methods] = -(weight + weight.transpose(0, 2, 1))
    bend[:, range(methods), range(methods)] += rows + columns
    scale = bend[:, range(methods), range(methods)].max(axis=1)
    # Only differences matter: this holds the mean at 0.
    bend[:, :methods, :methods] += scale[:, None, None] / methods
    if sides:
        slope[:, methods] = left.sum(axis=(1, 2))
        bend[:, methods, :methods] = bend[:, :methods, methods] = rows - columns
        bend[:, methods, methods] = weight.sum(axis=(1, 2))
    bend[:, range(size), range(size)] += _RIDGE * scale[:, None]
    return slope, bend
