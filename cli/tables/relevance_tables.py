"""The tables of ``cirque evaluate relevance``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cir_core.reports.columns import cells, number, ranged, share, text
from cir_core.reports.records import ReportTable
from cli.tables.output import Part

if TYPE_CHECKING:
    from annotation.kinds.preference.report.metric_comparison import Measure, MetricComparison
    from annotation.kinds.preference.report.simulated_raters import SimulatedAnswers, Values
    from cir_core.sample.evaluate_metrics import ResultSets

TITLES: Mapping[Measure, str] = {
    "spearman": "Spearman’s ρ", "ge": "≥, one-sided", "gt": ">, one-sided", "symmetric": "symmetric",
    "half": "equal as half",
}


def comparison_parts(
    sets: ResultSets, answers: SimulatedAnswers, metrics: Mapping[str, Values], comparison: MetricComparison,
    revisions: Mapping[str, str], seed: int,
) -> Iterator[Part]:
    models = ", ".join(f"{name} {revision}" for name, revision in revisions.items())
    yield (f"Sample benchmark, test split: {len(sets.image_ids[0][0])} images found by each of {len(sets.methods)} "
           f"methods for {len(sets.queries)} queries; {len(answers.query)} answers of simulated raters, two of whom "
           f"agree on sets at {answers.agreement:.2f} (Spearman). Relevance models: {models}; seed {seed}.")
    for method, failed in sets.failures.items():
        yield f"Note: {method} failed at {failed} queries, which are left out."
    yield ReportTable(
        "means", "Means by method:",
        (text("method", "method"), number("truth", "attributes that fit"), *(number(name, name) for name in metrics)),
        tuple((method, *(float(values[:, place].mean()) for values in (sets.truth, *metrics.values())))
              for place, method in enumerate(sets.methods)))
    ceiling = comparison.ceiling
    yield ReportTable(
        "agreement",
        "Agreement with raters: correlation with their ratings, and how often they prefer the set that the metric "
        "scores higher; 95 % bootstrap intervals over queries in brackets, then the share of the ceiling.",
        (text("metric", "metric"), *(column for key, name in TITLES.items()
                                     for column in (*ranged(key, name), share(f"{key}_of_ceiling", "of ceiling")))),
        tuple((f"{'ceiling: ' if one is ceiling else ''}{one.name}", *(
            cell for key in TITLES
            for cell in (*cells(one.measures[key]), None if one is ceiling else one.of_ceiling[key])))
            for one in (*comparison.metrics, ceiling)))
    for subject in revisions:
        yield ReportTable(
            f"differences-{subject}",
            f"{subject} less each other metric (95 % paired bootstrap; * if the interval excludes zero):",
            (text("metric", "metric"), *(column for key, name in TITLES.items()
                                         for column in ranged(key, name, "difference"))),
            tuple((one.other, *(cell for key in TITLES for cell in cells(one.measures[key])))
                  for one in comparison.differences if one.metric == subject))
