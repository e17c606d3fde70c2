"""Export tables of a preference study's events and participants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.records import Judgement, Seat, Study, StudyEvent, name_key
from annotation.studies.imports import is_imported
from annotation.tables.columns import Column, Table, in_utc


@dataclass(frozen=True)
class _PersonRow:
    seat: Seat
    imported: bool
    answers: int
    consented_at: datetime | None
    checks: Sequence[bool]            # whether each is right
    end: StudyEvent | None


_EVENT = (
    Column("annotator", "text", "who it was", lambda event: event.annotator),
    Column("kind", "text", "guidelines (read), consent, check (answered) or finish", lambda event: event.kind),
    Column("at", "time", "when", lambda event: in_utc(event.created_at)),
    Column("payload", "text", "JSON: the text consented to; number, attempt, question, answer of a check and whether "
           "it is right; the code at the end",
           lambda event: json.dumps(dict(event.payload), ensure_ascii=False, sort_keys=True)),
)
_PERSON = (
    Column("seat", "integer", "the person's seat in the plan, from 1", lambda row: row.seat.number),
    Column("annotator", "text", "who it is", lambda row: row.seat.annotator),
    Column("joined_at", "time", "when they took the seat",
           lambda row: in_utc(row.seat.joined_at) if row.seat.joined_at and not row.imported else None),
    Column("consented_at", "time", "when they consented, last; empty where consent was not asked or not given",
           lambda row: in_utc(row.consented_at) if row.consented_at else None),
    Column("answers", "integer", "questions answered", lambda row: row.answers),
    Column("checks", "integer", "answers to checks; empty if not recorded",
           lambda row: None if row.imported else len(row.checks)),
    Column("checks_failed", "integer", "wrong ones among them; empty likewise",
           lambda row: None if row.imported else row.checks.count(False)),
    Column("finished", "flag", "whether they came to the end; empty if not recorded",
           lambda row: None if row.imported else row.end is not None),
    Column("finished_at", "time", "when, the first time", lambda row: in_utc(row.end.created_at) if row.end else None),
    Column("code", "text", "completion code that they were given",
           lambda row: row.end.payload.get("code") if row.end else None),
)


def event_table(study: Study, events: Iterable[StudyEvent]) -> Table:
    """One row for each event, in the order given."""
    return Table.of(study, _EVENT, events)


def people_table(
    study: Study, seats: Iterable[Seat], judgements: Iterable[Judgement], events: Sequence[StudyEvent],
) -> Table:
    """One row per person with a seat, by seat number. ``judgements``: current ones; ``events``: oldest first."""
    answers = [name_key(judgement.annotator) for judgement in judgements]

    def row(seat: Seat, person: str) -> _PersonRow:
        own = [event for event in events if name_key(event.annotator) == person]
        consents = [event.created_at for event in own if event.kind == "consent"]
        return _PersonRow(
            seat, is_imported(study), answers.count(person), consents[-1] if consents else None,
            [event.payload.get("right") is True for event in own if event.kind == "check"],
            next((event for event in own if event.kind == "finish"), None))

    return Table.of(study, _PERSON, (row(seat, name_key(seat.annotator))
                                     for seat in sorted(seats, key=lambda one: one.number) if seat.annotator))
