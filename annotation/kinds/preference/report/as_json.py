"""Preference report as plain JSON with stable keys.

Rates have two intervals: Wilson's as ``ci95``, and the bootstrap interval ``ci95_draws``, which allows for the
dependence of answers to one question, or of one person.
"""

from __future__ import annotations

from typing import Any

from annotation.analysis.about import about_json, finite
from annotation.analysis.records import Estimate, MetricTest, Rate, Strength
from annotation.analysis.rendering.as_json import estimate_json
from annotation.kinds.preference.report.records import MethodPair, MetricReport, PreferenceReport


def preference_json(report: PreferenceReport) -> dict[str, Any]:
    """``{"n_people", "n_questions", "n_valid", "ratings", "metrics", …}``: see the reference of reports in the docs."""
    return {
        "n_people": report.n_people, "n_questions": report.n_questions, "n_valid": report.n_valid,
        "ratings": {str(rating): count for rating, count in enumerate(report.ratings, 1)},
        "metrics": {metric.name: _metric(metric) for metric in report.metrics}, "n_answers": report.n_answers,
        "rules": dict(report.rules), "removed": dict(report.removed), "flagged": report.flagged,
        "mean_rating": estimate_json(report.mean_rating),
        "ratings_shapiro": estimate_json(report.ratings_shapiro, "p", first="w"),
        "rated_equal": report.rated_equal, "contradictions": report.contradictions, "ties": report.ties,
        "identical_sets": report.identical_sets, "first_side": _share(report.first_side),
        "first_side_when_equal": _share(report.first_side_when_equal), "stored_one": _share(report.stored_one),
        "stored_one_when_equal": _share(report.stored_one_when_equal),
        "metric_tests": [_test(test) for test in report.tests], "methods": [_strength(one) for one in report.methods],
        "method_pairs": [_pair(pair) for pair in report.pairs], "no_methods": report.no_methods,
        "shared_questions": report.shared_questions, "ratings_alpha": estimate_json(report.ratings_alpha),
        "preference_alpha": estimate_json(report.preference_alpha),
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.judgements} for one in report.raters],
        "about": about_json(report.about),
    }


def _metric(of: MetricReport) -> dict[str, Any]:
    return {
        "shapiro": estimate_json(of.shapiro, "p", first="w"), "spearman": estimate_json(of.spearman, "p", first="rho"),
        **{f"preference_rate_{key}": _rate(rate) for key, rate in of.rates.items()},
        "kendall": estimate_json(of.kendall, "p", first="tau_b"), "scored_sets": of.scored,
        "description": of.description, "notes": list(of.notes),
    }


def _rate(of: Rate) -> dict[str, Any]:
    drawn = estimate_json(of.drawn)
    return _share(of.share) | {"ci95_draws": drawn["ci95"], "reason_draws": drawn["reason"],
                               "adjusted": estimate_json(of.adjusted), "first_side": _share(of.first_side)}


def _share(of: Estimate) -> dict[str, Any]:
    return estimate_json(of, "count", "p", first="rate")


def _test(of: MetricTest) -> dict[str, Any]:
    return {"a": of.a, "b": of.b, **estimate_json(of.difference, "p", first="difference"), "p_holm": finite(of.p_holm),
            "draws": of.draws, "exact": of.exact}


def _strength(of: Strength) -> dict[str, Any]:
    return {"method": of.method, "strength": estimate_json(of.value), "adjusted": estimate_json(of.adjusted),
            "mean_rating": estimate_json(of.mean_rating), "win_rate": _share(of.win_rate)}


def _pair(of: MethodPair) -> dict[str, Any]:
    return {"first": of.first, "second": of.second, "answers": of.answers, "ties": of.ties,
            "first_preferred": _share(of.first_preferred), "adjusted": estimate_json(of.adjusted),
            "first_side": _share(of.first_side), "mean_difference": estimate_json(of.mean_difference)}
