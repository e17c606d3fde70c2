"""Graceful shutdown: drain in-flight requests, answer new ones with 503."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from storage.engine.revisions import OTHER
from web.middleware.auth import refuse

RETRY_AFTER = 5   # seconds; a restart takes about as long
_STOPPING = "cirque is being stopped or started again. Nothing that was saved is lost; try again in a few seconds."
# Streams that end only with the page.
_ENDLESS = ("/gradio_api/heartbeat/", "/gradio_api/mcp/sse")
# Whoever was let in fetches what came of it by these; the others tell how cirque is.
_STILL = ("/gradio_api/queue/data", "/gradio_api/call/")
_ALWAYS = ("/healthz", "/readyz", "/metrics")


class ShutdownState:
    """Accepting flag and in-flight counter. For one event loop.

    Requests may leave work behind: ``background_work`` returns how much of it is unfinished.
    """

    def __init__(self, background_work: Callable[[], int] = lambda: 0) -> None:
        self.closed = False
        self.inside = 0
        self.background_work = background_work
        # Whether this process no longer fits the database: then nobody is let in, until it is started again.
        self.outdated: Callable[[], bool] = lambda: False

    @property
    def unfinished(self) -> int:
        """Number of items a shutdown waits for."""
        return self.inside + self.background_work()

    async def close(self, patience: float, interrupted: Callable[[], bool] = lambda: False) -> bool:
        """Stop accepting requests and wait until nothing is unfinished: for ``patience`` seconds, or less if
        ``interrupted`` is set. Returns whether all is finished."""
        self.closed = True
        until = monotonic() + patience
        while self.unfinished and monotonic() < until and not interrupted():
            await asyncio.sleep(0.02)
        return not self.unfinished


class DrainMiddleware:
    """Middleware that counts requests in ``state``."""

    def __init__(self, app: ASGIApp, shutdown_state: ShutdownState) -> None:
        self._app, self._shutdown_state = app, shutdown_state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or any(part in scope["path"] for part in _ENDLESS):
            await self._app(scope, receive, send)
        elif (self._shutdown_state.closed and not _may_still(scope)) or (
                self._shutdown_state.outdated() and not scope["path"].endswith(_ALWAYS)):
            problem = _STOPPING if self._shutdown_state.closed else OTHER
            # "storage" is the kind of problem after which pages keep what was typed and try again.
            refused = refuse(HTTPConnection(scope), 503, problem, "storage", retry_after=RETRY_AFTER)
            refused.headers["Connection"] = "close"
            await refused(scope, receive, send)
        else:
            self._shutdown_state.inside += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._shutdown_state.inside -= 1


def _may_still(scope: Scope) -> bool:
    path = scope["path"]
    return path.endswith(_ALWAYS) or (scope["method"] == "GET" and any(part in path for part in _STILL))
