"""Endpoint that stops a run: the page's event channel is busy with the run itself."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from web.http.long_actions import Runs


def live_routes(runs: Runs) -> APIRouter:
    routes = APIRouter(prefix="/runs", include_in_schema=False)

    @routes.post("/{run_id}/stop")
    def stop(run_id: str) -> Response:
        """Ask a run to finish with its current results: 204, or 404 if it has ended."""
        return Response(status_code=204 if runs.stop(run_id) else 404, headers={"Cache-Control": "no-store"})

    return routes
