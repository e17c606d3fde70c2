"""Authentication and authorisation middleware. cirque's cookies: the sign-in, and the browser of a public demo's
visitor.

Plain ASGI, as every image request passes through it. The ``Visitor`` is stored in the request's state.

Requests from pages of other sites are refused. Browsers send the origin in headers that pages cannot set; programs need
not. ``Sec-Fetch-Site`` is preferred, but browsers omit it over plain http.

A cookie belongs to the path that cirque is served under, and its name has that path, so that two of them on one host do
not mix theirs up.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from annotation.accounts.service import PeopleService
from cir_core.errors import SettingsError, StorageError
from cir_core.settings import Settings
from cir_core.support.addresses import host_of, is_loopback, is_one_of
from web.http.pages import CHECKS, PAGES, first_page, is_open, is_served, needed, path_of, plain
from web.http.public_errors import public_message
from web.http.visitor import LOCAL_VISITOR, Visitor, refusal, visitor_from
from web.ui.static_files import FRESH, OWN_PAGE, notice

SIGN_IN, BROWSER, PARTICIPANT = "cirque", "cirque-visitor", "cirque-participant"
_log = logging.getLogger("cirque.requests")

_PLAIN_HTTP = ("A cookie was set over plain http, and browsers send none of those in a frame of another site "
               "(CIRQUE_FRAME_ANCESTORS). Serve cirque over https, and list the proxy in CIRQUE_TRUSTED_PROXIES.")


@dataclass(frozen=True)
class Cookies:
    """``framed``: whether pages of other sites may show cirque in a frame. Their browsers then send the cookie too,
    which over https it says itself; each framing site gets one of its own (``Partitioned``)."""

    framed: bool = False
    _warnings: list[str] = field(default_factory=list, repr=False, compare=False)   # what was logged once

    def set(
        self, answer: Response, scope: Scope, value: str, seconds: int, kind: str = SIGN_IN, below: str = "",
    ) -> None:
        """``seconds``: 0 deletes it. ``below``: the path below the app's root, without a slash in front, that alone
        gets the cookie."""
        secure = _is_secure(scope)
        framed = self.framed and secure
        if self.framed and not secure and not self._warnings:
            self._warnings.append(_PLAIN_HTTP)
            _log.warning("%s", _PLAIN_HTTP)
        answer.set_cookie(cookie_of(scope, kind, below), value, max_age=seconds,
                          path=f"{scope.get('root_path', '')}/{below}",
                          httponly=True, secure=secure, samesite="none" if framed else "lax")
        if framed:   # Starlette has it from Python 3.14 on
            name, cookie = answer.raw_headers[-1]
            answer.raw_headers[-1] = (name, cookie + b"; Partitioned")


def cookie_of(scope: Scope, kind: str = SIGN_IN, below: str = "") -> str:
    """Name of a cookie for the request's scheme and path. Over https the plain name is ignored: a sibling domain could
    set it and sign the user in as somebody else. ``__Host-`` is taken from this host alone; browsers have it for whole
    hosts only, so below a path it is ``__Secure-``: over https alone."""
    root = str(scope.get("root_path", ""))
    named = kind + root.replace("/", ".")
    if not _is_secure(scope):
        return named
    return f"__Secure-{named}" if root or below else f"__Host-{named}"


def _is_secure(scope: Scope) -> bool:
    return scope.get("scheme") in ("https", "wss")


_READING = ("GET", "HEAD", "OPTIONS")
_OURS = ("same-origin", "none")   # "none": typed into the address bar, a bookmark
MOST_ADDRESS = 16 * 1024    # bytes of path and query; what an analysis is asked for, 500 people by number, is 3 kB
_TOO_LONG = (f"This address is longer than {MOST_ADDRESS // 1024} kB. Shorten it: send long values in the body of a "
             "call, or choose less.")
_UNKNOWN_NAME = ("cirque does not answer under this name. Use the address that you were given. An administrator "
                 "can add names: CIRQUE_PUBLIC_URL or CIRQUE_ALLOWED_HOSTS, see docs/reference/settings.md.")
_OTHER_NAME = ("Nobody has an account yet, so cirque only answers under this machine's own names: open it as "
               "http://localhost, with its port. To use another name, create an account: cirque user add NAME "
               "--role admin.")


@dataclass(frozen=True)
class Place:
    """Where this cirque is. ``listens``: the name or address it listens at. ``hosts``: the only names under which it
    answers besides this machine's own; none: any. ``framed``: some sites may show pages in a frame."""

    listens: str = ""
    hosts: tuple[str, ...] = ()
    framed: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Place:
        return cls(settings.host, settings.hosts, bool(settings.framing_sites))

    def is_ours(self, host: str) -> bool:
        """Whether a ``Host`` header names this machine. Protects against DNS rebinding, where another site points its
        own name to this address."""
        name = host_of(host)
        return is_loopback(name) or name == self.listens.casefold() != ""

    def answers(self, host: str) -> bool:
        """Whether cirque answers under the name in a ``Host`` header."""
        return not self.hosts or is_one_of(host_of(host), self.hosts) or self.is_ours(host)


class AuthMiddleware:
    """ASGI middleware. Without any account every request is the local user's, with all permissions, if its Host names
    this machine."""

    def __init__(self, app: ASGIApp, people: PeopleService, place: Place = Place()) -> None:
        self._app, self._people, self._place = app, people, place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            refused = (refuse(connection, 414, _TOO_LONG, "too-long") if _is_too_long(scope)
                       else await self._let_in(connection))
        except StorageError as error:
            refused = refuse(connection, 503, public_message(error), "storage")
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()   # the handshake, which has to be taken before it can be refused
            await send({"type": "websocket.close", "code": 1008})
        else:
            await refused(scope, receive, send)

    async def _let_in(self, connection: HTTPConnection) -> Response | None:
        """None to continue, or the refusal."""
        path = path_of(connection.scope)
        if refused := self.refuse_place(connection, path):
            return refused
        served = is_served(path)
        if served and is_open(path):
            return None
        visitor = await self._visitor(connection.cookies.get(cookie_of(connection.scope)))
        if visitor is None:
            return _ask_to_sign_in(connection, path)
        if visitor.open and not self._place.is_ours(connection.headers.get("host", "")):
            return refuse(connection, 403, _OTHER_NAME, "forbidden")
        if not served:   # said after the sign-in, so that strangers learn nothing of what there is
            return refuse(connection, 404, "There is nothing at this address. Check it, or open the start page.",
                          "unknown", visitor)
        connection.scope["state"] = {**connection.scope.get("state", {}), "visitor": visitor}
        needs = needed(path)
        if not needs or needs & visitor.may:
            return None
        if path == "/" and first_page(visitor.may) != "/":
            return RedirectResponse(connection.scope.get("root_path", "") + first_page(visitor.may), 303, headers=FRESH)
        return refuse(connection, 403, refusal(visitor, needs), "forbidden", visitor)

    def refuse_place(self, connection: HTTPConnection, path: str) -> Response | None:
        """The refusal of a request for another name, or from another site."""
        if not self._place.answers(connection.headers.get("host", "")) and path not in CHECKS:
            return refuse(connection, 400, _UNKNOWN_NAME, "forbidden")
        if is_cross_site(connection, framed=self._place.framed):
            return refuse(connection, 403, "This request came from another site. Use cirque's own page instead.",
                          "forbidden")
        return None

    async def _visitor(self, secret: str | None) -> Visitor | None:
        standing = self._people.cached_state(secret)
        if standing is None:
            standing = await run_in_threadpool(self._people.auth_state, secret)
        if standing.open:
            return LOCAL_VISITOR
        return visitor_from(standing.person) if standing.person is not None else None


def check_open(settings: Settings, people: PeopleService) -> None:
    """Raises ``SettingsError`` for a server without accounts that is reachable from other machines."""
    if not settings.public_demo and people.is_open() and not is_loopback(settings.host):
        raise SettingsError(
            "Nobody has an account yet, so cirque opens only on this machine. Create one: cirque user add NAME "
            "--role admin. Or leave CIRQUE_HOST at 127.0.0.1."
        )


def greeting(people: PeopleService, *, demo: bool = False) -> str:
    """Start-up message of a server without sign-in; else empty."""
    if demo:
        return ("A public demo: anybody who reaches this address may search, without a sign-in. What visitors search "
                "and upload is deleted after a day, and at each start.")
    return ("No sign-in needed; reachable from this machine only. Creating the first account turns sign-in on: "
            "cirque user add NAME --role admin") if people.is_open() else ""


def _is_too_long(scope: Scope) -> bool:
    path = scope.get("raw_path") or scope["path"].encode("utf-8", "replace")
    return len(path) + len(scope.get("query_string", b"")) > MOST_ADDRESS


def _is_page(connection: HTTPConnection, path: str) -> bool:
    """Whether the response is shown to a person. Over plain http, browsers do not send Sec-Fetch-Mode."""
    looked_at = connection.scope.get("method") in ("GET", "HEAD") and (
        plain(path) in PAGES or connection.headers.get("sec-fetch-mode") == "navigate")
    return looked_at or (is_open(path) and connection.headers.get("accept", "").startswith("text/html"))


def _ask_to_sign_in(connection: HTTPConnection, path: str) -> Response:
    if not _is_page(connection, path):
        return JSONResponse({"problem": "You are not signed in, or your session has ended. Sign in and try again.",
                             "kind": "signed-out"}, 401, headers=FRESH)
    query = connection.url.query
    wanted = quote(path + (f"?{query}" if query else ""), safe="/")
    if len(wanted) > MOST_ADDRESS // 2:     # quoted again it is longer, and must not be refused after the sign-in
        wanted = "/"
    return RedirectResponse(f"{connection.scope.get('root_path', '')}/sign-in?next={wanted}", 303, headers=FRESH)


def refuse(
    connection: HTTPConnection, status: int, problem: str, kind: str, visitor: Visitor | None = None, *,
    retry_after: int = 0,
) -> Response:
    """``problem`` as JSON for scripts or as an HTML page, which reloads after ``retry_after`` seconds, if given,
    without a script."""
    path, root = path_of(connection.scope), connection.scope.get("root_path", "")
    wait = {"Retry-After": str(retry_after)} if retry_after else {}
    if not _is_page(connection, path):
        return JSONResponse({"problem": problem, "kind": kind}, status, headers={**FRESH, **wait})
    if status != 503:
        return HTMLResponse(notice(problem, visitor, root), status, headers=OWN_PAGE)
    again = f"{root}/" if plain(path) == "/sign-out" else ""   # nobody can look at that address
    if retry_after:
        wait["Refresh"] = f"{retry_after}; url={again}" if again else str(retry_after)
    shown = notice(problem, visitor, root, title="Not now", again=again, by_itself=bool(retry_after))
    return HTMLResponse(shown, status, headers={**OWN_PAGE, **wait})


def is_cross_site(connection: HTTPConnection, *, framed: bool = False) -> bool:
    """Whether another site's page requests a change, or content to read or embed. ``framed``: some may show pages in a
    frame; which, every answer's policy says, and the visitor's browser sees to it.

    Another port or a sibling domain is also another site, as cookies do not distinguish them. Links from elsewhere may
    open pages.
    """
    site = connection.headers.get("sec-fetch-site", "")
    method = connection.scope.get("method", "")   # a websocket has none, and is no reading
    if method in ("GET", "HEAD"):
        return site not in ("", *_OURS) and not _opens_a_page(connection, framed)
    if method in _READING and "access-control-request-method" not in connection.headers:
        return False
    # A preflight asks for a page of another origin, whatever it says of itself.
    if site and method not in _READING:
        return site not in _OURS
    came_from = connection.headers.get("origin") or connection.headers.get("referer")
    return came_from is not None and not _is_ours(connection, came_from)


def _opens_a_page(connection: HTTPConnection, framed: bool) -> bool:
    places = ("document", "iframe") if framed else ("document",)
    return (connection.headers.get("sec-fetch-mode", "navigate") == "navigate"
            and connection.headers.get("sec-fetch-dest", "document") in places)


def _is_ours(connection: HTTPConnection, address: str) -> bool:
    # A proxy in between may put its own host into "Host"; a page of another site can set neither of the two.
    ours = {connection.headers.get("host"), connection.headers.get("x-forwarded-host")} - {None}
    try:
        return urlsplit(address).netloc in ours
    except ValueError:
        return False
