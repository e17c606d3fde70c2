"""People annotate: with the keyboard alone, in two windows, with a server that goes away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from annotation.circus_users import circus_files
from tests.fakes.studies import flagged, valid
from tests.integration.crowd import PASSWORD, Server, add_people, stores_of
from tests.web.judging import (
    TITLE,
    Person,
    a_study,
    answers,
    draft_kept,
    history,
    item,
    order_of,
    pressed,
    row,
    stores,
)

NAMES = ["Ada", "Bea", "Cem", "Dee", "Eva", "Fay", "Gus", "Hal", "Ida"]
TEXT, IMAGE, TARGET, BROAD = (
    "INVALID_TEXT_QUERY", "INVALID_IMAGE_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD")
MIXED = "ليست حمراء 🙂 — “quoted” <b>not bold</b>"
Meet = Callable[[str], Person]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("annotate")
    opened = stores_of(home)
    add_people(opened, NAMES)
    opened.close()
    server = Server(home)
    server.start()
    yield server
    server.stop()
    assert "Traceback" not in server.log()


@pytest.fixture
def meet(browser: Browser, server: Server) -> Iterator[Meet]:
    """People who come in with browsers of their own."""
    people: list[Person] = []

    def come(name: str) -> Person:
        people.append(Person(browser, server.url, name))
        people[-1].sign_in()
        return people[-1]

    yield come
    for person in people:
        person.context.close()
    assert [complaint for person in people for complaint in person.complaints] == []


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


def test_a_double_click_is_one_press(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Double")
    bea = meet("Bea")
    page = bea.open(study)
    bea.press("5")
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Save and go on").dblclick()
    item(page, 2)
    bea.press("5")
    page.wait_for_timeout(400)
    bea.press("Enter", "Enter", "Enter")
    item(page, 3)
    page.wait_for_timeout(300)
    assert pressed(page) == []
    expect(page.locator(".st-rubric .cq-inline:visible")).to_have_count(0)
    assert [one.revision for one in history(server.home, study)] == [1, 1]


def test_two_windows(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Windows")
    cem = meet("Cem")
    one = cem.open(study)
    other = cem.open(study, cem.tab())
    one.keyboard.press("5")
    cem.save(one)
    item(one, 2)
    other.keyboard.press("4")
    cem.save(other)
    expect(other.get_by_text("You had answered this in another window; that answer is kept as revision 1.")
           ).to_be_visible()
    item(other, 2)
    first = order_of(server.home, study, "Cem")[0]
    assert [it.answer for it in history(server.home, study) if it.item_id == first] == [valid(), flagged(BROAD)]


def test_the_server_goes_away_and_comes_back(meet: Meet, server: Server) -> None:
    stays, leaves = a_study(server.home, "Stays"), a_study(server.home, "Leaves")
    dee, eva = meet("Dee"), meet("Eva")
    dee.open(stays)
    eva.open(leaves)
    server.kill()
    for person in (dee, eva):
        person.press("5")
        person.page.wait_for_timeout(500)
        person.press("Enter")
        expect(person.page.get_by_text(re.compile("Your answer is kept in this browser"))).to_be_visible()
        item(person.page, 1)
        expect(person.page.locator(".st-pace")).to_contain_text("0 of 3")
    # Dee changes her mind while it is away; Eva closes the window.
    dee.press("4", "Enter")
    eva.page.close()
    server.start()
    item(dee.page, 2)
    expect(dee.page.locator(".st-pace")).to_contain_text("1 of 3")
    assert [one.answer for one in history(server.home, stays)] == [flagged(BROAD)]

    eva.page = eva.tab()
    eva.open(leaves)
    expect(eva.page.get_by_text("An answer from before was still waiting here; it is saved now.")).to_be_visible()
    item(eva.page, 2)
    assert [one.answer for one in history(server.home, leaves)] == [valid()]


def test_the_sign_in_ends_in_mid_item(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Expired")
    fay = meet("Fay")
    page = fay.open(study)
    fay.press("3", "c", "n")
    page.keyboard.type("it is ")
    fay.context.clear_cookies()
    page.keyboard.type("another dress")
    page.wait_for_timeout(700)
    expect(page.get_by_role("dialog")).to_have_count(0)  # typing is not disturbed
    fay.press("Enter")
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog.get_by_label("Name")).to_have_value("Fay")
    page.keyboard.type("not the password")
    fay.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("do not go together")
    page.keyboard.type(PASSWORD)
    fay.press("Enter")
    item(page, 2)
    assert [one.answer for one in history(server.home, study)] == [
        flagged(TARGET, reasons=("3c",), note="it is another dress")]


def test_a_note_too_long_and_a_study_that_closes(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Closing")
    gus = meet("Gus")
    page = gus.open(study)
    long = "ö" * 30_000
    gus.press("5", "n")
    with draft_kept(page):
        page.keyboard.insert_text(long)
    gus.press("Enter")
    expect(page.locator(".st-rubric .cq-inline:visible")).to_contain_text("The note has 30,000 characters; 20,000 can")
    page.reload()
    item(page, 1)
    expect(page.get_by_label("Note")).to_have_value(long)
    page.get_by_label("Note").fill("short")

    with stores(server.home) as opened:
        opened.studies.set_accepting(study.study_id, False)
    page.wait_for_timeout(400)
    gus.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="takes no more answers")).to_be_visible()
    assert pressed(page) == ["Valid"]
    expect(page.get_by_label("Note")).to_have_value("short")
    assert not history(server.home, study)
    page.reload()
    expect(page.locator(TITLE)).to_be_visible()
    expect(page.get_by_text("This study is closed.")).to_be_visible()
    expect(row(page, "Valid")).to_have_attribute("aria-pressed", "true")


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
