"""Detection of cross-site requests. Pure: headers in, verdict out.

Browsers send the origin in headers that pages cannot set; programs need not. ``Sec-Fetch-Site`` is preferred, but
browsers omit it over plain http.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

_READING = ("GET", "HEAD", "OPTIONS")
_OURS = ("same-origin", "none")   # "none": typed into the address bar, a bookmark


def from_elsewhere(asked: HTTPConnection, *, framed: bool = False) -> bool:
    """Whether another site's page requests a change, or content to read or embed. ``framed``: some may show pages in a
    frame; which, every answer's policy says, and the visitor's browser sees to it.

    Another port or a sibling domain is also another site, as cookies do not distinguish them. Links from elsewhere may
    open pages.
    """
    site = asked.headers.get("sec-fetch-site", "")
    method = asked.scope.get("method", "")   # a websocket has none, and is no reading
    if method in ("GET", "HEAD"):
        return site not in ("", *_OURS) and not _opens_a_page(asked, framed)
    if method in _READING and "access-control-request-method" not in asked.headers:
        return False
    # A preflight asks for a page of another origin, whatever it says of itself.
    if site and method not in _READING:
        return site not in _OURS
    came_from = asked.headers.get("origin") or asked.headers.get("referer")
    return came_from is not None and not _is_ours(asked, came_from)


def _opens_a_page(asked: HTTPConnection, framed: bool) -> bool:
    places = ("document", "iframe") if framed else ("document",)
    return (asked.headers.get("sec-fetch-mode", "navigate") == "navigate"
            and asked.headers.get("sec-fetch-dest", "document") in places)


def _is_ours(asked: HTTPConnection, address: str) -> bool:
    # A proxy in between may put its own host into "Host"; a page of another site can set neither of the two.
    ours = {asked.headers.get("host"), asked.headers.get("x-forwarded-host")} - {None}
    try:
        return urlsplit(address).netloc in ours
    except ValueError:
        return False
