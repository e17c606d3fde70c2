"""Who may go where: every address, every role, with and without accounts."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from annotation.accounts.roles import EVERYTHING, may
from annotation.records import Person
from cir_core.errors import AccessError, SettingsError, StorageError
from cir_core.settings import Settings
from tests.fakes.loops import run
from tests.fakes.people import NOON, PASSWORD, people_service
from tests.fakes.people_store import InMemoryPeopleStore
from web.http.pages import after_sign_in, first_page, is_open, needed
from web.http.visitor import LOCAL_VISITOR, Visitor, require, visitor_from, visitor_of
from web.middleware.auth import MOST_ADDRESS, AuthMiddleware, Place, check_open, greeting, is_loopback

ROLES = ("admin", "researcher", "analyst", "annotator")


@pytest.fixture
def store():
    return InMemoryPeopleStore()


@pytest.fixture
def people(store):
    service = people_service(store)
    for role in ROLES:
        service.add(role.title(), PASSWORD, role)
    return service


def application(people, seen=None, place=Place()):
    async def tell(request: Request) -> JSONResponse:
        if seen is not None:
            seen.append(request.scope["path"])
        try:
            visitor = visitor_of(request)
        except AccessError:
            return JSONResponse({"visitor": None})
        return JSONResponse({"visitor": visitor.name, "role": visitor.role, "open": visitor.open})

    async def socket(websocket):
        await websocket.accept()
        await websocket.send_text(websocket.scope["state"]["visitor"].name)
        await websocket.close()

    methods = ["GET", "HEAD", "POST", "PUT", "DELETE"]
    app = Starlette(routes=[WebSocketRoute("/me", socket), Route("/{path:path}", tell, methods=methods)])
    return AuthMiddleware(app, people, place)


def browser(people, name=None, seen=None, **options):
    client = TestClient(application(people, seen), follow_redirects=False,
                        **{"base_url": "http://127.0.0.1:7860", **options})
    if name is not None:
        client.cookies.set("cirque", people.sign_in(name, PASSWORD))
    return client


# --- without accounts ---------------------------------------------------------------------


def test_open_everybody_is_the_local_person_who_may_do_everything():
    client = browser(people_service())
    for path in ("/", "/annotate", "/people", "/people/all", "/study/mine", "/gradio_api/queue/join"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.json() == {"visitor": "local", "role": "admin", "open": True}
    assert LOCAL_VISITOR.may == EVERYTHING


def test_the_first_account_closes_it_while_the_server_runs():
    people = people_service()
    client = browser(people)
    assert client.get("/study/mine").status_code == 200
    people.add("Ada", PASSWORD, "admin")
    assert client.get("/study/mine").status_code == 401
    assert client.get("/").status_code == 303


OURS = ["localhost", "LOCALHOST:7860", "127.0.0.1", "127.0.0.1:7860", "127.1.2.3", "[::1]", "[::1]:7860",
        "Lab-PC:7860"]
OTHERS = ["evil.example", "evil.example:7860", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.5:7860",
          "0.0.0.0:7860", "127.0.0.1@evil.example", "evil.example#localhost", "evil.example/localhost", "[::1", "",
          ":7860"]


@pytest.mark.parametrize("host", OURS)
def test_open_it_answers_under_this_machines_names(host):
    client = TestClient(application(people_service(), place=Place("lab-pc")))
    assert client.get("/study/mine", headers={"Host": host}).json()["visitor"] == "local"


@pytest.mark.parametrize("host", OTHERS)
def test_open_it_does_not_answer_under_another_name(host):
    """A page of evil.example whose name leads to 127.0.0.1 is "same-origin" for the browser."""
    seen = []
    client = TestClient(application(people_service(), seen, place=Place("lab-pc")))
    headers = {"Host": host, "Sec-Fetch-Site": "same-origin"}
    for method, path in (("GET", "/study/mine"), ("POST", "/people/add"), ("POST", "/gradio_api/queue/join"),
                         ("GET", "/config"), ("GET", "/media/thumb")):
        answer = client.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["kind"]) == (403, "forbidden")
        assert "cirque user add NAME --role admin" in answer.json()["problem"]
    page = client.get("/", headers=headers)
    assert page.status_code == 403 and page.headers["content-type"].startswith("text/html")
    assert "own names" in page.text
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/me", headers=headers):
        pass
    assert seen == []
    assert client.get("/healthz", headers=headers).status_code == 200


def test_with_accounts_any_name_will_do(people):
    client = browser(people, "Annotator")
    assert client.get("/study/mine", headers={"Host": "lab.example"}).status_code == 200


# --- strangers ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", "/sign-in", "/login", "/join/secret", "/own/1.0/js/x.js", "/favicon.ico",
                                  "/manifest.json", "/sign-out"])
def test_where_strangers_may_come(people, path):
    for method in ("GET", "HEAD", "POST"):
        assert browser(people).request(method, path).status_code == 200


@pytest.mark.parametrize("path", ["/study/mine", "/media/thumb", "/gradio_api/queue/join", "/config", "/me",
                                  "/theme.css", "/people/all", "/joint", "/ownership", "/join", "/healthz/x",
                                  "/sign-in/x", "//own/x"])
@pytest.mark.parametrize("cookie", [None, "made-up", "\u00e9" * 10])
def test_strangers_get_a_sentence_and_nothing_else(people, path, cookie):
    seen = []
    client = browser(people, seen=seen)
    headers = {} if cookie is None else {"Cookie": f"cirque={cookie}".encode("latin-1")}
    for method in ("GET", "POST", "DELETE"):
        answer = client.request(method, path, headers=headers)
        assert answer.status_code == 401
        assert answer.json()["kind"] == "signed-out"
        assert "Sign in" in answer.json()["problem"]
        assert answer.headers["cache-control"] == "no-store"
    assert client.head(path, headers=headers).status_code == 401
    assert seen == []   # the app behind was not asked


def test_pages_lead_to_the_sign_in_and_back(people):
    client = browser(people)
    for path, wanted in (
        ("/", "/sign-in?next=/"), ("/annotate", "/sign-in?next=/annotate"), ("/people/", "/sign-in?next=/people/"),
        ("/annotate?study=a%20b&item=3", "/sign-in?next=/annotate%3Fstudy%3Da%2520b%26item%3D3"),
    ):
        for method in ("GET", "HEAD"):
            answer = client.request(method, path)
            assert (answer.status_code, answer.headers["location"]) == (303, wanted)
    assert client.post("/annotate").status_code == 401


@pytest.mark.parametrize("name", [None, "Admin"])
@pytest.mark.parametrize("path", ["/{}", "/export?session={}", "/analysis?select={}", "/sign-in?next={}"])
def test_an_endless_address_is_refused_before_anything_looks_at_it(people, path, name):
    seen = []
    visit = browser(people, name, seen)
    enough = path.format("a+" * ((MOST_ADDRESS - 40) // 2))
    assert visit.get(enough, follow_redirects=False).status_code != 414
    seen.clear()
    for answer in (visit.get(path.format("a+" * 10_000)), visit.post(path.format("a+" * 10_000))):
        assert answer.status_code == 414 and "16 kB" in answer.text and len(answer.content) < 5_000
    assert seen == []


def test_a_long_address_does_not_become_too_long_by_the_sign_in(people):
    asked = browser(people).get("/analysis?select=" + "%22" * 5_000, headers={"sec-fetch-mode": "navigate"},
                                follow_redirects=False)
    assert asked.status_code == 303 and len(asked.headers["location"]) < MOST_ADDRESS


def test_a_download_that_is_clicked_leads_to_the_sign_in_too(people):
    answer = browser(people).get("/studies/export?study=x", headers={"Sec-Fetch-Mode": "navigate"})
    assert answer.status_code == 303


# --- roles --------------------------------------------------------------------------------

ADDRESSES = {
    "/": "search", "/media/thumb": "search", "/export/x.json": "search", "/audit/a/b": "search",
    "/runs/x/stop": "search", "/import/sessions": "search",
    "/annotate": "annotate", "/study/mine": "annotate", "/study/at": "annotate", "/study/images": "annotate",
    "/study/image/s/t-s.webp": "annotate adjudicate manage results",
    "/adjudicate": "adjudicate", "/adjudicate/queue": "adjudicate",
    "/studies": "manage results", "/studies/all": "manage results",
    "/analysis": "results", "/analysis/": "results", "/analysis/report": "results", "/analysis/scores/run": "results",
    "/jobs": "manage", "/jobs/all": "manage", "/people": "people", "/people/all": "people",
    "/log": "people", "/log/acts": "people", "/log/file": "people",
    "/gradio_api/upload": "search", "/gradio_api/upload/": "search", "/gradio_api/upload_progress": "search",
    "/gradio_api/queue": "", "/gradio_api/queue/data": "",
    "/gradio_api/run/next_item": "", "/gradio_api/call/next_item": "", "/gradio_api/call/v2/next_item/x": "",
    "/gradio_api/info": "", "/gradio_api/heartbeat/x": "", "/gradio_api/startup-events": "",
    "/gradio_api/queue/join": "", "/config": "", "/assets/x.js": "", "/me": "", "/theme.css": "",
}
NOT_SERVED = (
    "/gradio_api/file=/tmp/x.png", "/gradio_api/file/x.png", "/gradio_api/proxy=https://x.example/y",
    "/gradio_api/process_recording", "/gradio_api/stream/x/1/2/playlist-file", "/gradio_api/deep_link",
    "/gradio_api/component_server", "/gradio_api/custom_component/x/client/component/y", "/gradio_api/vibe-code",
    "/gradio_api/runs", "/gradio_api//upload", "/gradio_api/dev/reload", "/gradio_api",
    "/gradio_api/", "/monitoring", "/monitoring/summary",
    "/logout", "/cirque.db", "/.env", "/.git/config", "/home", "/studies/../cirque.db", "/own/../people",
    "/join/../people", "/join/secret/people", "/media/./full", "/assets/..\\app.py", "/annotate/\0",
)


@pytest.mark.parametrize("path", NOT_SERVED)
def test_what_nobody_named_is_not_served_whatever_routes_there_are(people, path):
    """``path`` as the server hands it on: decoded once."""
    async def ask(cookie):
        answers = []
        headers = [(b"host", b"127.0.0.1:7860")] + ([(b"cookie", f"cirque={cookie}".encode())] if cookie else [])

        async def send(message):
            answers.append(message)

        await application(people, seen)({
            "type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers,
            "server": ("127.0.0.1", 7860), "scheme": "http"}, None, send)
        return answers[0]["status"]

    seen = []
    assert run(ask(None)) == 401   # strangers learn nothing
    assert [run(ask(people.sign_in(role.title(), PASSWORD))) for role in ROLES] == [404] * len(ROLES)
    assert seen == []


@pytest.mark.parametrize("role", ROLES)
def test_each_role_at_each_address(people, role):
    client = browser(people, role.title())
    for path, enough in ADDRESSES.items():
        allowed = not enough or bool(may(role) & set(enough.split()))
        answer = client.get(path)
        if allowed:
            assert (answer.status_code, answer.json()["visitor"]) == (200, role.title()), path
        elif path == "/":
            assert (answer.status_code, answer.headers["location"]) == (303, first_page(may(role)))
        else:
            assert answer.status_code == 403, path


def test_where_each_role_begins():
    assert [first_page(may(role)) for role in ROLES] == ["/", "/", "/studies", "/annotate"]


def test_forbidden_pages_are_friendly_and_forbidden_calls_are_json(people):
    client = browser(people, "Annotator")
    page = client.get("/people")
    assert page.headers["content-type"].startswith("text/html")
    assert "Annotator is signed in as annotator, and annotators may not manage accounts." in page.text
    assert 'href="/annotate"' in page.text
    call = client.get("/people/all")
    assert call.json()["kind"] == "forbidden"
    assert client.post("/people").json()["kind"] == "forbidden"


def test_names_are_escaped_on_pages(people):
    people.add("<script>x</script>", PASSWORD, "annotator")
    assert "<script>" not in browser(people, "<script>x</script>").get("/people").text


def test_slashes_open_no_back_door(people):
    client = browser(people, "Annotator")
    assert client.get("/people//all").status_code == 403
    assert client.get("/people/").status_code == 403
    for path in ("/people", "//people", "/people/", "//people/all"):
        assert needed(path) == {"people"}
    assert not is_open("/people/own/") and not is_open("//join/x")


# --- how long it holds --------------------------------------------------------------------


def test_signing_out_and_being_deactivated_count_at_once(people, store):
    client = browser(people, "Annotator")
    assert client.get("/study/mine").status_code == 200
    people.sign_out(client.cookies["cirque"])
    assert client.get("/study/mine").status_code == 401
    client = browser(people, "Annotator")
    assert client.get("/study/mine").status_code == 200
    people.set_role("Annotator", "analyst")
    assert client.get("/study/mine").status_code == 403
    people.deactivate("Annotator")
    assert client.get("/study/mine").status_code == 401


def test_a_page_full_of_pictures_asks_the_store_once(people, store):
    client = browser(people, "Annotator")
    before = store.asked
    for number in range(40):
        assert client.get(f"/study/image/s/{number}-s.webp").status_code == 200
    assert store.asked == before + 1


def test_when_the_store_is_away_nobody_is_let_in(people, store):
    client = browser(people, "Annotator")

    def away(*_):
        raise StorageError("The database /srv/x.db is away. Start it.", "The database is away.")

    store.visitor = away
    answer = client.get("/study/mine")
    assert (answer.status_code, answer.json()) == (503, {"problem": "The database is away.", "kind": "storage"})
    assert "The database is away." in client.get("/annotate").text
    assert client.get("/healthz").status_code == 200


ELSEWHERE = [
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:7860"},
    # Over plain http browsers leave Sec-Fetch-Site out.
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:7861"},
    {"Origin": "http://127.0.0.1:7860.evil.example"}, {"Referer": "http://evil.example/127.0.0.1:7860"},
    {"Origin": "http://[::1"},
]
CHANGES = ["/media/upload", "/study/save", "/people/add", "/gradio_api/upload", "/gradio_api/queue/join",
           "/gradio_api/run/search", "/gradio_api/call/v2/search", "/gradio_api/cancel", "/gradio_api/reset",
           "/runs/x/stop", "/sign-in", "/sign-out", "/login", "/join/secret"]


@pytest.mark.parametrize("headers", ELSEWHERE)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_another_site_cannot_ask_for_changes(people, headers, method):
    """Neither as somebody who is signed in, nor as the local person, who has no cookie that could stay away."""
    seen = []
    for client in (browser(people, "Admin", seen=seen), browser(people_service(), seen=seen)):
        for path in CHANGES:
            answer = client.request(method, path, headers=headers)
            assert (answer.status_code, answer.json()["kind"]) == (403, "forbidden"), path
    assert seen == []


@pytest.mark.parametrize("headers", [
    {}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": "http://127.0.0.1:7860"},
    {"Referer": "http://127.0.0.1:7860/annotate"}, {"Sec-Fetch-Site": "same-origin", "Origin": "https://lab.example"},
    {"Origin": "https://lab.example", "X-Forwarded-Host": "lab.example"},
])
def test_ones_own_pages_and_programs_ask_for_changes(people, headers):
    client = browser(people, "Admin")
    assert [client.post(path, headers=headers).status_code for path in CHANGES] == [200] * len(CHANGES)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize(("mode", "dest"), [
    ("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe"), ("navigate", "object")])
def test_another_site_reads_and_frames_nothing(people, site, mode, dest):
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    for client in (browser(people, "Admin"), browser(people_service())):
        for path in ("/", "/media/thumb", "/study/mine", "/config", "/log/acts", "/gradio_api/queue/data"):
            assert client.get(path, headers=headers).status_code == 403


def test_a_link_from_another_site_is_followed(people):
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert browser(people, "Admin").get("/annotate", headers=headers).status_code == 200


def test_a_preflight_of_another_origin_is_refused(people):
    client = browser(people, "Admin")
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    for path in ("/gradio_api/queue/join", "/study/save", "/media/upload"):
        answer = client.options(path, headers=headers)
        assert answer.status_code == 403 and "access-control-allow-origin" not in answer.headers


def test_a_socket_of_another_site_is_refused(people):
    client = browser(people, "Annotator")
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/me", headers={"Origin": "http://evil.example"}):
        pass


# --- other kinds of connection ------------------------------------------------------------


def test_sockets(people):
    with browser(people, "Annotator").websocket_connect("/me") as socket:
        assert socket.receive_text() == "Annotator"
    with pytest.raises(WebSocketDisconnect), browser(people).websocket_connect("/me"):
        pass


def test_the_start_and_the_end_of_the_server_pass(people):
    began = []

    async def app(scope, receive, send):
        began.append(scope["type"])

    run(AuthMiddleware(app, people)({"type": "lifespan"}, None, None))
    assert began == ["lifespan"]


def test_the_state_of_the_server_is_not_shared_between_requests(people):
    state = {"database": 1}
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["state"])

    async def ask(secret):
        scope = {"type": "http", "method": "GET", "path": "/me", "query_string": b"", "state": state,
                 "headers": [(b"cookie", f"cirque={secret}".encode())]}
        await AuthMiddleware(app, people)(scope, None, None)

    run(ask(people.sign_in("Admin", PASSWORD)))
    run(ask(people.sign_in("Analyst", PASSWORD)))
    assert [(one["visitor"].name, one["database"]) for one in seen] == [("Admin", 1), ("Analyst", 1)]
    assert state == {"database": 1}


def test_under_a_root_path(people):
    client = browser(people, root_path="/lab")
    assert client.get("/lab/annotate").headers["location"] == "/lab/sign-in?next=/annotate"
    assert client.get("/lab/healthz").status_code == 200
    assert client.get("/lab/study/mine").status_code == 401


# --- pieces -------------------------------------------------------------------------------


def test_the_visitor_of_a_gradio_request():
    import gradio as gr

    visitor = visitor_from(Person("Ada", "analyst", "", True, NOON))
    inner = Request({"type": "http", "method": "GET", "path": "/", "headers": [], "state": {"visitor": visitor}})
    asked = gr.Request(request=inner)
    assert visitor_of(asked) == visitor_of(inner) == Visitor("Ada", "analyst", may("analyst"), open=False)
    assert require(asked, "manage", "results") is visitor
    with pytest.raises(AccessError, match=r"^Ada is signed in as analyst, and analysts may not search\. Ask an admin"):
        require(asked, "search")


def test_nobody_is_nobody():
    import gradio as gr

    bare = Request({"type": "http", "method": "GET", "path": "/", "headers": []})
    forged = Request({"type": "http", "method": "GET", "path": "/", "headers": [], "state": {"visitor": "Ada"}})
    for request in (None, bare, forged, gr.Request(request=bare), object()):
        with pytest.raises(AccessError):
            visitor_of(request)


@pytest.mark.parametrize(("wanted", "goes"), [
    ("/annotate", "/annotate"), ("/annotate?study=a&item=b", "/annotate?study=a&item=b"),
    ("/study/mine", "/study/mine"),
    ("//evil.example", "/annotate"), ("https://evil.example", "/annotate"), ("/\\evil.example", "/annotate"),
    ("/\t/evil.example", "/annotate"), ("\\\\evil.example", "/annotate"), ("javascript:alert(1)", "/annotate"),
    ("", "/annotate"), ("annotate", "/annotate"), ("/sign-in", "/annotate"), ("/sign-out", "/annotate"),
    ("/people", "/annotate"), ("/", "/annotate"), ("/annotate\r\nSet-Cookie: x", "/annotate"),
])
def test_only_paths_of_this_site_are_followed(wanted, goes):
    assert after_sign_in(wanted, may("annotator")) == goes


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1", True), ("127.0.0.2", True), ("::1", True), ("localhost", True), ("LOCALHOST", True),
    ("0.0.0.0", False), ("::", False), ("", False), ("192.168.1.5", False), ("lab.example", False),
    ("localhost.example", False),
])
def test_open_only_on_this_machine(host, local):
    assert is_loopback(host) is local
    people, settings = people_service(), Settings(host=host)
    if local:
        check_open(settings, people)
    else:
        with pytest.raises(SettingsError, match="cirque user add NAME --role admin"):
            check_open(settings, people)
    people.add("Ada", PASSWORD, "admin")
    check_open(settings, people)


def test_the_greeting_says_so():
    people = people_service()
    assert "reachable from this machine only" in greeting(people)
    people.add("Ada", PASSWORD, "admin")
    assert greeting(people) == ""


# --- under which names it answers, and in whose frames -----------------------------------------

@pytest.mark.parametrize(("host", "status"), [
    ("lab.example.org", 200), ("lab.example.org:8443", 200), ("LAB.EXAMPLE.ORG", 200), ("localhost:7860", 200),
    ("127.0.0.1", 200), ("evil.example", 400), ("lab.example.org.evil.example", 400), ("", 400),
    ("lab.example.org@evil.example", 400), ("10.0.0.7", 400),
])
def test_where_its_names_are_known_it_answers_under_no_other(host, status):
    people = people_service()
    people.add("Ada", PASSWORD, "admin")
    client = TestClient(application(people, place=Place(hosts=("lab.example.org",))))
    client.cookies.set("cirque", people.sign_in("Ada", PASSWORD))
    answer = client.get("/me", headers={"Host": host})
    assert answer.status_code == status
    assert "evil" not in answer.text
    # Balancers and collectors know the machine under whatever name they like.
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_without_accounts_a_public_name_lets_nobody_in():
    client = TestClient(application(people_service(), place=Place(hosts=("lab.example.org",))))
    assert client.get("/me", headers={"Host": "lab.example.org"}).status_code == 403


FRAME = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}


def signed_in_and_framed(framed):
    people = people_service()
    people.add("Ada", PASSWORD, "admin")
    client = TestClient(application(people, place=Place(framed=framed)), base_url="https://lab.example")
    client.cookies.set("__Host-cirque", people.sign_in("Ada", PASSWORD))
    return client


def test_a_page_is_given_to_a_frame_only_where_some_site_may_frame_it():
    assert signed_in_and_framed(True).get("/studies", headers=FRAME).status_code == 200
    assert signed_in_and_framed(False).get("/studies", headers=FRAME).status_code == 403


@pytest.mark.parametrize(("method", "headers"), [
    ("POST", {"Sec-Fetch-Site": "cross-site"}), ("POST", {"Sec-Fetch-Site": "same-site"}),
    ("POST", FRAME), ("PUT", FRAME), ("DELETE", FRAME),
    ("POST", {"Origin": "https://portal.example"}), ("POST", {"Origin": "null"}),
    ("POST", {"Referer": "https://portal.example/page"}),
    ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}),
    ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}),
    ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "embed"}),
    ("GET", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "object"}),
])
def test_cookies_of_frames_let_other_sites_do_nothing(method, headers):
    """SameSite=None has browsers send the cookie with requests of every site."""
    assert signed_in_and_framed(True).request(method, "/studies", headers=headers).status_code == 403
