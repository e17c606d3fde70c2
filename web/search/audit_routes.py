"""Live audit of a turn, requested by the page after it shows the results."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from cir_core.audit.live import LiveAudits
from cir_core.errors import CirqueError
from web.http.public_errors import public_message
from web.search.presenters import audit as present_audit
from web.services import Services
from web.ui.templating import fill

_FRESH = {"Cache-Control": "no-store"}  # who may know the target changes


def audit_routes(services: Services) -> APIRouter:
    routes = APIRouter(prefix="/audit", include_in_schema=False)
    audits = LiveAudits(services.search)

    @routes.get("/{session_id}/{turn_id}")
    def audit(session_id: str, turn_id: str) -> Response:
        """``{"html", "ranks"}``, or ``{"problem"}`` if no audit is possible (for example, the gallery has changed),
        which is not an error. A hidden target is neither named nor ranked."""
        try:
            session, found = audits.of(session_id, turn_id)
            version = services.search.gallery(session.gallery).digest[:8]
        except CirqueError as error:
            return JSONResponse({"problem": public_message(error)}, headers=_FRESH)
        shown = present_audit.audit(found, session.gallery, version)
        return JSONResponse({"html": fill("search/audit.html", audit=shown), "ranks": shown["ranks"]}, headers=_FRESH)

    return routes
