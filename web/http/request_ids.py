"""Every request has an id: in its log lines, in a header of the answer, in the sentence of an unexpected error."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, TypeVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from web.limits.networks import Networks

T = TypeVar("T")
HEADER = "X-Request-ID"
_FORM = re.compile(r"[A-Za-z0-9._-]{8,64}")   # of one that is taken over
_current: ContextVar[str] = ContextVar("cirque_request", default="")


class RequestIds:
    """ASGI middleware in front of all others. The id that a trusted proxy sends is kept, so that its log and cirque's
    can be laid side by side; who else sends one is given another."""

    def __init__(self, app: ASGIApp, proxies: Networks) -> None:
        self._app, self._proxies = app, proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            sent = Headers(scope=scope).get(HEADER, "")
            client = scope.get("client")
            trusted = client is not None and client[0] in self._proxies and _FORM.fullmatch(sent)
            with_id(scope, sent if trusted else None)
        await self._app(scope, receive, send)


def with_id(scope: Scope, given: str | None = None) -> str:
    """The request's id, which from here on is in ``scope`` and in what is logged. Made, if it has none."""
    found: str = given or scope.get("state", {}).get("request_id") or secrets.token_hex(8)
    scope["state"] = {**scope.get("state", {}), "request_id": found}
    _current.set(found)
    return found


def request_id() -> str:
    """Of the request that is worked on here; empty outside of any."""
    return _current.get()


def go_on_with(found: str) -> None:
    """What follows belongs to this request, though it is done later and elsewhere."""
    _current.set(found)


def carried(work: Callable[..., T]) -> Callable[..., T]:
    """``work``, to be done in another thread for this request."""
    return partial(copy_context().run, work)


def unexpected(found: str) -> str:
    """What is said of an error that nobody foresaw: nothing of what is inside."""
    return ("Something went wrong here that should not have. What was saved before is safe. Try again; if it happens "
            f"again, quote {found or 'the time'} when you report it.")


def id_of(request: Any) -> str:
    """The id of a Starlette request, or of one of Gradio's; empty without one."""
    inner = getattr(request, "request", None) or request
    return str(getattr(getattr(inner, "state", None), "request_id", ""))
