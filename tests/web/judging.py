"""What a person does on the annotation screen, for tests that read as stories. The server is a
process that can be killed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.records import Judgement, Study
from tests.fakes.studies import make_study
from tests.integration.crowd import PASSWORD, Server, Stores, add_people, stores_of
from tests.web.browsing import enter, new_context

TITLE = "h1:is(.st-text, .ss-title)"
# What a browser says of a call that is refused or finds nobody: the page says it in better words.
EXPECTED = ("Failed to load resource", "AbortError", "Connection errored out", "ERR_CONNECTION")


@contextmanager
def a_server(home: Path, names: Sequence[str]) -> Iterator[Server]:
    """A running server at which these people have accounts; its log must stay quiet."""
    with stores(home) as opened:
        add_people(opened, list(names))
    server = Server(home)
    server.start()
    try:
        yield server
    finally:
        server.stop()
    assert "Traceback" not in server.log(), server.log()


@contextmanager
def stores(home: Path) -> Iterator[Stores]:
    """The database beside the running server."""
    opened = stores_of(home)
    try:
        yield opened
    finally:
        opened.close()


def a_study(home: Path, name: str, *, items: int = 3, seats: int = 1, unsure_after: int = 120) -> Study:
    """A study of which everybody gets a share."""
    with stores(home) as opened:
        return make_study(opened.studies, home, name=name, items=items, seats=seats,
                          settings={"unsure_after": unsure_after})


def order_of(home: Path, study: Study, annotator: str) -> list[str]:
    """Ids of the items as the person meets them."""
    with stores(home) as opened:
        mine = opened.studies.overview(study.study_id, annotator)
    return [assignment.item_id for assignment in sorted(mine, key=lambda one: one.position)]


def history(home: Path, study: Study) -> Sequence[Judgement]:
    """Every revision, oldest first."""
    with stores(home) as opened:
        return opened.studies.judgements(study.study_id, history=True)


def answers(home: Path, study: Study) -> dict[str, Mapping[str, Any]]:
    """What counts now, by item."""
    with stores(home) as opened:
        return {judgement.item_id: judgement.answer for judgement in opened.studies.judgements(study.study_id)}


class Person:
    """Somebody with a browser of their own. ``complaints`` must stay empty."""

    def __init__(self, browser: Browser, url: str, name: str) -> None:
        self.url, self.name = url, name
        self.context = new_context(browser)
        self.complaints: list[str] = []
        self.page = self.tab()

    def tab(self) -> Page:
        page = self.context.new_page()
        page.on("console", lambda message: self._heard(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self._heard(str(error)))
        page.on("request", lambda request: self._heard(f"outside: {request.url}")
                if request.url.startswith("http") and not request.url.startswith(self.url) else None)
        return page

    def _heard(self, text: str) -> None:
        if not any(it in text for it in EXPECTED):
            self.complaints.append(text)

    def sign_in(self) -> None:
        """Without the form. What is to be seen is opened next."""
        answer = self.context.request.post(f"{self.url}/sign-in", data={"name": self.name, "password": PASSWORD})
        assert answer.ok, answer.text()

    def open(self, study: Study, page: Page | None = None) -> Page:
        """The study's items; begins it where the person has not yet."""
        page = page or self.page
        page.goto(f"{self.url}/annotate?study={study.name}")
        expect(begin_button(page).or_(page.locator(TITLE))).to_be_visible()
        if begin_button(page).is_visible():
            begin(page)
        expect(page.locator(TITLE)).to_be_focused()
        return page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def save(self, page: Page | None = None) -> None:
        """Enter, and wait for what comes next: another item or the end."""
        page = page or self.page
        with page.expect_response(re.compile("study/save")) as answer:
            enter(page)
        assert answer.value.ok, answer.value.text()

    def tab_to(self, wanted: Locator) -> None:
        for _ in range(40):
            if wanted.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{wanted} cannot be reached with Tab")


def begin_button(page: Page) -> Locator:
    """Of the screen before the first item."""
    return page.get_by_role("button", name="Begin", exact=True)


def begin(page: Page) -> None:
    """Enter: the button has the focus."""
    expect(begin_button(page)).to_be_focused()
    enter(page)


def item(page: Page, number: int) -> None:
    """Wait until this item is shown."""
    expect(page.locator(".st-number")).to_have_text(f"Item {number}")


def draft_kept(page: Page) -> Any:
    """``with draft_kept(page): …`` waits until the server has the draft."""
    return page.expect_response(lambda answer: "study/draft" in answer.url and answer.ok)


def row(page: Page, name: str) -> Locator:
    return page.locator(".st-row").filter(has_text=name)


def all_of(page: Page) -> str:
    """What the page holds, and what the browser keeps for it."""
    return str(page.evaluate(
        "() => [document.documentElement.outerHTML, JSON.stringify({...localStorage}), "
        "JSON.stringify({...sessionStorage}), location.href, document.title].join('\\n')"))


def pressed(page: Page) -> list[str]:
    """Names of the flags and reasons that are set."""
    return page.locator(".st-rubric [aria-pressed=true]").locator("b, span:not(:has(b))").all_inner_texts()


Meet = Callable[[str], Person]


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Of the ``PEOPLE`` whom the test file names."""
    with a_server(tmp_path_factory.mktemp("judging"), request.module.PEOPLE) as server:
        yield server


@contextmanager
def visitors(browser: Browser, server: Server) -> Iterator[Meet]:
    """People who come in, each with a browser of their own. None of them may see an error."""
    people: list[Person] = []

    def come(name: str) -> Person:
        people.append(Person(browser, server.url, name))
        people[-1].sign_in()
        return people[-1]

    yield come
    for person in people:
        person.context.close()
    found = [complaint for person in people for complaint in person.complaints]
    assert found == [], found


@pytest.fixture
def meet(browser: Browser, server: Server) -> Iterator[Meet]:
    with visitors(browser, server) as come:
        yield come
