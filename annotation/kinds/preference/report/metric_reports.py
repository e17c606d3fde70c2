"""Correlation and preference rates of each metric of a preference study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import MetricScores, MetricTest, Options
from annotation.analysis.statistics.answer_rows import AnswerRows
from annotation.analysis.statistics.correlation import RatedSets, kendall, shapiro, spearman
from annotation.analysis.statistics.metric_tests import compare_metrics
from annotation.analysis.statistics.rates import RATES, Compared
from annotation.kinds.preference.report.records import MetricReport


def rated_sets(rows: AnswerRows, metric: MetricScores, options: Options) -> RatedSets:
    """Two rows per answer."""
    return RatedSets(rows.unit(options.resample).repeat(2), rows.ratings.ravel(), rows.scores(metric).ravel())


def compared(rows: AnswerRows, metric: MetricScores, recall: MetricScores | None, options: Options) -> Compared:
    """Answers without a tie. ``recall``: for equation 9."""
    decided = rows.preferred != 0
    scores, recalls = rows.scores(metric)[decided], rows.scores(recall)[decided]
    return Compared(rows.unit(options.resample)[decided], rows.preferred[decided], scores[:, 0], scores[:, 1],
                    rows.first[decided], recalls[:, 0], recalls[:, 1])


def metric_report(
    rows: AnswerRows, metric: MetricScores, recall: MetricScores | None, options: Options
) -> MetricReport:
    sets, answers, units = (rated_sets(rows, metric, options), compared(rows, metric, recall, options),
                            rows.units(options.resample))
    return MetricReport(
        metric.name, metric.description, len(sets.scored.score), shapiro(sets.score), spearman(sets, options, units),
        kendall(sets), {form.key: form(answers, options, units) for form in RATES}, metric.notes)


def metric_tests(rows: AnswerRows, metrics: Sequence[MetricScores], options: Options) -> tuple[MetricTest, ...]:
    """Tests of all pairs of metrics. The permutation unit is the question, independent of the resampling unit."""
    scores: Mapping[str, NDArray[np.float64]] = {one.name: rows.scores(one).ravel() for one in metrics}
    return compare_metrics(list(combinations(scores, 2)), scores, rows.ratings.ravel(), rows.question.repeat(2),
                           options, clusters=rows.unit(options.resample).repeat(2))
