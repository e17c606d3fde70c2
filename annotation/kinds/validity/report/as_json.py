"""Validity report as plain JSON with stable keys.

Each number has its own key, and is null if undefined. Objects with numbers have ``ci95`` (``[low, high]`` or null, by
key), ``n`` and ``reasons`` (only if needed).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.analysis.about import about_json, ci95, finite
from annotation.analysis.records import Estimate
from annotation.kinds.validity.report.records import PairSummary, SignaturePair, TwoWay, ValidityReport


def validity_json(report: ValidityReport) -> dict[str, Any]:
    """``{"n_items", "n_raters", "binary", "flags", "signature", …}``: see the reference of reports in the docs."""
    exact, invalid = report.signature.exact_agreement, report.signature.exact_invalid
    return {
        "n_items": report.n_items, "n_raters": len(report.raters),
        "binary": _two_way(report.binary, exact_agreement_rate=exact, exact_invalid_signature_rate=invalid,
                           unanimous_rate=report.unanimous),
        "flags": {flag.key: {"label": flag.label, **_two_way(flag)} for flag in report.flags},
        "signature": _signature(report),
        "judged": report.judged, "judgements": report.judgements, "unlabelled": report.unlabelled,
        "people_per_item": {str(people): items for people, items in report.per_item.items()},
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.judgements,
                    "valid": one.positive} for one in report.raters],
        "about": about_json(report.about),
    }


def _two_way(of: TwoWay, **first: Estimate) -> dict[str, Any]:
    pairs = [{
        "a": pair.a, "b": pair.b, "n": pair.n, **_alone("kappa", pair.kappa), "a_seat": pair.a_seat,
        "b_seat": pair.b_seat, "agreement": finite(pair.agreement.value), "agreement_ci95": ci95(pair.agreement),
        "confusion": [list(row) for row in pair.table],
    } for pair in of.pairs]
    return estimates_json({**first, "positive_rate": of.positive_rate, "fleiss_kappa": of.fleiss_kappa,
                           "krippendorff_alpha": of.krippendorff_alpha}) | {
        "pairwise_cohen": _pairwise(of.pairwise), "pairs": pairs}


def _pairwise(of: PairSummary) -> dict[str, Any]:
    return {"count": of.count, "mean": finite(of.mean.value), "median": finite(of.median), "min": finite(of.min),
            "max": finite(of.max), "undefined": of.undefined, "ci95": {"mean": ci95(of.mean)},
            "reason": "; ".join(dict.fromkeys(filter(None, (of.reason, of.mean.reason))))}


def _signature(report: ValidityReport) -> dict[str, Any]:
    of = report.signature
    return estimates_json({
        "krippendorff_alpha": of.krippendorff_alpha, "exact_agreement_rate": of.exact_agreement,
        "exact_invalid_signature_rate": of.exact_invalid,
        "pairwise_agreement_mean": of.pairwise_agreement,
    }) | {"pairs": [_signature_pair(pair) for pair in of.pairs], "counts": dict(zip(of.labels, of.counts, strict=True))}


def _signature_pair(pair: SignaturePair) -> dict[str, Any]:
    return {"a": pair.a, "b": pair.b, "n": pair.n, **_alone("agreement", pair.agreement), "a_seat": pair.a_seat,
            "b_seat": pair.b_seat,
            "confusion": [{"a": a, "b": b, "n": count} for (a, b), count in pair.table.items()]}


def estimates_json(of: Mapping[str, Estimate]) -> dict[str, Any]:
    """Estimates by key, with intervals, n and reasons."""
    return {
        **{key: finite(estimate.value) for key, estimate in of.items()},
        "ci95": {key: ci95(estimate) for key, estimate in of.items()},
        "n": {key: estimate.n for key, estimate in of.items()},
        "reasons": {key: estimate.reason for key, estimate in of.items() if estimate.reason},
    }


def _alone(key: str, of: Estimate) -> dict[str, Any]:
    return {key: finite(of.value), "ci95": ci95(of), "reason": of.reason}
