"""Signing in and out, joining, and the calls of the people page, over HTTP."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from annotation.accounts.roles import may
from cir_core.errors import SettingsError, StorageError, nothing_saved
from cir_core.settings import Settings, get_settings
from storage.engine.processes import ServingProcesses
from tests.fakes.people import PASSWORD, Clock, people_service
from web.accounts.routes import people_routes
from web.accounts.sign_in import me_routes, sign_in_routes
from web.http.pages import pages_for
from web.middleware.auth import AuthMiddleware, Place
from web.server import server_config
from web.ui.static_files import ICON

EVERY_PAGE = [{"page": name, "title": title, "path": path} for name, title, path in (
    ("search", "Search", ""), ("annotate", "Annotate", "annotate"), ("adjudicate", "Adjudicate", "adjudicate"),
    ("studies", "Studies", "studies"), ("analysis", "Analysis", "analysis"),
    ("benchmarks", "Benchmarks", "benchmarks"), ("jobs", "Jobs", "jobs"), ("people", "People", "people"),
    ("log", "Log", "log"))]

JSON = {"Content-Type": "application/json"}
WRONG = "The name or password is wrong."


@pytest.fixture
def people():
    clock = Clock()
    service = people_service(clock=clock)
    service.add("Ada", PASSWORD, "admin")
    service.add("Bob", PASSWORD, "annotator")
    return service


@pytest.fixture
def browse(people):
    return lambda address="http://testserver", service=people: browser(service, address)


def browser(people, address="http://testserver"):
    services = SimpleNamespace(people=people, processes=ServingProcesses(Path("nowhere"), sqlite=True))
    app = FastAPI(openapi_url=None)
    app.include_router(sign_in_routes(services))
    app.include_router(me_routes())
    app.include_router(people_routes(services))
    return TestClient(AuthMiddleware(app, people, Place("testserver")), base_url=address, follow_redirects=False)


def enter(client, name="Ada", password=PASSWORD, path="/sign-in", **headers):
    return client.post(path, data={"name": name, "password": password}, headers=headers)


# --- the page -----------------------------------------------------------------------------


def test_the_page_is_one_file_without_scripts(browse):
    answer = browse().get("/sign-in?next=/annotate")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text and "http" not in answer.text.replace(ICON, "")
    assert re.search(r'<input name="name"[^>]* autofocus', answer.text)
    assert browse().head("/sign-in").status_code == 200


def test_signing_in_leads_on_and_the_cookie_is_kept_from_scripts_and_other_sites(browse):
    client = browse()
    answer = enter(client, path="/sign-in?next=/studies%3Fstudy%3Da")
    assert (answer.status_code, answer.headers["location"]) == (303, "/studies?study=a")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("cirque=")
    assert "httponly" in cookie and "samesite=lax" in cookie and "path=/;" in cookie and "secure" not in cookie
    assert client.get("/me").json()["name"] == "Ada"


def test_over_https_the_cookie_stays_there(browse):
    client = browse("https://testserver")
    cookie = enter(client).headers["set-cookie"]
    # What browsers ask of a cookie of this name: Secure, the path /, no Domain.
    assert cookie.startswith("__Host-cirque=") and "; secure" in cookie.lower() and "; path=/;" in cookie.lower()
    assert "domain" not in cookie.lower()
    assert client.get("/me").json()["name"] == "Ada"
    left = client.post("/sign-out")
    assert left.headers["set-cookie"].startswith("__Host-cirque=") and "; secure" in left.headers["set-cookie"].lower()
    assert not client.cookies and client.get("/me").status_code == 401


def test_over_https_a_cookie_that_a_neighbour_may_set_counts_for_nothing(browse, people):
    """The neighbour is Bob, who wants Ada to work in his name."""
    planted = {"Cookie": f"cirque={people.sign_in('Bob', PASSWORD)}"}
    assert browse("https://testserver").get("/me", headers=planted).status_code == 401
    assert browse().get("/me", headers=planted).json()["name"] == "Bob"   # over http it is the cookie
    own = f"__Host-cirque={people.sign_in('Ada', PASSWORD)}"
    for both in (f"{planted['Cookie']}; {own}", f"{own}; {planted['Cookie']}"):
        assert browse("https://testserver").get("/me", headers={"Cookie": both}).json()["name"] == "Ada"
    assert browse().get("/me", headers={"Cookie": own}).status_code == 401


@pytest.mark.parametrize(("name", "wanted", "goes"), [
    ("Ada", "/people", "/people"), ("Bob", "/people", "/annotate"), ("Bob", "/", "/annotate"), ("Ada", "", "/"),
    ("Ada", "//evil.example/x", "/"), ("Ada", "https://evil.example", "/"), ("Ada", "/\\evil.example", "/"),
])
def test_where_it_leads(browse, name, wanted, goes):
    client = browse()
    answer = client.post("/sign-in", params={"next": wanted}, data={"name": name, "password": PASSWORD})
    assert answer.headers["location"] == goes
    assert client.get("/sign-in", params={"next": wanted}).headers["location"] == goes   # in already


def test_wrong_ones_say_so_on_the_page_and_keep_the_name(browse):
    client = browse()
    for name, password in (("Ada", "wrong horse"), ('"><script>alert(1)</script>', PASSWORD), ("", "")):
        answer = enter(client, name, password)
        assert answer.status_code == 401
        assert WRONG in answer.text and "<script>" not in answer.text
        assert "set-cookie" not in answer.headers
    kept = enter(client, "Ada", "wrong horse").text
    assert 'value="Ada"' in kept and "wrong horse" not in kept
    assert re.search(r'<input name="password"[^>]* autofocus', kept)


def test_after_some_wrong_ones_one_waits(browse):
    client = browse()
    for _ in range(5):
        assert enter(client, password="wrong horse").status_code == 401
    answer = enter(client)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
    assert "Too many wrong passwords" in answer.text


def test_signing_in_again_ends_the_sign_in_before(browse, people):
    client = browse()
    enter(client, "Bob")
    before = client.cookies["cirque"]
    enter(client, "Ada")
    assert people.visitor(before) is None
    assert client.get("/me").json()["name"] == "Ada"


def test_without_accounts_there_is_nothing_to_sign_in_to():
    client = browser(people_service())
    assert client.get("/sign-in").headers["location"] == "/"
    assert client.get("/me").json() == {
        "name": "local", "role": "admin", "open": True, "demo": False,
        "may": ["adjudicate", "annotate", "manage", "people", "results", "search"], "pages": EVERY_PAGE}


def test_the_menu_of_an_analyst():
    """Whoever only sees results gets the screens that the server would open for them."""
    assert [page["path"] for page in pages_for(may("analyst"))] == ["studies", "analysis", "benchmarks"]


def test_a_long_name_comes_back_cut(browse):
    answer = enter(browse(), "x" * 60_000)
    assert answer.status_code == 401 and len(answer.text) < 10_000


def test_a_form_too_large_or_not_readable_is_refused(browse):
    client = browse()
    assert enter(client, "x" * 70_000).status_code == 422
    body = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/sign-in", content=b"name=\xff\xfe", headers=body).status_code == 422


def behind_a_proxy(people, trusted, at="127.0.0.1", **headers):
    """Asks as cirque's own server is set up, over a connection from ``at``."""
    app = browser(people).app
    config = server_config(app, Settings(trusted_proxies=trusted))
    config.load()
    return TestClient(config.loaded_app, base_url="http://testserver", follow_redirects=False, client=(at, 5000),
                      headers=headers)


def tries(people, trusted, addresses, at="127.0.0.1"):
    """What a wrong password from each of these addresses, as the header has it, is answered with."""
    return [enter(behind_a_proxy(people, trusted, at, **{"X-Forwarded-For": it}), password="wrong horse").status_code
            for it in addresses]


SEVEN = [f"203.0.113.{number}" for number in range(7)]


@pytest.mark.parametrize(("trusted", "at"), [("", "127.0.0.1"), ("127.0.0.1", "198.51.100.7"),
                                             ("10.0.0.0/8, 192.0.2.1", "127.0.0.1")])
def test_nobody_escapes_the_wait_by_saying_they_are_somebody_else(people, trusted, at):
    assert tries(people, trusted, SEVEN, at) == [401] * 5 + [429] * 2


@pytest.mark.parametrize(("trusted", "at"), [("127.0.0.1", "127.0.0.1"), ("::1, 10.0.0.0/8", "10.9.8.7")])
def test_behind_a_trusted_proxy_each_visitor_waits_for_themselves(people, trusted, at):
    assert tries(people, trusted, [SEVEN[0]] * 6 + [SEVEN[1]], at) == [401] * 5 + [429, 401]
    # What a visitor writes stands before what the proxy appends, and does not count.
    assert tries(people, trusted, [f"{made_up}, {SEVEN[2]}" for made_up in SEVEN], at) == [401] * 5 + [429] * 2


def test_the_cookie_stays_on_https_if_a_trusted_proxy_says_so(people):
    https = {"X-Forwarded-Proto": "https"}
    told = enter(behind_a_proxy(people, "127.0.0.1", **https)).headers["set-cookie"]
    assert told.startswith("__Host-cirque=") and "; secure" in told.lower()
    assert "; secure" not in enter(behind_a_proxy(people, "", **https)).headers["set-cookie"].lower()


@pytest.mark.parametrize("value", ["*", "127.0.0.1, proxy.example", "10.0.0.1/8", "127.0.0.l"])
def test_proxies_are_named_by_address(monkeypatch, value):
    monkeypatch.setenv("CIRQUE_TRUSTED_PROXIES", value)
    with pytest.raises(SettingsError, match=r"CIRQUE_TRUSTED_PROXIES: '.+' is neither an IP address .* nor a network "
                                            r".* See docs/reference/settings\.md"):
        get_settings.__wrapped__()


# --- in the middle of something -----------------------------------------------------------


def test_the_dialog_signs_in_by_json(browse):
    client = browse()
    answer = client.post("/sign-in", json={"name": "ada", "password": PASSWORD})
    assert (answer.status_code, answer.json()) == (200, {"name": "Ada"})
    assert client.get("/me").json() == {
        "name": "Ada", "role": "admin", "open": False, "demo": False,
        "may": ["adjudicate", "annotate", "manage", "people", "results", "search"], "pages": EVERY_PAGE}


@pytest.mark.parametrize("sent", [{"name": "Ada", "password": "wrong horse"}, {}, {"name": ["Ada"], "password": {}}])
def test_the_dialog_hears_what_is_wrong(browse, sent):
    answer = browse().post("/sign-in", content=json.dumps(sent), headers=JSON)
    assert answer.status_code == 401
    assert answer.json()["kind"] == "signed-out" and WRONG in answer.json()["problem"]


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b"[" * 50_000, b'{"name": "Ada\\ud800"}'])
def test_a_body_that_is_no_object(browse, body):
    answer = browse().post("/sign-in", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["kind"]) == (422, "other")


def test_signing_out(browse, people):
    client = browse()
    enter(client)
    secret = client.cookies["cirque"]
    answer = client.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert "cirque" not in client.cookies
    assert people.visitor(secret) is None
    assert client.get("/me").status_code == 401
    assert client.post("/sign-out", json={}).json() == {"left": True}   # out already
    assert client.get("/sign-out").status_code == 405


@pytest.fixture
def stuck(people, browse, monkeypatch):
    """Somebody is signed in, and the database cannot be written any more."""
    client = browse()
    enter(client)

    def full(digest):
        raise StorageError("/srv/cirque/cirque.db cannot be written. Make room.", nothing_saved("the disk is full"))

    monkeypatch.setattr(people._store, "end", full)
    return client, client.cookies["cirque"]


def test_signing_out_where_the_server_cannot_end_it_is_said_and_forgotten_here(stuck, people):
    client, secret = stuck
    answer = client.post("/sign-out", json={})
    assert (answer.status_code, answer.json()["kind"]) == (503, "left-here")
    problem = answer.json()["problem"]
    assert "could not end it" in problem and "new password" in problem and "the disk is full" in problem
    assert "/srv" not in problem
    assert "cirque" not in client.cookies and client.get("/me").status_code == 401
    assert people.visitor(secret) is not None, "as it was said"


def test_the_same_from_a_form_is_a_page(stuck):
    client, _ = stuck
    answer = client.post("/sign-out", headers={"Accept": "text/html"})
    assert answer.status_code == 503 and answer.headers["content-type"].startswith("text/html")
    assert "<h1>Signed out here only</h1>" in answer.text and "could not end it" in answer.text
    assert "<script" not in answer.text and "default-src 'none'" in answer.headers["content-security-policy"]
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith('cirque=""') and "max-age=0" in cookie and "path=/;" in cookie
    assert "cirque" not in client.cookies


# --- programs -----------------------------------------------------------------------------


def test_programs_sign_in_as_gradios_client_does(browse):
    client = browse()
    answer = client.post("/login", data={"username": "Bob", "password": PASSWORD})
    assert (answer.status_code, answer.json()) == (200, {"success": True})
    assert client.get("/me").json()["name"] == "Bob"
    wrong = browse().post("/login", data={"username": "Bob", "password": "wrong horse"})
    assert (wrong.status_code, wrong.json()["kind"]) == (401, "signed-out")


# --- other sites --------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Referer": "https://evil.example/testserver"},
    {"Origin": "http://testserver.evil.example"}, {"Origin": "http://testserver:81"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://other.testserver"},
])
def test_forms_of_other_sites_are_refused(browse, headers):
    client = browse()
    assert enter(client, **headers).status_code == 403
    assert client.post("/login", data={"username": "Ada", "password": PASSWORD}, headers=headers).status_code == 403
    assert client.post("/sign-in", json={"name": "Ada", "password": PASSWORD}, headers=headers).status_code == 403
    assert "cirque" not in client.cookies
    enter(client)
    assert client.post("/sign-out", headers=headers).status_code == 403
    assert client.get("/me").status_code == 200


@pytest.mark.parametrize("headers", [
    {}, {"Origin": "http://testserver"}, {"Referer": "http://testserver/sign-in"}, {"Sec-Fetch-Site": "same-origin"},
    {"Origin": "https://lab.example", "X-Forwarded-Host": "lab.example"},
])
def test_forms_of_ones_own_page_are_taken(browse, headers):
    assert enter(browse(), **headers).status_code == 303


# --- invitations --------------------------------------------------------------------------


def join(client, secret, name="Eve", password=PASSWORD, again=None):
    return client.post(f"/join/{secret}", data={"name": name, "password": password, "again": again or password})


def test_an_invited_person_makes_an_account_and_is_in(browse, people):
    secret, client = people.invite("annotator", 7, 1, "Ada"), browse()
    page = client.get(f"/join/{secret}")
    assert page.status_code == 200
    assert "annotator" in page.text and "judge assigned items" in page.text
    assert page.headers["referrer-policy"] == "same-origin"
    assert client.head(f"/join/{secret}").status_code == 200
    answer = join(client, secret)
    assert (answer.status_code, answer.headers["location"]) == (303, "/annotate")
    assert client.get("/me").json()["name"] == "Eve"
    assert browse().get(f"/join/{secret}").status_code == 404   # for one person


@pytest.mark.parametrize(("name", "password", "again", "said"), [
    ("Bob", PASSWORD, None, "is taken"), ("Eve", "short", None, "at least 8 characters"),
    ("local", PASSWORD, None, "is reserved for"), ("Eve", PASSWORD, "another horse", "do not match"),
    ("", PASSWORD, None, "1 to 64 characters"),
])
def test_what_is_wrong_is_said_and_the_invitation_stays(browse, people, name, password, again, said):
    secret, client = people.invite("annotator", 7, 1, "Ada"), browse()
    answer = join(client, secret, name, password, again)
    assert answer.status_code == 422
    assert said in answer.text and f'value="{name}"' in answer.text and password not in answer.text
    assert join(client, secret).status_code == 303


def test_an_invitation_that_is_none(browse):
    for answer in (browse().get("/join/made-up"), join(browse(), "made-up")):
        assert answer.status_code == 404
        assert "can no longer be used" in answer.text


# --- the people page's calls --------------------------------------------------------------


@pytest.fixture
def admin(browse):
    client = browse()
    enter(client)
    return client


def names(answer):
    return [(one["name"], one["role"], one["active"]) for one in answer.json()["people"]]


def test_the_list_tells_no_hash(admin):
    answer = admin.get("/people/all")
    assert names(answer) == [("Ada", "admin", True), ("Bob", "annotator", True)]
    assert [one["role"] for one in answer.json()["roles"]] == ["admin", "researcher", "analyst", "annotator"]
    assert "argon2" not in answer.text and "hash" not in answer.text
    assert answer.headers["cache-control"] == "no-store"


def test_an_admin_changes_who_may_sign_in(admin, browse):
    added = admin.post("/people/add", json={"name": " Eve ", "password": PASSWORD, "role": "analyst"})
    assert added.json()["added"] == "Eve" and ("Eve", "analyst", True) in names(added)
    eve = browse()
    enter(eve, "Eve")
    assert ("Eve", "annotator", True) in names(admin.post("/people/role", json={"name": "Eve", "role": "annotator"}))
    assert eve.get("/me").json()["role"] == "annotator"
    admin.post("/people/password", json={"name": "Eve", "password": "another horse"})
    assert eve.get("/me").status_code == 401
    assert enter(eve, "Eve", "another horse").status_code == 303
    assert ("Eve", "annotator", False) in names(admin.post("/people/active", json={"name": "Eve", "active": False}))
    assert enter(eve, "Eve", "another horse").status_code == 401
    assert ("Eve", "annotator", True) in names(admin.post("/people/active", json={"name": "Eve", "active": True}))


def test_a_link_is_told_once(admin, browse):
    made = admin.post("/people/invite", json={"role": "researcher", "days": 2, "uses": 3}).json()
    assert made["path"].startswith("join/")
    invitation, = made["invitations"]
    assert (invitation["role"], invitation["uses_left"], invitation["created_by"]) == ("researcher", 3, "Ada")
    assert made["path"].removeprefix("join/") not in admin.get("/people/all").text
    assert browse().get("/" + made["path"]).status_code == 200


def test_an_invitation_is_withdrawn(admin, browse):
    made = [admin.post("/people/invite", json={"role": "analyst"}).json() for _ in range(2)]
    kept, gone = (one["path"] for one in made)
    handles = {one["invitation"] for one in made[1]["invitations"]} - {made[0]["invitations"][0]["invitation"]}
    handle, = handles
    left = admin.post("/people/withdraw", json={"invitation": handle}).json()["invitations"]
    assert [one["invitation"] for one in left] == [made[0]["invitations"][0]["invitation"]]
    assert browse().get("/" + kept).status_code == 200 and browse().get("/" + gone).status_code != 200
    again = admin.post("/people/withdraw", json={"invitation": handle})
    assert again.status_code == 400 and handle in again.json()["problem"]
    bob = browse()
    enter(bob, "Bob")
    assert bob.post("/people/withdraw", json={"invitation": left[0]["invitation"]}).status_code == 403


@pytest.mark.parametrize(("path", "sent"), [
    ("active", {"active": False}), ("role", {"role": "analyst"}),
])
def test_the_admin_hears_how_many_invitations_went_with_an_admin(admin, browse, path, sent):
    admin.post("/people/add", json={"name": "Eve", "password": PASSWORD, "role": "admin"})
    eve = browse()
    enter(eve, "Eve")
    links = [eve.post("/people/invite", json={"role": "admin", "uses": 1000, "days": 365}).json()["path"]
             for _ in range(2)]
    kept = admin.post("/people/invite", json={"role": "analyst"}).json()["path"]
    answer = admin.post(f"/people/{path}", json={"name": "Eve", **sent}).json()
    assert answer["withdrawn"] == 2 and len(answer["invitations"]) == 1
    for link in links:
        assert browse().get(f"/{link}").status_code == 404
        assert join(browse(), link.removeprefix("join/"), "Eve again").status_code == 404
    assert browse().get(f"/{kept}").status_code == 200
    assert eve.post("/people/invite", json={"role": "admin"}).status_code in (401, 403)
    assert admin.post(f"/people/{path}", json={"name": "Bob", **sent}).json()["withdrawn"] == 0


@pytest.mark.parametrize(("path", "sent"), [
    ("add", {"name": "Bob", "password": PASSWORD, "role": "analyst"}),
    ("add", {"name": "Eve", "password": "short", "role": "analyst"}),
    ("add", {"name": "Eve", "password": PASSWORD, "role": "boss"}),
    ("add", {"name": 7, "password": PASSWORD, "role": "analyst"}),
    ("add", {"name": "Eve", "password": None, "role": "analyst"}), ("add", {"name": "Eve"}),
    ("role", {"name": "Ada", "role": "analyst"}), ("role", {"name": None, "role": "analyst"}),
    ("active", {"name": "Ada", "active": False}), ("active", {"name": "Bob", "active": "no"}),
    ("password", {"name": "Nobody", "password": PASSWORD}), ("invite", {"role": "analyst", "days": "soon"}),
    ("invite", {"role": "analyst", "uses": 1.5}), ("invite", {"role": "analyst", "uses": 10**400}),
    ("invite", {"role": "analyst", "days": True}), ("withdraw", {"invitation": ""}), ("withdraw", {"invitation": 7}),
])
def test_what_cannot_be_done_is_a_sentence(admin, path, sent):
    before = admin.get("/people/all").json()
    answer = admin.post(f"/people/{path}", content=json.dumps(sent), headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["problem"] and answer.json()["kind"] == "other"
    assert admin.get("/people/all").json() == before


def test_nobody_else_may(browse):
    client = browse()
    enter(client, "Bob")
    assert client.get("/people/all").status_code == 403
    assert client.post("/people/role", json={"name": "Bob", "role": "admin"}).status_code == 403
    assert browse().post("/people/role", json={"name": "Bob", "role": "admin"}).status_code == 401


def test_a_form_of_another_site_changes_nothing(admin):
    plain = {"Content-Type": "text/plain"}
    answer = admin.post("/people/active", content=b'{"name":"Bob","active":false}', headers=plain)
    assert answer.status_code == 400 and "Content-Type" in answer.json()["problem"]
    assert ("Bob", "annotator", True) in names(admin.get("/people/all"))


def test_the_first_account_is_made_without_a_sign_in_and_closes_it():
    client = browser(people_service())
    first = {"name": "Ada", "password": PASSWORD}
    assert client.post("/people/add", json={**first, "role": "annotator"}).status_code == 400
    assert client.post("/people/add", json={**first, "role": "admin"}).status_code == 200
    assert client.get("/people/all").status_code == 401
    assert enter(client, path="/sign-in?next=/people").headers["location"] == "/people"
    assert client.get("/people/all").status_code == 200
