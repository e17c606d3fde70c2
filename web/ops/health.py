"""``/healthz``: liveness. ``/readyz``: readiness. ``/metrics``: metrics.

Load balancers are not signed in, so responses only name the failed check; details are logged.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cir_core.errors import StorageError
from cir_core.settings import Settings
from storage.engine.readiness import Readiness
from web.http.meter import Meter
from web.limits.connections import Networks
from web.middleware.shutdown import RETRY_AFTER, ShutdownState
from web.ops.warming import Warming
from web.ui.static_files import FRESH

Check = Callable[[], str]
"""Returns the problem, or ""."""

_FRESH_SECONDS = 1.0
_PATIENCE = 3.0
_log = logging.getLogger("cirque.health")
_MB = 2**20
# Of what may soon go wrong somebody has to hear; people go on working meanwhile. All processes share the disk, so
# none could take over for the others.
_WARNINGS = frozenset({"disk", "gallery"})


def health_routes(
    settings: Settings, database: Readiness, shutdown_state: ShutdownState, meter: Meter,
    warming: Warming | None = None,
) -> APIRouter:
    routes = APIRouter(include_in_schema=False)
    checks = Checks({**_checks(settings, database), **({"gallery": warming.gallery_problem} if warming else {})})
    noted: dict[str, str] = {}

    @routes.head("/healthz")
    @routes.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @routes.head("/readyz")
    @routes.get("/readyz")
    async def readyz() -> Response:
        found = {**await checks.run(), "open": "cirque is being stopped" if shutdown_state.closed else ""}
        report = {name: _check_json(name, reason) for name, reason in found.items()}
        if warming is not None:
            report["model"] = _model(warming)
        ready = all(check["ok"] for check in report.values())
        for name in _WARNINGS & found.keys():
            if found[name] and found[name] != noted.get(name):
                more = f" (CIRQUE_MIN_FREE_MB is {settings.min_free_mb:g})" if name == "disk" else ""
                _log.warning("Ready, but %s%s.", found[name], more)
            noted[name] = found[name]
        headers = FRESH if ready else {**FRESH, "Retry-After": str(RETRY_AFTER)}
        return JSONResponse({"ready": ready, "checks": report}, 200 if ready else 503, headers=headers)

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


def _check_json(name: str, reason: str) -> dict[str, object]:
    if not reason:
        return {"ok": True}
    return {"ok": True, "warn": reason} if name in _WARNINGS else {"ok": False, "reason": reason}


def _model(warming: Warming) -> dict[str, object]:
    """Readiness of the model. A loading process is not ready, as others may answer sooner. One that cannot load the
    model is ready: annotation needs no model, and other processes would fail as well."""
    found = warming.found
    report: dict[str, object] = {"ok": not warming.delays_readiness, "state": found.state}
    if found.state == "warming":
        report["reason" if warming.delays_readiness else "warn"] = "the model of the default gallery is being loaded"
    elif found.state == "failed":
        report["warn"] = found.reason
    return report


def _may_count(request: Request, settings: Settings) -> bool:
    token = settings.metrics_token.get_secret_value()
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    if token and kind.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), token.encode()):
        return True
    return request.client is not None and request.client.host in Networks(settings.metrics_from)


def _checks(settings: Settings, database: Readiness) -> Mapping[str, Check]:
    folders = {settings.home, database.folder or settings.home}

    def schema() -> str:
        if not database.is_in_place():
            return "the database file was moved, replaced or deleted"
        if not database.is_sound():
            return "the database is damaged"
        if not database.is_current():
            return "the database has the schema of another version"
        try:
            # Undone, so no disk has to have room for it; the file grows where it lies.
            written = database.can_be_written() and (database.folder is None or not _write_into(database.folder))
        except (OSError, StorageError) as error:
            _log.warning("Not ready: the database cannot be written (%s: %s)", type(error).__name__, error)
            return "the database cannot be written"
        return "" if written else "the database cannot be written"

    return {
        "database": _logged(schema, "the database does not answer"),
        "home": _logged(lambda: _write_into(settings.home), "the home folder cannot be written"),
        "disk": _logged(lambda: _room_in(folders, settings.min_free_mb), "the disk cannot be checked"),
    }


def _logged(check: Check, reason: str) -> Check:
    """Public ``reason`` if ``check`` raises; the cause is logged."""

    def checked() -> str:
        try:
            return check()
        except (OSError, StorageError) as error:
            _log.warning("Not ready: %s (%s: %s)", reason, type(error).__name__, error)
            return reason

    return checked


def _write_into(home: Path) -> str:
    with tempfile.TemporaryFile(dir=home) as probe:
        probe.write(b"cirque" * 1000)
    return ""


def _room_in(folders: set[Path], least_mb: float) -> str:
    return "the disk is nearly full" if any(
        shutil.disk_usage(folder).free < least_mb * _MB for folder in folders) else ""


class Checks:
    """For one event loop."""

    def __init__(self, checks: Mapping[str, Check], patience: float = _PATIENCE) -> None:
        self._checks, self._patience = checks, patience
        self._found: dict[str, str] = {}
        self._at: dict[str, float] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        # Threads of their own: those of the app may all wait for what is looked at here.
        self._threads = CapacityLimiter(max(1, len(checks)))

    async def run(self) -> Mapping[str, str]:
        """Problems by name of check. A check that times out counts as failed, and is not started again until it ends;
        the others continue."""
        for name in self._checks:
            if name not in self._running and monotonic() - self._at.get(name, float("-inf")) > _FRESH_SECONDS:
                self._found.pop(name, None)
                self._running[name] = asyncio.create_task(self._make(name))
        if self._running:
            await asyncio.wait(self._running.values(), timeout=self._patience)
        return {name: self._found.get(name, "this takes too long to find out") for name in self._checks}

    async def _make(self, name: str) -> None:
        try:
            self._found[name] = await run_sync(self._checks[name], limiter=self._threads)
            self._at[name] = monotonic()
        finally:
            del self._running[name]
