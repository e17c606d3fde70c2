"""Export tables of a preference study's events and participants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from annotation.records import Judgement, Seat, Study, StudyEvent, name_key
from annotation.studies.imports import is_imported
from annotation.tables.columns import STUDY, Column, Table, in_utc

_EVENT = (
    STUDY,
    Column("annotator", "text", "who it was"),
    Column("kind", "text", "guidelines (read), consent, check (answered) or finish"),
    Column("at", "time", "when"),
    Column("payload", "text", "JSON: the text consented to; number, attempt, question, answer of a check and whether "
           "it is right; the code at the end"),
)
_PERSON = (
    STUDY,
    Column("seat", "integer", "the person's seat in the plan, from 1"),
    Column("annotator", "text", "who it is"),
    Column("joined_at", "time", "when they took the seat"),
    Column("consented_at", "time", "when they consented, last; empty where consent was not asked or not given"),
    Column("answers", "integer", "questions answered"),
    Column("checks", "integer", "answers to checks; empty if not recorded"),
    Column("checks_failed", "integer", "wrong ones among them; empty likewise"),
    Column("finished", "flag", "whether they came to the end; empty if not recorded"),
    Column("finished_at", "time", "when, the first time"),
    Column("code", "text", "completion code that they were given"),
)


def event_table(study: Study, events: Iterable[StudyEvent]) -> Table:
    """One row for each event, in the order given."""
    return Table(study, _EVENT, tuple(
        (study.name, event.annotator, event.kind, in_utc(event.created_at),
         json.dumps(dict(event.payload), ensure_ascii=False, sort_keys=True))
        for event in events))


def people_table(
    study: Study, seats: Iterable[Seat], judgements: Iterable[Judgement], events: Sequence[StudyEvent],
) -> Table:
    """One row per person with a seat, by seat number. ``judgements``: current ones; ``events``: oldest first."""
    answers = [name_key(judgement.annotator) for judgement in judgements]
    imported = is_imported(study)
    rows = []
    for seat in sorted(seats, key=lambda one: one.number):
        if seat.annotator is None:
            continue
        person = name_key(seat.annotator)
        own = [event for event in events if name_key(event.annotator) == person]
        consents = [event.created_at for event in own if event.kind == "consent"]
        checks = [event.payload.get("right") is True for event in own if event.kind == "check"]
        end = next((event for event in own if event.kind == "finish"), None)
        rows.append((
            study.name, seat.number, seat.annotator,
            in_utc(seat.joined_at) if seat.joined_at and not imported else None,
            in_utc(consents[-1]) if consents else None, answers.count(person), None if imported else len(checks),
            None if imported else checks.count(False), None if imported else end is not None,
            in_utc(end.created_at) if end else None, end.payload.get("code") if end else None))
    return Table(study, _PERSON, tuple(rows))
