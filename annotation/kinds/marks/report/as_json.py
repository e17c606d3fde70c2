"""Target report as plain JSON with stable keys."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from annotation.analysis.about import about_json, finite
from annotation.analysis.rendering.as_json import estimate_json, estimates_json
from annotation.analysis.statistics.agreement import STATISTICS
from annotation.kinds.marks.report.records import MarkAgreement, ModelAgreement, TargetReport


def target_json(report: TargetReport) -> dict[str, Any]:
    """``{"n_queries", "agreement", "curve", "choice", …}``: see the reference of reports in the docs."""
    choice = report.choice
    return {
        "n_people": len(report.raters), "n_queries": report.n_queries, "n_marked": report.marked,
        "n_shared": report.shared, "n_answers": report.answers, "n_decided": report.decided,
        "n_targets": report.targets, "n_undecided": report.undecided,
        "n_without_confidence": report.without_confidence, "threshold": report.threshold,
        "agreement": _agreement(report.agreement),
        "pairs": [{"a": one.a, "b": one.b, "n": one.n, "kappa": estimate_json(one.kappa),
                   "agreement": estimate_json(one.agreement)} for one in report.pairs],
        "curve": [asdict(one) for one in report.curve],
        "choice": {"best": estimate_json(choice.best), "held_out": _model(choice.held_out),
                   "used": _model(choice.used), "difference": estimate_json(choice.difference)},
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.answers, "marks": dict(one.marks),
                    "kappa": finite(one.kappa)} for one in report.people],
        "about": about_json(report.about),
    }


def _agreement(of: MarkAgreement) -> dict[str, Any]:
    return estimates_json({
        "kappa": of.kappa, **{one.column: of.pooled[one.key] for one in STATISTICS}, "agreement": of.agreement,
        "unanimous": of.unanimous, "unsure": of.unsure})


def _model(of: ModelAgreement) -> dict[str, Any]:
    return estimates_json({field.name: getattr(of, field.name) for field in fields(of)})
