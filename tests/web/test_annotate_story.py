"""A person new to it annotates with the keyboard alone, looks closely, finishes and takes more."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from annotation.circus_users import circus_files
from tests.fakes.studies import flagged, valid
from tests.integration.crowd import Server
from tests.web.judging import (
    TITLE,
    Meet,
    a_server,
    a_study,
    answers,
    draft_kept,
    history,
    item,
    order_of,
    pressed,
    stores,
    visitors,
)

TEXT, IMAGE, TARGET, BROAD = (
    "INVALID_TEXT_QUERY", "INVALID_IMAGE_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD")
MIXED = "ليست حمراء 🙂 — “quoted” <b>not bold</b>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with a_server(tmp_path_factory.mktemp("annotate"), ["Ada", "Hal", "Ida"]) as server:
        yield server


@pytest.fixture
def meet(browser: Browser, server: Server) -> Iterator[Meet]:
    with visitors(browser, server) as come:
        yield come


def test_twenty_items_with_the_keyboard_alone(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Twenty", items=20)
    ada = meet("Ada")
    page = ada.page
    page.reload()
    ada.tab_to(page.get_by_role("button", name="Begin: Twenty"))
    ada.press("Enter")
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
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Save and go on")
    ada.press("Escape", "d")
    expect(page.get_by_role("dialog", name="Definitions and examples")).to_contain_text("Wrong target")
    ada.press("d")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # Nothing chosen: it says what is missing and stays.
    page.wait_for_timeout(400)
    ada.press("Enter")
    expect(complaint).to_have_text("Say what is wrong, or press 5 if nothing is.")
    ada.press("5")
    expect(outcome).to_contain_text("Will be saved as Valid")
    saved(valid())

    # A flag needs its reason.
    page.wait_for_timeout(400)
    ada.press("1", "Enter")
    expect(complaint).to_have_text("Say why: a, b or c.")
    ada.press("b")
    expect(outcome).to_contain_text("Unclear text")
    saved(flagged(TEXT, reasons=("1b",)))

    # Two flags: the more severe is the category; “other” needs a note, and Enter leads there.
    page.wait_for_timeout(400)
    ada.press("1", "a", "3", "c", "Enter")
    expect(outcome).to_contain_text("Wrong target")
    expect(complaint).to_contain_text("“Other” needs a note")
    expect(page.get_by_label("Note")).to_be_focused()
    page.keyboard.type("no horse, 3 dogs")
    saved(flagged(TARGET, TEXT, reasons=("1a", "3c"), note="no horse, 3 dogs"))

    ada.press("4")
    saved(flagged(BROAD))

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
    found = page.get_by_role("listbox", name=re.compile("Found images"))
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
    expect(outcome).to_contain_text("an adjudicator decides")
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
    ada.sign_in()
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
    for _ in range(6):
        ada.press("ArrowLeft")
        page.wait_for_timeout(50)
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
    assert all(0 < one.seconds < 120 for one in kept)

    # CIRCUS's form has no place for marks, reasons and being unsure; the rest is as it was entered.
    with stores(server.home) as opened:
        files = circus_files(opened.studies, study)
    assert len(files) == 1
    assignments = json.loads(next(iter(files.values())))["assignments"]
    assert [one["annotation"] for one in assignments] == [
        {"validated": answer["validated"], "other": answer["note"]}
        | {code: code in answer["flags"] for code in (TEXT, IMAGE, TARGET, BROAD)} for answer in expected]


def test_looking_closely_and_being_unsure(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Closely", unsure_after=3)
    hal = meet("Hal")
    page = hal.open(study)
    unsure = page.get_by_role("button", name="Unsure")
    expect(unsure).to_be_hidden()
    hal.press("z")
    expect(page.locator(".st-pictures.zoomed")).to_have_count(1)
    hal.press("Shift+ArrowRight", "z")
    expect(page.locator(".st-pictures.zoomed")).to_have_count(0)
    page.get_by_role("button", name="Target picture: show it large").hover()
    expect(page.locator(".st-lens:visible")).to_have_count(2)
    page.get_by_role("button", name="Target picture: show it large").click()
    large = page.get_by_role("dialog", name="Picture")
    expect(large.get_by_role("paragraph")).to_have_text("Target")
    hal.press("ArrowRight")
    expect(large.get_by_role("paragraph")).to_have_text("Reference")
    hal.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    # Offered once it takes long, not set, and taken back by a verdict.
    expect(page.get_by_text("Still open? You may leave it to an adjudicator.")).to_be_visible()
    assert pressed(page) == []
    unsure.click()
    expect(page.locator(".st-outcome")).to_contain_text("an adjudicator decides")
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
    ida.tab_to(page.get_by_role("button", name="Take more"))
    ida.press("Enter")  # of the seat that nobody has taken
    item(page, 2)
    ida.press("4")
    ida.save()
    page.get_by_role("button", name="Take more").click()
    expect(page.get_by_text("There is nothing more to take at the moment.")).to_be_visible()
    ida.press("ArrowLeft")
    item(page, 2)
    assert sorted(answers(server.home, study).values(), key=str) == sorted([valid(), flagged(BROAD)], key=str)
