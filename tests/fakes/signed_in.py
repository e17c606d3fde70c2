"""Who is signed in, by a header: for tests of routes without the guard in front of them."""

from __future__ import annotations

from typing import Any

from annotation.accounts.roles import may
from annotation.records import Role
from web.http.visitor import Visitor


class SignedIn:
    """ASGI middleware. ``x-test-name`` names the visitor; without it nobody is signed in."""

    def __init__(self, app: Any, role: Role = "annotator") -> None:
        self._app, self._role = app, role

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        name = dict(scope.get("headers", ())).get(b"x-test-name", b"").decode()
        if name:
            scope.setdefault("state", {})["visitor"] = Visitor(name, self._role, may(self._role), open=False)
        await self._app(scope, receive, send)
