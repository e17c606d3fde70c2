"""Which items need a decision: a rule of the study.

Reasons, the most urgent first: "unsure", a judge was unsure; "tie", as many judges on one side as on the other;
"split", judges differ; "flags", judges agree on the verdict and differ in what is wrong; "agreement", the mean
agreement of two judges is below a number. What a tie and a split are is said by the kind (:meth:`StudyKind.disputes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.quality.agreement import agreement
from annotation.records import WHYS, Decision, Item, Judgement, Study, Why, by_item
from annotation.studies.kinds import StudyKind
from cir_core.errors import StudyError
from cir_core.support.texts import printable, shortened

SETTING = "adjudication"
NEEDS = ("unsure", "tie", "split")
DISCUSSIONS = ("none", "adjudicators", "judges")
"""Who discusses an item: nobody, adjudicators, or also its judges."""
_COVERS: Mapping[str, frozenset[Why]] = {
    "unsure": frozenset({"unsure"}), "tie": frozenset({"tie"}), "split": frozenset({"tie", "split", "flags"})}


@dataclass(frozen=True)
class Needs:
    """``needs``: of :data:`NEEDS`; "split" is any split, ties included. ``below``: the least mean agreement of two
    judges, from 0 to 1, that needs no decision; None: whatever it is. Raises ``StudyError``."""

    needs: tuple[str, ...] = ()
    below: float | None = None
    discussion: str = "adjudicators"

    def __post_init__(self) -> None:
        if unknown := [name for name in self.needs if name not in NEEDS]:
            raise StudyError(f"“{printable(shortened(str(unknown[0]), 40))}” is not a reason for a decision. Choose "
                             f"one of {', '.join(NEEDS)}.")
        if self.below is not None and (isinstance(self.below, bool) or not 0 <= self.below <= 1):
            raise StudyError("The minimum agreement is a number from 0 to 1.")
        if self.discussion not in DISCUSSIONS:
            raise StudyError(f"A discussion is one of {', '.join(DISCUSSIONS)}.")

    @property
    def none(self) -> bool:
        return not self.needs and self.below is None

    def as_settings(self) -> dict[str, Any]:
        return {"needs": [name for name in NEEDS if name in self.needs], "below": self.below,
                "discussion": self.discussion}


@dataclass(frozen=True)
class Case:
    """An item for adjudication. ``decided``: it has a decision; then nothing else may be the reason."""

    item_id: str
    why: Why | None
    decided: bool


def needs_of(study: Study, kind: StudyKind) -> Needs:
    """The rule in the study's settings, else the usual one of its kind."""
    given = study.settings.get(SETTING)
    return Needs(tuple(kind.usual_needs)) if given is None else needs_from(given)


def discussed_by_judges(study: Study, kind: StudyKind) -> bool:
    return needs_of(study, kind).discussion == "judges"


def needs_from(given: object) -> Needs:
    """A rule as of :meth:`Needs.as_settings`. Raises ``StudyError``."""
    if not isinstance(given, Mapping) or not given.keys() <= {"needs", "below", "discussion"}:
        raise StudyError("What needs a decision is an object with needs, below and discussion.")
    needs, below = given.get("needs") or (), given.get("below")
    if not isinstance(needs, list | tuple) or not all(isinstance(name, str) for name in needs):
        raise StudyError(f"“needs” is a list of {', '.join(NEEDS)}.")
    if below is not None and not isinstance(below, int | float):
        raise StudyError("The minimum agreement is a number from 0 to 1.")
    return Needs(tuple(needs), below, given.get("discussion", "adjudicators"))


def why(answers: Sequence[Mapping[str, Any]], study: Study, kind: StudyKind, needs: Needs) -> Why | None:
    """The first reason that applies to an item with these canonical answers; None: it needs no decision."""
    wanted = frozenset[Why]().union(*(_COVERS[name] for name in needs.needs))
    found = set(kind.disputes(answers, study)) & wanted if wanted else set()
    if needs.below is not None and (reached := agreement(answers, kind.score)) is not None and reached < needs.below:
        found.add("agreement")
    return next((one for one in WHYS if one in found), None)


def cases(
    items: Iterable[Item], judgements: Iterable[Judgement], decisions: Iterable[Decision], study: Study,
    kind: StudyKind,
) -> list[Case]:
    """Items that need a decision, and those that have one, in the order of ``items``."""
    needs, given = needs_of(study, kind), by_item(judgements)
    decided = {one.item_id for one in decisions}
    found = []
    for item in items if decided or not needs.none else ():
        answers = [one.answer for one in given.get(item.item_id, ())]
        reason = why(answers, study, kind, needs)
        if reason is not None or item.item_id in decided:
            found.append(Case(item.item_id, reason, item.item_id in decided))
    return found


def queue_json(found: Sequence[Case]) -> dict[str, int]:
    decided = sum(each.decided for each in found)
    return {"open": len(found) - decided, "decided": decided}
