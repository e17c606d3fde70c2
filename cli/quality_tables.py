"""How carefully people answered, in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table

from cli.console import out

if TYPE_CHECKING:
    from annotation.exclusion import Removal, Removed, Rules
    from annotation.quality import PersonQuality, Share, SideBias
    from annotation.records import Study


def print_quality(people: Sequence[PersonQuality], bias: SideBias, rules: Rules, removed: Removed) -> None:
    from annotation.exclusion import shown

    table = Table("person", "answers", "wrong checks", "median", "longest run", "contradictions", "first side",
                  "95 %", "agrees", "flagged", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for one in people:
        side = one.first_side
        table.add_row(
            one.annotator, f"{one.answers:,}", f"{one.failed_checks} of {one.checks}",
            "" if one.median_seconds is None else f"{one.median_seconds:.0f} s", f"{one.longest_run:,}",
            f"{one.contradictions} of {one.contradictable}", _percent(side.value), _interval(side),
            "" if one.agreement is None else f"{_percent(one.agreement)} of {one.shared}", f"{one.flagged:,}")
    out.print(table)
    for what, found in (("What stood first is preferred", bias.first),
                        ("  where both sets got the same rating", bias.first_when_equal),
                        ("Stored set 1 is preferred", bias.stored),
                        ("  where both sets got the same rating", bias.stored_when_equal)):
        out.print(f"{what}: {_side(found)}")
    if not removed.by_rule:
        out.print("No rule: every answer counts.")
        return
    effect = Table("rule", "takes out answers", "all answers of", box=None)
    effect.columns[1].justify = "right"
    limits = rules.as_settings()
    for name, removal in removed.by_rule.items():
        typed = shown(name) if limits[name] is True else f"{shown(name)}={limits[name]}"
        effect.add_row(typed, f"{len(removal.judgements):,}", _people(removal))
    effect.add_row("all together", f"{len(removed.together.judgements):,}", _people(removed.together))
    out.print(effect)
    out.print(f"Answers left: {len(removed.kept):,}.")


def quality_json(
    study: Study, people: Sequence[PersonQuality], bias: SideBias, rules: Rules, removed: Removed
) -> dict[str, Any]:
    return {
        "study": study.name, "id": study.study_id,
        "people": [{**asdict(one), "contradiction_rate": one.contradiction_rate, "one_side": one.one_side}
                   for one in people],
        "sides": asdict(bias), "rules": rules.as_settings(),
        "removed": {name: _removal(one) for name, one in removed.by_rule.items()},
        "together": _removal(removed.together), "kept": len(removed.kept),
    }


def _removal(one: Removal) -> dict[str, Any]:
    return {"judgements": len(one.judgements), "people": list(one.people)}


def _people(one: Removal) -> str:
    return ", ".join(one.people)


def _side(share: Share) -> str:
    if share.p is None:
        return "not known"
    return f"{_percent(share.value)} of {share.n:,} (95 %: {_interval(share)}; p against one half {share.p:.2g})"


def _interval(share: Share) -> str:
    return "" if share.low is None else f"{_percent(share.low)}–{_percent(share.high)}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"
