"""Who may show cirque in a frame: what every answer says about it."""

from __future__ import annotations

import pytest
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from web.middleware.security_headers import FILE_POLICY, PAGE_POLICY, SecurityHeaders
from web.ui.templating import OWN_PAGE

SITES = ("https://huggingface.co", "https://*.example.org")


async def answers(scope: Scope, receive: Receive, send: Send) -> None:
    answer: Response = {"/page": HTMLResponse(""), "/own": HTMLResponse("", headers=OWN_PAGE),
                        "/file": JSONResponse({}),
                        "/picture": Response(b"", media_type="image/png", headers={
                            "Content-Security-Policy": "default-src 'none'; sandbox"})}[scope["path"]]
    await answer(scope, receive, send)


@pytest.mark.parametrize(("path", "policy"), [
    ("/page", PAGE_POLICY), ("/own", OWN_PAGE["Content-Security-Policy"]), ("/file", FILE_POLICY),
    ("/picture", "default-src 'none'; sandbox"),
])
def test_nobody_frames_anything_unless_it_is_named(path: str, policy: str) -> None:
    closed = TestClient(SecurityHeaders(answers)).get(path).headers
    assert closed["content-security-policy"] == f"{policy}; frame-ancestors 'none'"
    assert closed["x-frame-options"] == "DENY"
    framed = TestClient(SecurityHeaders(answers, SITES)).get(path).headers
    if path in ("/page", "/own"):
        assert framed["content-security-policy"] == f"{policy}; frame-ancestors {' '.join(SITES)}"
        assert "x-frame-options" not in framed
    else:
        assert framed["content-security-policy"] == closed["content-security-policy"]
        assert framed["x-frame-options"] == "DENY"
