"""Results with near-duplicates folded, and as a map, with the mouse and with the keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web import screen
from tests.web.browsing import at_rest

Open = Callable[..., Page]


def map_of(page: Page, turn: int, text: str) -> None:
    page.get_by_role("button", name="Map", exact=True).click()
    expect(page.get_by_role("listbox", name=f"Map of the results of turn {turn}: {text}")).to_be_visible()
    at_rest(page)


@pytest.mark.extended
def test_similar_results_fold_and_open(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    plain = screen.shown_ids(page)
    fold = page.get_by_role("button", name="Fold similar")
    expect(fold).to_have_attribute("aria-pressed", "false")
    fold.click()
    slider = page.get_by_label("Fold images that are at least this similar")
    expect(slider).to_be_visible()
    at_rest(page)
    slider.fill("0.7")   # of few images, few are very much alike
    expect(page.locator(".cq-similar").first).to_be_visible()
    at_rest(page)
    first = page.locator(".cq-tile[data-similar]").first
    count, shown = int(first.get_attribute("data-similar") or 0), len(screen.shown_ids(page))
    assert count > 0

    first.get_by_text(f"+{count} similar").click()
    expect(screen.tiles(page)).to_have_count(shown + count)
    expect(first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowRight")
    under = page.locator(f".cq-tile[data-under='{first.get_attribute('data-rank')}']").first
    expect(under).to_be_focused()
    page.keyboard.press("s")
    expect(screen.tiles(page)).to_have_count(shown)
    expect(first).to_be_focused()

    fold.click()
    expect(slider).to_be_hidden()
    at_rest(page)
    assert screen.shown_ids(page) == plain   # the ranking is what it was


@pytest.mark.extended
@pytest.mark.parametrize("width", [1440, 390])
def test_a_map_is_searched_from_like_a_list(open_page: Open, width: int) -> None:
    page = open_page()
    page.set_viewport_size({"width": width, "height": 900})
    screen.search(page, "in red", 1)
    best = screen.shown_ids(page)[0]
    map_of(page, 1, "in red")
    points = page.get_by_role("listbox", name=re.compile("^Map of")).get_by_role("option")
    assert points.count() >= 60
    selected = page.locator(".cq-point[aria-selected=true]")
    expect(selected).to_have_attribute("data-image", best)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    points.first.focus()
    page.keyboard.press("End")
    expect(points.last).to_be_focused()
    seen = {points.last.get_attribute("data-image")}
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        seen.add(selected.get_attribute("data-image"))
    assert len(seen) > 1
    page.keyboard.press("Home")
    expect(points.first).to_be_focused()

    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("[data-map]")).to_have_attribute("data-zoomed", "yes")
    expect(page.get_by_role("button", name="Zoom out")).to_be_enabled()
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.locator("[data-map]")).to_have_attribute("data-zoomed", "")

    points.first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Picture")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.locator(".cq-refname")).to_have_text(best)
    at_rest(page)
    screen.text_field(page).fill("longer")
    screen.text_field(page).press("Enter")
    expect(page.get_by_role("listbox", name="Map of the results of turn 2: longer")).to_be_visible()
    at_rest(page)
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("listbox", name="Results of turn 2: longer")).to_be_visible()
    at_rest(page)
