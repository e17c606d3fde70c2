"""Security headers of every response. Plain ASGI, around the app, so that also refusals and errors say it.

Own code: secure writes such headers; which answer gets which of them, and keeps its own, would still be ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Gradio's pages hold inline scripts and styles, and make functions of the templates of gr.HTML: without both words
# nothing is drawn. What is left: nothing comes from elsewhere, and nothing is sent elsewhere. Who may
# frame it is added to every policy.
PAGE_POLICY = "; ".join((
    "default-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'", "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:", "font-src 'self'", "connect-src 'self'", "manifest-src 'self'", "form-action 'self'",
    "base-uri 'self'",
))
FILE_POLICY = "default-src 'none'"
_NOBODY = "'none'"
_FRAMES, _POLICY = "X-Frame-Options", "Content-Security-Policy"
ALWAYS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff", _FRAMES: "DENY",
    "Referrer-Policy": "same-origin",   # addresses name studies, sessions and invitations
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SecurityHeaders:
    """ASGI middleware. Headers already set are kept. ``framing``: sources of sites that may show pages, and only
    pages, in a frame; empty: no site may."""

    def __init__(self, app: ASGIApp, framing: Sequence[str] = ()) -> None:
        self._app, self._framing = app, " ".join(framing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                framing = self._framing if is_page else ""
                policy = headers.get(_POLICY, PAGE_POLICY if is_page else FILE_POLICY)
                headers[_POLICY] = f"{policy}; frame-ancestors {framing or _NOBODY}"
                if "etag" not in headers:   # which files have: those of Gradio's pages, the same for everybody
                    headers.setdefault("Cache-Control", "no-store")
                for name, value in ALWAYS.items():
                    if name != _FRAMES or not framing:   # it cannot name a site, and old browsers obey it first
                        headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
