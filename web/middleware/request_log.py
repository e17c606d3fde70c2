"""Request logging, metrics, and the response to unexpected errors. Error responses for malformed requests, in
cirque's format."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from gradio.route_utils import FnIndexInferError
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.http.json_api import reply
from web.http.meter import Meter
from web.http.pages import PAGES, path_of, plain
from web.http.request_ids import request_id, unexpected
from web.ui.static_files import FRESH, OWN_PAGE, notice

_log = logging.getLogger("cirque.requests")
_LEFT = 499           # nginx's number for who went away before the answer
_MOST = 200           # letters of a path
# What follows these is a secret of its own, or long.
_SECRET_AFTER = frozenset({"join", "take", "runs", "heartbeat", "call"})


class RequestLog:
    """ASGI middleware outside AuthMiddleware."""

    def __init__(self, app: ASGIApp, meter: Meter, templates: Mapping[Any, str]) -> None:
        self._app, self._meter, self._templates = app, meter, templates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity, began, status = request_id(), perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            status = _LEFT
        except Exception:
            _log.error("Request %s ended in an unexpected error.", identity, exc_info=True)
            if not status:   # what has begun cannot be taken back, and the server cuts it off
                await problem(scope, identity)(scope, receive, answer)
        finally:
            self._note(scope, status or _LEFT, perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"]
        route = self._templates.get(scope.get("endpoint")) or str(getattr(scope.get("route"), "path", "none"))
        self._meter.answered(route, method, status, seconds)
        if not _log.isEnabledFor(logging.INFO):
            return
        visitor = scope.get("state", {}).get("visitor")
        fields = {"method": method, "path": shown_path(scope["path"]), "status": status, "ms": round(seconds * 1000, 1),
                "person": getattr(visitor, "name", None)}
        _log.info("%s %s %s %s ms %s", *[fields[name] for name in ("method", "path", "status", "ms")],
                  fields["person"] or "-", extra=fields)


def templates_of(routers: Iterable[APIRouter]) -> dict[Any, str]:
    """Route template of each endpoint, such as ``/join/{secret}``."""
    return {route.endpoint: route.path for router in routers for route in router.routes if isinstance(route, Route)}


def problem(scope: Scope, identity: str) -> Response:
    """Response to an unexpected error."""
    message = unexpected(identity)
    connection = HTTPConnection(scope)
    looks = scope["method"] in ("GET", "HEAD") and (
        plain(path_of(scope)) in PAGES or connection.headers.get("sec-fetch-mode") == "navigate")
    if looks:
        return HTMLResponse(notice(message, None, scope.get("root_path", "")), 500, headers=OWN_PAGE)
    return JSONResponse({"problem": message, "kind": "unexpected"}, 500, headers=FRESH)


def shown_path(path: str) -> str:
    """Path for the log, without secrets, server files or line breaks."""
    parts = quote(path, safe="/=@:+,~").split("/")
    for number, part in enumerate(parts):
        if part in _SECRET_AFTER and number + 1 < len(parts):
            parts[number + 1:] = ["…"]
            break
        if "=" in part:   # Gradio's file=/some/where
            parts[number:] = [part.partition("=")[0] + "=…"]
            break
    return "/".join(parts)[:_MOST]


_NAMED, _LONGEST = 3, 200      # places, and characters of them
_CHECK = "Check it against docs/reference/api.md, or reload the page."
# What Gradio raises while it looks up what was asked for. What cirque's functions raise ends in event_errors.
_NOT_FOUND = (FnIndexInferError, KeyError, TypeError, AttributeError)


def handle_malformed_requests(app: FastAPI) -> None:
    """Install handlers on ``app`` and its mounted apps.

    FastAPI's own response quotes the input, which fails for NaN and lone surrogates and would turn a client's mistake
    into a server error. Gradio does not handle unknown endpoints or fields, or uploads without a file.
    """
    mounted = [inner for route in app.routes if isinstance(inner := getattr(route, "app", None), FastAPI)]
    for one in (app, *mounted):
        one.add_exception_handler(RequestValidationError, _refused)
    for one in mounted:
        for kind in _NOT_FOUND:
            one.add_exception_handler(kind, _unknown)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    where = [".".join(map(str, one["loc"])) for one in list(error.errors())[:_NAMED]]
    named = ", ".join(where).encode("ascii", "replace").decode()[:_LONGEST]
    problem = f"This call cannot be read ({named or 'its body'}). {_CHECK}"
    return reply({"problem": problem, "kind": "other"}, 422)


async def _unknown(request: Request, error: Exception) -> Response:
    if request.method != "POST":   # a page or a list brings nothing that could be wrong
        raise error
    _log.warning("Request %s was refused: Gradio found no call for it (%s).", request_id(), type(error).__name__,
                 exc_info=_log.isEnabledFor(logging.DEBUG))
    problem = f"There is no such call, or its arguments are different. {_CHECK}"
    return reply({"problem": problem, "kind": "other", "error": problem}, 404)
