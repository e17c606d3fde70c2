"""Report of a validity study: agreement on valid or not, on each flag, and on the whole set of flags. Validity
report as plain JSON with stable keys.

Labels come from :mod:`annotation.kinds.validity.report.verdicts`, statistics from
:mod:`annotation.analysis.statistics.agreement`. Intervals are bootstrapped over items with all their answers, because
answers to one item are not independent. All agreement of a report uses the same replicates, of the items with two or
more judgements; shares of answers use replicates of all items.

``estimates`` holds the estimates of an object by key. The same numbers beside it, with ``ci95``, ``n`` and ``reasons``
by key, are those of version 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.about import about, about_json, finite
from annotation.analysis.people.profiles import People, people_json, people_of
from annotation.analysis.people.time_section import times_json
from annotation.analysis.people.times import Times, answered, same_as_others, times_of
from annotation.analysis.records import Estimate, Options, Selection, StudyAnswers
from annotation.analysis.rendering import estimate_json, estimates_json
from annotation.analysis.selection import check_options, select
from annotation.analysis.statistics import cohen, shares
from annotation.analysis.statistics.agreement import AgreementDraws, agreement_draws, agreement_estimates
from annotation.analysis.statistics.bootstrap import kappa_with_interval, share_with_interval, shared_with_interval
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA
from annotation.analysis.statistics.matrix import Ratings
from annotation.kinds.validity.report.records import (
    PairAgreement,
    PairSummary,
    SignaturePair,
    Signatures,
    TwoWay,
    ValidityReport,
)
from annotation.kinds.validity.report.verdicts import BINARY, SIGNATURE, Verdicts, validity_notes, verdicts

_ALL_PAIRS = 50   # maximum of people for which pairs without a shared item are listed too
_NONE_INVALID = "no item is invalid by all its judges"
_NO_PAIR = "fewer than two people have given a verdict"
_VALID = "Valid or not"

Pair = tuple[int, int]


def validity_report(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(),
) -> ValidityReport:
    """The report of ``selection``; also of an empty or tiny study, with reasons instead of numbers.

    Items with one verdict count in shares of answers, not in agreement. Raises ``StudyError`` for a preference
    study, an invalid selection, and resampling of people: a person sampled twice would agree with themselves.
    """
    check_options(options, "items")
    selected = select(answers, selection)
    found = verdicts(selected, hide_names=options.hide_names)
    answered = (found.codes >= 0).astype(np.float64)
    shared = np.rint(answered.T @ answered).astype(np.int64)
    pairs = _pairs(shared)
    people = np.count_nonzero(found.codes >= 0, axis=1)
    two_ways: dict[str, TwoWay] = {}
    unanimous = Estimate(None, 0)
    for key in found.keys[:-1]:
        ratings = found.ratings(key)
        drawn = _drawn(ratings, pairs, shared, options)
        two_ways[key] = _two_way(key, found, ratings, pairs, drawn, options)
        if key == BINARY:
            unanimous = _of_items(shares.unanimous(ratings), drawn.unanimous)
    notes = validity_notes(selected, found, shared, options, len(pairs))
    per_item = Counter({0: len(selected.items) - len(found.items)}) + Counter(people.tolist())
    return ValidityReport(
        about(answers, selected, selection, options, notes), found.raters, int((people > 1).sum()), len(found.items),
        sum(found.counts), found.unlabelled, dict(sorted(per_item.items())), unanimous, two_ways.pop(BINARY),
        tuple(two_ways.values()), _signatures(found, pairs, shared, options), _people(found, options),
        _times(selected, found, options))


def _people(found: Verdicts, options: Options) -> People | None:
    if not found.raters:
        return None
    valid = Ratings(found.ratings(BINARY).codes, ("not valid", "valid"))
    return people_of(valid, found.raters, "nominal", options, found.ratings(SIGNATURE))


def _times(selected: StudyAnswers, found: Verdicts, options: Options) -> Times | None:
    if not found.raters:
        return None
    binary = found.ratings(BINARY)
    same = same_as_others(binary)
    return times_of(answered(
        selected, [one for one, _, _ in found.judgements],
        {one.judgement_id: float(same[row, column]) for one, row, column in found.judgements},
        {one.judgement_id: float(binary.codes[row, column]) for one, row, column in found.judgements},
    ), found.raters, options)


def _pairs(shared: NDArray[np.int64]) -> list[Pair]:
    everybody = len(shared) <= _ALL_PAIRS
    return [(a, b) for a, b in combinations(range(len(shared)), 2) if everybody or shared[a, b]]


def _drawn(
    ratings: Ratings, pairs: Sequence[Pair], shared: NDArray[np.int64], options: Options, *, kappas: bool = True,
) -> AgreementDraws:
    """Replicates with columns for all ``pairs``; nan for pairs without a shared item, which are not computed."""
    together = [place for place, (a, b) in enumerate(pairs) if shared[a, b]]
    drawn = agreement_draws(ratings, [pairs[place] for place in together], options.draws, options.seed,
                            scale="nominal", undefined=options.undefined, kappas=kappas)
    if len(together) == len(pairs):
        return drawn

    def spread(columns: NDArray[np.float64]) -> NDArray[np.float64]:
        wide = np.full((len(columns), len(pairs)), np.nan)
        if columns.size:
            wide[:, together] = columns
        return wide

    return replace(drawn, kappas=spread(drawn.kappas), agreements=spread(drawn.agreements))


def _two_way(
    key: str, found: Verdicts, ratings: Ratings, pairs: Sequence[Pair], drawn: AgreementDraws, options: Options,
) -> TwoWay:
    flag = found.rubric.flag(key)
    compared = _compared(found, ratings, pairs, drawn, options)
    return TwoWay(
        key, flag.name if flag else _VALID,
        share_with_interval(shares.positive_rate(ratings), drawn.positive_rate, len(found.items)),
        agreement_estimates(ratings, drawn, options),
        _summary([pair.kappa for pair in compared], drawn.mean_kappa, ratings), compared)


def _of_items(estimate: Estimate, drawn: NDArray[np.float64]) -> Estimate:
    """Estimate of a share of items; ``n`` counts items."""
    return share_with_interval(estimate, drawn, estimate.n)


def _compared(
    found: Verdicts, ratings: Ratings, pairs: Sequence[Pair], drawn: AgreementDraws, options: Options,
) -> tuple[PairAgreement, ...]:
    no, yes = ((ratings.codes == category).astype(np.float64) for category in (0, 1))
    tables = np.rint([[one.T @ other for other in (no, yes)] for one in (no, yes)]).astype(np.int64)
    compared = []
    for place, (a, b) in enumerate(pairs):
        one, other = found.raters[a], found.raters[b]
        (neither, only_b), (only_a, both) = tables[:, :, a, b].tolist()
        kappa = cohen.cohen(ratings.codes[:, a], ratings.codes[:, b], len(ratings.categories), options.undefined)
        same = cohen.agreement(ratings.codes[:, a], ratings.codes[:, b])
        shared = ratings.codes[(ratings.codes[:, [a, b]] >= 0).all(axis=1)][:, [a, b]]
        compared.append(PairAgreement(
            one.name, other.name, one.seat, other.seat, same.n,
            kappa_with_interval(kappa, drawn.kappas[:, place], shared, ratings),
            _of_items(same, drawn.agreements[:, place]), ((neither, only_b), (only_a, both))))
    return tuple(compared)


def _summary(kappas: Sequence[Estimate], drawn: NDArray[np.float64], ratings: Ratings) -> PairSummary:
    """``drawn``: replicates of the mean."""
    defined = [kappa.value for kappa in kappas if kappa.value is not None]
    missing = Counter(kappa.reason for kappa in kappas if kappa.value is None)
    reason = _left_out(missing, len(kappas))
    if not defined:
        reason = reason or _NO_PAIR
        return PairSummary(0, len(kappas), Estimate(None, 0, reason=reason), None, None, None, reason)
    mean = shared_with_interval(Estimate(fmean(defined), len(defined)), drawn, ratings)
    return PairSummary(len(defined), len(kappas) - len(defined), mean, median(defined), min(defined), max(defined),
                       reason)


def _left_out(missing: Mapping[str, int], pairs: int) -> str:
    """Which pairs have no kappa, and why; "" if all have one."""
    if not missing:
        return ""
    count = sum(missing.values())
    which = f"κ is undefined for all {pairs:,} pairs" if count == pairs > 1 else (
        "κ is undefined" if count == pairs else f"{count:,} of {pairs:,} pairs left out")
    whys = sorted(missing.items(), key=lambda one: (-one[1], one[0]))
    return f"{which}: " + "; ".join(f"{why} ({many:,})" if len(whys) > 1 else why for why, many in whys)


def _signatures(found: Verdicts, pairs: Sequence[Pair], shared: NDArray[np.int64], options: Options) -> Signatures:
    ratings = found.ratings(SIGNATURE)
    drawn = _drawn(ratings, pairs, shared, options, kappas=False)
    compared = []
    for place, (a, b) in enumerate(pairs):
        one, other = found.raters[a], found.raters[b]
        same = cohen.agreement(ratings.codes[:, a], ratings.codes[:, b])
        compared.append(SignaturePair(one.name, other.name, one.seat, other.seat, same.n,
                                      _of_items(same, drawn.agreements[:, place]), _table(found, a, b)))
    defined = [pair.agreement.value for pair in compared if pair.agreement.value is not None]
    mean = Estimate(fmean(defined), len(defined)) if defined else Estimate(
        None, 0, reason=cohen.NOT_SHARED if compared else _NO_PAIR)
    return Signatures(
        found.labels, found.counts, agreement_estimates(ratings, drawn, options)[ALPHA.key],
        _of_items(shares.unanimous(ratings), drawn.unanimous),
        shares.unanimous_among(ratings, _all_invalid(found), options.draws, options.seed, none=_NONE_INVALID),
        share_with_interval(mean, drawn.mean_agreement, int((ratings.people_per_unit() > 1).sum())), tuple(compared))


def _all_invalid(found: Verdicts) -> NDArray[np.bool_]:
    """Which items are invalid by all verdicts on them."""
    binary = found.ratings(BINARY).codes
    return np.asarray((binary <= 0).all(axis=1))


def _table(found: Verdicts, a: int, b: int) -> dict[tuple[str, str], int]:
    """Number of items per pair of signatures of two people, most frequent first."""
    both = (found.codes[:, [a, b]] >= 0).all(axis=1)
    one, other = (found.codes[both, person].astype(np.int64) for person in (a, b))
    counts = np.bincount(one * len(found.labels) + other)
    order = np.argsort(-counts, kind="stable")[:np.count_nonzero(counts)].tolist()
    return {(found.labels[cell // len(found.labels)], found.labels[cell % len(found.labels)]): int(counts[cell])
            for cell in order}


def validity_json(report: ValidityReport) -> dict[str, Any]:
    """``{"n_items", "n_raters", "binary", "flags", "signature", …}``: see the reference of reports in the docs."""
    exact, invalid = report.signature.exact_agreement, report.signature.exact_invalid
    return {
        "n_items": report.n_items, "n_raters": len(report.raters),
        "binary": _two_way_json(report.binary, exact_agreement_rate=exact, exact_invalid_signature_rate=invalid,
                           unanimous_rate=report.unanimous),
        "flags": {flag.key: {"label": flag.label, **_two_way_json(flag)} for flag in report.flags},
        "signature": _signature(report),
        "judged": report.judged, "judgements": report.judgements, "unlabelled": report.unlabelled,
        "people_per_item": {str(people): items for people, items in report.per_item.items()},
        "raters": [{"seat": one.seat, "name": one.name, "judgements": one.judgements,
                    "valid": one.positive} for one in report.raters],
        "people": people_json(report.people) if report.people else [],
        "times": times_json(report.times) if report.times else None,
        "about": about_json(report.about),
    }


def _two_way_json(of: TwoWay, **first: Estimate) -> dict[str, Any]:
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
