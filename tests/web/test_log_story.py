"""The log page in a browser: its times, its filters, more of it with the keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.records import AUDIT_ACTIONS, AUDIT_GROUPS, AuditEvent
from tests.integration.crowd import PASSWORD, Server
from tests.web.browsing import new_context
from tests.web.judging import a_server, stores

OLD = 230   # acts beside those of signing in: three pages


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with a_server(tmp_path_factory.mktemp("log"), []) as server:
        with stores(server.home) as opened:
            for number in range(OLD):
                opened.log.note(AuditEvent("study.made", "Ada Min", f"Study {number}"))
        yield server


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    context = new_context(browser, timezone_id="America/Los_Angeles")
    page = context.new_page()
    answer = page.request.post(f"{server.url}/sign-in", data={"name": "Ada Min", "password": PASSWORD})
    assert answer.ok, answer.text()
    yield page
    context.close()


def rows(page: Page) -> int:
    return page.locator(".cq-lotable tbody tr").count()


@pytest.mark.extended
def test_times_are_in_utc_as_the_filters_and_the_files(page: Page, server: Server) -> None:
    moments = ["2026-05-01T00:05:09+00:00", "2026-05-01T23:59:00+00:00"]   # hours that have two names
    page.route("**/log/acts*", lambda route: route.fulfill(json={"more": False, "groups": [], "kinds": [], "acts": [
        {"number": number, "at": at, "kind": "sign-in", "by": "Ada", "about": "", "study_id": None, "details": {}}
        for number, at in enumerate(moments)]}))
    page.goto(f"{server.url}/log")
    expect(page.get_by_role("columnheader").first).to_have_text("When (UTC)")
    told = [f"{datetime.fromisoformat(at).astimezone(UTC):%b %-d, %Y, %H:%M:%S}" for at in moments]
    assert page.locator("time").all_inner_texts() == told == ["May 1, 2026, 00:05:09", "May 1, 2026, 23:59:00"]
    page.set_viewport_size({"width": 390, "height": 844})   # without a head
    assert [page.locator("time").nth(number).evaluate("it => getComputedStyle(it, '::after').content")
            for number in range(2)] == ['" UTC"'] * 2


def test_older_ones_with_the_keyboard(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/log?kind=study.all")
    older = page.get_by_role("button", name="Older")
    expect(older).to_be_visible()
    assert rows(page) == 100
    for before, after in ((100, 200), (200, OLD)):
        older.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".cq-lotable tbody tr")).to_have_count(after)
        first_new = page.locator(".cq-lotable tbody tr").nth(before)
        expect(first_new).to_be_focused()
        expect(first_new).to_contain_text(f"Study {OLD - before - 1}")   # the latest is the first
        if after < OLD:
            page.keyboard.press("Tab")
            expect(older).to_be_focused()
    expect(older).to_be_hidden()


def test_what_can_be_asked_for(page: Page, server: Server) -> None:
    with stores(server.home) as opened:
        opened.log.note(AuditEvent("sign-in.failed", "", "Ada Min"))
    page.goto(f"{server.url}/log")
    what = page.get_by_label("What")
    expect(what).to_be_visible()
    offered = what.locator("option").evaluate_all("all => all.map(one => [one.value, one.textContent])")
    assert [value for value, _ in offered] == ["", *AUDIT_GROUPS, *AUDIT_ACTIONS]
    assert len({text for _, text in offered}) == len(offered) and not any(text in AUDIT_GROUPS for _, text in offered)
    assert what.evaluate("it => getComputedStyle(it).backgroundImage").startswith("linear-gradient"), "its arrow"

    def asked_for(kind: str) -> set[str]:
        what.select_option(kind)
        with page.expect_response(lambda answer: f"kind={kind}" in answer.url):
            page.get_by_role("button", name="Show").click()
        expect(page.locator("main [role=alert]")).to_be_hidden()
        page.wait_for_function("kind => new URL(location).searchParams.get('kind') === kind", arg=kind)
        return set(page.locator(".cq-lotable tbody td:nth-child(3)").all_inner_texts())

    assert asked_for("sign-in") == {"signed in"}
    assert asked_for("sign-in.all") == {"signed in", "wrong name or password"}


@pytest.mark.extended
def test_an_end_before_the_beginning_is_said(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/log")
    page.get_by_label("From (UTC)").fill("2026-05-02")
    page.get_by_label("To (UTC)").fill("2026-05-01")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("alert")).to_contain_text("The start 2026-05-02 is not before the end 2026-05-01")
    page.goto(f"{server.url}/log?since=2026-05-02&until=2026-05-01")
    expect(page.get_by_role("alert")).to_contain_text("Swap the two")
    assert rows(page) == 100
