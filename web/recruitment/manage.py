"""JSON endpoints of a study's recruitment: link and settings, participants and their payment, a test run."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from annotation.records import AuditEvent, Study, WebhookCall
from annotation.recruitment.ids import ID_PARAMETERS
from annotation.recruitment.payment import PaymentRow, decisions_from, payment_file, payment_rows
from annotation.recruitment.service import Door
from annotation.recruitment.settings import settings_from
from annotation.recruitment.trial import begin_test, end_test
from annotation.recruitment.webhooks import secret_of
from annotation.studies import input_limits
from cir_core.errors import StudyError
from web.http.json_api import Fields, disposition, file_stem, get_endpoint, json_routes, post_endpoint
from web.http.visitor import Visitor, check
from web.recruitment.webhooks import sender_of
from web.services import Services

Json = dict[str, Any]
_CALLS = 20   # messages to the webhook that are listed


def recruitment_routes(services: Services) -> APIRouter:
    """``/studies/…``. Ids of participants are for those alone who manage studies."""
    recruitment, store, calls = services.recruitment, services.study_store, services.webhooks
    sender = sender_of(services)

    def of(visitor: Visitor, given: Mapping[str, Any]) -> Study:
        check(visitor, "manage")
        return store.study(input_limits.checked_study(given.get("study", "")))

    def rows(study: Study) -> list[PaymentRow]:
        return payment_rows(recruitment.store.participants(study.study_id), store.seats(study.study_id),
                            store.assignments(study.study_id))

    def shown(door: Door) -> Json:
        return {
            "path": _path(door), "settings": door.settings.model_dump(mode="json"), "parameters": list(ID_PARAMETERS),
            "planned": door.study.plan.seats, "idle_minutes": round(door.idle.total_seconds() / 60),
            "accepting": door.study.accepting, "participants": [row_json(row) for row in rows(door.study)],
            "webhook": webhook(door) if door.settings.webhook else None,
        }

    def webhook(door: Door) -> Json:
        study_id = door.study.study_id
        return {"secret": secret_of(door.link), "undelivered": calls.undelivered(study_id),
                "calls": [_call_json(call) for call in calls.recent(study_id, _CALLS)]}

    def look(visitor: Visitor, query: Mapping[str, str]) -> object:
        return shown(recruitment.of_study(of(visitor, query)))

    def save(visitor: Visitor, sent: Fields) -> object:
        study = of(visitor, sent)
        if not isinstance(sent["settings"], Mapping):
            raise StudyError("“settings” must be an object.")
        return shown(recruitment.save(study, settings_from(sent["settings"]), by=visitor.name,
                                      new_link=sent.get("new_link") is True))

    def pay(visitor: Visitor, sent: Fields) -> object:
        study, ids = of(visitor, sent), sent["participants"]
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise StudyError("“participants” must be a list of ids.")
        decided = recruitment.store.pay(
            study.study_id, decisions_from(ids, sent["payment"], sent.get("reason", "")), by=visitor.name)
        return {"decided": decided, **shown(recruitment.of_study(study))}

    def file(visitor: Visitor, query: Mapping[str, str]) -> Response:
        study = of(visitor, query)
        name, content = payment_file(study, rows(study), query.get("form", "table"))
        store.log_event(AuditEvent("study.exported", visitor.name, study.name, study.study_id, {"form": "payment"}))
        return Response(content, media_type="text/csv; charset=utf-8", headers={
            "Content-Disposition": disposition(f"{file_stem(study.name)} {name}"),
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})

    def test(visitor: Visitor, sent: Fields) -> object:
        return {"path": _path(begin_test(store, recruitment, services.settings.home, of(visitor, sent),
                                         by=visitor.name))}

    def end(visitor: Visitor, sent: Fields) -> object:
        return {"ended": end_test(store, services.settings.home, of(visitor, sent))}

    def test_webhook(visitor: Visitor, sent: Fields) -> object:
        study = of(visitor, sent)
        if not recruitment.of_study(study).settings.webhook:
            raise StudyError(f"{study.name} has no webhook. Enter its address, and save.")
        sender.test(study)
        return shown(recruitment.of_study(study))

    def call_again(visitor: Visitor, sent: Fields) -> object:
        study = of(visitor, sent)
        calls.again(study.study_id, datetime.now(UTC))
        return shown(recruitment.of_study(study))

    return json_routes("/studies", {
        "/recruitment": get_endpoint(look, slow=True), "/participants": get_endpoint(file, slow=True),
    }, {
        "/recruit": post_endpoint(save, ("study", "settings"), ("new_link",)),
        "/pay": post_endpoint(pay, ("study", "participants", "payment"), ("reason",)),
        "/test": post_endpoint(test, ("study",), slow=True), "/test-end": post_endpoint(end, ("study",), slow=True),
        "/webhook-test": post_endpoint(test_webhook, ("study",), slow=True),
        "/webhook-again": post_endpoint(call_again, ("study",)),
    })


def _path(door: Door) -> str:
    """Relative to the app's root; "" before there is a link."""
    return f"take/{door.link.token}" if door.link.token else ""


def row_json(row: PaymentRow) -> Json:
    who = row.participant
    return {"id": who.participant_id, "annotator": who.annotator, "state": who.state,
            "entered_at": who.entered_at.isoformat(), "minutes": None if row.minutes is None else round(row.minutes, 1),
            "done": row.done, "total": row.total, "code": who.code, "payment": who.payment, "reason": who.reason}


def _call_json(call: WebhookCall) -> Json:
    return {"id": call.call_id, "event": call.event, "participant": call.participant_id, "attempts": call.attempts,
            "at": call.created_at.isoformat(), "next_at": call.next_at and call.next_at.isoformat(),
            "delivered_at": call.delivered_at and call.delivered_at.isoformat(), "problem": call.problem}
