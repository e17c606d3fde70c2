"""The tables of ``cirque evaluate relevance``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.table import Table

from cli.console import out

if TYPE_CHECKING:
    from annotation.kinds.preference.report.metric_comparison import Measure, MetricComparison, MetricFigures
    from annotation.kinds.preference.report.simulated_raters import SimulatedAnswers, Values
    from cir_core.reports.records import Estimate
    from cir_core.sample.evaluate_metrics import ResultSets

TITLES: Mapping[Measure, str] = {
    "spearman": "Spearman’s ρ", "ge": "≥, one-sided", "gt": ">, one-sided", "symmetric": "symmetric",
    "half": "equal as half",
}


def print_comparison(
    sets: ResultSets, answers: SimulatedAnswers, metrics: Mapping[str, Values], comparison: MetricComparison,
    revisions: Mapping[str, str], seed: int,
) -> None:
    models = ", ".join(f"{name} {revision}" for name, revision in revisions.items())
    out.print(f"Sample benchmark, test split: {len(sets.image_ids[0][0])} images found by each of {len(sets.methods)} "
              f"methods for {len(sets.queries)} queries; {len(answers.query)} answers of simulated raters, two of whom "
              f"agree on sets at {answers.agreement:.2f} (Spearman). Relevance models: {models}; seed {seed}.")
    for method, count in sets.failures.items():
        out.print(f"Note: {method} failed at {count} queries, which are left out.")
    means = Table("method", "attributes that fit", *metrics, box=None)
    for place, method in enumerate(sets.methods):
        means.add_row(method, *(f"{values[:, place].mean():.3f}" for values in (sets.truth, *metrics.values())))
    out.print("Means by method:")
    out.print(means)
    out.print("Agreement with raters: correlation with their ratings, and how often they prefer the set that the "
              "metric scores higher; 95 % bootstrap intervals over queries in brackets, then the share of the ceiling.")
    table = Table("metric", *TITLES.values(), box=None)
    for one in (*comparison.metrics, comparison.ceiling):
        table.add_row(*_row(one, ceiling=one is comparison.ceiling))
    out.print(table)
    for subject in revisions:
        out.print(f"{subject} less each other metric (95 % paired bootstrap; * if the interval excludes zero):")
        differences = Table("metric", *TITLES.values(), box=None)
        for one_less in comparison.differences:
            if one_less.metric == subject:
                differences.add_row(one_less.other, *(_difference(one_less.measures[measure]) for measure in TITLES))
        out.print(differences)


def _row(figures: MetricFigures, *, ceiling: bool) -> list[str]:
    if ceiling:
        return ["ceiling: " + figures.name, *(_cell(figures.measures[measure]) for measure in TITLES)]
    return [figures.name, *(_cell(figures.measures[measure], figures.of_ceiling[measure]) for measure in TITLES)]


def _cell(estimate: Estimate, of_ceiling: float | None = None) -> str:
    if estimate.value is None:
        return "–"
    ends = "" if estimate.low is None or estimate.high is None else f" ({estimate.low:.3f}–{estimate.high:.3f})"
    return f"{estimate.value:.3f}{ends}" + ("" if of_ceiling is None else f" {100 * of_ceiling:.0f} %")


def _difference(estimate: Estimate) -> str:
    if estimate.value is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.3f}"
    star = "*" if estimate.low > 0 or estimate.high < 0 else ""
    return f"{estimate.value:+.3f} ({estimate.low:+.3f} to {estimate.high:+.3f}){star}"
