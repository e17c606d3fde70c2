"""Headers: of proxies, who may frame the pages, and cookies from other sites."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from web.http.pages import path_of
from web.limits.connections import Networks
from web.middleware.auth import BROWSER, Cookies, cookie_of
from web.middleware.headers import FILE_POLICY, PAGE_POLICY, Forwarded, SecurityHeaders, checked_root
from web.ui.static_files import OWN_PAGE


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


# --- who may show cirque in a frame ----------------------------------------------------------

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


# --- what a request says of its way here -----------------------------------------------------

SENT = {
    "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Prefix": "/evil", "X-Forwarded-Port": "1", "X-Forwarded-Server": "evil", "Forwarded": "host=evil",
    "X-Gradio-Server": "http://evil.example", "X-Other": "kept",
}


async def told(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse(dict(Request(scope).headers))(scope, receive, send)


@pytest.mark.parametrize(("at", "trusted", "kept"), [
    ("127.0.0.1", "127.0.0.1", {"x-forwarded-for", "x-forwarded-proto"}),
    ("::ffff:10.9.8.7", "10.0.0.0/8", {"x-forwarded-for", "x-forwarded-proto"}),
    ("10.9.8.7", "127.0.0.1", {"x-forwarded-proto"}),   # of which only "https" means anything
    ("127.0.0.1", "", {"x-forwarded-proto"}),
])
def test_who_is_believed(at: str, trusted: str, kept: set[str]) -> None:
    client = TestClient(Forwarded(told, Networks(trusted)), client=(at, 5000))
    found = client.get("/", headers=SENT).json()
    assert {name for name in found if name.title() in SENT} == {*kept, "x-other"}
    assert found["host"] == ("evil.example" if "x-forwarded-for" in kept else "testserver")


# --- below a path ----------------------------------------------------------------------------

async def shown(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"].endswith("/leads"):
        location = Request(scope).query_params["to"]
        await RedirectResponse(location)(scope, receive, send)
    else:
        await JSONResponse([scope["root_path"], scope["path"], scope["raw_path"].decode(), path_of(scope),
                            str(Request(scope).url)])(scope, receive, send)


def below(root: str = "", trusted: str = "127.0.0.1", **headers: str) -> TestClient:
    return TestClient(Forwarded(shown, Networks(trusted), root), client=("127.0.0.1", 5000), follow_redirects=False,
                      base_url="http://lab.example", headers={key.replace("_", "-"): value
                                                              for key, value in headers.items()})


@pytest.mark.parametrize("client", [
    below("/tools/cirque"), below(x_forwarded_prefix="/tools/cirque"), below(x_forwarded_prefix="/tools/cirque/"),
    below("/tools/cirque", x_forwarded_prefix="/other"),
])
@pytest.mark.parametrize(("asked", "path"), [
    ("/tools/cirque/study/mine", "/study/mine"), ("/study/mine", "/study/mine"),     # taken off by the proxy, or not
    ("/tools/cirque/", "/"), ("/", "/"), ("/tools/cirquel/x", "/tools/cirquel/x"), ("/tools", "/tools"),
])
def test_it_is_the_same_whether_the_proxy_takes_the_path_off(client: TestClient, asked: str, path: str) -> None:
    whole = "/tools/cirque" + path
    assert client.get(asked).json() == ["/tools/cirque", whole, whole, path, f"http://lab.example{whole}"]


def test_what_is_escaped_stays_so() -> None:
    assert below("/t").get("/study/a%20b%2Fc").json()[1:4] == ["/t/study/a b/c", "/t/study/a%20b%2Fc", "/study/a b/c"]


@pytest.mark.parametrize("prefix", [
    "//evil.example", "/a//b", "/a/../b", "/..", "/./a", "evil", "https://evil.example", "/a?b", "/a#b", "/a b", "/a;b",
    "/a%2e", "/a\\b", "/\\evil", "/<script>", "/a, /b", "/" + "a" * 200, "", "/", " ",
])
def test_what_is_no_path_is_ignored(prefix: str) -> None:
    assert below(x_forwarded_prefix=prefix).get("/study").json()[:2] == ["", "/study"]


def test_only_a_trusted_proxy_says_so_and_only_once() -> None:
    assert below(trusted="", x_forwarded_prefix="/evil").get("/study").json()[0] == ""
    twice = below().get("/study", headers=[("x-forwarded-prefix", "/a"), ("x-forwarded-prefix", "/b")])
    assert twice.json()[0] == ""


@pytest.mark.parametrize(("leads", "to"), [
    ("/sign-in", "/t/sign-in"), ("/t/sign-in", "/t/sign-in"), ("/", "/t/"), ("/tea", "/t/tea"),
    ("https://lab.example/t/annotate", "https://lab.example/t/annotate"), ("//lab.example/x", "//lab.example/x"),
    ("annotate", "annotate"), ("../annotate", "../annotate"),
])
def test_redirects_stay_below_it(leads: str, to: str) -> None:
    assert below("/t").get("/leads", params={"to": leads}).headers["location"] == to


def test_the_path_alone_gets_its_slash() -> None:
    for asked, to in (("/tools/cirque", "/tools/cirque/"),
                      ("/tools/cirque?session=a%26b", "/tools/cirque/?session=a%26b")):
        answer = below("/tools/cirque").get(asked)
        assert (answer.status_code, answer.headers["location"]) == (308, to)


@pytest.mark.parametrize(("said", "host"), [
    ("lab.example:8443", "lab.example:8443"), ("lab.example, inner", "lab.example"), ("", "testserver"),
    (" , inner", "testserver"),
    # A visitor wrote these, and a proxy passed them on: nobody outside is somebody on this machine.
    ("localhost:7860", "testserver"), ("127.0.0.1, lab.example", "testserver"), ("[::1]", "testserver"),
    ("LOCALHOST", "testserver"), ("127.8.8.8:1", "testserver"), ("localhost.", "testserver"),
])
def test_the_host_is_that_of_the_first_proxy(said: str, host: str) -> None:
    client = TestClient(Forwarded(told, Networks("127.0.0.1")), client=("127.0.0.1", 5000))
    assert client.get("/", headers={"X-Forwarded-Host": said}).json()["host"] == host


@pytest.mark.parametrize("root", ["/studies", "/media/x", "/own", "/assets", "/gradio_api", "/sign-in/a", "/study"])
def test_a_path_that_begins_like_one_of_cirques_own_is_none(root: str) -> None:
    with pytest.raises(ValueError, match="/tools"):
        checked_root(root)
    assert checked_root(f"/tools{root}") == f"/tools{root}" and checked_root("") == ""
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope.get("root_path", ""))
        await told(scope, receive, send)

    client = TestClient(Forwarded(app, Networks("127.0.0.1")), client=("127.0.0.1", 5000))
    for prefix in (root, f"/tools{root}"):
        client.get("/x", headers={"X-Forwarded-Prefix": prefix})
    assert seen == ["", f"/tools{root}"]
