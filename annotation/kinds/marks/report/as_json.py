"""Target report as plain JSON with stable keys.

Each number with an interval is an object ``{"value", "ci95", "n", "reason"}``: null if undefined, ``ci95`` is
``[low, high]`` or null.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from annotation.analysis.about import about_json, ci95, finite
from annotation.analysis.records import Estimate
from annotation.kinds.marks.report.records import MarkAgreement, ModelAgreement, TargetReport


def target_json(report: TargetReport) -> dict[str, Any]:
    """``{"n_queries", "agreement", "curve", "choice", …}``: see the reference of reports in the docs."""
    choice = report.choice
    return {
        "n_people": len(report.raters), "n_queries": report.n_queries, "n_marked": report.marked,
        "n_shared": report.shared, "n_answers": report.answers, "n_decided": report.decided,
        "n_targets": report.targets, "n_undecided": report.undecided,
        "n_without_confidence": report.without_confidence, "threshold": report.threshold,
        "agreement": _estimates(report.agreement),
        "pairs": [{"a": one.a, "b": one.b, "n": one.n, "kappa": _estimate(one.kappa),
                   "agreement": _estimate(one.agreement)} for one in report.pairs],
        "curve": [asdict(one) for one in report.curve],
        "choice": {"best": _estimate(choice.best), "held_out": _estimates(choice.held_out),
                   "used": _estimates(choice.used), "difference": _estimate(choice.difference)},
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.answers, "marks": dict(one.marks),
                    "kappa": finite(one.kappa)} for one in report.people],
        "about": about_json(report.about),
    }


def _estimates(of: MarkAgreement | ModelAgreement) -> dict[str, Any]:
    return {field.name: _estimate(getattr(of, field.name)) for field in fields(of)}


def _estimate(of: Estimate) -> dict[str, Any]:
    return {"value": finite(of.value), "ci95": ci95(of), "n": of.n, "reason": of.reason}
