"""cirque's cookies: the sign-in, and the browser of a public demo's visitor.

A cookie belongs to the path that cirque is served under, and its name has that path, so that two of them on one host do
not mix theirs up.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from starlette.responses import Response
from starlette.types import Scope

SIGN_IN, BROWSER = "cirque", "cirque-visitor"
_log = logging.getLogger("cirque.requests")

_PLAIN_HTTP = ("A cookie was set over plain http, and browsers send none of those in a frame of another site "
               "(CIRQUE_FRAME_ANCESTORS). Serve cirque over https, and list the proxy in CIRQUE_TRUSTED_PROXIES.")


@dataclass(frozen=True)
class Cookies:
    """``framed``: whether pages of other sites may show cirque in a frame. Their browsers then send the cookie too,
    which over https it says itself; each framing site gets one of its own (``Partitioned``)."""

    framed: bool = False
    _warnings: list[str] = field(default_factory=list, repr=False, compare=False)   # what was logged once

    def set(self, answer: Response, scope: Scope, value: str, seconds: int, kind: str = SIGN_IN) -> None:
        """``seconds``: 0 deletes it."""
        secure = _is_secure(scope)
        framed = self.framed and secure
        if self.framed and not secure and not self._warnings:
            self._warnings.append(_PLAIN_HTTP)
            _log.warning("%s", _PLAIN_HTTP)
        answer.set_cookie(cookie_of(scope, kind), value, max_age=seconds, path=f"{scope.get('root_path', '')}/",
                          httponly=True, secure=secure, samesite="none" if framed else "lax")
        if framed:   # Starlette has it from Python 3.14 on
            name, cookie = answer.raw_headers[-1]
            answer.raw_headers[-1] = (name, cookie + b"; Partitioned")


def cookie_of(scope: Scope, kind: str = SIGN_IN) -> str:
    """Name of a cookie for the request's scheme and path. Over https the plain name is ignored: a sibling domain could
    set it and sign the user in as somebody else. ``__Host-`` is taken from this host alone; browsers have it for whole
    hosts only, so below a path it is ``__Secure-``: over https alone."""
    root = str(scope.get("root_path", ""))
    named = kind + root.replace("/", ".")
    if not _is_secure(scope):
        return named
    return f"__Secure-{named}" if root else f"__Host-{named}"


def _is_secure(scope: Scope) -> bool:
    return scope.get("scheme") in ("https", "wss")
