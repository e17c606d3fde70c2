"""How far the people of a study are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from annotation.records import Assignment, Judgement, Seat, Study, StudyEvent, name_key


@dataclass(frozen=True)
class SeatProgress:
    seat: int
    annotator: str | None              # None: nobody has taken the seat yet
    done: int                          # answered, unsure ones included
    unsure: int
    open: int                          # not answered, nor handed on to somebody else
    median_seconds: float | None       # of looking at an item; None before the first answer
    joined_at: datetime | None
    seen_at: datetime | None
    away: bool                         # for longer than the lease: open work goes to whoever joins
    finished_at: datetime | None = None   # in surveys: when they came to the end
    code: str | None = None            # that they were given then

    @property
    def total(self) -> int:
        return self.done + self.open


def seat_progress(
    study: Study, seats: Sequence[Seat], assignments: Sequence[Assignment], judgements: Sequence[Judgement],
    now: datetime, events: Iterable[StudyEvent] = (),
) -> list[SeatProgress]:
    """By number of the seat. ``judgements`` are those that count now, ``events`` those of the kind "finish"."""
    states: dict[int, Counter[str]] = defaultdict(Counter)
    for assignment in assignments:
        states[assignment.seat][assignment.state] += 1
    seconds: dict[str, list[float]] = defaultdict(list)
    for judgement in judgements:
        if judgement.seconds > 0:   # imported ones have none
            seconds[name_key(judgement.annotator)].append(judgement.seconds)
    ends: dict[str, StudyEvent] = {}
    for event in events:
        if event.kind == "finish":
            ends.setdefault(name_key(event.annotator), event)
    lease = timedelta(hours=study.plan.lease_hours)
    rows = []
    for seat in sorted(seats, key=lambda it: it.number):
        state = states[seat.number]
        taken = seconds.get(name_key(seat.annotator)) if seat.annotator else None
        last = seat.seen_at or seat.joined_at
        end = ends.get(name_key(seat.annotator)) if seat.annotator else None
        rows.append(SeatProgress(
            seat.number, seat.annotator, state["done"] + state["unsure"], state["unsure"], state["open"],
            median(taken) if taken else None, seat.joined_at, seat.seen_at,
            bool(seat.annotator and state["open"] and last and now - last > lease),
            end.created_at if end else None, end.payload.get("code") if end else None,
        ))
    return rows
