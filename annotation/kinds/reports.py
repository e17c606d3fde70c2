"""Compose a whole report: numbers, sections for readers, and JSON for scripts. Used by both the screen and the command
line, so that their reports are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from annotation.analysis.records import MetricScores, Options, Precision, Section, Selection, StudyAnswers
from annotation.kinds.marks.report.as_json import target_json
from annotation.kinds.marks.report.records import TargetReport
from annotation.kinds.marks.report.report import target_report
from annotation.kinds.marks.report.sections import target_sections
from annotation.kinds.preference.exclusion import Rules
from annotation.kinds.preference.report.as_json import preference_json
from annotation.kinds.preference.report.precision import rate_precision
from annotation.kinds.preference.report.records import PreferenceReport
from annotation.kinds.preference.report.report import K, preference_report
from annotation.kinds.preference.report.sections import preference_sections
from annotation.kinds.ratings.report.as_json import session_json
from annotation.kinds.ratings.report.records import SessionReport
from annotation.kinds.ratings.report.report import session_precision, session_report
from annotation.kinds.ratings.report.sections import session_sections
from annotation.kinds.validity.report.as_json import validity_json
from annotation.kinds.validity.report.precision import kappa_precision
from annotation.kinds.validity.report.records import ValidityReport
from annotation.kinds.validity.report.report import validity_report
from annotation.kinds.validity.report.sections import validity_sections

Report = ValidityReport | PreferenceReport | SessionReport | TargetReport


@dataclass(frozen=True)
class WholeReport:
    """A composed report. ``json`` has stable keys; "plan" is a list, empty without a plan."""

    report: Report
    sections: tuple[Section, ...]
    json: Mapping[str, Any]


def compose(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(), *,
    rules: Rules | None = None, scores: Sequence[MetricScores] = (), ks: Sequence[int] = (K,),
    width: float | None = None,
) -> WholeReport:
    """The report of a study of any kind.

    Args:
        rules, ks: for :func:`~annotation.kinds.preference.report.report.preference_report`; otherwise ignored.
        scores: of metrics in a preference study, of language models in a session study; otherwise ignored.
        width: of the 95 % interval to plan for, upper minus lower; None: no plan. Without draws, and for a target
            study, there is no plan either.

    Raises ``StudyError`` for an invalid selection or option.
    """
    planned = width if options.draws else None
    plan: tuple[Precision, ...] = ()
    report: Report
    if answers.study.kind == "validity":
        report = validity_report(answers, selection, options)
        if planned is not None:
            plan = kappa_precision(answers, planned, options, selection)
    elif answers.study.kind == "sessions":
        report = session_report(answers, selection, options, scores=scores)
        if planned is not None:
            plan = session_precision(answers, planned, options, selection)
    elif answers.study.kind == "targets":
        report = target_report(answers, selection, options)
    else:
        report = preference_report(answers, selection, options, rules=rules, scores=scores, ks=ks)
        if planned is not None:
            plan = rate_precision(answers, planned, options, selection, rules=rules, scores=scores,
                                  metric=f"recall@{(*ks, K)[0]}")
    return whole_report(report, plan)


def whole_report(report: Report, plan: Sequence[Precision] = ()) -> WholeReport:
    """``report`` with its sections and JSON."""
    if isinstance(report, ValidityReport):
        sections, fixed = validity_sections(report, plan), validity_json(report)
    elif isinstance(report, SessionReport):
        sections, fixed = session_sections(report, plan), session_json(report)
    elif isinstance(report, TargetReport):
        sections, fixed = target_sections(report), target_json(report)
    else:
        sections, fixed = preference_sections(report, plan), preference_json(report)
    return WholeReport(report, tuple(sections), {**fixed, "plan": [asdict(one) for one in plan]})
