"""SQL store of messages to webhooks. They are written with what they tell of, and sent afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, func, insert, select, update

from annotation.records import Participant, WebhookCall, WebhookEvent
from cir_core.types.records import new_id
from storage.engine.database import reading, writing
from storage.mapping import tables
from storage.mapping.records import records_from

_calls = tables.webhook_calls
_call, _recruited = _calls.c, tables.recruitments.c


class SqlWebhookStore:
    """``annotation.recruitment.webhooks.WebhookStore`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, call: WebhookCall) -> None:
        with writing(self.engine) as connection:
            connection.execute(insert(_calls).values(vars(call)))

    def recent(self, study_id: str, most: int) -> Sequence[WebhookCall]:
        with reading(self.engine) as connection:
            return records_from(WebhookCall, connection.execute(
                select(_calls).where(_call.study_id == study_id)
                .order_by(_call.created_at.desc(), _call.call_id).limit(most)))

    def take_due(self, at: datetime, until: datetime, most: int) -> Sequence[WebhookCall]:
        due = select(_calls).where(_call.next_at <= at).order_by(_call.next_at, _call.call_id).limit(most)
        with reading(self.engine) as connection:   # most looks find nothing, and lock nothing
            found = records_from(WebhookCall, connection.execute(due))
        if not found:
            return ()
        with writing(self.engine) as connection:
            return tuple(call for call in found if connection.execute(
                update(_calls).where(_call.call_id == call.call_id, _call.next_at == call.next_at)
                .values(next_at=until)).rowcount)

    def tried(self, call: WebhookCall) -> None:
        with writing(self.engine) as connection:
            connection.execute(update(_calls).where(_call.call_id == call.call_id).values(
                attempts=call.attempts, next_at=call.next_at, delivered_at=call.delivered_at, problem=call.problem))

    def again(self, study_id: str, at: datetime) -> int:
        with writing(self.engine) as connection:
            return connection.execute(update(_calls).where(
                _call.study_id == study_id, _call.delivered_at.is_(None), _call.event != "test",
            ).values(next_at=at, attempts=0)).rowcount

    def undelivered(self, study_id: str) -> int:
        with reading(self.engine) as connection:
            return connection.execute(select(func.count()).where(
                _call.study_id == study_id, _call.delivered_at.is_(None), _call.event != "test")).scalar_one()


def note_call(connection: Connection, participant: Participant, event: WebhookEvent) -> None:
    """A message about a participant, in a write transaction, if the study has a webhook."""
    settings = connection.execute(select(_recruited.settings).where(
        _recruited.study_id == participant.study_id)).scalar_one_or_none() or {}
    if settings.get("webhook"):
        now = datetime.now(UTC)
        connection.execute(insert(_calls).values(vars(WebhookCall(
            new_id(), participant.study_id, event, participant.participant_id, now, next_at=now))))
