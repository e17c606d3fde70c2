"""``/healthz``: the process is alive. ``/readyz``: people can be sent to it. ``/metrics``: its numbers.

Load balancers ask without signing in, so nothing is told but which check fails; the log has the rest.
"""

from __future__ import annotations

import hmac
import logging
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cir_core.errors import StorageError
from cir_core.settings import Settings
from storage.readiness import Readiness
from web.addresses import Networks
from web.checks import Check, Checks
from web.doors import RETRY_AFTER, Doors
from web.gate import FRESH
from web.meter import Meter

_log = logging.getLogger("cirque.health")
_MB = 2**20


def health_routes(settings: Settings, database: Readiness, doors: Doors, meter: Meter) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    checks = Checks(_checks(settings, database))

    @routes.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @routes.get("/readyz")
    async def readyz() -> Response:
        found = {**await checks.look(), "open": "cirque is being stopped" if doors.closed else ""}
        ready = not any(found.values())
        told = {name: {"ok": not reason, **({"reason": reason} if reason else {})} for name, reason in found.items()}
        headers = FRESH if ready else {**FRESH, "Retry-After": str(RETRY_AFTER)}
        return JSONResponse({"ready": ready, "checks": told}, 200 if ready else 503, headers=headers)

    @routes.get("/metrics")
    def metrics(request: Request) -> Response:
        if not settings.metrics:
            return JSONResponse({"problem": "There are no metrics here."}, 404, headers=FRESH)
        if not _may_count(request, settings):
            return JSONResponse({"problem": "Metrics are for those whom this cirque's settings name."}, 401,
                                headers={**FRESH, "WWW-Authenticate": "Bearer"})
        content, kind = meter.page()
        return Response(content, headers=FRESH, media_type=kind)

    return routes


def _may_count(request: Request, settings: Settings) -> bool:
    token = settings.metrics_token.get_secret_value()
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    if token and kind.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), token.encode()):
        return True
    return request.client is not None and request.client.host in Networks(settings.metrics_from)


def _checks(settings: Settings, database: Readiness) -> Mapping[str, Check]:
    folders = {settings.home, database.folder or settings.home}

    def schema() -> str:
        return "" if database.is_current() else "the database has the schema of another version"

    return {
        "database": _logged(schema, "the database does not answer"),
        "home": _logged(lambda: _write_into(settings.home), "the home folder cannot be written"),
        "disk": _logged(lambda: _room_in(folders, settings.min_free_mb), "the disk cannot be looked at"),
    }


def _logged(check: Check, reason: str) -> Check:
    """``reason`` for strangers where ``check`` cannot be made; why, for the log."""

    def checked() -> str:
        try:
            return check()
        except (OSError, StorageError) as error:
            _log.warning("Not ready: %s (%s: %s)", reason, type(error).__name__, error)
            return reason

    return checked


def _write_into(home: Path) -> str:
    with tempfile.TemporaryFile(dir=home) as probe:
        probe.write(b"cirque")
    return ""


def _room_in(folders: set[Path], least_mb: float) -> str:
    return "the disk is nearly full" if any(
        shutil.disk_usage(folder).free < least_mb * _MB for folder in folders) else ""
