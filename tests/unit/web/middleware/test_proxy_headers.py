"""What a request says of its way here is believed of trusted proxies alone."""

from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from web.http.permissions import path_of
from web.limits.connections import Networks
from web.middleware.proxy_headers import Forwarded, checked_root

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
