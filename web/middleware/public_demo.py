"""Public demo: identity, permissions and rate limits of its visitors."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotation.accounts.service import PeopleService
from cir_core.errors import TryLater
from cir_core.settings import Settings
from web.http.pages import in_demo, is_open, path_of, plain
from web.http.public_errors import public_message
from web.http.visitor import Visitor, works_for
from web.limits.rates import RateLimit
from web.middleware.auth import BROWSER, AuthMiddleware, Cookies, Place, cookie_of, refuse

_DAY = 86400            # seconds
_SECRET = 32            # hex digits
_NOT_HERE = "This demo is for searching only. There is nothing else at this address."
# What visitors may do for each search, at most: a page of results has 60 pictures. The page needs this for ten
# searches even where fewer are allowed: it opens with pictures, and choosing one is an action.
_ACTIONS, _REQUESTS, _FEWEST = 10, 100, 10
_COSTLY = frozenset({"/media/find", "/media/suggestions"})   # the encoder reads what they name


class PublicDemo(AuthMiddleware):
    """ASGI middleware in place of the one that asks for a sign-in. Everybody may search and nothing else.

    Limits are counted by address, or by the network that one IPv6 customer has: cookies are thrown away easily.
    Sessions belong to a browser, by its cookie, or to its address where it keeps none.
    """

    def __init__(self, app: ASGIApp, people: PeopleService, settings: Settings, limits: Limits) -> None:
        super().__init__(app, people, Place.of(settings))
        self._key = secrets.token_bytes(32)
        self._cookies = Cookies(framed=bool(settings.framing_sites))
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or path_of(scope) != "/":
            await super().__call__(scope, receive, send)
            return
        name = cookie_of(scope, BROWSER)
        known = HTTPConnection(scope).cookies.get(name, "")
        secret = known if _is_secret(known) else secrets.token_hex(_SECRET // 2)
        if secret == known:
            await super().__call__(scope, receive, send)
            return
        handed = Response()
        self._cookies.set(handed, scope, secret, _DAY, BROWSER)

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("set-cookie", handed.headers["set-cookie"])
            await send(message)

        await super().__call__(scope, receive, with_cookie)

    async def _let_in(self, connection: HTTPConnection) -> Response | None:
        path, method = plain(path_of(connection.scope)), connection.scope.get("method", "")
        if refused := self.refuse_place(connection, path):
            return refused
        if not in_demo(method, path_of(connection.scope)):
            return refuse(connection, 404, _NOT_HERE, "unknown")
        if is_open(path):
            return None
        address = _network(connection.client.host if connection.client else "")
        try:
            self._limits.count(address, method, path)
        except TryLater as error:
            return refuse(connection, 429, public_message(error), "busy", retry_after=error.seconds)
        known = connection.cookies.get(cookie_of(connection.scope, BROWSER), "")
        browser = self._hashed(f"browser {known}" if _is_secret(known) else f"address {address}")
        visitor = Visitor(f"visitor-{browser[:12]}", "researcher", frozenset({"search"}), open=False, demo=True,
                          address=self._hashed(f"address {address}"))
        connection.scope["state"] = {**connection.scope.get("state", {}), "visitor": visitor, "browser": browser}
        works_for(browser)
        return None

    def _hashed(self, text: str) -> str:
        return blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).hexdigest()


class Limits:
    """``searches`` of one visitor a minute, and other requests for them."""

    def __init__(self, searches: int) -> None:
        self._searches = RateLimit(searches, "searches")
        self._actions = RateLimit(max(searches, _FEWEST) * _ACTIONS, "actions")
        self._requests = RateLimit(max(searches, _FEWEST) * _REQUESTS, "requests")

    def count(self, visitor: str, method: str, path: str) -> None:
        """Raises ``TooManyRequests``."""
        self._requests.take(visitor)
        if method not in ("GET", "HEAD") or path in _COSTLY:
            self._actions.take(visitor)

    def admit(self, visitor: Visitor, sent: Mapping[str, Any], long: Sequence[str]) -> None:
        """Count a call of the search screen if its action is one of the ``long`` ones; as often as it has methods.
        Raises ``TooManyRequests``."""
        data = sent.get("event_data")
        if isinstance(data, dict) and data.get("do") in long:
            methods = data.get("methods")
            self._searches.take(visitor.counted, max(1, len(methods)) if isinstance(methods, list) else 1)


def _is_secret(value: str) -> bool:
    return len(value) == _SECRET and set(value) <= set("0123456789abcdef")


def _network(address: str) -> str:
    """``address``, or the /64 of an IPv6 one: a customer has all of it."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))
