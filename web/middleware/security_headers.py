"""What every answer tells browsers not to do. Plain ASGI, around the app, so that also refusals and errors say it.

Own code: secure writes such headers; which answer gets which of them, and keeps its own, would still be ours.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Gradio's pages hold inline scripts and styles, and make functions of the templates of gr.HTML: without both words
# nothing is drawn. What is left: nothing comes from elsewhere, nothing is sent elsewhere, nobody frames the page.
PAGE_POLICY = "; ".join((
    "default-src 'none'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'", "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:", "font-src 'self'", "connect-src 'self'", "manifest-src 'self'", "form-action 'self'",
    "base-uri 'self'", "frame-ancestors 'none'",
))
FILE_POLICY = "default-src 'none'; frame-ancestors 'none'"
ALWAYS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",   # addresses name studies, sessions and invitations
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SecurityHeaders:
    """ASGI middleware. Headers already set are kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                headers.setdefault("Content-Security-Policy", PAGE_POLICY if is_page else FILE_POLICY)
                if "etag" not in headers:   # which files have: those of Gradio's pages, the same for everybody
                    headers.setdefault("Cache-Control", "no-store")
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, with_headers)
