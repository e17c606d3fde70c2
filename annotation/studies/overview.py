"""A study in plain JSON, its results, and the progress of its people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from annotation.records import Assignment, Judgement, Seat, Study, StudyEvent, Workspace, name_key

_ENOUGH = 3  # answers before a pace is estimated


def study_json(study: Study, counts: Mapping[str, int]) -> dict[str, Any]:
    """A study as plain JSON. ``counts`` as of the store."""
    return {"study": study.name, "id": study.study_id, "kind": study.kind, "protocol": study.protocol,
            "accepting": study.accepting, "plan": asdict(study.plan), "created_by": study.created_by,
            "created_at": study.created_at.isoformat(), "counts": dict(counts)}


@dataclass(frozen=True)
class Results:
    """Counts of a study so far, without intervals. ``tables``: headings, then rows, all of them texts; ``note``: how to
    read them. ``json``: the same for screens, in plain JSON of the kind."""

    tables: tuple[Sequence[Sequence[str]], ...]
    note: str
    json: Mapping[str, Any]
    title: str = ""


@dataclass(frozen=True)
class SeatProgress:
    seat: int
    annotator: str | None              # None: free seat
    done: int                          # answered, unsure ones included
    unsure: int
    open: int                          # neither answered nor reassigned
    median_seconds: float | None       # viewing time per item; None before the first answer
    joined_at: datetime | None
    seen_at: datetime | None
    away: bool                         # inactive for longer than the lease: open work may be reassigned
    finished_at: datetime | None = None   # in surveys: time of completion
    code: str | None = None            # completion code

    @property
    def total(self) -> int:
        return self.done + self.open


def seat_progress(
    study: Study, seats: Sequence[Seat], assignments: Sequence[Assignment], judgements: Sequence[Judgement],
    now: datetime, events: Iterable[StudyEvent] = (),
) -> list[SeatProgress]:
    """Progress by seat number, from the current ``judgements``, and the ``events`` of kind "finish"."""
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
        times = seconds.get(name_key(seat.annotator)) if seat.annotator else None
        last = seat.seen_at or seat.joined_at
        end = ends.get(name_key(seat.annotator)) if seat.annotator else None
        rows.append(SeatProgress(
            seat.number, seat.annotator, state["done"] + state["unsure"], state["unsure"], state["open"],
            median(times) if times else None, seat.joined_at, seat.seen_at,
            bool(seat.annotator and state["open"] and last and now - last > lease),
            end.created_at if end else None, end.payload.get("code") if end else None))
    return rows


@dataclass(frozen=True)
class WorkProgress:
    """One person's, with an estimate of the remaining time."""

    done: int                        # answered, unsure ones included
    total: int
    unsure: int
    median_seconds: float | None     # per item, over the latest answers; None until there are three
    seconds_left: float | None       # at that pace; None likewise


def progress_of(workspace: Workspace) -> WorkProgress:
    """Counted from what the desk carries: nothing is read again."""
    measured = [seconds for seconds in workspace.seconds if seconds > 0]   # 0: nobody measured it
    pace = median(measured) if len(measured) >= _ENOUGH else None
    left = None if pace is None else pace * (workspace.total - workspace.done)
    return WorkProgress(workspace.done, workspace.total, workspace.unsure, pace, left)
