"""A person new to it annotates with the keyboard alone, looks closely, finishes and takes more."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.kinds.validity.circus import circus_files
from tests.fakes.studies import flagged, valid
from tests.integration.crowd import PASSWORD, Server
from tests.web.browsing import at_rest, enter, held_up
from tests.web.judging import (
    TITLE,
    Meet,
    Person,
    a_study,
    answers,
    begin,
    begin_button,
    draft_kept,
    history,
    item,
    order_of,
    pressed,
    row,
    stores,
)
from tests.web.judging import meet as meet
from tests.web.judging import server as server

PEOPLE = ["Ada", "Hal", "Ida", "Oda", "Pia", "Uli"]
TEXT, IMAGE, TARGET, BROAD = (
    "INVALID_TEXT_QUERY", "INVALID_IMAGE_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD")
MIXED = "ليست حمراء 🙂 — “quoted” <b>not bold</b>"


def sign_in(person: Person) -> None:
    """By the keyboard: the name has the focus."""
    person.page.goto(f"{person.url}/annotate")
    expect(person.page.get_by_label("Name")).to_be_focused()
    person.page.keyboard.type(person.name)
    person.press("Tab")
    person.page.keyboard.type(PASSWORD)
    person.press("Enter")
    expect(person.page.get_by_role("heading", name="Your studies")).to_be_visible()


def test_twenty_items_with_the_keyboard_alone(meet: Meet, server: Server) -> None:
    study, began = a_study(server.home, "Twenty", items=20), time.monotonic()
    ada = meet("Ada")
    page = ada.page
    ada.context.clear_cookies()
    sign_in(ada)
    ada.tab_to(page.get_by_role("button", name="Begin: Twenty"))
    ada.press("Enter")
    begin(page)
    item(page, 1)
    order = order_of(server.home, study, "Ada")
    expected: list[dict[str, Any]] = []

    def saved(answer: dict[str, Any]) -> None:
        ada.save()
        expected.append(answer)
        if len(expected) < 20:
            item(page, len(expected) + 1)

    outcome, complaint = page.locator(".st-outcome"), page.locator(".st-rubric .cq-inline:visible")

    # The keys and the definitions are one key away.
    ada.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Save and continue")
    ada.press("Escape", "d")
    expect(page.get_by_role("dialog", name="Definitions and examples")).to_contain_text("Wrong target")
    ada.press("d")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # Nothing chosen: it says what is missing and stays.
    enter(page)
    expect(complaint).to_have_text("Say what is wrong, or press 5 if nothing is.")
    ada.press("5")
    expect(outcome).to_contain_text("Will be saved as Valid")
    saved(valid())

    # A flag needs its reason.
    at_rest(page)
    ada.press("1", "Enter")
    expect(complaint).to_have_text("Give a reason: a, b or c.")
    ada.press("b")
    expect(outcome).to_contain_text("Unclear text")
    saved(flagged(TEXT, reasons=("1b",)))

    # Two flags: the more severe is the category; “other” needs a note, and Enter leads there.
    at_rest(page)
    ada.press("1", "a", "3", "c", "Enter")
    expect(outcome).to_contain_text("Wrong target")
    expect(complaint).to_contain_text("“Does not match, or something else” requires a note")
    expect(page.get_by_label("Note")).to_be_focused()
    page.keyboard.type("no horse, 3 dogs")
    saved(flagged(TARGET, TEXT, reasons=("1a", "3c"), note="no horse, 3 dogs"))

    ada.press("4")
    at_rest(page)
    ada.press("Control+Enter")
    expected.append(flagged(BROAD))
    item(page, len(expected) + 1)

    # Valid excludes flags, both ways; undo brings back what was there.
    ada.press("5", "2", "a")
    assert pressed(page) == ["Unusable reference", "Cropped: what matters is cut off"]
    ada.press("5")
    assert pressed(page) == ["Valid"]
    ada.press("Control+z")
    assert pressed(page) == ["Unusable reference", "Cropped: what matters is cut off"]
    saved(flagged(IMAGE, reasons=("2a",)))

    ada.press("2", "b", "c", "n")
    page.keyboard.type("glare")
    ada.press("Escape")
    expect(page.get_by_label("Note")).not_to_be_focused()
    saved(flagged(IMAGE, reasons=("2b", "2c"), note="glare"))

    # Ten equally good images: it proposes, and only Enter sets it.
    found = page.get_by_role("listbox", name=re.compile("Retrieved images"))
    expect(found).to_be_hidden()
    ada.press("p")
    tiles = found.get_by_role("option")
    expect(tiles).to_have_count(12)
    tokens = [tile.get_attribute("data-token") or "" for tile in tiles.all()]
    for _ in range(10):
        ada.press(" ", "ArrowRight")
    expect(page.locator(".st-count")).to_have_text("10 of 10")
    expect(page.get_by_text("10 equally good: “Too broad”?")).to_be_visible()
    assert pressed(page) == []
    ada.press("Enter")
    assert pressed(page) == ["Too broad"]
    saved(flagged(BROAD, alternatives=sorted(tokens[:10]), panel_opened=True))

    ada.press("p")
    expect(tiles).to_have_count(12)
    tokens = [tile.get_attribute("data-token") or "" for tile in tiles.all()]
    ada.press("ArrowDown", " ", "End", " ", "Escape", "5")
    marked = page.locator(".st-tile[aria-selected=true]").evaluate_all("all => all.map((one) => one.dataset.token)")
    assert len(marked) == 2 and tokens[-1] in marked
    saved(valid(alternatives=sorted(marked), panel_opened=True))

    ada.press("u")
    expect(outcome).to_contain_text("an adjudicator will decide")
    saved(valid(validated=None, unsure=True))

    ada.press("5", "n")
    page.keyboard.insert_text(MIXED)
    saved(valid(note=MIXED))

    ada.press("3", "b", "u")
    saved(flagged(TARGET, reasons=("3b",)) | {"validated": None, "unsure": True})

    # Reload in mid-item.
    with draft_kept(page):
        ada.press("1", "b", "n")
        page.keyboard.type("half a th")
    page.reload()
    item(page, 12)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    expect(page.get_by_label("Note")).to_have_value("half a th")
    ada.press("n", "End")
    page.keyboard.type("ought")
    saved(flagged(TEXT, reasons=("1b",), note="half a thought"))

    # Out and in again, in the middle of the next one.
    with draft_kept(page):
        ada.press("2", "a")
    ada.tab_to(page.locator(".cq-menu > summary"))
    ada.press("Enter")
    ada.tab_to(page.get_by_role("button", name="Sign out"))
    ada.press("Enter")
    expect(page).to_have_url(re.compile("/sign-in"))
    sign_in(ada)
    ada.tab_to(page.get_by_role("button", name="Go on: Twenty"))
    ada.press("Enter")
    item(page, 13)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    saved(flagged(IMAGE, reasons=("2a",)))

    # Back and forth changes nothing; back to the first, and change it.
    ada.press("ArrowLeft")
    item(page, 13)
    expect(page.locator(".st-state")).to_have_text("Answered")
    assert pressed(page) == ["Unusable reference", "Cropped: what matters is cut off"]
    ada.press("ArrowRight")
    item(page, 14)
    ada.press("o")
    expect(page.get_by_role("dialog", name="All items")).to_contain_text("11 answered")
    ada.press("Home", "Enter")
    item(page, 1)
    ada.press("4")
    ada.save()
    item(page, 14)
    expected[0] = flagged(BROAD)
    ada.press("o", "Home", "Enter")
    item(page, 1)
    expect(page.locator(".st-state")).to_have_text("Answered · revision 2")
    ada.press("o", "End", "Enter")
    item(page, 20)
    ada.press(*6 * ["ArrowLeft"])
    item(page, 14)

    while len(expected) < 20:
        ada.press("5")
        saved(valid())
    expect(page.get_by_role("heading", name="That was the last one. Thank you.")).to_be_visible()

    assert answers(server.home, study) == dict(zip(order, expected, strict=True))
    kept = history(server.home, study)
    assert len(kept) == 21, "twenty answers and one change"
    assert [one.answer for one in kept if one.item_id == order[0]] == [valid(), flagged(BROAD)]
    assert {one.annotator for one in kept} == {"Ada"}
    assert all(0 < one.seconds < time.monotonic() - began for one in kept)

    # CIRCUS's format has no place for marks, reasons and being unsure; the rest is as it was entered.
    with stores(server.home) as opened:
        files = circus_files(opened.studies, study)
    assert len(files) == 1
    assignments = json.loads(next(iter(files.values())))["assignments"]
    assert [one["annotation"] for one in assignments] == [
        {"validated": answer["validated"], "other": answer["note"]}
        | {code: code in answer["flags"] for code in (TEXT, IMAGE, TARGET, BROAD)} for answer in expected]


@pytest.mark.extended
def test_looking_closely_and_being_unsure(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Closely", unsure_after=600)
    hal = meet("Hal")
    hal.page.clock.install()
    page = hal.open(study)
    unsure = page.get_by_role("button", name="Unsure")
    expect(unsure).to_be_hidden()
    hal.press("z")
    expect(page.locator(".st-pictures.zoomed")).to_have_count(1)
    hal.press("Shift+ArrowRight", "z")
    expect(page.locator(".st-pictures.zoomed")).to_have_count(0)
    page.get_by_role("button", name="Target: enlarge").hover()
    expect(page.locator(".st-lens:visible")).to_have_count(2)
    page.get_by_role("button", name="Target: enlarge").click()
    large = page.get_by_role("dialog", name="Picture")
    expect(large.get_by_role("paragraph")).to_have_text("Target")
    hal.press("ArrowRight")
    expect(large.get_by_role("paragraph")).to_have_text("Reference")
    hal.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    # Offered once it takes long, not set, and taken back by a verdict.
    page.clock.fast_forward(600_000)
    expect(page.get_by_text("Not sure? You can leave it to an adjudicator.")).to_be_visible()
    assert pressed(page) == []
    unsure.click()
    expect(page.locator(".st-outcome")).to_contain_text("an adjudicator will decide")
    hal.press("5")
    expect(page.locator(".st-outcome")).to_contain_text("Will be saved as Valid")
    page.locator(TITLE).focus()
    hal.save()
    assert list(answers(server.home, study).values()) == [valid()]


def test_finished_and_more(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Shared", items=2, seats=2)
    ida = meet("Ida")
    page = ida.open(study)
    ida.press("5")
    ida.save()
    expect(page.get_by_role("heading", name="That was the last one. Thank you.")).to_be_visible()
    ida.tab_to(page.get_by_role("button", name="Get more"))
    ida.press("Enter")  # of the seat that nobody has taken
    item(page, 2)
    ida.press("4")
    ida.save()
    page.get_by_role("button", name="Get more").click()
    expect(page.get_by_text("No more items are available at the moment.")).to_be_visible()
    ida.press("ArrowLeft")
    item(page, 2)
    assert sorted(answers(server.home, study).values(), key=str) == sorted([valid(), flagged(BROAD)], key=str)


@pytest.mark.extended
def test_looking_takes_nothing_and_begin_begins(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Looked at", items=4, seats=2)
    oda = meet("Oda")
    page = oda.page
    page.goto(f"{server.url}/annotate?study=Looked at")
    expect(page.get_by_role("heading", name="Looked at")).to_be_visible()
    expect(page.get_by_text("About 2 items for you.")).to_be_visible()
    expect(begin_button(page)).to_be_focused()
    page.reload()
    expect(begin_button(page)).to_be_focused()
    with stores(server.home) as opened:
        assert {seat.annotator for seat in opened.studies.seats(study.study_id)} == {None}
    begin(page)
    item(page, 1)
    expect(page.locator(".st-pace")).to_contain_text("0 of 2")
    with stores(server.home) as opened:
        assert {seat.annotator for seat in opened.studies.seats(study.study_id)} == {None, "Oda"}


@pytest.mark.extended
def test_a_change_that_is_not_saved_is_said(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Changed", items=2)
    pia = meet("Pia")
    page = pia.open(study)
    for number in (1, 2):
        item(page, number)
        pia.press("5")
        pia.save()
    end = page.get_by_role("heading", name="That was the last one. Thank you.")
    expect(end).to_be_visible()
    expect(page.locator(".st-unsaved")).to_have_count(0)

    pia.press("ArrowLeft", "ArrowLeft")
    item(page, 1)
    with draft_kept(page):
        pia.press("4")
    page.reload()   # one stays where one was, with what one has begun
    item(page, 1)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    assert pressed(page) == ["Too broad"]
    pia.press("o")
    squares = page.get_by_role("dialog", name="All items")
    expect(squares).to_contain_text("1 not saved")
    expect(squares.get_by_role("button", name="Item 1: answered, a change is not saved")).to_be_visible()
    pia.press("o", "ArrowRight")
    item(page, 2)
    pia.save()   # nothing was changed here: on to the end
    expect(end).to_be_visible()
    expect(page.locator(".st-unsaved")).to_have_text("1 change is not saved: item 1.")
    page.reload()
    expect(page.locator(".st-unsaved")).to_have_text("1 change is not saved: item 1.")
    page.get_by_role("button", name="item 1").click()
    item(page, 1)
    assert pressed(page) == ["Too broad"]
    pia.save()
    expect(end).to_be_visible()
    expect(page.locator(".st-unsaved")).to_have_count(0)
    assert sorted(map(str, answers(server.home, study).values())) == sorted(map(str, (valid(), flagged(BROAD))))


@pytest.mark.extended
def test_typing_ahead(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Ahead", items=8)
    uli = meet("Uli")
    page = uli.open(study)
    at_rest(page)
    with held_up(page, "**/study/save"):
        uli.press("5", "Enter", "5", "1", "b", "u", "Enter")   # of the second item nothing is there yet
    item(page, 2)
    assert pressed(page) == []
    at_rest(page)
    assert list(answers(server.home, study).values()) == [valid()]
    expect(page.get_by_text("is not saved yet")).to_be_hidden()

    # Five steps are five steps, however fast.
    with held_up(page, re.compile("study/at")):
        uli.press(*5 * ["ArrowRight"])
    item(page, 7)
    with held_up(page, re.compile("study/at")):
        uli.press(*3 * ["ArrowLeft"])
    item(page, 4)


def test_on_a_phone_the_pictures_stay_in_sight(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Small")
    hal = meet("Hal")
    page = hal.page
    page.set_viewport_size({"width": 390, "height": 844})
    hal.open(study)
    row(page, "Unclear text").click()
    expect(page.locator(".st-reason").filter(has_text="Does not say enough")).to_be_in_viewport()
    sheet = page.locator(".st-side").bounding_box()
    assert sheet and sheet["height"] <= 0.45 * 844 + 1
    for name in ("Reference", "Target"):
        picture = page.get_by_role("button", name=f"{name}: enlarge").bounding_box()
        assert picture and picture["y"] >= 0 and picture["y"] + picture["height"] <= sheet["y"], name
    page.get_by_label("Note").scroll_into_view_if_needed()
    expect(page.get_by_label("Note")).to_be_in_viewport(ratio=1)
