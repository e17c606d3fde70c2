"""Whether a request was made by a page of another site. Pure: headers in, an answer out.

Browsers say where a request comes from in headers that no page can set; programs need not. ``Sec-Fetch-Site`` is the
better one, but browsers leave it out over plain http.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

_READING = ("GET", "HEAD", "OPTIONS")
_OURS = ("same-origin", "none")   # "none": typed into the address bar, a bookmark


def from_elsewhere(asked: HTTPConnection) -> bool:
    """A change that a page of another site asks for, or something that it wants to read or show inside itself.

    Another port or a neighbour below the same domain is another site too: their cookies are told apart by nobody.
    Links from elsewhere are followed, as long as they open a page of their own.
    """
    site = asked.headers.get("sec-fetch-site", "")
    method = asked.scope.get("method", "")   # a websocket has none, and is no reading
    if method in ("GET", "HEAD"):
        return site not in ("", *_OURS) and not _opens_a_page(asked)
    if method in _READING and "access-control-request-method" not in asked.headers:
        return False
    # A preflight asks for a page of another origin, whatever it says of itself.
    if site and method not in _READING:
        return site not in _OURS
    came_from = asked.headers.get("origin") or asked.headers.get("referer")
    return came_from is not None and not _is_ours(asked, came_from)


def _opens_a_page(asked: HTTPConnection) -> bool:
    return (asked.headers.get("sec-fetch-mode", "navigate") == "navigate"
            and asked.headers.get("sec-fetch-dest", "document") == "document")


def _is_ours(asked: HTTPConnection, address: str) -> bool:
    # A proxy in between may put its own host into "Host"; a page of another site can set neither of the two.
    ours = {asked.headers.get("host"), asked.headers.get("x-forwarded-host")} - {None}
    try:
        return urlsplit(address).netloc in ours
    except ValueError:
        return False
