"""The tables of ``cirque evaluate sample``. The tables of ``cirque evaluate relevance``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cir_core.evaluation.evaluate_single import MEASURES, STAGES, SingleTurn
from cir_core.reports.records import ReportColumn, ReportTable, cells, count, number, ranged, share, text
from cir_core.sample.evaluate_sample import Difference, SampleReport, SessionsReport
from cli.tables.output import Part
from cli.tables.request_tables import PERCENT, measures_table, request_parts

if TYPE_CHECKING:
    from annotation.kinds.preference.report.metric_comparison import Measure, MetricComparison
    from annotation.kinds.preference.report.simulated_raters import SimulatedAnswers, Values
    from cir_core.sample.evaluate_metrics import ResultSets

_DIFFERENCE = "percentage points, 95 % paired bootstrap; * if the interval excludes zero"


def sample_parts(report: SampleReport, max_turns: int) -> Iterator[Part]:
    """Everything but the ranks, which only the JSON file has."""
    total = sum(map(len, report.queries.values()))
    measured = tuple(report.single[0].measures) if report.single else MEASURES
    yield measures_table(
        "single",
        f"Sample benchmark, {total} queries, FashionIQ's protocol: each category ranked separately, reference kept, "
        f"two captions joined by “and”. Mean of the {len(report.queries)} categories, {PERCENT}; "
        f"seed {report.seed}." + (f" CIRQRS: 100 × the mean relevance score of the first images, relevance model "
                                  f"{report.relevance}." if report.relevance else ""),
        measured, [(one.title, one.measures, one.protocol.digest) for one in report.single])
    yield from _differences("single-differences", report.differences, measured)
    yield from _notes(report)
    yield from _times(report.single)
    if report.requests is not None:
        yield from request_parts(report.requests)
    for sessions in report.sessions:
        yield from _sessions(sessions, max_turns)
    for name, why in report.skipped.items():
        yield f"Left out {name}: {why}."


def _sessions(report: SessionsReport, max_turns: int) -> Iterator[Part]:
    fixed = report.fixed
    how = {
        "neutral": f"no search made them, every one has {fixed.longest} turns",
        "built": f"a simulated person searched with CIReVL and eq. 9, 2 to {max_turns} turns, until the first hit: "
                 "CIReVL cannot hit before a session's last turn, others can",
    }[fixed.kind]
    yield measures_table(
        f"sessions-{fixed.kind}", f"{fixed.kind.capitalize()} sessions ({len(fixed.sessions)}, digest {fixed.digest}): "
        f"{how}. The same for every method; means over sessions, {PERCENT}.",
        fixed.measures, [(one.title, one.measures, one.protocol.digest) for one in report.scores])
    if report.live is not None:
        hits = ", ".join(f"{100 * value:.2f}" for value in report.live.hits_at_10)
        yield (f"The search that built them, over all its {report.live.sessions} sessions: Hits@10 by turn {hits}; "
               f"Final Recall@10 {100 * report.live.final_recall_at_10:.2f}, AUC {100 * report.live.auc:.2f}.")
    yield from _differences(f"sessions-{fixed.kind}-differences", report.differences, fixed.measures)


def _differences(key: str, differences: Sequence[Difference], names: Sequence[str]) -> Iterator[ReportTable]:
    if differences:
        yield measures_table(key, f"Less {differences[0].base} ({_DIFFERENCE}):", names,
                             [(one.method, one.measures, "") for one in differences], "points")


def _times(rows: Sequence[SingleTurn]) -> Iterator[ReportTable]:
    if not rows:
        return
    stages = [stage for stage in STAGES if any(stage in row.spent.stages for row in rows)]
    asked = any(row.spent.usage.calls or row.spent.usage.cached for row in rows)
    calls = (count("calls", "model calls"), count("cached", "from cache"), ReportColumn("cost", "cost", "number"))
    yield ReportTable(
        "times", "Milliseconds a query, mean; “whole turn” includes the time between stages:",
        (text("method", "method"), *(count(stage, stage) for stage in stages), count("total", "whole turn"),
         *(calls if asked else ())),
        tuple((row.title, *(row.spent.stages.get(stage) for stage in stages), row.spent.total,
               *((row.spent.usage.calls, row.spent.usage.cached, row.spent.usage.cost) if asked else ()))
              for row in rows))


def _notes(report: SampleReport) -> Iterator[str]:
    """Notes that apply to most queries of a method, as it hardly ran as named."""
    total = sum(map(len, report.queries.values()))
    for row in report.single:
        for remark, times in row.notes.items():
            if 2 * times > total:
                yield f"Note: {row.title}, {times} of {total} queries: {remark}"


TITLES: Mapping[Measure, str] = {
    "spearman": "Spearman’s ρ", "ge": "≥, one-sided", "gt": ">, one-sided", "symmetric": "symmetric",
    "half": "equal as half",
}


_LOOK_AT = {"target": "the target's attributes", "request": "the request"}


def comparison_parts(
    sets: ResultSets, metrics: Mapping[str, Values],
    found: Mapping[str, tuple[SimulatedAnswers, MetricComparison]], revisions: Mapping[str, str], seed: int,
) -> Iterator[Part]:
    models = ", ".join(f"{name} {revision}" for name, revision in revisions.items())
    yield (f"Sample benchmark, test split: {len(sets.image_ids[0][0])} images found by each of {len(sets.methods)} "
           f"methods for {len(sets.queries)} queries. Relevance models: {models}; seed {seed}.")
    for method, failed in sets.failures.items():
        yield f"Note: {method} failed at {failed} queries, which are left out."
    yield ReportTable(
        "means", "Means by method:",
        (text("method", "method"), number("truth", "attributes that fit"), number("request_truth", "request answered"),
         *(number(name, name) for name in metrics)),
        tuple((method, *(float(values[:, place].mean()) for values in (*sets.truths.values(), *metrics.values())))
              for place, method in enumerate(sets.methods)))
    for name, (answers, comparison) in found.items():
        yield from _rater_parts(name, sets.unchanged[name], answers, comparison, tuple(revisions))


def _rater_parts(
    name: str, unchanged: float, answers: SimulatedAnswers, comparison: MetricComparison, subjects: Sequence[str]
) -> Iterator[Part]:
    ceiling, look_at = comparison.ceiling, _LOOK_AT[name]
    suffix = "" if name == "target" else f"-{name}"
    yield ReportTable(
        f"agreement{suffix}",
        f"Agreement with raters who look at {look_at} ({len(answers.query)} answers; two of them agree on sets at "
        f"{answers.agreement:.2f}, Spearman; the unchanged reference alone has {unchanged:.2f} of 1): correlation with "
        "their ratings, and how often they prefer the set that the metric scores higher; 95 % bootstrap intervals over "
        "queries in brackets, then the share of the ceiling.",
        (text("metric", "metric"), *(column for key, title in TITLES.items()
                                     for column in (*ranged(key, title), share(f"{key}_of_ceiling", "of ceiling")))),
        tuple((f"{'ceiling: ' if one is ceiling else ''}{one.name}", *(
            cell for key in TITLES
            for cell in (*cells(one.measures[key]), None if one is ceiling else one.of_ceiling[key])))
            for one in (*comparison.metrics, ceiling)))
    for subject in subjects:
        yield ReportTable(
            f"differences-{subject}{suffix}",
            f"{subject} less each other metric, raters who look at {look_at} (95 % paired bootstrap; * if the interval "
            "excludes zero):",
            (text("metric", "metric"), *(column for key, title in TITLES.items()
                                         for column in ranged(key, title, "difference"))),
            tuple((one.other, *(cell for key in TITLES for cell in cells(one.measures[key])))
                  for one in comparison.differences if one.metric == subject))
