"""A person searches: three turns, back, a branch, a reload, an export."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, Route, expect

from tests.web import screen
from tests.web.browsing import at_rest, until

Open = Callable[..., Page]


def test_three_turns_back_branch_reload_export(open_page: Open) -> None:
    page = open_page()
    expect(page.get_by_role("heading", name="Search with an image and a few words")).to_be_visible()
    expect(page.get_by_role("group", name="Gallery images").get_by_role("button").first).to_be_visible()
    first = screen.reference(page)

    screen.search(page, "in red", 1)
    assert first not in screen.shown_ids(page)
    assert len(screen.shown_ids(page)) == 60
    first_url = page.url
    assert re.search(r"\?session=[0-9a-z]{16}&turn=[0-9a-z]{16}&branch=[0-9a-z]{16}$", first_url)

    second = screen.refine_from(page, 3)
    screen.search(page, "with long sleeves", 2)
    third = screen.refine_from(page, 2)
    screen.search(page, "striped", 3)
    turns = page.get_by_role("region", name="Turns so far").get_by_role("listitem")
    expect(turns).to_have_count(3)
    expect(page.locator(".cq-how")).to_contain_text("Query used")
    _ledger_adds_up(page)
    third_results, third_url = screen.shown_ids(page), page.url

    # The browser's Back leads from turn to turn, to the reference that it began with, and Forward again.
    for text, turn in (("with long sleeves", 2), ("in red", 1)):
        page.go_back()
        expect(page.get_by_role("listbox", name=f"Results of turn {turn}: {text}")).to_be_visible()
        at_rest(page)
    assert page.url == first_url
    page.go_back()
    expect(page.get_by_role("heading", name="Search with an image and a few words")).to_be_visible()
    at_rest(page)
    assert screen.reference(page) == first
    page.go_forward()
    expect(page.get_by_role("listbox", name="Results of turn 1: in red")).to_be_visible()
    at_rest(page)
    page.go_forward()
    at_rest(page)
    page.go_forward()
    expect(page.get_by_role("listbox", name="Results of turn 3: striped")).to_be_visible()
    at_rest(page)
    assert (screen.shown_ids(page), page.url) == (third_results, third_url)

    # Back to the first turn; another way from there keeps the one we came.
    turns.nth(0).get_by_role("button").click()
    expect(page.get_by_text("You are viewing turn 1 of 3.")).to_be_visible()
    at_rest(page)
    other = screen.refine_from(page, 5)
    screen.search(page, "in navy with white dots", 2)
    expect(turns).to_have_count(2)
    branches = page.get_by_role("group", name="Branches")
    expect(branches.get_by_role("button", name=re.compile("turn 3: striped"))).to_be_visible()

    branches.get_by_role("button", name="Rename Branch 2").click()
    page.get_by_role("textbox", name="Name this branch").fill("with <b>dots</b>")
    page.get_by_role("textbox", name="Name this branch").press("Enter")
    expect(branches.get_by_role("button", name="with <b>dots</b>", exact=True)).to_be_visible()

    # Everything is in the database: a reload shows the last turn, and the other branch is there.
    last_url = page.url
    page.reload()
    expect(page.get_by_role("heading", name="in navy with white dots")).to_be_visible()
    assert page.url == last_url
    at_rest(page)
    branches.get_by_role("button", name="Branch 1", exact=True).click()
    expect(page.get_by_role("heading", name="striped")).to_be_visible()
    at_rest(page)
    assert screen.shown_ids(page) == third_results

    page.locator("summary", has_text="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="All branches (JSON)").click()
    exported = waiting.value
    records = json.loads(Path(exported.path()).read_text("utf-8"))
    assert [record["num_turns"] for record in records] == [3, 2]
    assert [turn["reference_image_id"] for turn in records[0]["turns"]] == [first, second, third]
    assert [turn["relative_caption"] for turn in records[1]["turns"]] == ["in red", "in navy with white dots"]
    assert records[1]["turns"][1]["reference_image_id"] == other
    assert records[1]["cirque"]["branch"]["name"] == "with <b>dots</b>"
    digest = page.locator(".cq-card code").inner_text()
    assert records[0]["cirque"]["protocol"]["digest"] == digest
    assert [hit["image_id"] for hit in records[0]["cirque"]["turns"][2]["hits"]] == third_results
    assert re.fullmatch(r"cirque in red \d{4}-\d\d-\d\d [0-9a-z]{16}\.json", exported.suggested_filename)


def _ledger_adds_up(page: Page) -> None:
    rows = [row.inner_text().replace("−", "-").split() for row in page.locator(".cq-parts tr").all()]
    parts, total = [float(row[-1]) for row in rows[:-1]], float(rows[-1][-1])
    # History, picked, not picked, text, image, three requests, what stays; "in red" is two of a two-coloured reference.
    assert len(parts) in (9, 10)
    assert sum(parts) == pytest.approx(total, abs=0.005)  # ten numbers, each rounded to 0.001


@pytest.mark.extended
def test_branches_compared_deleted_and_had_back_and_a_session_named_removed_and_imported(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    screen.refine_from(page, 3)
    screen.search(page, "with long sleeves", 2)
    turns = page.get_by_role("region", name="Turns so far").get_by_role("listitem")
    turns.nth(0).get_by_role("button").click()
    expect(page.get_by_text("You are viewing turn 1 of 2.")).to_be_visible()
    at_rest(page)
    screen.refine_from(page, 5)
    screen.search(page, "in navy with white dots", 2)
    branches = page.get_by_role("group", name="Branches")
    branches.get_by_role("button", name="Rename Branch 2").click()
    page.get_by_role("textbox", name="Name this branch").fill("with <b>dots</b>")
    page.get_by_role("textbox", name="Name this branch").press("Enter")
    expect(branches.get_by_role("button", name="with <b>dots</b>", exact=True)).to_be_visible()
    session = page.url.split("session=")[1][:16]

    branches.get_by_role("button", name="Compare").click()
    expect(page.get_by_text(re.compile(r"overlap@10"))).to_be_visible()
    expect(page.get_by_role("region", name="with <b>dots</b>").get_by_role("listitem")).to_have_count(10)
    at_rest(page)
    page.reload()
    expect(page.get_by_role("region", name="with <b>dots</b>").get_by_role("listitem")).to_have_count(10)
    page.get_by_role("button", name="Back to the results").click()
    at_rest(page)

    page.locator("summary", has_text="Export").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="All branches (JSON)").click()
    page.keyboard.press("Escape")
    branches.get_by_role("button", name="Branch 1", exact=True).click()
    expect(page.get_by_role("heading", name="with long sleeves")).to_be_visible()
    at_rest(page)

    # A branch is deleted by a key, and had back by another.
    branches.get_by_role("button", name="with <b>dots</b>", exact=True).focus()
    page.keyboard.press("Delete")
    expect(page.get_by_text("with <b>dots</b> was deleted.")).to_be_visible()
    expect(branches).to_have_count(0)
    at_rest(page)
    page.keyboard.press("Control+z")
    expect(branches.get_by_role("button", name="with <b>dots</b>", exact=True)).to_be_visible()
    at_rest(page)

    # The session gets a name, leaves the list and returns; its file is known.
    page.get_by_role("button", name="My sessions").click()
    mine = page.get_by_role("dialog", name="My sessions")
    mine.get_by_role("button", name=re.compile("^Rename")).click()
    page.get_by_role("textbox", name="Name this session").fill("For the wedding")
    page.get_by_role("textbox", name="Name this session").press("Enter")
    expect(mine.get_by_text("For the wedding")).to_be_visible()
    at_rest(page)
    mine.get_by_role("searchbox", name="Search my sessions").fill("WEDDING dots sleeves")
    expect(mine.get_by_text("No session has these words")).to_have_count(0)
    expect(mine.get_by_role("button", name=re.compile("^For the wedding"))).to_be_visible()
    at_rest(page)
    mine.get_by_role("button", name="Remove For the wedding from the list").click()
    expect(mine.get_by_role("button", name="Undo")).to_be_focused()
    assert "session=" not in page.url
    page.keyboard.press("Enter")
    expect(mine.get_by_role("button", name=re.compile("^For the wedding"))).to_be_focused()
    at_rest(page)
    with page.expect_file_chooser() as chosen:
        mine.get_by_role("button", name="Import").click()
    chosen.value.set_files(waiting.value.path())
    expect(page.get_by_text("This session is here already.")).to_be_visible()
    expect(turns).to_have_count(2)
    at_rest(page)
    assert f"session={session}" in page.url

    # This browser remembers a method of one's own, with which new sessions begin.
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_role("dialog", name="Settings").get_by_label("Text only").check()
    page.get_by_role("button", name="Use as my default").click()
    expect(page.get_by_text("Your default: Text only")).to_be_visible()
    at_rest(page)
    page.goto(page.url.partition("?")[0])
    expect(page.locator(".cq-method")).to_contain_text("Text only")


def test_with_the_keyboard_alone(open_page: Open) -> None:
    page = open_page()
    page.wait_for_selector("#cq-text")
    press = page.keyboard.press

    press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    press("Escape")
    press("/")
    expect(screen.text_field(page)).to_be_focused()
    page.keyboard.type("in green")
    press("Enter")
    expect(screen.tiles(page).first).to_be_focused()
    expect(screen.tiles(page).first).to_have_attribute("aria-selected", "true")
    at_rest(page)

    press("ArrowRight")
    press("ArrowDown")
    press("ArrowLeft")
    columns = len(page.locator(".cq-grid").evaluate("g => getComputedStyle(g).gridTemplateColumns.split(' ')"))
    chosen = screen.tiles(page).nth(columns)
    expect(chosen).to_be_focused()
    press("Space")
    expect(chosen).to_have_attribute("aria-selected", "true")

    # Marked for the next search, on one side only; and taken back.
    more = chosen.locator("[data-mark=more]")
    for key, pressed, marked in (("+", "true", "more"), ("-", "false", "less"), ("Control+z", "true", "more")):
        press(key)
        expect(chosen).to_have_attribute("aria-description", f"marked {marked} like this")
        expect(more).to_have_attribute("aria-pressed", pressed)
    press("Control+z")
    expect(page.locator("[data-marked]")).to_be_hidden()

    press("Enter")
    large = page.get_by_role("dialog", name="Picture")
    expect(large).to_contain_text(f"Rank {columns + 1} of 60")
    press("ArrowRight")
    expect(large).to_contain_text(f"Rank {columns + 2} of 60")
    press("Escape")
    expect(large).to_be_hidden()


@pytest.mark.extended
def test_from_turn_to_turn_and_to_another_reference_with_the_keyboard_alone(open_page: Open) -> None:
    page = open_page()
    press = page.keyboard.press
    screen.search(page, "in green", 1)
    screen.tiles(page).nth(4).focus()
    press("Space")
    wanted = screen.tiles(page).nth(4).get_attribute("data-image") or ""
    press("r")
    expect(screen.text_field(page)).to_be_focused()
    expect(page.locator(".cq-refname")).to_have_text(wanted)
    at_rest(page)
    page.keyboard.type("longer")
    press("Enter")
    expect(page.get_by_role("heading", name="longer")).to_be_visible()
    at_rest(page)
    press("z")
    expect(page.get_by_text("You are viewing turn 1 of 2.")).to_be_visible()
    at_rest(page)

    press("g")
    gallery = page.get_by_role("dialog", name="Gallery")
    expect(gallery).to_be_visible()
    at_rest(page)
    asked: list[Route] = []
    page.route(re.compile("media/find"), lambda route: asked.append(route))
    page.keyboard.type("a blue")
    until(page, lambda: bool(asked))
    page.keyboard.type(" shirt")
    until(page, lambda: "shirt" in asked[-1].request.url)
    press("ArrowDown")                               # to a picture that the answer replaces
    asked.pop().continue_()
    expect(gallery.get_by_text("Closest 36")).to_be_visible()
    expect(gallery.locator(".cq-tile:focus")).to_have_count(1)
    for late in asked:
        late.fulfill(json={"error": "An answer to fewer words."})
    at_rest(page)
    expect(gallery.get_by_text("Closest 36")).to_be_visible()
    press("ArrowRight")
    press("Enter")
    expect(gallery).to_be_hidden()
    at_rest(page)
    assert screen.reference(page) != wanted


@pytest.mark.parametrize("dark", [False, pytest.param(True, marks=pytest.mark.extended)])
def test_on_a_phone_nothing_scrolls_sideways(open_page: Open, dark: bool) -> None:
    page = open_page("/?__theme=dark" if dark else "/", width=390, height=844)
    _fits(page)
    field = page.locator("#cq-text")
    field.fill("with long sleeves")
    field.press("Enter")
    expect(page.get_by_role("heading", name="with long sleeves")).to_be_visible()
    at_rest(page)
    _fits(page)
    assert len(page.locator(".cq-grid").evaluate("g => getComputedStyle(g).gridTemplateColumns.split(' ')")) == 2
    assert page.locator(".cq-fold").evaluate("fold => fold.open") is False
    expect(field).to_be_in_viewport()
    assert _bottom(page, ".cq-tile .pic") <= _top(page, ".cq-pickbar"), "a row of pictures is in sight"
    page.get_by_text("Change the reference").press("Enter")
    expect(page.get_by_role("button", name="Upload", exact=True)).to_be_visible()
    page.locator(".cq-pickbar").get_by_role("button", name="Refine from this").click()
    at_rest(page)
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
    _fits(page)


def _top(page: Page, selector: str) -> float:
    return float(page.locator(selector).first.evaluate("one => one.getBoundingClientRect().top"))


def _bottom(page: Page, selector: str) -> float:
    return float(page.locator(selector).first.evaluate("one => one.getBoundingClientRect().bottom"))


def _fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("window.innerWidth")
    side = page.locator("#side")
    side.evaluate("side => { side.scrollLeft = 100; }")
    assert side.evaluate("side => side.scrollLeft") == 0


@pytest.mark.extended
def test_two_browsers_do_not_see_each_other(open_page: Open) -> None:
    mine, theirs = open_page(), open_page()
    screen.search(mine, "in red", 1)
    assert "session=" not in theirs.url
    screen.search(theirs, "in yellow", 1)
    assert mine.url != theirs.url

    theirs.get_by_role("button", name="My sessions").click()
    listed = theirs.get_by_role("dialog", name="My sessions").get_by_role("listitem")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("in yellow")

    # With the link they continue together: each turn is a turn of the same session.
    theirs.goto(mine.url)
    expect(theirs.get_by_role("heading", name="in red")).to_be_visible()
    at_rest(theirs)
    screen.search(theirs, "with a collar", 2)
    screen.search(mine, "shorter", 2)
    expect(mine.get_by_role("group", name="Branches").get_by_role("button", name=re.compile("^Branch .,"))
           ).to_have_count(3)


@pytest.mark.extended
def test_find_a_target(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name=re.compile("^Find a target Get a random")).click()
    page.get_by_role("button", name="Give me a target").click()
    target = page.get_by_role("region", name="Target")
    expect(target).to_contain_text("Find this image")
    at_rest(page)
    screen.search(page, "in red", 1)
    expect(page.get_by_text("target at rank")).to_have_count(0)
    screen.refine_from(page, 2)
    screen.search(page, "in red", 2)
    expect(page.get_by_text("target at rank")).to_have_count(0)

    target.get_by_label("Live rank").check()
    expect(page.get_by_text("target at rank")).to_be_visible()
    at_rest(page)
    target.get_by_role("button", name="Give up").click()
    expect(target).to_contain_text("Over your 1 finished target session")
    expect(target).to_contain_text("Turn 2 repeats turn 1")
    expect(target.get_by_role("img", name=re.compile(r"Rank of the target by turn: \d+, \d+"))).to_be_visible()


@pytest.mark.extended
def test_the_selected_tile_can_be_the_target(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Find a target").locator("visible=true").click()
    page.get_by_role("button", name="Choose from the gallery").click()
    gallery = page.get_by_role("dialog", name="Gallery").get_by_role("group", name="Gallery images")
    gallery.get_by_role("button").first.click()
    target = page.get_by_role("region", name="Target")
    wanted = re.search(r"image=([^&]+)", target.locator("img").first.get_attribute("src") or "")
    assert wanted
    at_rest(page)
    screen.search(page, "in blue", 1)
    wrong = screen.tiles(page).locator(f":scope:not([data-image='{wanted[1]}'])").first
    wrong.click()
    page.keyboard.press("f")
    expect(page.locator(".cq-banner")).to_contain_text("Keep looking")
    at_rest(page)
    # The gallery has 90 images and 60 are shown, so the target may be further down: ask for all.
    screen.in_page(page, "results/selection.js", "it.found(given)", wanted[1])
    expect(page.locator(".cq-banner")).to_contain_text("You found the target")


@pytest.mark.extended
def test_settings_begin_a_new_session(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    before = page.url
    page.get_by_role("button", name="Settings", exact=True).click()
    page.get_by_role("dialog", name="Settings").get_by_label("Text only").check()
    page.get_by_role("slider", name=re.compile("^beta")).fill("0")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".cq-banner")).to_contain_text("A session keeps its method")
    at_rest(page)
    screen.search(page, "a green dress", 1)
    assert page.url != before
    expect(page.locator(".cq-card")).to_contain_text("Text only")


@pytest.mark.extended
def test_own_picture_by_file_and_by_paste(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    path = tmp_path / "<img src=x onerror=alert(1)>.png"
    Image.new("RGB", (90, 120), (200, 30, 40)).save(path)
    page.locator("#cq-file").set_input_files(path)
    expect(page.locator(".cq-refname")).to_have_text("your picture")
    at_rest(page)
    screen.search(page, "with long sleeves", 1)

    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), (10, 90, 200)).save(buffer, "PNG")
    before = page.locator(".cq-frame img").get_attribute("src")
    page.evaluate("""bytes => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], 'p.png', {type: 'image/png'}));
        document.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
    }""", list(buffer.getvalue()))
    expect(page.locator(".cq-frame img")).not_to_have_attribute("src", before or "")
    at_rest(page)


@pytest.mark.extended
def test_texts_are_shown_as_texts(open_page: Open) -> None:
    page = open_page()
    text = "<img src=x onerror=alert(1)> ${alert(2)} `{{value}}` \\u0041"
    screen.text_field(page).fill(text)
    screen.text_field(page).press("Enter")
    expect(page.get_by_role("heading", name=text)).to_be_visible()
    at_rest(page)
    assert page.locator("#results img[src=x]").count() == 0


@pytest.mark.extended
def test_mistakes_are_said_where_they_happen(open_page: Open) -> None:
    page = open_page("/?session=nosuchsession000")
    expect(page.locator(".cq-banner")).to_contain_text("There is no session at this address")
    assert "session=" not in page.url
    screen.text_field(page).press("Enter")
    expect(page.locator(".cq-ask .cq-inline")).to_contain_text("Say what should be different")
    expect(page.locator(".toast-body")).to_contain_text("Say what should be different")
    at_rest(page)
    screen.search(page, "in red", 1)
    expect(page.locator(".cq-ask .cq-inline")).to_be_hidden()


@pytest.mark.extended
def test_a_turn_of_another_tab_is_said_and_shown(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("listbox", name="Results of turn 1: in red")).to_be_visible()
    at_rest(other)
    screen.search(other, "longer", 2)
    told = page.locator("[data-news] p").filter(has_text="This session has a newer turn.")
    expect(told).to_be_visible()
    expect(page.get_by_role("listbox", name="Results of turn 1: in red")).to_be_visible()
    told.get_by_role("button", name="Show it").click()
    expect(page.get_by_role("listbox", name="Results of turn 2: longer")).to_be_visible()
    expect(told).to_be_hidden()
    at_rest(page)
    assert page.url == other.url


@pytest.mark.extended
def test_the_browsers_back_leads_to_the_session_before(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    first = page.url
    page.get_by_role("button", name="New").first.click()
    page.wait_for_url(lambda url: "session=" not in url)
    at_rest(page)
    page.go_back()
    page.wait_for_url(first)
    expect(page.get_by_role("listbox", name="Results of turn 1: in red")).to_be_visible()


@pytest.mark.extended
def test_a_presentation_and_what_is_closed_until_wanted(open_page: Open) -> None:
    page = open_page("/", folded=True)
    page.keyboard.press("Tab")
    expect(screen.text_field(page)).to_be_focused()
    screen.search(page, "in red", 1)
    for _ in range(2):   # out of the page, and into it again
        page.keyboard.press("Tab")
    expect(screen.text_field(page)).to_be_focused()
    screen.tiles(page).first.focus()
    how = page.get_by_role("complementary", name="How this was found")
    expect(how).to_be_hidden()
    page.keyboard.press("h")
    expect(how).to_be_visible()
    expect(how).to_contain_text("Of these top 10")     # asked for when it is looked at

    page.keyboard.press("p")
    tools = page.get_by_role("navigation", name="Tools")
    for gone in (how, tools, page.get_by_role("button", name="Compare methods").first):
        expect(gone).to_be_hidden()
    page.reload()
    at_rest(page)
    expect(page.get_by_role("navigation", name="Tools")).to_be_hidden()
    screen.search(page, "with long sleeves", 2)
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Tools")).to_be_visible()
    expect(how).to_be_visible()                        # this browser remembers what was opened


def test_the_tour_follows_the_first_search_and_is_left_at_once(open_page: Open) -> None:
    page = open_page(tour=True)
    tour, again = page.get_by_role("region", name="Tour"), page.get_by_role("button", name="Take the tour")
    expect(tour).to_contain_text("Start from an image")
    expect(page.locator(".cq-frame.cq-toured")).to_be_visible()
    tour.get_by_role("button", name="Next").click()
    expect(tour).to_contain_text("2 of 3")
    page.reload()                                                       # goes on where it was
    expect(tour).to_contain_text("Say what should be different")
    screen.search(page, "in red", 1)
    expect(tour).to_contain_text("Refine it")
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    page.get_by_role("button", name="New search").click()
    at_rest(page)
    expect(tour).to_have_count(0)                                       # it is over
    again.click()
    expect(tour).to_contain_text("1 of 3")
    tour.get_by_role("button", name="Next").press("Escape")
    expect(tour).to_have_count(0)
    expect(page.get_by_role("textbox", name="What should be different?")).to_be_focused()
    page.reload()
    at_rest(page)
    expect(tour).to_have_count(0)


def test_a_key_is_changed_for_this_browser(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    how = page.locator(".cq-how")
    expect(how).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    keys.get_by_role("button", name="Change keys").click()
    keys.get_by_role("button", name="h: How the selected result was found").click()
    expect(keys.get_by_role("status")).to_contain_text("Press the new key for “How the selected result was found”.")
    page.keyboard.press("Escape")                                       # keeps the old one, and the dialog open
    keys.get_by_role("button", name="h: How the selected result was found").click()
    page.keyboard.press("k")
    expect(keys.get_by_role("button", name="k: How the selected result was found")).to_be_visible()
    with page.expect_navigation():
        page.keyboard.press("Escape")
    at_rest(page)
    expect(how).to_be_visible()
    page.keyboard.press("k")
    expect(how).to_be_hidden()
    page.keyboard.press("?")
    expect(keys.locator("dt", has_text="k")).to_be_visible()
    keys.get_by_role("button", name="Change keys").click()
    keys.get_by_role("button", name="Use the usual keys").click()
    expect(keys.get_by_role("button", name="h: How the selected result was found")).to_be_visible()
