"""What was made of the words: texts edited in place, choices for a vague wish, words that point at results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web import screen
from tests.web.browsing import at_rest

Open = Callable[..., Page]


def test_the_query_is_edited_by_keyboard(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    query, changes = page.get_by_role("textbox", name="Query used"), page.locator(".cq-changes")
    before, was = screen.shown_ids(page), query.inner_text()

    query.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a long black plain dress")
    page.keyboard.press("Escape")
    expect(query).to_have_text(was)
    expect(changes).to_have_count(0)
    expect(query).to_be_focused()

    page.keyboard.press("Enter")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a long black plain dress with <b>a belt</b>")
    page.keyboard.press("Enter")
    expect(changes).to_contain_text("query")
    at_rest(page)
    expect(query).to_have_text("a long black plain dress with <b>a belt</b>")
    expect(query).to_be_focused()
    assert screen.shown_ids(page) != before
    expect(page.get_by_role("group", name="Texts of this turn")).to_contain_text("edited by you")
    expect(page.locator("[data-ledger]")).to_contain_text("Text, edited")
    changes.get_by_role("button", name="Undo").click()
    expect(query).to_have_text(was)
    at_rest(page)
    assert screen.shown_ids(page) == before


@pytest.mark.extended
def test_the_caption_is_edited_and_kept(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    query, changes = page.get_by_role("textbox", name="Query used"), page.locator(".cq-changes")
    was = query.inner_text()

    caption = page.get_by_role("textbox", name="Caption of the reference")
    caption.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a long plain blue dress with a belt")
    page.keyboard.press("Enter")
    expect(query).to_have_text(re.compile("red.* dress with a belt"))
    at_rest(page)
    changes.get_by_role("button", name="Keep as a turn").click()
    expect(changes).to_have_count(0)
    at_rest(page)
    page.reload()
    expect(caption).to_have_text("a long plain blue dress with a belt")
    expect(page.get_by_role("group", name="Texts of this turn")).to_contain_text("edited by you")
    expect(page.locator(".cq-how")).to_contain_text("Caption before you edited it")
    with page.expect_download() as download:
        page.get_by_text("Export", exact=True).click()
        page.get_by_role("link", name="This branch up to this turn (JSON)").click()
    [record] = json.loads(Path(download.value.path()).read_text("utf-8"))
    turn = record["cirque"]["turns"][-1]
    assert turn["caption"] == "a long plain blue dress with a belt" and turn["edited"]["merged_text"] == was


@pytest.mark.extended
def test_a_vague_wish_offers_choices_that_replace_it(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "more formal", 1)
    understood = page.get_by_role("group", name="What was understood")
    expect(understood.get_by_role("list", name="Not understood")).to_contain_text("formal")
    choice = understood.get_by_role("list", name="You may mean").get_by_role("button").first
    text = choice.inner_text()
    choice.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("listbox", name=f"Results of turn 1: {text}")).to_be_visible()
    at_rest(page)
    expect(understood.get_by_role("list", name="Not understood")).to_have_count(0)
    expect(page.get_by_role("group", name="Branches").get_by_role("button", name=re.compile("turn 1: more formal"))
           ).to_be_visible()


@pytest.mark.extended
@pytest.mark.parametrize("width", [1440, 390])
def test_words_point_at_a_result(open_page: Open, width: int) -> None:
    page = open_page(width=width)
    screen.search(page, "in red", 1)
    row = page.locator(".cq-grid").evaluate("grid => getComputedStyle(grid).gridTemplateColumns.split(' ').length")
    shown = screen.shown_ids(page)
    screen.search(page, "like the second one but in green", 2)
    expect(page.get_by_role("note")).to_have_text(["Reference: result 2."])
    expect(page.locator(".cq-frame")).to_have_attribute("data-name", shown[1])
    page.locator(".cq-turns li").nth(0).get_by_role("button").click()
    expect(page.get_by_text("You are viewing turn 1 of 2.")).to_be_visible()
    at_rest(page)
    screen.search(page, "the one on the right, striped", 2)
    expect(page.locator(".cq-frame")).to_have_attribute("data-name", shown[row - 1])
    screen.search(page, "красное", 3)
    expect(page.get_by_role("note").first).to_contain_text("The built-in language model reads English only")
