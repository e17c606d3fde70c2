"""Answer quality as terminal tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table

from cir_core.support.texts import counted
from cli.console import out
from cli.tables.study_tables import print_rows

if TYPE_CHECKING:
    from annotation.analysis.records import Estimate
    from annotation.kinds.preference.method_results import PairResult
    from annotation.kinds.preference.quality import PersonQuality
    from annotation.kinds.preference.review import Review
    from annotation.quality.people import CareReview
    from annotation.quality.rules import Removal, Removed, Rules

NOT_RECORDED = "not recorded"


def print_quality(found: Review, pairs: Sequence[PairResult]) -> None:
    """Print people, the effect of rules, side bias of the remaining answers, and ``pairs`` adjusted for it."""
    print_people(found.people)
    _print_removed(found.rules, found.removed)
    kept = len(found.removed.kept)
    out.print("Sides" if kept == len(found.judgements) else f"Sides, of the {counted(kept, 'answer')} left")
    for what, share in (("Shown first is preferred", found.bias.first),
                        ("  where both sets got the same rating", found.bias.first_when_equal),
                        ("Stored set 1 is preferred", found.bias.stored),
                        ("  where both sets got the same rating", found.bias.stored_when_equal)):
        out.print(f"{what}: {_side(share)}", soft_wrap=True)
    if pairs:
        out.print()
        print_pair_sides(pairs)


def print_people(people: Sequence[PersonQuality]) -> None:
    """Print people in two tables, so that narrow terminals do not truncate headings."""
    print_rows(("person", "answers", "wrong checks", "median", "longest run", "flagged"), (
        (one.annotator, f"{one.answers:,}", _wrong_checks(one),
         "" if one.median_seconds is None else f"{one.median_seconds:.0f} s", f"{one.longest_run:,}",
         NOT_RECORDED if one.flagged is None else f"{one.flagged:,}") for one in people))
    print_rows(("person", "contradictions", "first side", "95 %", "agrees"), (
        (one.annotator, f"{one.contradictions} of {one.contradictable}",
         _percent(one.first_side.value), _interval(one.first_side),
         "" if one.agreement is None else f"{_percent(one.agreement)} of {one.shared}") for one in people))


def print_care(found: CareReview) -> None:
    """Print people of a study without sides, and the effect of rules."""
    print_rows(("person", "answers", "median", "longest run", "contradictions", "gold"), (
        (one.annotator, f"{one.answers:,}", "" if one.median_seconds is None else f"{one.median_seconds:.0f} s",
         f"{one.longest_run:,}", f"{one.contradictions} of {one.contradictable}" if one.contradictable else "",
         "" if one.gold is None else f"{_percent(one.gold)} of {len(one.outcomes)}") for one in found.people))
    _print_removed(found.rules, found.removed)


def care_json(found: CareReview) -> dict[str, Any]:
    return {
        "study": found.study.name, "id": found.study.study_id,
        "people": [{**asdict(one), "gold": one.gold, "contradiction_rate": one.contradiction_rate}
                   for one in found.people],
        "rules": found.rules.as_settings(),
        "removed": {name: _removal(one) for name, one in found.removed.by_rule.items()},
        "together": _removal(found.removed.together), "kept": len(found.removed.kept),
    }


def print_pair_sides(pairs: Sequence[PairResult]) -> None:
    """Print how often each method of a pair was shown first, and the side-adjusted preference."""
    print_rows(("pair", "first led", "second led", "first preferred", "adjusted"), (
        (f"{one.first} and {one.second}", _led(one.first_led, one.first_leading),
         _led(one.second_led, one.second_leading), _percent(one.first_preferred.value), _percent(one.adjusted))
        for one in pairs))
    for one in pairs:
        if one.adjusted is None:
            out.print(f"{one.first} and {one.second}, not adjusted: {one.unadjusted}.", soft_wrap=True)
    out.print("Led: answers with the method shown first, and the share of these that prefer the first method of "
              "the pair. Adjusted: the mean of both shares.", soft_wrap=True)


def _print_removed(rules: Rules, removed: Removed) -> None:
    from annotation.quality.rules import shown

    if not removed.by_rule:
        out.print("No rule: every answer counts.")
        out.print()
        return
    limits = rules.as_settings()
    typed = {name: shown(name) if limits[name] is True else f"{shown(name)}={limits[name]}" for name in removed.by_rule}
    effect = Table("rule", "excludes answers", "all answers of", box=None)
    effect.columns[1].justify = "right"
    for name, removal in removed.by_rule.items():
        effect.add_row(typed[name], f"{len(removal.judgements):,}" if removal.recorded else NOT_RECORDED,
                       _people(removal))
    effect.add_row("all together", f"{len(removed.together.judgements):,}", _people(removed.together))
    out.print(effect)
    out.print(f"Answers left: {len(removed.kept):,}.")
    out.print()


def quality_json(found: Review, pairs: Sequence[PairResult]) -> dict[str, Any]:
    """``removed`` has null for ``judgements`` if the rule's data was not recorded."""
    study, people, bias, rules, removed = found.study, found.people, found.bias, found.rules, found.removed
    return {
        "study": study.name, "id": study.study_id,
        "people": [{**asdict(one), "contradiction_rate": one.contradiction_rate, "one_side": one.one_side}
                   for one in people],
        "sides": asdict(bias), "rules": rules.as_settings(),
        "removed": {name: _removal(one) for name, one in removed.by_rule.items()},
        "together": _removal(removed.together), "kept": len(removed.kept),
        "pairs": [asdict(pair) for pair in pairs],
    }


def _removal(one: Removal) -> dict[str, Any]:
    return {"judgements": len(one.judgements) if one.recorded else None, "people": list(one.people)}


def _people(one: Removal) -> str:
    return ", ".join(one.people)


def _wrong_checks(one: PersonQuality) -> str:
    return NOT_RECORDED if one.checks is None else f"{one.failed_checks} of {one.checks}"


def _led(stood: int, preferred: Estimate) -> str:
    return f"{stood:,} ({_percent(preferred.value) or 'none'})" if stood else "0"


def _side(share: Estimate) -> str:
    if share.p is None:
        return "unknown"
    return f"{_percent(share.value)} of {share.n:,} (95 %: {_interval(share)}; p vs. 50 % {share.p:.2g})"


def _interval(share: Estimate) -> str:
    return "" if share.low is None else f"{_percent(share.low)}–{_percent(share.high)}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"
