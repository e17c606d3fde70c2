"""Endpoints of the audit log: entries for the log page, and file downloads. Admins only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from annotation.accounts.audit_log import LOG_FORMS, act_json, every_act, log_file, read_filter
from annotation.records import AUDIT_ACTIONS, AUDIT_GROUPS, AuditEvent, AuditFilter
from cir_core.errors import LogError
from web.http.file_names import disposition
from web.http.json_api import get_endpoint
from web.http.visitor import Visitor, check
from web.services import Services

_PAGE = 100
_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


def log_routes(services: Services) -> APIRouter:
    """``/log/acts`` and ``/log/file``, both filtered by ``person``, ``kind``, ``since`` and ``until``
    (:func:`annotation.accounts.audit_log.read_filter`). Pages of entries end ``before`` a number."""
    log = services.log

    def acts(visitor: Visitor, query: Mapping[str, str]) -> dict[str, Any]:
        check(visitor, "people")
        found = log.acts(_filter(query), before=_before(query), limit=_PAGE + 1)
        return {"acts": [act_json(one) for one in found[:_PAGE]], "more": len(found) > _PAGE,
                "groups": list(AUDIT_GROUPS), "kinds": list(AUDIT_ACTIONS)}

    def file(visitor: Visitor, query: Mapping[str, str]) -> Response:
        check(visitor, "people")
        which, form = _filter(query), next((one for one in LOG_FORMS if one == query.get("form", "csv")), None)
        if form is None:
            raise LogError(f"The format of the log must be one of: {', '.join(LOG_FORMS)}.")
        content = log_file(every_act(log, which), form)
        log.note(AuditEvent("log.exported", visitor.name, details={"form": form}))
        return Response(content, media_type=_TYPES[form], headers={
            "Content-Disposition": disposition(f"cirque log {datetime.now(UTC):%Y-%m-%d}.{form}"),
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"})

    routes = APIRouter(prefix="/log", include_in_schema=False)
    routes.add_api_route("/acts", get_endpoint(acts), methods=["GET"])
    routes.add_api_route("/file", get_endpoint(file, slow=True), methods=["GET"])
    return routes


def _filter(query: Mapping[str, str]) -> AuditFilter:
    return read_filter(*(query.get(name, "") for name in ("person", "kind", "since", "until")))


def _before(query: Mapping[str, str]) -> int | None:
    text = query.get("before", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise LogError("“before” must be the number of an event.")
    return int(text)
