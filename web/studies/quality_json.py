"""Answer quality of a preference study as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from annotation.kinds.preference.exclusion import Removal, Rules, shown
from annotation.kinds.preference.method_results import MethodResult, PairResult
from annotation.kinds.preference.quality import PersonQuality
from annotation.kinds.preference.review import Review
from annotation.records import name_key

Json = dict[str, Any]


def quality(found: Review, kept: Rules) -> Json:
    """People by name, side bias, and what each rule excludes alone and all together. ``kept``: the study's own."""
    removed = found.removed
    return {
        "people": [_person(one, found) for one in found.people],
        "sides": {name: asdict(each) for name, each in (
            ("first", found.bias.first), ("first_when_equal", found.bias.first_when_equal),
            ("stored", found.bias.stored), ("stored_when_equal", found.bias.stored_when_equal))},
        "rules": typed(found.rules), "kept_rules": typed(kept),
        "removed": [{"rule": shown(name), **_removal(one)} for name, one in removed.by_rule.items()],
        "together": _removal(removed.together), "answers": len(found.judgements), "left": len(removed.kept),
    }


def typed(rules: Rules) -> list[str]:
    """Rules in the syntax of :func:`annotation.kinds.preference.exclusion.parse_rules`."""
    return [shown(name) if value is True else f"{shown(name)}={value}" for name, value in rules.as_settings().items()]


def methods(rows: Sequence[MethodResult], pairs: Sequence[PairResult]) -> Json:
    return {"methods": [asdict(row) for row in rows], "pairs": [asdict(pair) for pair in pairs]}


def _person(one: PersonQuality, found: Review) -> Json:
    mine = [judgement.judgement_id for judgement in found.judgements
            if name_key(judgement.annotator) == name_key(one.annotator)]
    return {
        "name": one.annotator, "answers": one.answers, "checks": one.checks, "failed_checks": one.failed_checks,
        "median_seconds": one.median_seconds, "longest_run": one.longest_run, "contradictions": one.contradictions,
        "contradictable": one.contradictable, "first_side": asdict(one.first_side), "agreement": one.agreement,
        "shared": one.shared, "flagged": one.flagged,
        "left": len(mine) - sum(judgement_id in found.removed.excluded for judgement_id in mine),
    }


def _removal(one: Removal) -> Json:
    """What a rule removes; ``answers`` is null if its data was not recorded."""
    return {"answers": len(one.judgements) if one.recorded else None, "people": list(one.people)}
