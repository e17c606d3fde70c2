"""SQL store of studies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, select, update
from sqlalchemy.exc import IntegrityError

from annotation.records import (
    LOCAL,
    TEST_OF,
    Admit,
    Assignment,
    AuditAction,
    AuditEvent,
    Deal,
    Decision,
    Draft,
    EventKind,
    FirstAnswer,
    GoldAnswer,
    GoldItem,
    Item,
    Judgement,
    Message,
    MetricScores,
    PlannedAssignment,
    Reassign,
    Released,
    Saved,
    Seat,
    Study,
    StudyEvent,
    StudyImage,
    Workspace,
    name_key,
)
from cir_core.errors import StorageError, StudyError
from storage.accounts.audit_log import log_event
from storage.checks import check_study_texts
from storage.engine.database import reading, writing
from storage.engine.shared_writes import SharedWrites
from storage.mapping import tables
from storage.mapping.records import record_from, records_from, study_from
from storage.studies import lookups
from storage.studies.decisions import (
    read_decisions,
    read_first_answers,
    read_messages,
    save_decision,
    save_first_answer,
    save_message,
)
from storage.studies.events import read_events, save_event
from storage.studies.gold import IS_DEALT, put_gold, read_answers, read_gold, reopen_training
from storage.studies.judgements import put_draft, read_drafts, remove_draft, save_judgement
from storage.studies.lifecycle import check_study, name_taken, put_study, remove_study
from storage.studies.scores import drop_scores, read_scores, save_scores
from storage.studies.seats import end_work, release_work, take_more_work, take_seat
from storage.studies.version_stamp import read_stamp
from storage.studies.workspace import read_workspace

_SEEN_EVERY = timedelta(minutes=1)
_study, _seat, _item = tables.studies.c, tables.study_seats.c, tables.study_items.c
_judged, _image = tables.judgements.c, tables.study_images.c


class SqlStudyStore:
    """``annotation.studies.store.StudyStore`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writes = SharedWrites(engine)

    def create(
        self, study: Study, items: Sequence[Item], images: Sequence[StudyImage], places: Sequence[PlannedAssignment], *,
        seats: Sequence[Seat] = (), judgements: Sequence[Judgement] = (),
    ) -> None:
        """An imported answer with ``"unsure": true`` is passed to adjudication."""
        check_study(study, items, images, places, seats, judgements)
        try:
            with writing(self.engine) as connection:
                put_study(connection, study, items, images, places, seats, judgements)
        except StorageError as error:
            if isinstance(error.__cause__, IntegrityError) and self._is_taken(study.name):
                raise name_taken(study.name) from error
            raise

    def study(self, name_or_id: str) -> Study:
        if not name_key(name_or_id):
            raise lookups.unknown_study(name_or_id)
        with reading(self.engine) as connection:
            rows = connection.execute(select(tables.studies).where(
                (_study.study_id == name_or_id) | (_study.name_key == name_key(name_or_id)))).all()
        if not rows:
            raise lookups.unknown_study(name_or_id)
        return study_from(max(rows, key=lambda row: row.study_id == name_or_id))

    def studies(self) -> Sequence[Study]:
        with reading(self.engine) as connection:
            found = map(study_from, connection.execute(
                select(tables.studies).order_by(_study.created_at.desc(), _study.study_id)))
            return tuple(study for study in found if TEST_OF not in study.source)

    def items(self, study_id: str) -> Sequence[Item]:
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            return records_from(Item, connection.execute(
                select(tables.study_items).where(_item.study_id == study_id).order_by(_item.number)))

    def images(self, study_id: str) -> Mapping[str, StudyImage]:
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            rows = connection.execute(select(tables.study_images).where(_image.study_id == study_id))
            return {row.token: record_from(StudyImage, row) for row in rows}

    def seats(self, study_id: str) -> Sequence[Seat]:
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            return records_from(Seat, connection.execute(
                select(tables.study_seats).where(_seat.study_id == study_id).order_by(_seat.number)))

    def assignments(self, study_id: str) -> Sequence[Assignment]:
        """By seat, each seat's in order."""
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            return lookups.all_assignments(connection, study_id)

    def judgements(self, study_id: str, *, history: bool = False) -> Sequence[Judgement]:
        """By item number and seat; revisions of one answer oldest first."""
        query = select(tables.judgements).join(tables.study_items, _item.item_id == _judged.item_id).where(
            _judged.study_id == study_id).order_by(_item.number, _judged.seat, _judged.revision)
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            if read_gold(connection, study_id):
                query = query.where(~IS_DEALT)
            return records_from(Judgement, connection.execute(query if history else query.where(_judged.current)))

    def item_judgements(self, study_id: str, item_id: str) -> Sequence[Judgement]:
        """By seat; none for an unknown item."""
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            rows = connection.execute(  # not by study: SQLite would go through all of its judgements
                select(tables.judgements).where(_judged.item_id == item_id, _judged.current, ~IS_DEALT)
                .order_by(_judged.seat))
            return tuple(record_from(Judgement, row) for row in rows if row.study_id == study_id)

    def decisions(self, study_id: str, *, history: bool = False) -> Sequence[Decision]:
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            return read_decisions(connection, study_id, history=history)

    def counts(self, study_id: str) -> Mapping[str, int]:
        with reading(self.engine) as connection:
            lookups.find_study(connection, study_id)
            return lookups.count_all(connection, study_id)

    def join(
        self, study_id: str, annotator: str, at: datetime, reassign: Reassign, first: Sequence[str] = (),
    ) -> Seat:
        with reading(self.engine) as connection:  # usually the seat exists, so no write lock is needed
            seat = lookups.find_seat(connection, study_id, annotator)
        if seat is not None:
            return record_from(Seat, seat)
        with writing(self.engine) as connection:
            return take_seat(connection, study_id, annotator, at, reassign, first)

    def take_more(
        self, study_id: str, annotator: str, at: datetime, reassign: Reassign, first: Sequence[str] = (),
    ) -> int:
        """0 for a person with open work."""
        with writing(self.engine) as connection:
            return take_more_work(connection, study_id, annotator, at, reassign, first)

    def workspace(
        self, study_id: str, annotator: str, *, item_id: str | None = None, position: int | None = None,
        after: str | None = None, ahead: int = 2, at: datetime | None = None,
    ) -> Workspace:
        """Raises ``NotJoined`` for a person without a seat."""
        with reading(self.engine) as connection:
            workspace, seat = read_workspace(connection, study_id, annotator, item_id=item_id, position=position,
                                   after=after, ahead=ahead)
        if at is not None and (seat.seen_at is None or at - seat.seen_at >= _SEEN_EVERY):
            with suppress(StorageError), writing(self.engine) as connection:  # a workspace can be read on a full disk
                connection.execute(update(tables.study_seats).where(
                    _seat.study_id == study_id, _seat.number == workspace.seat).values(seen_at=at))
        return workspace

    def save(
        self, judgement: Judgement, *, unsure: bool, seen_revision: int | None = None,
        sticky_fields: Collection[str] = (), admit: Admit | None = None,
    ) -> Saved:
        check_study_texts(judgement)
        return self._writes.run(lambda connection: save_judgement(
            connection, judgement, unsure=unsure, seen_revision=seen_revision, sticky_fields=sticky_fields,
            admit=admit))

    def save_draft(self, study_id: str, draft: Draft, *, sticky_fields: Collection[str] = ()) -> None:
        check_study_texts(draft)   # in one queue with saves: an older draft does not come after an answer
        self._writes.run(lambda connection: put_draft(connection, study_id, draft, sticky_fields))

    def drop_draft(self, study_id: str, item_id: str, annotator: str) -> None:
        self._writes.run(lambda connection: remove_draft(connection, study_id, item_id, annotator))

    def overview(self, study_id: str, annotator: str) -> Sequence[Assignment]:
        with reading(self.engine) as connection:
            return lookups.own_assignments(connection, study_id, annotator)

    def is_member(self, study_id: str, annotator: str) -> bool:
        with reading(self.engine) as connection:
            return lookups.has_items(connection, study_id, annotator)

    def drafts(self, study_id: str, annotator: str) -> Sequence[tuple[Draft, Mapping[str, Any] | None]]:
        with reading(self.engine) as connection:
            seat = lookups.known_seat(connection, lookups.find_study(connection, study_id), annotator)
            return read_drafts(connection, study_id, seat.number)

    def decide(self, decision: Decision) -> Decision:
        """Also in a closed study. Returns the current decision."""
        check_study_texts(decision)
        with writing(self.engine) as connection:
            return save_decision(connection, decision)

    def first_answers(
        self, study_id: str, adjudicator: str | None = None, item_id: str | None = None,
    ) -> Sequence[FirstAnswer]:
        with reading(self.engine) as connection:
            return read_first_answers(connection, study_id, adjudicator, item_id)

    def answer_first(self, given: FirstAnswer) -> FirstAnswer:
        check_study_texts(given)
        with writing(self.engine) as connection:
            return save_first_answer(connection, given)

    def messages(self, study_id: str, item_id: str | None = None) -> Sequence[Message]:
        with reading(self.engine) as connection:
            return read_messages(connection, study_id, item_id)

    def say(self, message: Message) -> Message:
        check_study_texts(message)
        with writing(self.engine) as connection:
            return save_message(connection, message)

    def gold(self, study_id: str) -> Sequence[GoldItem]:
        with reading(self.engine) as connection:
            return read_gold(connection, study_id)

    def make_gold(self, study_id: str, deal: Deal, *, by: str = LOCAL) -> Sequence[GoldItem]:
        with writing(self.engine) as connection:
            study = lookups.find_study(connection, study_id, lock=True)
            # As in a reassignment: nothing is answered while its order changes.
            connection.execute(select(_seat.number).where(_seat.study_id == study_id).order_by(_seat.number)
                               .with_for_update()).all()
            gold, places = deal(read_gold(connection, study_id), lookups.all_assignments(connection, study_id))
            put_gold(connection, study, gold, places, by)
            return gold

    def gold_answers(self, study_id: str, annotator: str | None = None) -> Sequence[GoldAnswer]:
        with reading(self.engine) as connection:
            return read_answers(connection, study_id, annotator)

    def end_work(self, study_id: str, annotator: str) -> None:
        with writing(self.engine) as connection:
            end_work(connection, study_id, annotator)

    def train_again(self, study_id: str, annotator: str) -> int:
        with writing(self.engine) as connection:
            return reopen_training(connection, study_id, annotator)

    def note(self, event: StudyEvent) -> StudyEvent:
        """Also in a closed study."""
        check_study_texts(event)
        with writing(self.engine) as connection:
            return save_event(connection, event)

    def events(
        self, study_id: str, annotator: str | None = None, kind: EventKind | None = None,
    ) -> Sequence[StudyEvent]:
        with reading(self.engine) as connection:
            return read_events(connection, study_id, annotator, kind)

    def save_scores(self, study_id: str, scores: MetricScores, by: str, at: datetime) -> None:
        """Also in a closed study."""
        with writing(self.engine) as connection:
            save_scores(connection, study_id, scores, by, at)

    def scores(self, study_id: str) -> Sequence[MetricScores]:
        with reading(self.engine) as connection:
            return read_scores(connection, study_id)

    def drop_scores(self, study_id: str, name: str, *, by: str = LOCAL) -> None:
        with writing(self.engine) as connection:
            drop_scores(connection, study_id, name, by)

    def stamp(self, study_id: str) -> str:
        with reading(self.engine) as connection:
            return read_stamp(connection, study_id)

    def set_accepting(self, study_id: str, accepting: bool, *, by: str = LOCAL) -> Study:
        kind: AuditAction = "study.opened" if accepting else "study.closed"
        with writing(self.engine) as connection:
            study = lookups.find_study(connection, study_id, lock=True)
            connection.execute(update(tables.studies).where(_study.study_id == study_id).values(accepting=accepting))
            log_event(connection, AuditEvent(kind, by, study.name, study_id))
        return replace(study, accepting=accepting)

    def release(self, study_id: str, annotator: str, *, by: str = LOCAL) -> Released:
        """Until this person saves again or takes more, their open work is the first to be reassigned."""
        with writing(self.engine) as connection:
            return release_work(connection, study_id, annotator, by)

    def change_settings(self, study_id: str, changes: Mapping[str, Any], *, by: str = LOCAL) -> Study:
        check_study_texts(changes)
        with writing(self.engine) as connection:
            study = lookups.find_study(connection, study_id, lock=True)
            settings = {name: value for name, value in {**study.settings, **changes}.items()
                        if value is not None or name not in changes}
            connection.execute(update(tables.studies).where(_study.study_id == study_id).values(settings=settings))
            changed = sorted(name for name in {*settings, *study.settings}
                             if settings.get(name) != study.settings.get(name))
            log_event(connection, AuditEvent("study.settings", by, study.name, study_id, {"changed": changed}))
        return replace(study, settings=settings)

    def rename(self, study_id: str, name: str, *, by: str = LOCAL) -> Study:
        check_study_texts(name)
        if not name_key(name):
            raise StudyError("A study needs a name. Give it one.")
        try:
            with writing(self.engine) as connection:
                study = lookups.find_study(connection, study_id, lock=True)
                connection.execute(update(tables.studies).where(_study.study_id == study_id).values(
                    name=name, name_key=name_key(name)))
                log_event(connection, AuditEvent("study.renamed", by, name, study_id, {"from": study.name}))
        except StorageError as error:
            if isinstance(error.__cause__, IntegrityError) and self._is_taken(name):
                raise name_taken(name) from error
            raise
        return replace(study, name=name)

    def remove(self, study_id: str, *, by: str = LOCAL) -> None:
        with writing(self.engine) as connection:
            remove_study(connection, study_id, by)

    def log_event(self, event: AuditEvent) -> None:
        with writing(self.engine) as connection:
            log_event(connection, event)

    def _is_taken(self, name: str) -> bool:
        with reading(self.engine) as connection:
            return connection.execute(
                select(_study.study_id).where(_study.name_key == name_key(name))).first() is not None
