"""Session report as plain JSON with stable keys."""

from __future__ import annotations

from typing import Any

from annotation.analysis.about import about_json, finite
from annotation.analysis.rendering.as_json import estimates_json
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
    return {"ratings": {str(point): count for point, count in enumerate(of.counts, 1)},
            **estimates_json({"mean": of.mean, "krippendorff_alpha": of.alpha, "apart": of.apart})}


def _model(of: ModelRatings) -> dict[str, Any]:
    return estimates_json({"mean": of.mean, "difference": of.difference, "krippendorff_alpha": of.alpha,
                           "spearman": of.rho, "apart": of.apart})


def _group(of: SessionGroup) -> dict[str, Any]:
    return {"source": of.source, "turns": of.turns, "sessions": of.sessions, "mean_turns": of.mean_turns,
            "people": estimates_json(of.people),
            "models": {name: estimates_json(found) for name, found in of.models.items()}}
