"""Metrics of result sets against simulated raters: figures, their shares of the ceiling, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options
from annotation.analysis.statistics.answer_rows import over_draws
from annotation.analysis.statistics.correlation import RatedSets, spearman, spearman_draws
from annotation.analysis.statistics.rates import Compared, Form, support, support_draws
from annotation.kinds.preference.report.simulated_raters import SimulatedAnswers, Values
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

Measure = Literal["spearman", "ge", "gt", "symmetric", "half"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
CEILING = "noiseless truth"
_FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class MetricFigures:
    """``of_ceiling``: each value divided by that of the noiseless truth; None where either has none."""

    name: str
    measures: Mapping[Measure, Estimate]
    of_ceiling: Mapping[Measure, float | None]


@dataclass(frozen=True)
class MetricDifference:
    """``metric`` minus ``other``, on the same answers; intervals are paired."""

    metric: str
    other: str
    measures: Mapping[Measure, Estimate]


@dataclass(frozen=True)
class MetricComparison:
    """``ceiling`` are the figures of the truth itself, which the raters' noise keeps below 1."""

    metrics: tuple[MetricFigures, ...]
    ceiling: MetricFigures
    differences: tuple[MetricDifference, ...]


def compare_with_raters(
    answers: SimulatedAnswers, truth: Values, metrics: Mapping[str, Values], subjects: tuple[str, ...],
    options: Options,
) -> MetricComparison:
    """Figures of every metric, and differences of each of ``subjects`` from every other metric.

    Args:
        truth: [queries, methods], as the raters'.
        metrics: by name, [queries, methods]; higher is better.
        options: draws take queries whole, with all their answers.

    Raises ``StudyError`` for a subject that is no metric.
    """
    for subject in subjects:
        if subject not in metrics:
            raise StudyError(f"{quoted(subject)} is not among the metrics: {', '.join(metrics)}.")
    found = {name: _measured(answers, values, options) for name, values in {**metrics, CEILING: truth}.items()}
    ceiling = found[CEILING][0]
    figures = {name: MetricFigures(name, of, {measure: _share(of[measure], ceiling[measure]) for measure in MEASURES})
               for name, (of, _) in found.items()}
    return MetricComparison(
        tuple(figures[name] for name in metrics), figures[CEILING],
        tuple(MetricDifference(subject, other, _less(found[subject], found[other], answers, options))
              for subject in subjects for other in metrics if other != subject))


_Measured = tuple[dict[Measure, Estimate], dict[Measure, NDArray[np.float64]]]


def _measured(answers: SimulatedAnswers, values: Values, options: Options) -> _Measured:
    """Estimates with intervals, and the draws behind them."""
    scores = answers.of(values)
    sets = RatedSets(answers.query.repeat(2), answers.ratings.ravel(), scores.ravel())
    estimates: dict[Measure, Estimate] = {"spearman": spearman(sets, options, answers.queries)}
    draws: dict[Measure, NDArray[np.float64]] = {
        "spearman": spearman_draws(sets.score, sets.rating, sets.unit, answers.queries, options.draws, options.seed)}
    nothing = np.full(len(scores), np.nan)
    compared = Compared(answers.query, answers.preferred, scores[:, 0], scores[:, 1],
                        np.zeros(len(scores), np.int8), nothing, nothing)
    for form in _FORMS:
        counted, follows = support(compared, form)
        draws[form] = support_draws(compared, form, options, answers.queries)
        estimates[form] = Estimate(None, 0, reason="no answer in which the scores differ as required")
        if len(follows):
            plain = Estimate(float(follows.mean()), len(follows))
            estimates[form] = over_draws(plain, draws[form], answers.query[counted], options, share=True)
    return estimates, draws


def _less(one: _Measured, other: _Measured, answers: SimulatedAnswers, options: Options) -> dict[Measure, Estimate]:
    found: dict[Measure, Estimate] = {}
    for measure in MEASURES:
        a, b = one[0][measure], other[0][measure]
        if a.value is None or b.value is None:
            found[measure] = Estimate(None, 0, reason=a.reason or b.reason)
            continue
        found[measure] = over_draws(Estimate(a.value - b.value, answers.queries),
                                    one[1][measure] - other[1][measure], answers.query, options)
    return found


def _share(one: Estimate, ceiling: Estimate) -> float | None:
    return None if one.value is None or not ceiling.value else one.value / ceiling.value
