"""Signing out where it cannot be done, and pages while the server is being stopped."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import text

from annotation.accounts.service import PeopleService
from annotation.records import Role
from storage.accounts.audit_log import SqlAuditLog
from storage.engine.database import writing
from tests.fakes.patience import PATIENCE, wait_for
from tests.integration.crowd import PASSWORD, Server
from tests.web.browsing import new_context
from tests.web.judging import a_server, stores

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM")
ROLES: dict[str, Role] = {"Rex": "researcher", "Bob": "annotator"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with a_server(tmp_path_factory.mktemp("leaving"), []) as server:
        with stores(server.home) as opened:
            for name, role in ROLES.items():
                PeopleService(opened.people).add(name, PASSWORD, role)
        yield server


@pytest.fixture
def enter(browser: Browser, server: Server) -> Iterator[Callable[[str, str], Page]]:
    contexts = []

    def come(name: str, path: str) -> Page:
        contexts.append(new_context(browser))
        page = contexts[-1].new_page()
        assert page.request.post(f"{server.url}/sign-in", data={"name": name, "password": PASSWORD}).ok
        page.goto(server.url + path)
        return page

    yield come
    for context in contexts:
        context.close()


@contextmanager
def no_sign_in_ends(server: Server) -> Iterator[None]:
    """The database does not do what signing out asks of it."""
    def rename(old: str, new: str) -> None:
        with stores(server.home) as opened:
            assert isinstance(opened.log, SqlAuditLog)
            with writing(opened.log.engine) as connection:
                connection.execute(text(f"ALTER TABLE {old} RENAME TO {new}"))

    rename("sign_ins", "sign_ins_elsewhere")
    try:
        yield
    finally:
        rename("sign_ins_elsewhere", "sign_ins")


def press_sign_out(page: Page) -> None:
    page.locator("details.cq-menu summary").filter(has_text="sign out").click()
    page.get_by_role("button", name="Sign out").click()


@pytest.mark.parametrize(("name", "path"), [
    ("Bob", "/annotate"), pytest.param("Rex", "/", marks=pytest.mark.extended), ("Bob", "/log"),
], ids=["a screen", "the search page", "a page without scripts"])
def test_a_sign_out_that_the_server_cannot_do_is_said_and_the_browser_forgets(
    enter: Callable[[str, str], Page], server: Server, name: str, path: str,
) -> None:
    page = enter(name, path)
    with_script = path != "/log"
    if with_script:
        expect(page.locator("details.cq-menu summary").filter(has_text="sign out")).to_be_visible()
    with no_sign_in_ends(server):
        if with_script:
            press_sign_out(page)
            told = page.get_by_role("dialog", name="Signed out here only")
            expect(told.get_by_role("alert")).to_contain_text("the server could not end it")
            expect(told).to_contain_text("new password")
        else:
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("heading", name="Signed out here only")).to_be_visible()
            expect(page.get_by_text("the server could not end it")).to_be_visible()
        assert page.context.cookies() == []
    if with_script:
        told.get_by_role("button").click()
    else:
        page.get_by_role("link", name="Go to the start page").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.extended
@pytest.mark.parametrize(("name", "path"), [("Bob", "/annotate"), ("Rex", "/")])
def test_a_sign_out_that_nobody_heard_is_said(
    enter: Callable[[str, str], Page], server: Server, name: str, path: str,
) -> None:
    page = enter(name, path)
    expect(page.locator("details.cq-menu summary").filter(has_text="sign out")).to_be_visible()
    page.route("**/sign-out", lambda route: route.abort())
    press_sign_out(page)
    told = page.get_by_role("dialog", name="Not signed out")
    expect(told).to_contain_text("The server does not answer. You are still signed in here")
    told.get_by_role("button", name="Close").click()
    assert page.request.get(f"{server.url}/me").ok
    page.unroute("**/sign-out")
    # Signed out already, in another tab: as good as done.
    page.route("**/sign-out", lambda route: route.fulfill(status=401, json={"problem": "Out.", "kind": "signed-out"}))
    page.context.clear_cookies()
    press_sign_out(page)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.extended
def test_pages_during_a_stop_say_so_and_come_again_by_themselves(
    enter: Callable[[str, str], Page], browser: Browser, server: Server,
) -> None:
    page = enter("Bob", "/annotate")
    at_the_form = new_context(browser).new_page()
    at_the_form.goto(f"{server.url}/sign-in?next=/annotate")
    address = urlsplit(server.url)
    # A request that does not end holds the stop up, for CIRQUE_GRACE_SECONDS.
    with socket.create_connection((address.hostname or "", address.port or 0)) as held:
        held.sendall(b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n")
        assert held.recv(100).startswith(b"HTTP/1.1 100"), "it is being read"
        os.kill(server.pid, signal.SIGTERM)
        wait_for(lambda: httpx.get(f"{server.url}/sign-in", timeout=PATIENCE).status_code != 200)
        at_the_form.get_by_label("Name").fill("Bob")
        at_the_form.get_by_label("Password").fill(PASSWORD)
        at_the_form.keyboard.press("Enter")
        answer = page.reload()
        assert answer is not None and answer.status == 503
        for one in (at_the_form, page):
            expect(one.get_by_role("heading", name="Not now")).to_be_visible()
            expect(one.get_by_text("Nothing that was saved is lost")).to_be_visible()
        with page.expect_request("**/annotate") as again:
            pass   # nobody presses anything
        assert again.value.is_navigation_request()
    server.stop()
    server.start()
    page.goto(f"{server.url}/annotate")
    expect(page.get_by_role("heading", name="No study is open")).to_be_visible()
    at_the_form.context.close()
