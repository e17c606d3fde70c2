"""A person sees whether the query just typed needs both its picture and its text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web import screen
from tests.web.browsing import at_rest
from tests.web.test_methods_story import choose, start_from

Open = Callable[..., Page]


def panel(page: Page):  # type: ignore[no-untyped-def]
    return page.locator("#how .cq-audit")


def test_each_input_alone_beside_the_results(open_page: Open) -> None:
    page = open_page()
    choose(page, "slerp")
    start_from(page, "a plain red dress")
    screen.search(page, "with long sleeves", 1)
    expect(panel(page).locator(".cq-verdict")).to_have_text(re.compile("alone"))
    same = r" \d+ of 10 shared"
    expect(panel(page).get_by_role("rowheader")).to_have_text(
        [re.compile("^Both$"), re.compile(f"^Text only{same}"), re.compile(f"^Image only{same}")])
    expect(panel(page).locator("li.both")).not_to_have_count(0)

    # What it says of the selected result changes with the selection.
    line = page.locator("#how .cq-alonerank")
    expect(line).to_have_text(re.compile(r"Rank [\d,]+ with the text only, rank [\d,]+ with the image only\."))
    said = set()
    for rank in (0, 3, 7):
        screen.tiles(page).nth(rank).click()
        expect(screen.tiles(page).nth(rank)).to_have_attribute("aria-selected", "true")
        said.add(line.inner_text())
    assert len(said) == 3

    # The next turn has its own.
    screen.refine_from(page, 2)
    screen.search(page, "in navy", 2)
    expect(panel(page).get_by_role("rowheader").first).to_have_text("This turn")
    expect(panel(page)).to_contain_text("also in this turn's top 10")


@pytest.mark.extended
def test_a_method_that_reads_the_text_only(open_page: Open) -> None:
    page = open_page()
    choose(page, "text-only")
    start_from(page, "a plain red dress")
    screen.search(page, "a navy shirt", 1)
    expect(panel(page).locator(".cq-verdict")).to_have_text(re.compile("the text alone gives 10 "))


@pytest.mark.extended
def test_a_hidden_target_stays_hidden(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Find a target Get a random").click()
    page.get_by_role("button", name="Give me a target").click()
    at_rest(page)
    with page.expect_response("**/audit/**") as hidden:
        screen.search(page, "in navy", 1)
    expect(panel(page).locator(".cq-verdict")).to_be_visible()
    assert "target" not in hidden.value.text() and json.loads(hidden.value.text())["ranks"]
    expect(panel(page)).not_to_contain_text("rank")

    with page.expect_response("**/audit/**") as shown:
        page.get_by_label("Live rank").check()
        at_rest(page)
    expect(panel(page).get_by_role("rowheader").first).to_have_text(re.compile(r"rank [\d,]+"))
    expect(panel(page).locator(".cq-verdict")).to_have_text(re.compile("target"))
    assert "target" in shown.value.text()


@pytest.mark.extended
def test_why_there_is_no_audit_is_said_in_the_panel(open_page: Open) -> None:
    page = open_page()
    page.route("**/audit/**", lambda route: route.fulfill(body="<h1>a proxy's own page</h1>"))
    start_from(page, "a plain red dress")
    screen.search(page, "in blue", 1)
    expect(panel(page)).to_contain_text("The server cannot be reached.")
    page.unroute("**/audit/**")
    page.route("**/audit/**", lambda route: route.fulfill(json={"problem": "The gallery <b>has changed</b>."}))
    screen.search(page, "in green", 2)
    expect(panel(page)).to_contain_text("The gallery <b>has changed</b>.")
