"""SQL store of messages to webhooks. They are written with what they tell of, and sent afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

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

    def take_due(self, at: datetime, taken: timedelta, most: int, each: int) -> Sequence[WebhookCall]:
        order = (_call.next_at, _call.call_id)   # in one order: processes do not wait for each other in a circle
        place = func.row_number().over(partition_by=_call.study_id, order_by=order).label("place")
        ranked = select(_call.call_id, place).where(_call.next_at <= at).subquery()
        due = select(_calls).join(ranked, ranked.c.call_id == _call.call_id).where(
            ranked.c.place <= each).order_by(*order).limit(most)
        with reading(self.engine) as connection:   # most looks find nothing, and lock nothing
            found = records_from(WebhookCall, connection.execute(due))
        if not found:
            return ()
        with writing(self.engine) as connection:
            until = max(at, datetime.now(UTC)) + taken   # after the wait for the lock
            return tuple(replace(call, next_at=until) for call in found if connection.execute(
                update(_calls).where(*_as_it_was(call)).values(next_at=until)).rowcount)

    def tried(self, outcomes: Sequence[tuple[WebhookCall, WebhookCall]]) -> None:
        with writing(self.engine) as connection:
            for before, after in sorted(outcomes, key=lambda one: one[0].call_id):
                connection.execute(update(_calls).where(*_as_it_was(before)).values(
                    attempts=after.attempts, next_at=after.next_at, delivered_at=after.delivered_at,
                    problem=after.problem))

    def again(self, study_id: str, at: datetime) -> None:
        with writing(self.engine) as connection:
            connection.execute(update(_calls).where(
                _call.study_id == study_id, _call.delivered_at.is_(None), _call.event != "test",
            ).values(next_at=at, attempts=0))

    def undelivered(self, study_id: str) -> int:
        with reading(self.engine) as connection:
            return connection.execute(select(func.count()).where(
                _call.study_id == study_id, _call.delivered_at.is_(None), _call.event != "test")).scalar_one()


def _as_it_was(call: WebhookCall) -> tuple[Any, Any]:
    """Conditions that select the message unless another process has taken it since."""
    return _call.call_id == call.call_id, _call.next_at == call.next_at


def note_call(connection: Connection, participant: Participant, event: WebhookEvent) -> None:
    """A message about a participant, in a write transaction, if the study has a webhook."""
    settings = connection.execute(select(_recruited.settings).where(
        _recruited.study_id == participant.study_id)).scalar_one_or_none() or {}
    if settings.get("webhook"):
        now = datetime.now(UTC)
        connection.execute(insert(_calls).values(vars(WebhookCall(
            new_id(), participant.study_id, event, participant.participant_id, now, next_at=now))))
