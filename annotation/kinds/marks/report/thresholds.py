"""Thresholds on a language model's confidence beside what people say: the curve, and the threshold that agrees best.

People are their majority, image by image. The best threshold is where Cohen's kappa of model and people is highest; for
the choice it is 1 where it is undefined because both give all images the same answer, since nothing agrees better. The
threshold is not reported on the images it was chosen on: each query is taken at that which is best for the other
queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Undefined
from annotation.analysis.statistics.bootstrap import share_with_interval, weights, with_interval
from annotation.analysis.statistics.matrix import Values, constant_estimate
from annotation.kinds.marks.report.records import ModelAgreement, ThresholdChoice, ThresholdPoint

STEPS = 20
"""Of the curve, from 0 to 1."""
SAME = "model and people give all images the same answer"
NOTHING = "no image has a confidence and a majority of yes or no"
_NAMES = ("kappa", "agreement", "precision", "recall", "f1")
_KAPPA = 0


@dataclass(frozen=True)
class Decided:
    """Images with a confidence and a majority. ``queries``: the number of each image's query, from 0 without gaps."""

    queries: NDArray[np.int64]
    confidences: Values
    people: NDArray[np.bool_]

    @property
    def n_queries(self) -> int:
        return int(self.queries.max(initial=-1)) + 1


def grid(used: float) -> Values:
    """Thresholds of the curve: 0, 0.05 to 1, and ``used``."""
    return np.unique(np.round([*(step / STEPS for step in range(STEPS + 1)), used], 6))


def counts(of: Decided, thresholds: Values) -> Values:
    """``[queries, thresholds, 4]``: images that both, only the model, only people, and neither take as targets."""
    model = of.confidences[:, None] >= thresholds[None, :] - 1e-9
    people = of.people[:, None]
    cells = np.stack([model & people, model & ~people, ~model & people, ~model & ~people], axis=2).astype(np.float64)
    found = np.zeros((of.n_queries, len(thresholds), 4))
    np.add.at(found, of.queries, cells)
    return found


def measures(cells: Values, undefined: Undefined = "null") -> Values:
    """``[..., 5]`` of ``[..., 4]``: kappa, agreement, precision, recall and F1; nan for 0 / 0. ``undefined``: kappa
    where model and people give all images the same answer."""
    both, model, people, neither = np.moveaxis(cells, -1, 0)
    n = both + model + people + neither
    with np.errstate(divide="ignore", invalid="ignore"):
        same = (both + neither) / n
        chance = ((both + model) * (both + people) + (people + neither) * (model + neither)) / n**2
        # The chance is 1 only there: with a share a of yes by the model and b by people, ab + (1 - a)(1 - b) = 1.
        constant = (n > 0) & ((both == n) | (neither == n))
        kappa = np.where(constant, 1.0 if undefined == "one" else np.nan, (same - chance) / (1 - chance))
        return np.stack([kappa, same, both / (both + model), both / (both + people),
                         2 * both / (2 * both + model + people)], axis=-1)


def curve(of: Decided, used: float, undefined: Undefined = "null") -> tuple[ThresholdPoint, ...]:
    """Empty without images. ``undefined``: as in :func:`measures`."""
    if not len(of.people):
        return ()
    thresholds = grid(used)
    cells = counts(of, thresholds).sum(axis=0)
    return tuple(ThresholdPoint(float(threshold), *(int(one) for one in cell), *(_plain(one) for one in row))
                 for threshold, cell, row in zip(thresholds, cells, measures(cells, undefined), strict=True))


def choice(of: Decided, used: float, options: Options) -> ThresholdChoice:
    """The best threshold of the curve. Needs two queries."""
    queries, images = of.n_queries, len(of.people)
    if queries < 2:
        none = Estimate(None, images, reason=NOTHING if not images else "only one query: nothing to choose on")
        nothing = ModelAgreement(none, none, none, none, none)
        at = nothing if not images else _agreement(counts(of, np.array([used]))[:, 0], options)[0]
        return ThresholdChoice(none, nothing, at, none)
    thresholds = grid(used)
    cells = counts(of, thresholds)
    whole = cells.sum(axis=0)
    chosen = int(_best(whole, thresholds, used))
    elsewhere = _best(whole[None] - cells, thresholds, used)
    held_out, held_draws = _agreement(cells[np.arange(queries), elsewhere], options)
    at, at_draws = _agreement(cells[:, int(np.searchsorted(thresholds, round(used, 6)))], options)
    drawn = [thresholds[_best(np.tensordot(weight, cells, axes=1), thresholds, used)]
             for weight in weights(queries, options.draws, options.seed)]
    said = f"κ is undefined there: {SAME}" if np.isnan(measures(whole[chosen])[_KAPPA]) else ""
    found = with_interval(Estimate(float(thresholds[chosen]), images, reason=said),
                          np.concatenate(drawn) if drawn else np.array([]), queries, "queries")
    return ThresholdChoice(found, held_out, at, _difference(held_out, at, held_draws - at_draws, queries))


def _best(cells: Values, thresholds: Values, used: float) -> NDArray[np.int64]:
    """Of ``[..., thresholds, 4]`` the place of the highest kappa, which is 1 where model and people give all images the
    same answer; of equal ones that nearest to the threshold in use."""
    value = np.round(measures(cells, "one")[..., _KAPPA], 9)
    near = -np.abs(thresholds - used)
    highest = value == value.max(axis=-1, keepdims=True)
    return np.asarray(np.where(highest, near, -np.inf).argmax(axis=-1), np.int64)


def _agreement(cells: Values, options: Options) -> tuple[ModelAgreement, Values]:
    """Of ``[queries, 4]``, and kappa in each draw."""
    queries, images = len(cells), int(cells.sum())
    drawn = [measures(weight @ cells, options.undefined) for weight in weights(queries, options.draws, options.seed)]
    values = np.concatenate(drawn) if drawn else np.zeros((0, len(_NAMES)))
    whole = cells.sum(axis=0)
    points = [_estimate(float(point), images) for point in measures(whole)]
    if points[_KAPPA].value is None and images in (whole[0], whole[3]):
        points[_KAPPA] = constant_estimate(SAME, images, options.undefined)
    found = [(with_interval if place == _KAPPA else share_with_interval)(point, values[:, place], queries, "queries")
             for place, point in enumerate(points)]
    return ModelAgreement(*found), values[:, _KAPPA]


def _difference(one: ModelAgreement, other: ModelAgreement, drawn: Values, queries: int) -> Estimate:
    if one.kappa.value is None or other.kappa.value is None:
        return Estimate(None, one.kappa.n, reason="κ is undefined")
    return with_interval(Estimate(one.kappa.value - other.kappa.value, one.kappa.n), drawn, queries, "queries")


def _estimate(value: float, n: int) -> Estimate:
    return Estimate(None, n, reason="undefined: 0 / 0") if np.isnan(value) else Estimate(value, n)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def decided(queries: Sequence[int], confidences: Sequence[float], people: Sequence[bool]) -> Decided:
    """``queries`` may have gaps."""
    numbers = np.unique(np.array(queries, np.int64), return_inverse=True)[1].astype(np.int64)
    return Decided(numbers, np.array(confidences, np.float64), np.array(people, np.bool_))
