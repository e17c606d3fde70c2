"""What the next words start from, and what stays still while a search runs."""

import json
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.web import screen
from tests.web.browsing import at_rest

TURN_OF = "() => fetch(`export/${new URL(location.href).searchParams.get('session')}.json`).then((one) => one.text())"


def references(page: Page) -> list[str]:
    """Reference of each turn, as the server stored it."""
    return [turn["reference_image_id"] for turn in json.loads(page.evaluate(TURN_OF))[0]["turns"]]


@pytest.mark.extended
def test_the_next_words_start_from_the_selected_result(open_page):
    page = open_page()
    first = screen.reference(page)
    screen.search(page, "in red", 1)
    best = screen.shown_ids(page)[0]
    expect(page.locator(".cq-refname")).to_have_text(best)
    third = screen.tiles(page).nth(2)
    wanted = third.get_attribute("data-image")
    third.click()
    expect(page.locator(".cq-refname")).to_have_text(wanted)
    shown = re.compile(re.escape(urlencode({"image": wanted})))
    expect(page.locator(".cq-framebtn img")).to_have_attribute("src", shown)
    expect(page.locator("[data-from]")).to_contain_text("Rank 3 of these results.")
    screen.search(page, "with long sleeves", 2)
    assert references(page) == [first, wanted]


@pytest.mark.extended
def test_the_earlier_reference_is_one_click_away(open_page):
    page = open_page()
    first = screen.reference(page)
    screen.search(page, "in red", 1)
    page.get_by_role("button", name="Use the earlier one").click()
    expect(page.locator(".cq-refname")).to_have_text(first)
    expect(screen.tiles(page).and_(page.locator("[aria-selected=true]"))).to_have_count(0)
    screen.search(page, "in green", 2)
    assert references(page) == [first, first]


@pytest.mark.extended
def test_a_reference_that_is_chosen_takes_the_ring_off_the_results(open_page):
    page = open_page()
    screen.search(page, "in red", 1)
    page.get_by_role("button", name="Surprise me").click()
    at_rest(page)
    chosen = page.locator(".cq-state").get_attribute("data-reference")
    expect(page.locator(".cq-refname")).to_have_text(chosen)
    ringed = screen.tiles(page).and_(page.locator("[aria-selected=true]"))
    assert [tile.get_attribute("data-image") for tile in ringed.all()] in ([], [chosen])
    screen.search(page, "in green", 2)
    assert references(page)[1] == chosen


@pytest.mark.extended
def test_what_is_marked_less_is_not_started_from(open_page):
    page = open_page()
    first = screen.reference(page)
    screen.search(page, "in red", 1)
    screen.tiles(page).nth(1).click()
    page.keyboard.press("-")
    expect(page.locator(".cq-refname")).to_have_text(first)
    page.keyboard.press("-")
    expect(page.locator(".cq-refname")).to_have_text(screen.shown_ids(page)[1])


WATCH = """() => {
  const seen = window.seen = { tabs: new Set(), boxes: new Set() };
  const look = () => {
    seen.tabs.add([...document.querySelectorAll("[data-pages] a")].map((one) => one.textContent).join());
    seen.boxes.add(JSON.stringify([".cq-top", "#side", "#main", "#aside"].map((name) => {
      const box = document.querySelector(name).getBoundingClientRect();
      return [box.left, box.top, box.width, name === ".cq-top" ? box.height : 0];
    })));
    if (!window.enough) requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.extended
def test_the_tabs_stay_and_nothing_moves_while_a_search_runs(open_page):
    page = open_page()
    expect(page.locator("[data-pages] a").first).to_be_attached()
    screen.search(page, "in red", 1)
    page.evaluate(WATCH)
    screen.text_field(page).fill("with long sleeves")
    screen.text_field(page).press("Enter")
    expect(page.get_by_role("listbox", name=re.compile("^Results of turn 2"))).to_be_visible()
    at_rest(page)
    seen = page.evaluate("() => { window.enough = true; return { tabs: [...seen.tabs], boxes: [...seen.boxes] } }")
    assert len(seen["tabs"]) == 1 and seen["tabs"][0]
    assert len(seen["boxes"]) == 1, seen["boxes"]


@pytest.mark.extended
def test_suggestions_are_made_for_the_picture_shown(open_page):
    page = open_page()
    chips = page.get_by_role("group", name="Suggestions").get_by_role("button")
    expect(chips.first).to_be_visible()
    text = chips.first.inner_text()
    chips.first.click()
    expect(page.get_by_role("listbox", name=f"Results of turn 1: {text}")).to_be_visible()
    at_rest(page)
    chosen = screen.shown_ids(page)[3]
    expect(page.locator("[data-suggestions]")).to_have_attribute("data-of", re.compile(screen.shown_ids(page)[0]))
    screen.tiles(page).nth(3).click()
    expect(page.locator("[data-suggestions]")).to_have_attribute("data-of", re.compile(chosen))


@pytest.mark.extended
def test_two_rows_of_results_are_in_sight_while_the_filter_is_moved(open_page):
    page = open_page()
    page.get_by_role("button", name="Settings", exact=True).click()
    page.locator("#drawer-settings [name=method][value=soft]").check()
    page.get_by_role("button", name="Apply").click()
    at_rest(page)
    screen.search(page, "in red with long sleeves", 1)
    page.get_by_label("λ, strictness of the filter").press("ArrowLeft")
    expect(page.get_by_role("button", name="Keep as a turn")).to_be_visible()
    at_rest(page)
    bottoms = page.locator("#results .cq-grid .pic").evaluate_all(
        "all => [...new Set(all.map(one => Math.round(one.getBoundingClientRect().bottom)))].sort((a, b) => a - b)")
    assert page.evaluate("window.scrollY") == 0
    assert bottoms[1] <= 900, bottoms[:3]
