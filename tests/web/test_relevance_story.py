"""CIRQRS on the search screen: as a method, and as a judge of comparisons after the vote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.fakes.colour_relevance import random_relevance
from tests.fakes.databases import environment_of
from tests.fakes.forked import start
from tests.web.browsing import at_rest, new_context
from tests.web.conftest import App, serving, wait_for_address
from tests.web.screen import search, shown_ids, tiles
from tests.web.test_columns_story import choose as compare
from tests.web.test_methods_story import choose

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def scored(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app over the same home, with a relevance model of random weights."""
    folder = tmp_path_factory.mktemp("relevance")
    with serving(home, folder / "app.log", CIRQUE_RELEVANCE=str(random_relevance(folder / "model"))) as app:
        yield app


@pytest.fixture
def open_scored(browser: Browser, scored: App) -> Iterator[Open]:
    contexts, complaints = [], []

    def open_one(width: int = 1440, height: int = 900) -> Page:
        context = new_context(browser, viewport={"width": width, "height": height})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(scored.url)
        at_rest(page)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


def test_results_are_ranked_by_relevance_and_say_so(open_scored: Open) -> None:
    page = open_scored()
    choose(page, "cirqrs")
    search(page, "in red", 1)
    everything = shown_ids(page)
    parts = [name for name, _ in json.loads(tiles(page).first.get_attribute("data-parts") or "[]")]
    assert parts == ["relevance"]
    tiles(page).nth(1).click()
    expect(page.locator("[data-ledger]")).to_contain_text("Relevance (CIRQRS)")
    work = page.locator(".cq-work", has=page.get_by_role("heading", name="Relevance (CIRQRS)"))
    expect(work).to_be_visible()
    work.locator("select[name='relevance.over']").select_option("first")
    work.get_by_role("button", name="Rank again").click()
    at_rest(page)
    expect(page.locator(".cq-changes")).to_contain_text("CIRQRS")
    assert shown_ids(page) != everything, "behind the first 50 Slerp ranks"
    expect(page.locator("#how")).to_contain_text("Relevance model")


@pytest.mark.extended
def test_metrics_are_told_after_the_vote_alone(open_scored: Open) -> None:
    page = open_scored()
    answers: list[str] = []
    page.on("request", lambda request: answers.append(request.url) if "/judges/" in request.url else None)
    compare(page, "text-only", "image-only", blind=True)
    expect(page.locator(".cq-column")).to_have_count(2)
    at_rest(page)
    assert answers == [] and "cirqrs" not in page.locator("#results").inner_html().lower()
    page.keyboard.press("2")
    table = page.locator(".cq-judges table")
    expect(table).to_be_visible()
    expect(table.get_by_role("row", name=re.compile("^You"))).to_contain_text("B")
    expect(table.get_by_role("row", name=re.compile("^CIRQRS@10"))).to_contain_text(re.compile(r"[01]\.\d{3}"))
    expect(page.locator(".cq-judges")).to_contain_text(re.compile(r"@10: agreed with you in [01] of 1 pair so far"))
    assert len(answers) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440


@pytest.mark.extended
def test_without_a_model_the_methods_are_disabled_and_nothing_is_judged(
    browser: Browser, home: Path, tmp_path: Path
) -> None:
    log = tmp_path / "app.log"
    with log.open("w") as stream:
        process = start("app.py", environment=environment_of(
            home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1", CIRQUE_RELEVANCE="off"), output=stream)
    try:
        context = new_context(browser, viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.goto(wait_for_address(process, log))
        at_rest(page)
        search(page, "in red", 1)
        disabled = page.locator("#drawer-settings [name=method][value=cirqrs]")
        expect(disabled).to_be_disabled()
        compare(page, "text-only", "image-only")
        expect(page.locator(".cq-column")).to_have_count(2)
        with page.expect_response(re.compile("/judges/comparison")) as answer:
            page.locator(".cq-vote").first.click()
        assert answer.value.json() == {"html": ""}
        expect(page.locator(".cq-judges")).to_be_hidden()
        context.close()
    finally:
        process.terminate()
        process.wait(30)
