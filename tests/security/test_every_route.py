"""Every address of the real app, enumerated: who gets in, and what each answer tells browsers.

A route that somebody adds is in these tests at once, and closed until it is named in ``web/http/pages.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from gradio.route_utils import delete_files_created_by_app
from starlette.testclient import TestClient

from annotation.accounts.roles import ROLES, may
from annotation.accounts.service import PeopleService
from tests.fakes.databases import settings_of
from tests.fakes.loops import run
from tests.fakes.people import PASSWORD
from tests.fakes.routes import Address, addresses
from tests.fakes.studies import make_study
from web.http.pages import PAGES, SCREENS, is_open, is_served, needed
from web.server import create_app, server_config
from web.services import Services, open_services
from web.ui.static_files import own_version

# What strangers may have, and why. Anything else on this list is a decision: write it down in docs/project/security.md.
FOR_STRANGERS = {
    "/healthz": "monitoring", "/readyz": "monitoring", "/metrics": "collectors, by address or token; off unless set",
    "/sign-in": "signing in", "/login": "signing in, for programs",
    "/login/": "Gradio's own, which is off", "/sign-out": "signing out", "/join/{secret}": "invitations",
    "/own/{version}/{path:path}": "styles and scripts of the sign-in page",
    "/favicon.ico": "browsers ask without cookies",
    "/manifest.json": "browsers ask without cookies",
    **{f"/take/{{token}}{path}": "participants of one study, by its link" for path in (
        "", "/work", "/finish", "/me", "/study/rubric", "/study/at", "/study/overview", "/study/save", "/study/gate",
        "/study/draft", "/study/image/{study_id}/{name}", "/own/{version}/{path:path}")},
}
# Streams that do not end while the page is open: not begun here.
ENDLESS = {"/gradio_api/heartbeat/{session_hash}", "/gradio_api/queue/data", "/gradio_api/mcp/sse"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("every-route")


@pytest.fixture(scope="module")
def services(home: Path) -> Services:
    services = open_services(settings_of(home))
    for role in ROLES:
        services.people.add(role.title(), PASSWORD, role)
    make_study(services.study_store, home, name="marker-study", texts=("marker-text",))
    return services


@pytest.fixture(scope="module")
def app(home: Path, services: Services) -> Iterator[FastAPI]:
    async def build() -> FastAPI:   # where no loop runs, Gradio makes its own and never closes them
        return create_app(settings_of(home, mcp=True), services)

    yield run(build())


@pytest.fixture(scope="module")
def found(app: FastAPI) -> list[Address]:
    return list(addresses(app))


def client(app: FastAPI, people: PeopleService | None = None, name: str = "") -> TestClient:
    made = TestClient(app, base_url="http://127.0.0.1:7860", follow_redirects=False, raise_server_exceptions=False)
    if people is not None:
        made.cookies.set("cirque", people.sign_in(name, PASSWORD))
    return made


def each(found: list[Address]) -> Iterator[tuple[Address, str]]:
    for address in found:
        for method in address.methods:
            yield address, method


def test_the_enumeration_finds_what_there_is(found: list[Address]) -> None:
    paths = {address.path for address in found}
    assert {*PAGES, "/study/save", "/gradio_api/mcp/", "/gradio_api/mcp/messages/", "/studies/export",
            "/analysis/file", "/log/acts", "/people/add", "/media/full",
            "/gradio_api/queue/join", "/gradio_api/upload", "/gradio_api/file={path_or_url:path}"} <= paths
    assert len(found) > 120


def test_an_anonymous_visitor_reaches_no_data(app: FastAPI, found: list[Address]) -> None:
    stranger = client(app)
    for address, method in each(found):
        answer = stranger.request(method, address.filled())
        if address.path in FOR_STRANGERS:
            assert answer.status_code < 500, address
        elif answer.status_code == 303:
            assert address.path.rstrip("/") in PAGES or address.path == "/", address
            assert answer.headers["location"].startswith("/sign-in"), address
        else:
            assert answer.status_code == 401, (address, method, answer.status_code)
        assert "marker-" not in answer.text and "Annotator" not in answer.text, address


def test_strangers_get_in_where_it_was_decided_and_nowhere_else(found: list[Address]) -> None:
    open_ones = {address.path for address in found if is_served(address.filled()) and is_open(address.filled())}
    assert open_ones <= FOR_STRANGERS.keys()


@pytest.mark.parametrize("role", ROLES)
def test_each_role_gets_in_where_its_capabilities_say(
    app: FastAPI, services: Services, found: list[Address], role: str,
) -> None:
    visitor, allowed = client(app, services.people, role.title()), may(role)   # type: ignore[arg-type]
    for address, method in each(found):
        path = address.filled()
        if is_open(path) or address.path in ENDLESS:
            continue
        if not is_served(path):
            assert visitor.request(method, path).status_code == 404, address
        elif (needs := needed(path)) and not needs & allowed:
            answer = visitor.request(method, path)
            assert answer.status_code == (303 if path == "/" else 403), (address, method, answer.status_code)
            assert "marker-" not in answer.text


def test_changes_are_refused_to_pages_of_other_sites(app: FastAPI, services: Services, found: list[Address]) -> None:
    admin = client(app, services.people, "Admin")
    for address, method in each(found):
        if method in ("GET", "HEAD"):
            continue
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                        {"Origin": "http://evil.example"}):
            answer = admin.request(method, address.filled(), headers=headers)
            assert answer.status_code == 403, (address, headers)


def test_a_change_must_say_that_it_is_json(app: FastAPI, services: Services, found: list[Address]) -> None:
    """So a form cannot send it, even from a browser that says nothing of where it comes from."""
    admin = client(app, services.people, "Admin")
    own = [address for address in found if address.app == "FastAPI" and "POST" in address.methods]
    # A form signs in, out and joins, and admits participants; an upload is no form, and one of a new study needs a
    # header that no form can set; a run is stopped without a body.
    others = {"/sign-in", "/login", "/sign-out", "/join/{secret}", "/take/{token}", "/take/{token}/finish",
              "/media/upload", "/studies/new/file", "/runs/{run_id}/stop"}
    # The study's own endpoints, once the link and its participant are known.
    others |= {f"/take/{{token}}/study/{call}" for call in ("save", "gate", "draft")}
    assert len(own) > 20
    for address in own:
        if address.path not in others:
            answer = admin.post(address.filled(), content=b'{"study": "x"}',
                                headers={"Content-Type": "text/plain"})
            said = answer.json()
            assert answer.status_code == 400, address
            assert "application/json" in (said.get("problem") or said["error"]), address


def test_every_answer_tells_browsers_what_not_to_do(app: FastAPI, services: Services, found: list[Address]) -> None:
    for visitor in (client(app), client(app, services.people, "Admin")):
        for address, method in each(found):
            if address.path in ENDLESS or method not in ("GET", "HEAD"):
                continue
            headers = visitor.request(method, address.filled()).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'"), address
            assert "frame-ancestors 'none'" in policy or "sandbox" in policy, address
            assert "http:" not in policy and "https:" not in policy and "*" not in policy, address
            assert headers["x-content-type-options"] == "nosniff", address
            assert headers["x-frame-options"] == "DENY", address
            assert headers["referrer-policy"] == "same-origin", address
            assert "access-control-allow-origin" not in headers, address


def test_nothing_is_kept_by_a_browser_or_a_proxy_but_files_that_are_the_same_for_all(
    app: FastAPI, services: Services, found: list[Address],
) -> None:
    """Two people at one browser, and a proxy that keeps what it may: what one has seen is not shown to the other."""
    kept = {"/favicon.ico", "/static/{path:path}", "/assets/{path:path}", "/own/{version}/{path:path}",
            "/media/{kind}", "/benchmarks/thumb", "/benchmarks/full", "/study/image/{study_id}/{name}"}
    admin = client(app, services.people, "Admin")
    for address, method in each(found):
        if address.path in ENDLESS or method not in ("GET", "HEAD"):
            continue
        headers = admin.request(method, address.filled()).headers
        assert headers.get("cache-control") == "no-store" or address.path in kept, address
    names = re.findall(r"\./assets/([\w-]+\.\w+)", admin.get("/").text)
    assert len(names) > 1
    for name in names:   # megabytes of Gradio's own, which would otherwise come with every page
        file = admin.get(f"/assets/{name}")
        assert file.status_code == 200 and "no-store" not in file.headers.get("cache-control", ""), name
    assert "immutable" in admin.get("/own/" + own_version() + "/css/study.css").headers["cache-control"]


def test_nobody_says_where_cirque_is_but_a_trusted_proxy(app: FastAPI, services: Services, home: Path) -> None:
    """Gradio writes addresses into its pages: those of who asks, and it would take any host for a proxy's."""
    config, cookie = server_config(app, settings_of(home)), services.people.sign_in("Admin", PASSWORD)
    visitor = TestClient(config.app, base_url="http://cirque.example:7860", cookies={"cirque": cookie})
    for forged in ({"X-Forwarded-Host": "evil.example"}, {"X-Gradio-Server": "http://evil.example"},
                   {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}):
        for path in ("/", "/config"):
            text = visitor.get(path, headers=forged).text
            assert "cirque.example:7860" in text and "evil" not in text, (path, forged)
    # Nor is a page of another site ours because it says so.
    refused = visitor.post("/study/join", json={"study": "marker-study"},
                           headers={"Origin": "http://evil.example", "X-Forwarded-Host": "evil.example"})
    assert refused.status_code == 403


def test_what_was_uploaded_for_a_call_is_removed_in_the_end(app: FastAPI, services: Services) -> None:
    admin = client(app, services.people, "Admin")
    uploaded = Path(admin.post("/gradio_api/upload", files={"files": ("x.bin", b"marker")}).json()[0])
    (blocks,) = [route.app.get_blocks() for route in app.routes if hasattr(getattr(route, "app", None), "get_blocks")]
    often, age = blocks.delete_cache
    assert often <= 3600 and 3600 <= age <= 86400   # not under the hands of who searches, and not the day after
    delete_files_created_by_app(blocks, age)
    assert uploaded.is_file()
    delete_files_created_by_app(blocks, 0)
    assert not uploaded.exists()


def test_pages_tell_nothing_of_the_machine(app: FastAPI, services: Services, home: Path) -> None:
    admin = client(app, services.people, "Admin")
    for path in (*PAGES, "/config", "/gradio_api/info", "/gradio_api/startup-events", "/manifest.json"):
        text = admin.get(path).text
        text = re.sub(r'"js/[\w/-]+\.js"', "", text)   # ours: "js/annotate/work/main.js" in a checkout at /work/main
        assert str(home) not in text and str(Path(__file__).parents[2]) not in text, path


def test_no_event_is_done_for_who_may_not(app: FastAPI, services: Services) -> None:
    """Gradio's events come by one address that all may call, the private ones by their number: each has to ask for
    itself."""
    config = client(app, services.people, "Admin").get("/config").json()
    events = [one for one in config["dependencies"] if one["backend_fn"]]
    judging = {"next_item", "save_judgement", "next_question", "save_rating", "pass_gate", "progress"}
    assert {one["api_name"] for one in events} == judging | {"search", "thumb", "on_load", "on_act"}
    for name in ("Annotator", "Analyst"):
        visitor = client(app, services.people, name)
        for event in events:
            told = visitor.post("/gradio_api/run/predict", json={
                "data": [None] * len(event["inputs"]), "fn_index": event["id"], "session_hash": "0123456789",
                "event_data": {"do": "new"}})
            if name == "Annotator" and event["api_name"] in judging:
                assert "is signed in as" not in told.text, event["api_name"]
            else:
                assert told.status_code == 500, event["api_name"]
                assert told.json()["error"].startswith(f"{name} is signed in as "), event["api_name"]


SECRET = "/srv/lab/secret.db at line 7"


def unexpected(*_: Any, **__: Any) -> Any:
    raise RuntimeError(SECRET)


def test_an_unexpected_error_tells_nothing_of_the_inside(
    app: FastAPI, services: Services, monkeypatch: pytest.MonkeyPatch,
) -> None:
    for method in ("assigned_studies", "progress", "workspace"):
        monkeypatch.setattr(type(services.studies), method, unexpected)
    monkeypatch.setattr(type(services.search), "session", unexpected)
    visitor = client(app, services.people, "Admin")
    answers = [visitor.get("/study/mine"), visitor.get("/study/at", params={"study": "x"}),
               visitor.get("/export/abc.json"), visitor.post("/gradio_api/run/progress", json={"data": ["x"]}),
               visitor.post("/gradio_api/run/search", json={"data": ["", None, "in red", "abc", 5, "", [], []]})]
    for answer in answers:
        assert answer.status_code == 500
        for told in ("secret", "srv", "RuntimeError", "Traceback", "site-packages", ".py"):
            assert told not in answer.text


def test_the_search_call_opens_no_file_of_the_machine_and_no_address_inside_it(
    app: FastAPI, services: Services, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its image is what was uploaded, or an address outside; a path or an inner address is somebody else's."""
    opened: list[object] = []
    monkeypatch.setattr(type(services.search), "add_upload", lambda self, *given, **_: opened.append(given))
    picture = Path(__file__).parents[2] / "docs" / "images" / "metric-light.png"
    (home / "uploads").mkdir(exist_ok=True)
    (home / "uploads" / "somebodys.png").write_bytes(picture.read_bytes())
    admin = client(app, services.people, "Admin")
    for path in (picture, home / "uploads" / "somebodys.png", home / "cirque.db", Path("/etc/passwd"),
                 "http://127.0.0.1:7860/media/full", "http://localhost/", "http://169.254.169.254/latest/meta-data",
                 "file:///etc/passwd"):
        image = {"path": str(path), "meta": {"_type": "gradio.FileData"}}
        answer = admin.post("/gradio_api/run/search", json={"data": ["", image, "in red", "", 5, "", [], []]})
        assert answer.status_code >= 400, path
        assert "root:" not in answer.text and str(home) not in answer.text, path
    assert opened == []
    uploaded = admin.post("/gradio_api/upload", files={"files": ("x.png", picture.read_bytes())}).json()[0]
    image = {"path": uploaded, "meta": {"_type": "gradio.FileData"}}
    admin.post("/gradio_api/run/search", json={"data": ["", image, "in red", "", 5, "", [], []]})
    assert len(opened) == 1   # so the others were refused for what they are


# --- a public demo ---------------------------------------------------------------------------

# What a visitor may have, and why. Anything else on this list is a decision: write it down in docs/project/security.md.
FOR_VISITORS = {
    "/": "the page", "/me": "who the page is for", "/config": "the page", "/theme.css": "the page",
    "/assets/{path:path}": "the page", "/static/{path:path}": "the page", "/svelte/{path:path}": "the page",
    "/own/{version}/{path:path}": "the page", "/favicon.ico": "browsers ask for it",
    "/manifest.json": "browsers ask for it", "/robots.txt": "search engines ask for it",
    "/healthz": "monitoring", "/readyz": "monitoring",
    "/media/thumb": "pictures", "/media/full": "pictures", "/media/find": "the picker of references",
    "/media/suggestions": "suggested texts", "/media/upload": "one's own reference", "/media/region": "a part of it",
    "/export/{session_id}.json": "one's own session", "/runs/{run_id}/stop": "stopping one's own search",
    "/gradio_api/queue/join": "actions of the screen", "/gradio_api/queue/data": "what comes of them",
    "/gradio_api/heartbeat/{session_hash}": "an open page", "/gradio_api/startup-events": "the page",
    "/gradio_api/theme.css": "the page",
}
DEMO_ENDLESS = {"/gradio_api/heartbeat/{session_hash}", "/gradio_api/queue/data"}


def built(home: Path, **values: object) -> FastAPI:
    async def build() -> FastAPI:   # where no loop runs, Gradio makes its own and never closes them
        settings = settings_of(home, **values)
        return create_app(settings, open_services(settings))

    return run(build())


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    return built(tmp_path_factory.mktemp("demo"), public_demo=True, database_url="", demo_searches_per_minute=1000)


@pytest.fixture(scope="module")
def known(demo: FastAPI, tmp_path_factory: pytest.TempPathFactory) -> list[Address]:
    """All that a whole cirque has, and what only the demo might."""
    whole = built(tmp_path_factory.mktemp("whole"), mcp=True)
    return list({(one.path, one.methods): one for one in (*addresses(whole), *addresses(demo))}.values())


@pytest.fixture
def visitor(demo: FastAPI) -> Iterator[TestClient]:
    yield TestClient(demo, base_url="https://somewhere.hf.space", follow_redirects=False,
                     raise_server_exceptions=False)


def test_every_address_that_is_not_for_visitors_is_not_there(known: list[Address], visitor: TestClient) -> None:
    assert len(known) > 120 and {one.path for one in known} >= FOR_VISITORS.keys()
    there = {(one.path, method) for one in known for method in one.methods}
    for address in known:
        for method in {"GET", "POST", *address.methods}:
            if address.path in FOR_VISITORS and (address.path, method) in there:
                continue
            answer = visitor.request(method, address.filled())
            assert answer.status_code == 404, (method, address, answer.status_code)


def test_what_is_for_visitors_is_there(known: list[Address], visitor: TestClient) -> None:
    for address in known:
        if address.path in FOR_VISITORS.keys() - DEMO_ENDLESS:
            for method in address.methods:
                answer = visitor.request(method, address.filled())
                told = answer.text if answer.headers.get("content-type") == "application/json" else ""
                assert "for searching only" not in told, (method, address)
                assert answer.status_code not in (401, 403), (method, address)


@pytest.mark.parametrize("path", [
    "/gradio_api/call/search", "/gradio_api/run/search", "/gradio_api/api/search", "/gradio_api/info",
    "/gradio_api/upload", "/gradio_api/call/join_study", "/gradio_api/mcp/", "/gradio_api/queue/status",
    "/gradio_api/queue/join/x", "/gradio_api/cancel", "/gradio_api/reset", "/gradio_api/file=/etc/passwd",
    "/sign-in", "/login", "/join/secret", "/metrics", "/audit/a/b", "/judges/comparison", "/weights/fetch",
    "/media", "/media/", "/media/other", "/studies/all", "/me/", "/me/more", "/own", "/EXPORT/x.json",
    "/media/thumb/../../studies", "/export/../studies", "/own/../people",
    *(screen.path for screen in SCREENS if screen.path != "/"),
])
def test_other_addresses(visitor: TestClient, path: str) -> None:
    for method in ("GET", "POST"):
        assert visitor.request(method, path).status_code == 404, (method, path)


def test_no_call_of_programs_can_be_joined_by_its_number(demo: FastAPI, visitor: TestClient) -> None:
    config = visitor.get("/config").json()
    assert [one for one in config["dependencies"] if one["api_visibility"] != "private" and one["backend_fn"]] == []
    own = {one["id"] for one in config["dependencies"] if one["backend_fn"]}
    for index in (*set(range(50)) - own, 10_000, -1, None, "search", [0], {"a": 1}, 0.5):
        sent = {"data": [], "fn_index": index, "session_hash": "x"}
        assert visitor.post("/gradio_api/queue/join", json=sent).status_code == 404, index
    for sent in ([], "x", 0, {"data": []}, {"api_name": "search", "data": []}):
        assert visitor.post("/gradio_api/queue/join", json=sent).status_code == 404, sent


def test_it_answers_under_any_name_and_says_that_it_is_a_demo(visitor: TestClient) -> None:
    me = visitor.get("/me").json()
    assert (me["demo"], me["open"], me["may"]) == (True, False, ["search"])
    assert [page["title"] for page in me["pages"]] == ["Search"]


def test_another_site_s_page_can_do_nothing_in_a_visitor_s_name(visitor: TestClient) -> None:
    for path in ("/media/upload", "/media/region", "/runs/x/stop", "/gradio_api/queue/join"):
        assert visitor.post(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert visitor.post(path, headers={"Origin": "https://evil.example"}).status_code == 403


def test_the_cookie_is_new_for_each_browser_and_stays(demo: FastAPI) -> None:
    def handed(**cookies: str) -> str | None:
        visitor = TestClient(demo, base_url="https://somewhere.hf.space", cookies=cookies)
        return visitor.get("/").headers.get("set-cookie")

    first, second = handed(), handed()
    assert first and second and first.split(";")[0] != second.split(";")[0]
    for said in ("HttpOnly", "Secure", "Max-Age=86400", "SameSite=lax", "__Host-cirque-visitor="):
        assert said in first
    secret = first.split(";")[0].partition("=")[2]
    assert handed(**{"__Host-cirque-visitor": secret}) is None
    for forged in ("", "x", secret.upper() + "g", secret[:-1], "z" * 32):
        assert handed(**{"__Host-cirque-visitor": forged}) is not None
