"""SQL store of recruitment: links of studies, and the participants who came by them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Engine, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from annotation.records import (
    LOCAL,
    AuditEvent,
    HasPlace,
    Participant,
    PaymentDecision,
    Reassign,
    Recruitment,
    Study,
    StudyEvent,
    event_between,
)
from cir_core.errors import StorageError, StudyError
from cir_core.types.records import new_id
from storage.accounts.audit_log import log_event
from storage.checks import check_study_texts
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.mapping.records import record_from, records_from
from storage.studies.events import save_event
from storage.studies.lookups import find_seat, find_study, recount
from storage.studies.seats import closed, give_work, put_first, release_work, take_seat
from storage.studies.webhooks import note_call

_recruited, _participant = tables.recruitments.c, tables.participants.c
_seat, _assigned, _draft, _event = (
    tables.study_seats.c, tables.assignments.c, tables.drafts.c, tables.study_events.c)


class SqlRecruitmentStore:
    """``annotation.recruitment.store.RecruitmentStore`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def recruitment(self, study_id: str) -> Recruitment | None:
        return self._recruitment(_recruited.study_id == study_id)

    def by_token(self, token: str) -> Recruitment | None:
        return self._recruitment(_recruited.token == token)

    def save(self, recruitment: Recruitment, *, by: str = LOCAL) -> Recruitment:
        check_study_texts(recruitment)
        t = tables.recruitments
        with writing(self.engine) as connection:
            study = find_study(connection, recruitment.study_id, lock=True)
            if connection.execute(select(_recruited.token).where(_recruited.study_id == study.study_id)).first():
                connection.execute(update(t).where(_recruited.study_id == study.study_id).values(
                    settings=dict(recruitment.settings), token=recruitment.token))
            else:
                connection.execute(insert(t).values(vars(recruitment) | {"settings": dict(recruitment.settings)}))
            called = urlsplit(str(recruitment.settings.get("webhook") or "")).hostname   # the rest may be a secret
            log_event(connection, AuditEvent("study.recruiting", by, study.name, study.study_id, {
                "open": bool(recruitment.settings.get("open")), **({"webhook": called} if called else {})}))
            return record_from(Recruitment, connection.execute(
                select(t).where(_recruited.study_id == study.study_id)).one())

    def participants(self, study_id: str) -> Sequence[Participant]:
        with reading(self.engine) as connection:
            return _participants(connection, study_id)

    def participant(self, study_id: str, participant_id: str) -> Participant | None:
        with reading(self.engine) as connection:
            return _find(connection, study_id, participant_id)

    def by_annotator(self, study_id: str, annotator: str) -> Participant | None:
        with reading(self.engine) as connection:
            row = connection.execute(select(tables.participants).where(
                _participant.study_id == study_id, _participant.annotator == annotator)).first()
            return None if row is None else record_from(Participant, row)

    def enter(self, participant: Participant) -> Participant:
        check_study_texts(participant)
        values = _values(participant)
        try:
            with writing(self.engine) as connection:
                if (there := _find(connection, participant.study_id, participant.participant_id)) is not None:
                    return there
                connection.execute(insert(tables.participants).values(values))
                return participant
        except StorageError as error:   # in the same moment, by another process
            there = self.participant(participant.study_id, participant.participant_id)
            if there is None or not isinstance(error.__cause__, IntegrityError):
                raise
            return there

    def answered(self, participant: Participant) -> Participant:
        check_study_texts(participant)
        with writing(self.engine) as connection:
            find_study(connection, participant.study_id, lock=True)
            there = _known(connection, participant.study_id, participant.participant_id)
            if there.state != "new":
                return there
            return _change(connection, there, consent=participant.consent, answers=dict(participant.answers),
                           state=participant.state, code=participant.code)

    def seat(
        self, study_id: str, participant_id: str, at: datetime, idle: timedelta, reassign: Reassign,
        has_place: HasPlace, full_code: str = "", first: Sequence[str] = (),
    ) -> Participant:
        with writing(self.engine) as connection:
            study = find_study(connection, study_id, lock=True)
            there = _known(connection, study_id, participant_id)
            if there.state not in ("new", "expired"):
                return there
            if not study.accepting:
                raise closed(study.name)
            _release_overdue(connection, study, at - idle)
            if not has_place(_participants(connection, study_id), there) or not _take(
                    connection, study, there, at, reassign, first):
                state = "expired" if there.state == "expired" else "over-quota"
                return _change(connection, there, state=state, code=full_code)
            if there.consent and there.state == "new":
                save_event(connection, StudyEvent(new_id(), study_id, there.annotator, "consent", "consent",
                                                  {"text": there.consent}, at))
            return _change(connection, there, state="in", code="", seated_at=there.seated_at or at)

    def finish(
        self, study_id: str, participant_id: str, at: datetime, code: str, *, early: bool = False,
        short: bool = False,
    ) -> Participant:
        with writing(self.engine) as connection:
            study = find_study(connection, study_id, lock=True)
            there = _known(connection, study_id, participant_id)
            if there.state in ("finished", "ended"):
                return there
            seat = find_seat(connection, study_id, there.annotator, lock=True)
            if there.state != "in" or seat is None or not seat.total or seat.done < seat.total:
                raise StudyError("Some items have no answer yet. Go back to the study and answer them; then finish.")
            if short:
                return _change(connection, there, state="expired")
            if not connection.execute(select(_event.event_id).where(
                    _event.study_id == study_id, _event.seat == seat.number, _event.kind == "finish")).first():
                save_event(connection, StudyEvent(new_id(), study.study_id, there.annotator, "finish", "finish",
                                                  {"code": code}, at))
            return _change(connection, there, state="ended" if early else "finished", finished_at=at, code=code)

    def pay(self, study_id: str, decisions: Sequence[PaymentDecision], *, by: str = LOCAL) -> int:
        check_study_texts(*decisions)
        with writing(self.engine) as connection:
            study = find_study(connection, study_id, lock=True)
            known = {one.participant_id for one in _participants(connection, study_id)}
            if unknown := [one.participant_id for one in decisions if one.participant_id not in known]:
                raise StudyError(f"Nobody with the id {unknown[0]} has used the link of {study.name}. Nothing was "
                                 "changed: check the list.")
            for one in decisions:
                connection.execute(update(tables.participants).where(
                    _participant.study_id == study_id, _participant.participant_id == one.participant_id,
                ).values(payment=one.payment, reason=one.reason))
            log_event(connection, AuditEvent("study.paid", by, study.name, study_id, {
                name: sum(one.payment == name for one in decisions) for name in ("approved", "rejected", "open")}))
            return len(decisions)

    def _recruitment(self, where: Any) -> Recruitment | None:
        with reading(self.engine) as connection:
            row = connection.execute(select(tables.recruitments).where(where)).first()
        return None if row is None else record_from(Recruitment, row)


def _values(participant: Participant) -> dict[str, Any]:
    return vars(participant) | {"site": dict(participant.site), "answers": dict(participant.answers)}


def _participants(connection: Connection, study_id: str) -> tuple[Participant, ...]:
    return records_from(Participant, connection.execute(select(tables.participants).where(
        _participant.study_id == study_id).order_by(_participant.entered_at, _participant.participant_id)))


def _find(connection: Connection, study_id: str, participant_id: str) -> Participant | None:
    row = connection.execute(select(tables.participants).where(
        _participant.study_id == study_id, _participant.participant_id == participant_id)).first()
    return None if row is None else record_from(Participant, row)


def _known(connection: Connection, study_id: str, participant_id: str) -> Participant:
    found = _find(connection, study_id, participant_id)
    if found is None:
        raise StudyError("Open the link of the study again.")
    return found


def _change(connection: Connection, participant: Participant, **values: Any) -> Participant:
    """Change a participant. The message to the webhook is stored in the same transaction."""
    if (event := event_between(participant.state, values.get("state", participant.state))) is not None:
        note_call(connection, participant, event)
    connection.execute(update(tables.participants).where(
        _participant.study_id == participant.study_id,
        _participant.participant_id == participant.participant_id).values(**values))
    return _known(connection, participant.study_id, participant.participant_id)


def _release_overdue(connection: Connection, study: Study, before: datetime) -> None:
    """Release the open work of participants who were last seen before then."""
    for row in connection.execute(
            select(tables.participants, _seat.seen_at).join(
                tables.study_seats, (_seat.study_id == _participant.study_id)
                & (_seat.annotator == _participant.annotator))
            .where(_participant.study_id == study.study_id, _participant.state == "in", _seat.done < _seat.total,
                   _seat.seen_at < before).order_by(_seat.number)).all():
        release_work(connection, study.study_id, row.annotator, LOCAL)
        _change(connection, record_from(Participant, row), state="expired")


def _take(
    connection: Connection, study: Study, who: Participant, at: datetime, reassign: Reassign, first: Sequence[str],
) -> bool:
    """Whether there was any work to give. A person whose seat was given back without an answer takes another one."""
    own = find_seat(connection, study.study_id, who.annotator, lock=True)
    if own is not None and not own.total and _has_free_seat(connection, study.study_id):
        _leave_empty(connection, own, who, study, at, reassign)
    else:
        take_seat(connection, study.study_id, who.annotator, at, reassign)
    give_work(connection, study, who.annotator, at, reassign)
    seat = find_seat(connection, study.study_id, who.annotator)
    assert seat is not None, "it was taken"
    put_first(connection, study.study_id, seat.number, first)
    connection.execute(update(tables.study_seats).where(
        _seat.study_id == study.study_id, _seat.number == seat.number).values(seen_at=at))
    of_seat = (_assigned.study_id == study.study_id, _assigned.seat == seat.number)
    left = {(state, dealt is None) for state, dealt in connection.execute(
        select(_assigned.state, _assigned.dealt).where(*of_seat))}
    # Gold alone is no work for somebody whose own items went to others.
    if ("open", True) in left or (("open", False) in left and ("handed_on", True) not in left):
        return True
    if own is None:   # a seat with nothing in it
        connection.execute(update(tables.study_seats).where(
            _seat.study_id == study.study_id, _seat.number == seat.number).values(
            annotator=None, annotator_key=None, joined_at=None, seen_at=None))
    return False


def _has_free_seat(connection: Connection, study_id: str) -> bool:
    return connection.execute(select(_seat.number).where(
        _seat.study_id == study_id, _seat.annotator_key.is_(None), _seat.total > 0).limit(1)).first() is not None


def _leave_empty(
    connection: Connection, own: Any, who: Participant, study: Study, at: datetime, reassign: Reassign,
) -> None:
    """From a seat without work to a free one with work, with the person's events and drafts."""
    here = (_seat.study_id == study.study_id, _seat.number == own.number)
    connection.execute(update(tables.study_seats).where(*here).values(annotator=None, annotator_key=None))
    number = take_seat(connection, study.study_id, who.annotator, at, reassign).number
    connection.execute(update(tables.study_events).where(
        _event.study_id == study.study_id, _event.seat == own.number).values(seat=number))
    kept = select(_assigned.item_id).where(_assigned.study_id == study.study_id, _assigned.seat == number)
    connection.execute(update(tables.drafts).where(
        _draft.study_id == study.study_id, _draft.seat == own.number, _draft.item_id.in_(kept)).values(seat=number))
    for table in (tables.drafts, tables.assignments):
        connection.execute(delete(table).where(table.c.study_id == study.study_id, table.c.seat == own.number))
    connection.execute(delete(tables.study_seats).where(*here))
    recount(connection, study.study_id, {number})
