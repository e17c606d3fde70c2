"""Preference report as plain JSON with stable keys.

Each number has its own key, and is null if undefined. Objects with numbers have ``ci95`` (``[low, high]`` or null),
``n``, and ``reason`` ("" if not needed). Rates have two intervals: Wilson's as ``ci95``, and the bootstrap interval
``ci95_draws``, which allows for the dependence of answers to one question, or of one person.
"""

from __future__ import annotations

from typing import Any

from annotation.analysis.about import about_json, ci95, finite
from annotation.analysis.records import Correlation, Estimate, MetricTest, Normality, Proportion, Rate, Strength
from annotation.kinds.preference.report.records import MethodPair, MetricReport, PreferenceReport


def preference_json(report: PreferenceReport) -> dict[str, Any]:
    """``{"n_people", "n_questions", "n_valid", "ratings", "metrics", …}``: see the reference of reports in the docs."""
    return {
        "n_people": report.n_people, "n_questions": report.n_questions, "n_valid": report.n_valid,
        "ratings": {str(rating): count for rating, count in enumerate(report.ratings, 1)},
        "metrics": {metric.name: _metric(metric) for metric in report.metrics}, "n_answers": report.n_answers,
        "rules": dict(report.rules), "removed": dict(report.removed), "flagged": report.flagged,
        "mean_rating": _estimate(report.mean_rating), "ratings_shapiro": _normality(report.ratings_shapiro),
        "rated_equal": report.rated_equal, "contradictions": report.contradictions, "ties": report.ties,
        "identical_sets": report.identical_sets, "first_side": _share(report.first_side),
        "first_side_when_equal": _share(report.first_side_when_equal), "stored_one": _share(report.stored_one),
        "stored_one_when_equal": _share(report.stored_one_when_equal),
        "metric_tests": [_test(test) for test in report.tests], "methods": [_strength(one) for one in report.methods],
        "method_pairs": [_pair(pair) for pair in report.pairs], "no_methods": report.no_methods,
        "shared_questions": report.shared_questions, "ratings_alpha": _estimate(report.ratings_alpha),
        "preference_alpha": _estimate(report.preference_alpha),
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.judgements} for one in report.raters],
        "about": about_json(report.about),
    }


def _metric(of: MetricReport) -> dict[str, Any]:
    return {
        "shapiro": _normality(of.shapiro), "spearman": _correlation("rho", of.spearman),
        "preference_rate_ge": _rate(of.ge), "preference_rate_gt": _rate(of.gt),
        "preference_rate_symmetric": _rate(of.symmetric),
        "preference_rate_given_equal_recall": _rate(of.given_equal_recall),
        "preference_rate_gt_given_equal_recall": _rate(of.gt_given_equal_recall),
        "kendall": _correlation("tau_b", of.kendall), "scored_sets": of.scored, "description": of.description,
        "notes": list(of.notes),
    }


def _normality(of: Normality) -> dict[str, Any]:
    return {"w": finite(of.w), "p": finite(of.p), "n": of.n, "reason": of.reason}


def _correlation(key: str, of: Correlation) -> dict[str, Any]:
    return {key: finite(of.estimate.value), "p": finite(of.p), "ci95": ci95(of.estimate), "n": of.estimate.n,
            "reason": of.estimate.reason}


def _rate(of: Rate) -> dict[str, Any]:
    return _share(of.share) | {"reason": of.reason, "ci95_draws": ci95(of.drawn), "reason_draws": of.drawn.reason,
                               "adjusted": _estimate(of.adjusted), "first_side": _share(of.first_side)}


def _share(of: Proportion) -> dict[str, Any]:
    return {"rate": finite(of.value), "n": of.n, "ci95": ci95(of), "count": of.count, "p": finite(of.p)}


def _estimate(of: Estimate) -> dict[str, Any]:
    return {"value": finite(of.value), "n": of.n, "ci95": ci95(of), "reason": of.reason}


def _test(of: MetricTest) -> dict[str, Any]:
    return {"a": of.a, "b": of.b, "difference": finite(of.difference), "ci95": ci95(of), "p": finite(of.p),
            "p_holm": finite(of.p_holm), "n": of.n, "draws": of.draws, "exact": of.exact, "reason": of.reason}


def _strength(of: Strength) -> dict[str, Any]:
    return {"method": of.method, "strength": _estimate(of.value), "adjusted": _estimate(of.adjusted),
            "mean_rating": _estimate(of.mean_rating), "win_rate": _share(of.win_rate)}


def _pair(of: MethodPair) -> dict[str, Any]:
    return {"first": of.first, "second": of.second, "answers": of.answers, "ties": of.ties,
            "first_preferred": _share(of.first_preferred), "adjusted": _estimate(of.adjusted),
            "first_side": _share(of.first_side), "mean_difference": _estimate(of.mean_difference)}
