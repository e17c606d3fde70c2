"""Validity report as plain JSON with stable keys.

``estimates`` holds the estimates of an object by key. The same numbers beside it, with ``ci95``, ``n`` and ``reasons``
by key, are those of version 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.analysis.about import about_json, finite
from annotation.analysis.records import Estimate
from annotation.analysis.rendering.as_json import estimate_json, estimates_json
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
        "b_seat": pair.b_seat, **_alone("agreement", pair.agreement, "agreement_"),
        "estimates": estimates_json({"kappa": pair.kappa, "agreement": pair.agreement}),
        "confusion": [list(row) for row in pair.table],
    } for pair in of.pairs]
    return _numbers({**first, "positive_rate": of.positive_rate, **of.agreement}) | {
        "pairwise_cohen": _pairwise(of.pairwise), "pairs": pairs}


def _pairwise(of: PairSummary) -> dict[str, Any]:
    return {"count": of.count, **_alone("mean", of.mean), "median": finite(of.median), "min": finite(of.min),
            "max": finite(of.max), "undefined": of.undefined, "ci95": {"mean": estimate_json(of.mean)["ci95"]},
            "reason": "; ".join(dict.fromkeys(filter(None, (of.reason, of.mean.reason)))),
            "estimates": estimates_json({"mean": of.mean})}


def _signature(report: ValidityReport) -> dict[str, Any]:
    of = report.signature
    return _numbers({
        "krippendorff_alpha": of.krippendorff_alpha, "exact_agreement_rate": of.exact_agreement,
        "exact_invalid_signature_rate": of.exact_invalid,
        "pairwise_agreement_mean": of.pairwise_agreement,
    }) | {"pairs": [_signature_pair(pair) for pair in of.pairs], "counts": dict(zip(of.labels, of.counts, strict=True))}


def _signature_pair(pair: SignaturePair) -> dict[str, Any]:
    return {"a": pair.a, "b": pair.b, "n": pair.n, **_alone("agreement", pair.agreement),
            "estimates": estimates_json({"agreement": pair.agreement}), "a_seat": pair.a_seat, "b_seat": pair.b_seat,
            "confusion": [{"a": a, "b": b, "n": count} for (a, b), count in pair.table.items()]}


def _numbers(of: Mapping[str, Estimate]) -> dict[str, Any]:
    found = estimates_json(of)
    return {
        "estimates": found, **{key: one["value"] for key, one in found.items()},
        **{name: {key: one[name] for key, one in found.items()} for name in ("ci95", "n")},
        "reasons": {key: one["reason"] for key, one in found.items() if one["reason"]}}


def _alone(key: str, of: Estimate, prefix: str = "") -> dict[str, Any]:
    """Of version 1."""
    found = estimate_json(of)
    return {key: found["value"], f"{prefix}ci95": found["ci95"], **({} if prefix else {"reason": found["reason"]})}
