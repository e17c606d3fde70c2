"""Strengths of methods from counts of preferences, for many bootstrap draws at once: Newton's method on the likelihood
of Bradley and Terry (1952), and on that of the same model with a term for the side, as Davidson and Beaver (1977) have
it. Single fits by evalica and statsmodels are in :mod:`annotation.analysis.strengths`; these equal them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
_ROUNDS = 40
_LONGEST = 2.0      # of a step, in each coordinate: full steps may overshoot where counts are lopsided
_CLOSE = 1e-9       # a step so short is the last; where there is no maximum, steps stay near 1
_FARTHEST = 20.0    # odds of 5e8: no counts of answers have their maximum out there
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
    if sides:
        first, second = wins[:, 0], wins[:, 1]
    else:
        total = wins.sum(axis=1)
        first, second = np.triu(total, 1), np.tril(total, -1)
    usable = connected(first + second)
    if usable.any():
        found[usable] = _newton(first[usable], first[usable] + second[usable].transpose(0, 2, 1), sides)
    return found


def _newton(won: Values, met: Values, sides: bool) -> Values:
    """``met``: (draws, methods, methods), answers in which the row's method stood first against the column's;
    ``won``: those it won."""
    draws, methods, _ = won.shape
    at = np.zeros((draws, methods + sides))
    last = np.full(draws, np.inf)
    for turn in range(_ROUNDS):
        going = np.flatnonzero((last > _CLOSE) & (np.abs(at).max(axis=1) < _FARTHEST))
        if not len(going):
            break
        here = at[going]
        slope, bend = _slope_and_bend(here, won[going], met[going], sides)
        if turn == 0 and sides:
            steepness = np.linalg.eigvalsh(bend)
            at[going[steepness[:, 0] <= _FLAT * steepness[:, -1]]] = _FARTHEST
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        longest = np.abs(step).max(axis=1)
        at[going] += step * np.minimum(1.0, _LONGEST / np.maximum(longest, _CLOSE))[:, None]
        last[going] = longest
    strength: Values = at[:, :methods] - at[:, :methods].mean(axis=1, keepdims=True)
    strength[(last > _CLOSE) | (np.abs(at).max(axis=1) >= _FARTHEST)] = np.nan
    return strength


def _slope_and_bend(at: Values, won: Values, met: Values, sides: bool) -> tuple[Values, Values]:
    """First derivatives of the log-likelihood, and the second ones with their sign turned."""
    draws, methods, _ = won.shape
    size = methods + sides
    gap = at[:, :methods, None] - at[:, None, :methods]
    if sides:
        gap = gap + at[:, methods, None, None]
    chance = 1 / (1 + np.exp(-gap))
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
