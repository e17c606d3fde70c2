"""A whole report: its numbers, its sections for whoever reads it, its JSON for scripts. The screen and the command both
come this way, so that what they show of the same answers is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotation.analysis.planning.precision import kappa_precision, rate_precision
from annotation.analysis.preference.report import K, preference_report
from annotation.analysis.preference.report_json import preference_json
from annotation.analysis.preference.report_sections import preference_sections
from annotation.analysis.records import (
    MetricScores,
    Options,
    Precision,
    PreferenceReport,
    Section,
    Selection,
    StudyAnswers,
    ValidityReport,
)
from annotation.analysis.validity.report import validity_report
from annotation.analysis.validity.report_json import validity_json
from annotation.analysis.validity.report_sections import validity_sections
from annotation.preference.exclusion import Rules


@dataclass(frozen=True)
class WholeReport:
    """``json``: plain, under the keys that scripts rely on; "plan" is a list, empty where nothing was planned."""

    report: ValidityReport | PreferenceReport
    sections: tuple[Section, ...]
    json: Mapping[str, Any]


def compose(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(), *,
    rules: Rules | None = None, scores: Sequence[MetricScores] = (), ks: Sequence[int] = (K,),
    width: float | None = None,
) -> WholeReport:
    """The report of a study of either kind.

    Args:
        rules, scores, ks: of a preference study, as :func:`~annotation.analysis.preference.report.preference_report`
            takes them; a validity study has none.
        width: of the 95 % interval that is planned for, upper less lower; None: nothing is planned, nor is anything
            without draws, for planning draws.

    Raises ``StudyError`` for what the study does not have.
    """
    planned = width if options.draws else None
    plan: tuple[Precision, ...] = ()
    report: ValidityReport | PreferenceReport
    if answers.study.kind == "validity":
        report = validity_report(answers, selection, options)
        if planned is not None:
            plan = kappa_precision(answers, planned, options, selection)
    else:
        report = preference_report(answers, selection, options, rules=rules, scores=scores, ks=ks)
        if planned is not None:
            plan = rate_precision(answers, planned, options, selection, rules=rules, scores=scores,
                                  metric=f"recall@{(*ks, K)[0]}")
    return whole_report(report, plan)


def whole_report(report: ValidityReport | PreferenceReport, plan: Sequence[Precision] = ()) -> WholeReport:
    """``report`` with what is written of it."""
    if isinstance(report, ValidityReport):
        sections, fixed = validity_sections(report, plan), validity_json(report)
    else:
        sections, fixed = preference_sections(report, plan), preference_json(report)
    return WholeReport(report, tuple(sections), {**fixed, "plan": [asdict(one) for one in plan]})
