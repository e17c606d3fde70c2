"""Session report as plain JSON with stable keys.

Each number is an object ``{"value", "ci95", "n", "reason"}``: null if undefined, ``ci95`` is ``[low, high]`` or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.analysis.about import about_json, ci95, finite
from annotation.analysis.records import Estimate
from annotation.kinds.ratings.report.records import ModelRatings, QuestionRatings, SessionGroup, SessionReport


def session_json(report: SessionReport) -> dict[str, Any]:
    """``{"n_sessions", "questions", "models", "sources", …}``: see the reference of reports in the docs."""
    return {
        "n_people": len(report.raters), "n_sessions": report.n_sessions, "n_rated": report.rated,
        "n_shared": report.shared, "n_answers": report.answers,
        "people_per_session": {str(people): sessions for people, sessions in report.per_session.items()},
        "questions": {one.question: _question(one) for one in report.questions},
        "models": {one.name: {
            "sessions": one.sessions, "description": one.description, "notes": list(one.notes),
            "questions": {each.question: _model(each) for each in one.questions},
        } for one in report.models},
        "sources": [_group(one) for one in report.groups],
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.answers, "mean_overall": one.mean,
                    "shared": one.shared, "apart": finite(one.apart), "lenient": finite(one.lenient)}
                   for one in report.people],
        "about": about_json(report.about),
    }


def _question(of: QuestionRatings) -> dict[str, Any]:
    return {"ratings": {str(point): count for point, count in enumerate(of.counts, 1)}, "mean": _estimate(of.mean),
            "krippendorff_alpha": _estimate(of.alpha), "apart": _estimate(of.apart)}


def _model(of: ModelRatings) -> dict[str, Any]:
    return {"mean": _estimate(of.mean), "difference": _estimate(of.difference),
            "krippendorff_alpha": _estimate(of.alpha), "spearman": _estimate(of.rho), "apart": _estimate(of.apart)}


def _group(of: SessionGroup) -> dict[str, Any]:
    return {"source": of.source, "turns": of.turns, "sessions": of.sessions, "mean_turns": of.mean_turns,
            "people": _means(of.people), "models": {name: _means(found) for name, found in of.models.items()}}


def _means(of: Mapping[str, Estimate]) -> dict[str, Any]:
    return {key: _estimate(estimate) for key, estimate in of.items()}


def _estimate(of: Estimate) -> dict[str, Any]:
    return {"value": finite(of.value), "ci95": ci95(of), "n": of.n, "reason": of.reason}
