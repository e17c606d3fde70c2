"""Review of a preference study for its owner: quality, exclusions, and export files. Export tables of a preference
study's events and participants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.exports import judgement_table, preference_pairs, set_table
from annotation.kinds.preference.hp_fashioniq import hp_form
from annotation.kinds.preference.quality import PersonQuality, SideBias, people_quality, side_bias
from annotation.quality.care import outcomes_of
from annotation.quality.rules import Removed, Rules, apply_rules, rules_of
from annotation.records import Judgement, Seat, Study, StudyEvent, name_key
from annotation.studies.creation import is_imported
from annotation.studies.store import StudyStore
from annotation.tables import Column, Table, in_utc, table_files
from cir_core.errors import StudyError


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
    Column("checks_failed", "integer", "wrong ones among them; empty if not recorded",
           lambda row: None if row.imported else row.checks.count(False)),
    Column("finished", "flag", "whether they finished; empty if not recorded",
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


FORMS = ("hp-fashioniq", "csv", "parquet", "preferences")


@dataclass(frozen=True)
class Review:
    """``judgements``: current ones; ``people`` by seat; ``removed``: excluded by ``rules``."""

    study: Study
    judgements: tuple[Judgement, ...]
    people: tuple[PersonQuality, ...]
    rules: Rules
    removed: Removed

    @cached_property
    def bias(self) -> SideBias:
        """Side bias of the remaining answers, from which the results of methods are computed."""
        return side_bias(self.removed.kept)


def review(store: StudyStore, study: Study, rules: Rules | None = None) -> Review:
    """Review a study. ``rules``: instead of those in its settings. Raises ``StudyError`` for a study of another kind,
    and for unknown rules in its settings."""
    if study.kind != "preference":
        raise StudyError(f"{study.name} is {study.called}. This is for preference studies; for its results use "
                         "cirque study results")
    judgements = tuple(store.judgements(study.study_id))
    people = people_quality(store.seats(study.study_id), store.assignments(study.study_id), judgements,
                            store.events(study.study_id, kind="check"),
                            outcomes_of(store.gold_answers(study.study_id), Preference().score))
    rules = rules_of(study.settings) if rules is None else rules
    return Review(study, judgements, tuple(people), rules, apply_rules(rules, judgements, people))


def preference_files(
    store: StudyStore, study: Study, form: str, *, everything: bool = False
) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """Export files of a preference study in one of :data:`FORMS`, by name, and notes on omissions.

    Answers excluded by the study's rules are marked in tables, and left out of the other forms unless
    ``everything`` is set.
    """
    items = store.items(study.study_id)
    assignments = [one for one in store.assignments(study.study_id) if one.dealt is None]
    found = review(store, study)
    judgements, removed = found.judgements, found.removed
    if form in ("csv", "parquet"):
        excluded = {} if everything else removed.excluded
        events = store.events(study.study_id)
        tables = {"judgements": lambda: judgement_table(study, items, assignments, judgements, excluded),
                  "sets": lambda: set_table(study, items, assignments, judgements, excluded),
                  "people": lambda: people_table(study, store.seats(study.study_id), judgements, events),
                  "events": lambda: event_table(study, events)}
        return table_files(form, tables, tables), ()
    kept = judgements if everything else removed.kept
    notes = []
    if len(kept) < len(judgements):
        notes.append(f"The study's rules exclude {len(judgements) - len(kept):,} of {len(judgements):,} answers; "
                     "they are marked in the tables.")
    if form == "hp-fashioniq":
        written_hp = hp_form(items, assignments, kept)
        return {"hpfiq.json": written_hp.content}, (*notes, *written_hp.notes)
    pairs = preference_pairs(items, kept)
    if pairs.ties:
        notes.append(f"Ties left out: {pairs.ties:,}.")
    if pairs.identical:
        notes.append(f"Answers left out because both sets have the same images: {pairs.identical:,}.")
    return {"preferences.jsonl": pairs.content}, tuple(notes)
