"""Strip proxy headers from untrusted clients. Gradio and ``cross_site`` trust these headers."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from web.http.request_ids import HEADER
from web.limits.networks import Networks

_PROTO = b"x-forwarded-proto"
# Whose request it is, for which host, by which scheme, and its id. Proxies pass on what else a visitor writes.
_OF_PROXIES = frozenset({b"x-forwarded-for", b"x-forwarded-host", _PROTO, HEADER.lower().encode()})
# Gradio looks into it for "https" alone; behind a proxy that nobody trusts its pages would look for http and not load.
_OF_ANYBODY = frozenset({_PROTO})
_GRADIOS = b"x-gradio-server"   # it takes the addresses in its pages from this one too


class Forwarded:
    """ASGI middleware in front of all readers of such headers."""

    def __init__(self, app: ASGIApp, proxies: Networks) -> None:
        self._app, self._proxies = app, proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            client = scope.get("client")
            kept = _OF_PROXIES if client is not None and client[0] in self._proxies else _OF_ANYBODY
            scope["headers"] = [
                (name, value) for name, value in scope["headers"] if name in kept or not (
                    name.startswith(b"x-forwarded-") or name in _OF_PROXIES or name in (b"forwarded", _GRADIOS))]
        await self._app(scope, receive, send)
