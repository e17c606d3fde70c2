"""Records of a tiny study, made by hand: four items, three of them for two people, one for everybody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.records import (
    Decision,
    Draft,
    Item,
    Judgement,
    OpenAssignments,
    PlannedAssignment,
    Reassignment,
    Study,
    StudyImage,
    StudyPlan,
)

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
STUDY = Study(
    "s1", "Dogs & Fräcke 🐕", "validity", "circus/1", StudyPlan(2, 1, 1, 7, 24.0), True, {"unsure_after": 120},
    {"from": "tests"}, "local", START,
)
ITEMS = tuple(
    Item(f"i{number}", "s1", number, f"cirr::{number}", "a" if number % 2 else "b", number == 3,
         {"text": f"text {number}", "reference": f"token{number}", "target": "token9", "panel": [f"panel{number}"]},
         {"hidden_category": "a", "panel": ["x", "y"]})
    for number in range(4)
)
IMAGES = tuple(
    StudyImage(token, f"image of {token}", 30, 40)
    for token in ("token0", "token1", "token2", "token3", "token9", "panel0", "panel1", "panel2", "panel3"))
# Seat 1: i0, i3, i2. Seat 2: i3, i1. Item i3 is the agreement block.
PLACES = (PlannedAssignment("i0", 1, 0), PlannedAssignment("i3", 1, 1), PlannedAssignment("i2", 1, 2),
          PlannedAssignment("i3", 2, 0), PlannedAssignment("i1", 2, 1))
VALID = {"validated": True, "flags": []}
FLAGGED = {"validated": False, "flags": ["INVALID_TEXT_QUERY"]}


def later(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def a_judgement(
    item_id: str, annotator: str, token: str, answer: Any = None, minutes: float = 0, **more: Any,
) -> Judgement:
    record = {"study_id": "s1", "revision": 0, "protocol": "circus/1", "seconds": 4.5} | more
    return Judgement(judgement_id=f"j-{item_id}-{annotator}-{token}", item_id=item_id, annotator=annotator,
                     token=token, answer=VALID if answer is None else answer, created_at=later(minutes), **record)


def a_draft(item_id: str, annotator: str, note: str = "begun", minutes: float = 0) -> Draft:
    return Draft(item_id, annotator, {"note": note}, 2.0, later(minutes))


def a_decision(
    item_id: str, token: str, answer: Any = None, reason: str = "because", adjudicator: str = "Ada",
) -> Decision:
    return Decision(f"d-{item_id}-{token}", "s1", item_id, adjudicator, 0, token, answer or VALID, reason, START)


def take_all(work: OpenAssignments) -> list[Reassignment]:
    """A policy: all open work of seats nobody has taken or that were left before START, and the block."""
    idle = {seat.number for seat in work.seats if seat.seen_at is None or seat.seen_at < START}
    given: dict[str, int | None] = {item_id: None for item_id in work.block if item_id not in work.mine}
    for one in work.open:
        if one.seat in idle and one.item_id not in work.mine:
            given.setdefault(one.item_id, one.seat)
    return [Reassignment(item_id, len(work.mine) + n, seat) for n, (item_id, seat) in enumerate(given.items())]


def take_nothing(work: OpenAssignments) -> list[Reassignment]:
    return []
