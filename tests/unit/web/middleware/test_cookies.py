"""What a cookie is called, where browsers send it, and to whom."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import Any

import pytest
from starlette.responses import Response

from web.middleware.cookies import BROWSER, Cookies, cookie_of


def scope(scheme: str = "https", root: str = "") -> dict[str, Any]:
    return {"type": "http", "scheme": scheme, "root_path": root}


def sent(cookies: Cookies, where: dict[str, Any]) -> str:
    answer = Response()
    cookies.set(answer, where, "secret", 60)
    return answer.headers["set-cookie"]


@pytest.mark.parametrize(("where", "name", "path"), [
    (scope("http"), "cirque", "/"), (scope("https"), "__Host-cirque", "/"),
    (scope("http", "/tools/cirque"), "cirque.tools.cirque", "/tools/cirque/"),
    (scope("https", "/tools/cirque"), "__Secure-cirque.tools.cirque", "/tools/cirque/"),
    (scope("https", "/tools/other"), "__Secure-cirque.tools.other", "/tools/other/"),
])
def test_a_name_and_a_path_for_each_place(where: dict[str, Any], name: str, path: str) -> None:
    [(found, morsel)] = SimpleCookie(sent(Cookies(), where)).items()
    assert (found, morsel["path"]) == (name, path) == (cookie_of(where), path)
    assert morsel["httponly"] and morsel["samesite"] == "lax" and bool(morsel["secure"]) == (where["scheme"] == "https")


def test_no_two_cookies_have_one_name() -> None:
    places = [scope(scheme, root) for scheme in ("http", "https") for root in ("", "/a", "/a/b", "/a.b/c", "/visitor")]
    made = {cookie_of(where, kind) for where in places for kind in ("cirque", BROWSER)}
    assert len(made) == 2 * len(places)


@pytest.mark.parametrize("root", ["", "/tools/cirque"])
def test_in_a_frame_it_goes_along_over_https_and_is_the_framing_site_s_own(root: str) -> None:
    parts = sent(Cookies(framed=True), scope("https", root)).lower().split("; ")
    assert {"samesite=none", "secure", "partitioned", "httponly"} <= set(parts)


def test_over_http_a_frame_gets_none_and_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    plain = sent(Cookies(framed=True), scope("http"))
    assert "samesite=lax" in plain.lower() and "Secure" not in plain and "Partitioned" not in plain
    assert "CIRQUE_FRAME_ANCESTORS" in caplog.text and "https" in caplog.text
