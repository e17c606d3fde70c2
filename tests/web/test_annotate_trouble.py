"""What goes wrong while people annotate: double presses, two windows, a server that goes away, a
sign-in that ends, a note too long, a study that closes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.fakes.studies import flagged, valid
from tests.integration.crowd import PASSWORD, Server
from tests.web.judging import (
    TITLE,
    Meet,
    a_server,
    a_study,
    draft_kept,
    history,
    item,
    order_of,
    pressed,
    row,
    stores,
    visitors,
)

TARGET, BROAD = "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with a_server(tmp_path_factory.mktemp("trouble"), ["Bea", "Cem", "Dee", "Eva", "Fay", "Gus"]) as server:
        yield server


@pytest.fixture
def meet(browser: Browser, server: Server) -> Iterator[Meet]:
    with visitors(browser, server) as come:
        yield come


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
