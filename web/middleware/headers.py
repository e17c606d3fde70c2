"""Headers of proxies: client address, host, scheme, and the path below which cirque is served. Security headers of
every response. Plain ASGI, around the app, so that also refusals and errors say it.

Headers of untrusted clients are stripped: Gradio and ``auth`` trust them. What is left is put where the rest of
the app looks for it: ``root_path`` in the scope, the path with it, as ASGI has it, and the public name in ``Host``.

Own code: secure writes such headers; which answer gets which of them, and keeps its own, would still be ours.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cir_core.support.addresses import host_of, is_loopback, root_path
from cir_core.support.texts import quoted
from web.http.pages import OWN_PARTS
from web.http.request_ids import HEADER
from web.limits.connections import Networks

_log = logging.getLogger("cirque.requests")
_PROTO, _HOST, _PREFIX = b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-prefix"
# Whose request it is, for which host, by which scheme, and its id. Proxies pass on what else a visitor writes.
_OF_PROXIES = frozenset({b"x-forwarded-for", _HOST, _PROTO, HEADER.lower().encode()})
# Gradio looks into it for "https" alone; behind a proxy that nobody trusts its pages would look for http and not load.
_OF_ANYBODY = frozenset({_PROTO})
_GRADIOS = b"x-gradio-server"   # it takes the addresses in its pages from this one too


class Forwarded:
    """ASGI middleware in front of all readers of such headers. ``root``: the path by the settings, which counts more
    than what proxies say."""

    def __init__(self, app: ASGIApp, proxies: Networks, root: str = "") -> None:
        self._app, self._proxies, self._root = app, proxies, root
        self._warned = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        client = scope.get("client")
        trusted = client is not None and client[0] in self._proxies
        root = self._root or (self._prefix(scope) if trusted else "")
        kept = _OF_PROXIES if trusted else _OF_ANYBODY
        scope["headers"] = _by_its_public_name([
            (name, value) for name, value in scope["headers"] if name in kept or not (
                name.startswith(b"x-forwarded-") or name in _OF_PROXIES or name in (b"forwarded", _GRADIOS))])
        if not root:
            await self._app(scope, receive, send)
        elif scope["path"] == root and scope["type"] == "http":
            # Pages name what belongs to them relative to their own address, so it ends with a slash.
            query = scope.get("query_string", b"").decode("latin-1")
            there = RedirectResponse(f"{root}/{'?' if query else ''}{query}", 308)
            await there(scope, receive, send)
        else:
            await self._app(_below(root, scope), receive, _within(root, send))

    def _prefix(self, scope: Scope) -> str:
        """What the proxy says, or "" if that is nothing, or no path."""
        values = [value.decode("latin-1") for name, value in scope["headers"] if name == _PREFIX]
        try:
            return checked_root(root_path(values[0].strip())) if len(values) == 1 else ""
        except ValueError as error:
            if not self._warned:
                self._warned = True
                _log.warning("A trusted proxy's X-Forwarded-Prefix is ignored: %s. Correct it there, or set "
                             "CIRQUE_PUBLIC_URL.", error)
            return ""


def checked_root(root: str) -> str:
    """``root``, which does not begin as a path of cirque's own. Raises ``ValueError``."""
    if root.split("/")[1:2] and root.split("/")[1] in OWN_PARTS:
        raise ValueError(f"{quoted(root)} begins like a path of cirque's own; serve it below another one, such as "
                         f"/tools{root}")
    return root


def _below(root: str, scope: Scope) -> Scope:
    """``scope`` of a request below ``root``, whether or not the proxy has taken it off the path."""
    if scope["path"].startswith(f"{root}/"):
        return {**scope, "root_path": root}
    path = root + scope["path"]
    raw = root.encode() + (scope.get("raw_path") or quote(scope["path"]).encode())
    return {**scope, "root_path": root, "path": path, "raw_path": raw}


def _within(root: str, send: Send) -> Send:
    """Gradio's own redirects lead to the root of the host."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            there = headers.get("location", "")
            if there.startswith("/") and not there.startswith(("//", f"{root}/")):
                headers["location"] = root + there
        await send(message)

    return sending


def _by_its_public_name(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """``headers`` with the host that the visitor asked for, of which the first of several proxies knows, as ``Host``:
    what is built from it, by whichever library, is then the same. A name of this machine is none that a proxy
    publishes; a visitor who sent one would pass for somebody on this machine."""
    names = [value.split(b",")[0].strip() for name, value in headers if name == _HOST]
    if not names or not names[0] or is_loopback(host_of(names[0].decode("latin-1"))):
        return [(name, value) for name, value in headers if name != _HOST]
    return [(b"host", names[0]), *((name, value) for name, value in headers if name not in (b"host", _HOST))]


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
