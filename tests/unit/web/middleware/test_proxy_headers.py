"""What a request says of its way here is believed of trusted proxies alone."""

from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from web.limits.networks import Networks
from web.middleware.proxy_headers import Forwarded

SENT = {
    "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Prefix": "/evil", "X-Forwarded-Port": "1", "X-Forwarded-Server": "evil", "Forwarded": "host=evil",
    "X-Gradio-Server": "http://evil.example", "X-Other": "kept",
}


async def told(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse(dict(Request(scope).headers))(scope, receive, send)


@pytest.mark.parametrize(("at", "trusted", "kept"), [
    ("127.0.0.1", "127.0.0.1", {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}),
    ("::ffff:10.9.8.7", "10.0.0.0/8", {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"}),
    ("10.9.8.7", "127.0.0.1", {"x-forwarded-proto"}),   # of which only "https" means anything
    ("127.0.0.1", "", {"x-forwarded-proto"}),
])
def test_who_is_believed(at: str, trusted: str, kept: set[str]) -> None:
    client = TestClient(Forwarded(told, Networks(trusted)), client=(at, 5000))
    found = client.get("/", headers=SENT).json()
    assert {name for name in found if name.title() in SENT} == {*kept, "x-other"}
