"""What goes wrong while people annotate: double presses, two windows, a server that goes away, a
sign-in that ends, a note too long, a study that closes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import APIResponse, Route, expect

from annotation.records import Study
from tests.fakes.studies import flagged, valid
from tests.integration.crowd import PASSWORD, Server
from tests.web.browsing import at_rest, enter, held_up, until
from tests.web.judging import (
    TITLE,
    Meet,
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
from tests.web.judging import meet as meet
from tests.web.judging import server as server

PEOPLE = ["Bea", "Cem", "Dee", "Eva", "Fay", "Gus", "Jon", "Kim", "Lea", "Mia", "Noa", "Oda", "Pia", "Ria"]
TEXT, TARGET, BROAD = "INVALID_TEXT_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD"


@pytest.mark.extended
def test_a_double_click_is_one_press(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Double")
    bea = meet("Bea")
    page = bea.open(study)
    bea.press("5")
    at_rest(page)
    page.get_by_role("button", name="Save and continue").dblclick()
    item(page, 2)
    bea.press("5")
    at_rest(page)
    bea.press("Enter", "Enter", "Enter")
    item(page, 3)
    at_rest(page)
    assert pressed(page) == []
    expect(page.locator(".st-rubric .cq-inline:visible")).to_have_count(0)
    assert [one.revision for one in history(server.home, study)] == [1, 1]


@pytest.mark.extended
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
        enter(person.page)
        expect(person.page.get_by_text(re.compile("Your answer is kept in this browser"))).to_be_visible()
        item(person.page, 2)   # which was here already
        expect(person.page.locator(".st-pace")).to_contain_text("1 of 3")
    # Dee changes her mind while it is away; Eva closes the window.
    dee.press("ArrowLeft")
    item(dee.page, 1)
    dee.press("4")
    enter(dee.page)
    item(dee.page, 2)
    eva.page.close()
    server.start()
    expect(dee.page.get_by_text("The previous answer is saved.")).to_be_visible()
    item(dee.page, 2)
    expect(dee.page.locator(".st-pace")).to_contain_text("1 of 3")
    assert [one.answer for one in history(server.home, stays)] == [flagged(BROAD)]

    eva.page = eva.tab()
    eva.open(leaves)
    expect(eva.page.get_by_text("An earlier answer was still pending here; it is now saved.")).to_be_visible()
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
    at_rest(page)
    expect(page.get_by_role("dialog")).to_have_count(0)  # typing is not disturbed
    fay.press("Enter")
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog.get_by_label("Name")).to_have_value("Fay")
    page.keyboard.type("not the password")
    fay.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("name or password is wrong")
    page.keyboard.type(PASSWORD)
    fay.press("Enter")
    item(page, 2)
    assert [one.answer for one in history(server.home, study)] == [
        flagged(TARGET, reasons=("3c",), note="it is another dress")]


@pytest.mark.extended
def test_answers_to_several_items_wait_in_a_row(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Row")
    kim = meet("Kim")
    page = kim.open(study)
    page.route("**/study/save", lambda route: route.fulfill(
        status=503, json={"problem": "The disk is full.", "kind": "storage"}))
    kim.press("5")
    enter(page)
    expect(page.get_by_text("Your answer is kept in this browser")).to_be_visible()
    # The same answer to another item is another answer.
    for number, key in ((2, "5"), (3, "4")):
        kim.press("ArrowRight")
        item(page, number)
        kim.press(key)
        enter(page)
        expect(page.get_by_text(f"{number} answers are kept in this browser")).to_be_visible()
    # What waits is there when its item is shown again, and may be changed.
    kim.press("ArrowLeft")
    item(page, 2)
    kim.press("ArrowLeft")
    item(page, 1)
    assert pressed(page) == ["Valid"]
    kim.press("1", "b")
    enter(page)
    try_now = page.get_by_role("button", name="Try now")
    with page.expect_request("**/study/save"):
        try_now.click()
    expect(try_now).to_be_visible()   # the disk is still full
    page.unroute("**/study/save")
    try_now.evaluate_all("all => all.forEach((one) => one.click())")   # the page tries by itself, too: it may be gone
    expect(page.locator(".st-pace")).to_contain_text("3 of 3")
    one, two, three = order_of(server.home, study, "Kim")
    assert {it.item_id: (it.revision, it.answer) for it in history(server.home, study)} == {
        one: (1, flagged(TEXT, reasons=("1b",))), two: (1, valid()), three: (1, flagged(BROAD))}
    assert page.evaluate("localStorage.getItem('cirque.unsent.Kim')") is None


@pytest.mark.extended
def test_not_now_and_stepping_away(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Later")
    noa = meet("Noa")
    page = noa.open(study)
    noa.press("5")
    at_rest(page)
    noa.context.clear_cookies()
    noa.press("Enter")
    page.get_by_role("button", name="Not now").click()
    expect(page.get_by_text("You are signed out. Your answer is kept in this browser.")).to_be_visible()
    # To go elsewhere one must sign in; what waited goes out then, while the next answer is given.
    noa.press("ArrowRight")
    expect(page.get_by_role("dialog", name="Sign in again")).to_be_visible()
    page.keyboard.type(PASSWORD)
    noa.press("Enter")
    item(page, 2)
    expect(page.get_by_text("The previous answer is saved.")).to_be_visible()
    expect(page.locator(".st-pace")).to_contain_text("1 of 3")
    noa.press("4")
    noa.save()
    item(page, 3)
    one, two, _ = order_of(server.home, study, "Noa")
    assert answers(server.home, study) == {one: valid(), two: flagged(BROAD)}


def left_waiting(person: Person, study: Study) -> None:
    """Valid, for the first item: it could not be sent, and the window is closed."""
    page = person.open(study)
    page.route("**/study/save", lambda route: route.abort())
    person.press("5")
    enter(page)
    expect(page.get_by_text("Your answer is kept in this browser")).to_be_visible()
    page.close()
    person.page = person.tab()


ONE_ITEM = re.compile(r"/study/at\?.*&item=")
"""Held up, what waits cannot be settled before the page has to show something."""


@pytest.mark.extended
def test_what_waited_does_not_replace_a_later_answer(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Stale")
    here, elsewhere = meet("Lea"), meet("Lea")
    left_waiting(here, study)
    elsewhere.open(study)
    elsewhere.press("4")
    elsewhere.save()

    page = here.open(study)
    expect(page.get_by_text("Item 1: you have since answered this elsewhere.")).to_be_visible()
    # A busy machine may have shown the next item before it was known.
    offered = page.get_by_role("button", name="Open it")
    expect(offered.or_(page.locator(".st-number", has_text="Item 1"))).to_be_visible()
    if offered.is_visible():
        offered.click()
    item(page, 1)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    expect(page.locator(".st-state")).to_have_text("Answered")
    assert pressed(page) == ["Valid"]
    assert [it.answer for it in history(server.home, study)] == [flagged(BROAD)]
    # It is a draft like any other: there after a reload, saved when the person wants it.
    page.goto("about:blank")
    here.open(study)
    item(page, 2)
    here.press("ArrowLeft")
    item(page, 1)
    assert pressed(page) == ["Valid"]
    here.save()
    item(page, 2)
    assert [(it.revision, it.answer) for it in history(server.home, study)] == [(1, flagged(BROAD)), (2, valid())]


@pytest.mark.extended
def test_what_turns_out_late_to_be_overtaken_leaves_the_person_where_they_are(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Slow")
    here, elsewhere = meet("Mia"), meet("Mia")
    left_waiting(here, study)
    elsewhere.open(study)
    elsewhere.press("4")
    elsewhere.save()

    with held_up(here.page, ONE_ITEM) as held:
        page = here.open(study)
        item(page, 2)
        here.press("1", "n")
        page.keyboard.type("of item 2")
        assert len(held) == 1
    told = page.get_by_role("status").filter(has_text="Item 1: you have since answered this elsewhere.")
    expect(told).to_be_visible()
    page.keyboard.type(", to its end")
    item(page, 2)
    here.press("Escape")
    here.tab_to(told.get_by_role("button", name="Open it"))
    here.press("Enter")
    item(page, 1)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    expect(page.locator(".st-state")).to_have_text("Answered")
    assert pressed(page) == ["Valid"]
    expect(told.get_by_role("button")).to_have_count(0)
    here.press("ArrowRight")
    item(page, 2)
    expect(page.get_by_label("Note")).to_have_value("of item 2, to its end")
    assert [it.answer for it in history(server.home, study)] == [flagged(BROAD)]


@pytest.mark.extended
def test_what_is_saved_late_is_shown_as_saved_under_what_was_changed_since(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "SlowSave")
    oda = meet("Oda")
    left_waiting(oda, study)
    with held_up(oda.page, ONE_ITEM):
        page = oda.open(study)
        item(page, 1)
        assert pressed(page) == ["Valid"]
        oda.press("n")
        page.keyboard.type("and a note")
    expect(page.get_by_text("An earlier answer was still pending here; it is now saved.")).to_be_visible()
    expect(page.locator(".st-state")).to_have_text("Answered")
    expect(page.locator(".st-pace")).to_contain_text("1 of 3")
    page.keyboard.type(", longer")
    item(page, 1)
    oda.save()
    item(page, 2)
    assert [(it.revision, it.answer) for it in history(server.home, study)] == [
        (1, valid()), (2, valid(note="and a note, longer"))]
    expect(page.get_by_text("in another window")).to_have_count(0)


@pytest.mark.extended
def test_a_draft_that_only_the_browser_has_reaches_the_server_when_it_is_opened_again(
    meet: Meet, server: Server,
) -> None:
    study = a_study(server.home, "Reopened")
    pia = meet("Pia")
    page = pia.open(study)
    pia.press("n")
    server.kill()
    page.keyboard.type("typed into the void 😀")
    at_rest(page)
    page.close()
    server.start()
    with stores(server.home) as opened:
        assert opened.studies.workspace(study.study_id, "Pia").draft is None
    pia.page = page = pia.tab()
    with draft_kept(page):
        pia.open(study)
    expect(page.get_by_label("Note")).to_have_value("typed into the void 😀")
    with stores(server.home) as opened:
        draft = opened.studies.workspace(study.study_id, "Pia").draft
    assert draft is not None and draft.answer["note"] == "typed into the void 😀"
    page.wait_for_function("localStorage.getItem('cirque.drafts.Pia') === null")


@pytest.mark.extended
def test_a_draft_that_arrives_while_its_item_is_fetched_is_shown(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Crossing")
    ria = meet("Ria")
    page = ria.open(study)
    first, _, _ = order_of(server.home, study, "Ria")
    drafts: list[Route] = []
    fetched: list[tuple[Route, APIResponse]] = []
    page.route("**/study/draft", lambda route: drafts.append(route))
    page.route(re.compile(rf"/study/at\?.*&item={first}"), lambda route: fetched.append((route, route.fetch())))
    ria.press("n")
    page.keyboard.type("on its way")
    ria.press("Escape", "ArrowRight")
    item(page, 2)
    ria.press("ArrowLeft")
    until(page, lambda: bool(fetched))   # as the server had it before it got the draft
    page.unroute("**/study/draft")
    with draft_kept(page):
        for held in drafts:   # a slow machine sends what is typed in parts
            held.continue_()
    page.wait_for_function("localStorage.getItem('cirque.drafts.Ria') === null")
    [(route, before)] = fetched
    assert before.json()["draft"] is None
    route.fulfill(response=before)
    item(page, 1)
    expect(page.get_by_label("Note")).to_have_value("on its way")
    expect(page.get_by_text("Draft restored")).to_be_visible()


@pytest.mark.extended
def test_a_draft_that_is_discarded_does_not_come_back(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Discarded")
    jon = meet("Jon")
    page = jon.open(study)
    with draft_kept(page):
        jon.press("1", "b")
    page.reload()
    expect(page.get_by_text("Draft restored")).to_be_visible()
    with draft_kept(page):
        page.get_by_role("button", name="Discard").click()
    assert pressed(page) == []
    with stores(server.home) as opened:
        assert opened.studies.workspace(study.study_id, "Jon").draft is None
    page.reload()
    item(page, 1)
    expect(page.get_by_text("Draft restored")).to_be_hidden()
    assert pressed(page) == []

    # Taken back with Ctrl+Z, it is kept again.
    with draft_kept(page):
        jon.press("1", "b")
    page.reload()
    expect(page.get_by_text("Draft restored")).to_be_visible()
    with draft_kept(page):
        page.get_by_role("button", name="Discard").click()
    with draft_kept(page):
        jon.press("Control+z")
    page.reload()
    expect(page.get_by_text("Draft restored")).to_be_visible()
    assert pressed(page) == ["Unclear text", "Does not say enough"]


@pytest.mark.extended
def test_a_note_too_long_and_a_study_that_closes(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Closing")
    gus = meet("Gus")
    page = gus.open(study)
    long = "ö" * 30_000
    gus.press("5", "n")
    with draft_kept(page):
        page.keyboard.insert_text(long)
    gus.press("Enter")
    expect(page.locator(".st-rubric .cq-inline:visible")).to_contain_text(
        "The note has 30,000 characters; 20,000 is the limit")
    page.reload()
    item(page, 1)
    expect(page.get_by_label("Note")).to_have_value(long)
    page.get_by_label("Note").fill("short")

    with stores(server.home) as opened:
        opened.studies.set_accepting(study.study_id, False)
    enter(page)
    expect(page.get_by_role("alert").filter(has_text="takes no more answers")).to_be_visible()
    assert pressed(page) == ["Valid"]
    expect(page.get_by_label("Note")).to_have_value("short")
    assert not history(server.home, study)
    page.reload()
    expect(page.locator(TITLE)).to_be_visible()
    expect(page.get_by_text("This study is closed: you can view it")).to_be_visible()
    expect(row(page, "Valid")).to_have_attribute("aria-pressed", "true")

    # Open again: the next Enter finds out, without a reload.
    enter(page)
    said = "This study is closed: it no longer accepts answers"
    expect(page.get_by_role("alert").filter(has_text=said)).to_be_visible()
    with stores(server.home) as opened:
        opened.studies.set_accepting(study.study_id, True)
    gus.press("Enter")
    item(page, 2)
    assert [one.answer for one in history(server.home, study)] == [valid(note="short")]
