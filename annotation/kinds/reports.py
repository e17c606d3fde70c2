"""Compose a whole report: numbers, sections for readers, and JSON for scripts. Used by both the screen and the command
line, so that their reports are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from annotation.analysis.records import (
    AnyReport,
    MetricScores,
    Options,
    Precision,
    Scale,
    Section,
    Selection,
    StudyAnswers,
)
from annotation.analysis.rendering.as_json import SCHEMA_VERSION
from annotation.kinds.preference.exclusion import Rules
from annotation.kinds.preference.report.report import K
from annotation.kinds.table import KINDS, ReportRequest
from cir_core.errors import StudyError
from cir_core.support.texts import shortened


@dataclass(frozen=True)
class WholeReport:
    """A composed report. ``json`` has stable keys; "plan" is a list, empty without a plan."""

    report: AnyReport
    sections: tuple[Section, ...]
    json: Mapping[str, Any]


def compose(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(), *,
    rules: Rules | None = None, scores: Sequence[MetricScores] = (), ks: Sequence[int] = (K,),
    width: float | None = None,
) -> WholeReport:
    """The report of a study of any kind.

    Args:
        rules, scores, ks: as in :class:`~annotation.kinds.table.ReportRequest`.
        width: of the 95 % interval to plan for, upper minus lower; None: no plan. Without draws, and for a target
            study, there is no plan either.

    Raises ``StudyError`` for an invalid selection or option.
    """
    kind, asked = KINDS[answers.study.kind], ReportRequest(selection, options, rules, scores, ks)
    report = kind.report(answers, asked)
    plan = kind.plan(answers, asked, width) if kind.plan and width is not None and options.draws else ()
    return whole_report(report, plan)


def whole_report(report: AnyReport, plan: Sequence[Precision] = ()) -> WholeReport:
    """``report`` with its sections and JSON."""
    kind = KINDS[report.about.kind]
    return WholeReport(report, tuple(kind.sections(report, plan)),
                       {"schema_version": SCHEMA_VERSION, **kind.json(report), "plan": [asdict(one) for one in plan]})


def check_scale(kind: str, scale: str) -> None:
    """Raises ``StudyError`` if ``scale`` is not that of what a study of this kind collects."""
    right = KINDS[kind].scale
    if scale == right:
        return
    known = "" if scale in get_args(Scale) else f"There is no scale “{shortened(scale)}”. "
    raise StudyError(f"{known}{KINDS[kind].scale_reason}: Krippendorff's alpha of a {kind.removesuffix('s')} study is "
                     f"{right}. Ask for {right}, or leave the scale out.")
