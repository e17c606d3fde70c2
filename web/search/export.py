"""Session downloads in CIRCLED's public format."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from annotation.records import AuditEvent
from cir_core.errors import CirqueError
from cir_core.sessions.export import session_to_circled
from web.http.public_errors import public_message, status_of
from web.http.visitor import visitor_of
from web.services import Services


def export_routes(services: Services) -> APIRouter:
    routes = APIRouter(prefix="/export", include_in_schema=False)

    @routes.get("/{session_id}.json")
    def export(request: Request, session_id: str, turn: str | None = None) -> Response:
        """One branch up to ``turn``, or every branch of the session."""
        try:
            session = services.search.session(session_id)
        except CirqueError as error:
            return JSONResponse({"error": public_message(error)}, status_code=status_of(error, 404))
        records = session_to_circled(session, turn or None)
        if not records:
            return JSONResponse({"error": "There is no such turn in this session."}, status_code=404)
        services.log.note(AuditEvent("session.exported", visitor_of(request).name, session.session_id))
        return Response(
            json.dumps(records, ensure_ascii=False, indent=2) + "\n", media_type="application/json",
            headers={"Content-Disposition": f'attachment; filename="cirque-{session.session_id}.json"',
                     "Cache-Control": "no-store"},
        )

    return routes
