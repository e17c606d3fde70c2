"""The pages before and beside the app: sign in, join, not yours. Own HTML, no script."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from starlette.types import Scope

from web.http.permissions import first_page
from web.http.visitor import Visitor
from web.ui.static_files import ASSETS
from web.ui.templating import fill

COOKIE = "cirque"
_HTTPS_COOKIE = f"__Host-{COOKIE}"   # browsers take it from this host alone, over https, for all of its paths
FRESH = {"Cache-Control": "no-store"}
# "same-origin": an invitation's secret is in the address of its page, and stays here.
OWN_PAGE = {
    **FRESH, "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; "
                               "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}


def page(template: str, **context: Any) -> str:
    """A page of its own, with its style inside."""
    return fill(template, style=_style(), **context)


def notice(
    problem: str, visitor: Visitor | None, root: str = "", *, title: str = "Not here", again: str | None = None,
    by_itself: bool = False,
) -> str:
    """A page that says why something is not shown, and where to go instead: to ``again`` if that is an address
    ("" this one), where the page may go ``by_itself``."""
    return page("pages/notice_page.html", problem=problem, visitor=visitor, root=root, title=title, again=again,
                by_itself=by_itself, first=first_page(visitor.may) if visitor is not None else "/")


def cookie_of(scope: Scope) -> str:
    """The name of the cookie with the sign-in, as the request came. Over https the plain name counts for nothing: a
    neighbour below the same domain may set it, also for a longer path, and whoever looks would be signed in as them."""
    return _HTTPS_COOKIE if scope.get("scheme") in ("https", "wss") else COOKIE


@lru_cache(maxsize=1)
def _style() -> str:
    return (ASSETS / "css" / "sign-in.css").read_text("utf-8")
