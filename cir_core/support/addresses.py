"""Where cirque is served: paths, hosts and origins, as settings and proxies write them. Pure."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from cir_core.support.texts import quoted

MOST_PATH = 200   # characters
_SEGMENT = re.compile(r"[A-Za-z0-9_~.-]+")   # needs no escape in addresses, headers, HTML and cookies' names
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_SELF = "self"


def root_path(text: str) -> str:
    """The path below which an app is served, e.g. "/tools/cirque", without a slash at its end; "" for the root.

    It is written into redirects and cookies, so only letters, digits and "-_.~" are taken, and nothing that a browser
    would read as another host or go up from. Raises ``ValueError``.
    """
    if text in ("", "/"):
        return ""
    path = text.removesuffix("/")
    first, *segments = path.split("/")
    if len(path) > MOST_PATH:
        raise ValueError(f"the path is longer than {MOST_PATH} characters")
    if first or any(not _SEGMENT.fullmatch(one) or one in (".", "..") for one in segments):
        raise ValueError(f"{quoted(text)} is not a path such as /tools/cirque: letters, digits and “-_.~” between "
                         "single slashes, and no “.” or “..” alone")
    return path


def public_url(text: str) -> str:
    """An address such as "https://lab.example.org/tools/cirque", without a slash at its end. Raises ``ValueError``."""
    parts = urlsplit(text.strip())
    origin = _origin(parts.scheme, parts.netloc, wildcard=False)
    if parts.query or parts.fragment or not origin:
        raise ValueError(f"{quoted(text)} is not an address such as https://lab.example.org/tools/cirque")
    return origin + root_path(parts.path)


def frame_ancestors(text: str) -> tuple[str, ...]:
    """The sources of a ``frame-ancestors`` policy from a comma-separated list of origins; "self" is this site. Raises
    ``ValueError``."""
    found = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        if part.strip("'").casefold() == _SELF:
            found.append("'self'")
            continue
        parts = urlsplit(part)
        origin = _origin(parts.scheme, parts.netloc, wildcard=True)
        if not origin or parts.path not in ("", "/") or parts.query or parts.fragment:
            raise ValueError(f"{quoted(part)} is not the origin of a site, such as https://lab.example.org, "
                             "https://lab.example.org:8443 or https://*.example.org")
        found.append(origin)
    return tuple(dict.fromkeys(found))


def allowed_hosts(text: str) -> tuple[str, ...]:
    """Names from a comma-separated list; "*.example.org" is every name below example.org. Raises ``ValueError``."""
    found = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        name = part.casefold().removesuffix(".").removeprefix("[").removesuffix("]")
        if not is_host(name.removeprefix("*.")):
            raise ValueError(f"{quoted(part)} is not the name of a host, such as lab.example.org or *.example.org: no "
                             "scheme, no port, no path")
        found.append(name)
    return tuple(dict.fromkeys(found))


def host_of(header: str) -> str:
    """The name in a ``Host`` header, in lower case and without its port; "" if there is none in it."""
    try:
        parts = urlsplit(f"//{header}")
        name = parts.hostname or ""
    except ValueError:
        return ""
    return name.removesuffix(".") if parts.netloc == header and "@" not in header else ""


def is_loopback(host: str) -> bool:
    """Whether a server on ``host`` is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def is_one_of(host: str, allowed: tuple[str, ...]) -> bool:
    """Whether ``host`` is one of the ``allowed``, of which "*.example.org" is every name below example.org."""
    return any(host == one or (one.startswith("*.") and host.endswith(one[1:])) for one in allowed)


def is_host(name: str) -> bool:
    """Whether this is the name of a host in lower case, or an IP address."""
    if len(name) > 253:
        return False
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        return True
    except ValueError:
        return _HOST.fullmatch(name) is not None


def _origin(scheme: str, netloc: str, *, wildcard: bool) -> str:
    """scheme://host[:port] in lower case; "" if it is none."""
    try:
        parts = urlsplit(f"//{netloc}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    # Below a wildcard stands at least a domain with a dot: *.org would be half of the world.
    plain = host.removeprefix("*.") if wildcard else host
    if scheme not in ("http", "https") or "@" in netloc or not is_host(plain) or (plain != host and "." not in plain):
        return ""
    shown = f"[{host}]" if ":" in host else host
    if netloc.casefold() not in (shown, f"{shown}:{port}"):
        return ""
    return f"{scheme}://{netloc.casefold()}"
