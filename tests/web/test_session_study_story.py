"""A person rates sessions with the keyboard alone, comes back to what was begun, and on a phone with the thumb."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.records import Item, Study
from cir_core.gallery.gallery import Gallery
from tests.fakes.colours import colour_gallery
from tests.fakes.session_studies import make_session_study, session_rated
from tests.integration.crowd import Server
from tests.web.browsing import at_rest, enter
from tests.web.judging import (
    Meet,
    a_server,
    all_of,
    answers,
    begin,
    begin_button,
    draft_kept,
    history,
    order_of,
    stores,
)
from tests.web.judging import meet as meet


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    return colour_gallery(tmp_path_factory.mktemp("colours"), edge=96)


@pytest.fixture(scope="module")
def server(gallery: Gallery) -> Iterator[Server]:
    with a_server(gallery.root.parent / "home", ["Ada", "Bea", "Cleo", "Dan"]) as server:
        yield server


def a_session_study(server: Server, gallery: Gallery, name: str, sample: int = 1) -> tuple[Study, dict[str, Item]]:
    """Of three subsets ``sample`` sessions each, for one person."""
    with stores(server.home) as opened:
        study = make_session_study(opened.studies, server.home, gallery, name=name, sample=sample, seats=1)
        return study, {item.item_id: item for item in opened.studies.items(study.study_id)}


def session(page: Page, number: int) -> None:
    """Wait until this one is shown."""
    expect(page.locator(".st-number")).to_have_text(f"Session {number}")


def question(page: Page, title: str) -> Locator:
    return page.locator(".ss-question").filter(has=page.get_by_text(title, exact=True))


def chosen(page: Page) -> list[str]:
    return page.locator(".ss-scale [aria-checked=true]").all_inner_texts()


def marked(page: Page, title: str) -> None:
    expect(page.locator(".ss-question.active b")).to_have_text(title)


def test_rating_with_the_keyboard_alone(meet: Meet, server: Server, gallery: Gallery) -> None:
    study, items = a_session_study(server, gallery, "Dialogues")
    ada = meet("Ada")
    page = ada.page
    page.goto(f"{server.url}/annotate?study=Dialogues")
    expect(page.get_by_text("About 3 sessions for you.")).to_be_visible()
    begin(page)
    session(page, 1)
    first, second, third = order_of(server.home, study, "Ada")

    # The story in its order: an image and what was said about it, turn by turn, then the target.
    shown = items[first].shown
    steps = page.locator(".ss-step")
    expect(steps).to_have_count(len(shown["turns"]) + 1)
    assert page.locator("blockquote").all_inner_texts() == [turn["text"] for turn in shown["turns"]]
    sources = steps.locator("img").evaluate_all("all => all.map((one) => one.getAttribute('src'))")
    for source, token in zip(sources, [*(turn["image"] for turn in shown["turns"]), shown["target"]], strict=True):
        assert source.endswith(f"{token}-l.webp")
    expect(steps.last).to_contain_text("Target")
    page.wait_for_function("[...document.querySelectorAll('.ss-step img')].every((one) => one.naturalWidth > 0)")

    ada.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Answer the marked question")
    ada.press("Escape", "d")
    guidelines = page.get_by_role("dialog", name="Guidelines")
    expect(guidelines).to_contain_text("Is there low repetition of information?")
    ada.press("d")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # Digits answer and go on; what is missing is said at its question.
    marked(page, "Session naturalness")
    ada.press("4", "3")
    marked(page, "Goal-directed progress")
    enter(page)
    expect(question(page, "Goal-directed progress").locator(".cq-inline")).to_have_text("No answer yet: choose 1 to 5.")
    ada.press("ArrowDown", "5")
    marked(page, "Overall")
    ada.press("2")
    marked(page, "Goal-directed progress")   # behind the last one, the first without an answer
    ada.press("1")
    marked(page, "Redundancy (higher = better)")
    assert chosen(page) == ["4", "3", "1", "5", "2"]
    ada.press("ArrowUp", "ArrowUp", "5")
    assert chosen(page) == ["4", "5", "1", "5", "2"]
    ada.press("Control+z")
    assert chosen(page) == ["4", "3", "1", "5", "2"]
    ada.press("r")
    page.keyboard.type("it says 3 things twice")
    ada.press("Escape")
    ada.save()
    session(page, 2)

    held = [all_of(page)]

    # A draft survives a reload, and being elsewhere.
    assert chosen(page) == []
    with draft_kept(page):
        ada.press("2", "2")
    page.reload()
    session(page, 2)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    assert chosen(page) == ["2", "2"]
    marked(page, "Goal-directed progress")
    ada.press("ArrowRight")
    session(page, 3)
    ada.press("ArrowLeft")
    session(page, 2)
    assert chosen(page) == ["2", "2"]
    ada.press("2", "2", "2")
    ada.save()
    session(page, 3)

    # Large, with the words beneath; arrows lead on.
    ada.press("z")
    large = page.get_by_role("dialog", name="Picture")
    expect(large.get_by_role("paragraph")).to_contain_text(f"Turn 1: “{items[third].shown['turns'][0]['text']}”")
    ada.press("ArrowLeft")
    expect(large.get_by_role("paragraph")).to_have_text("Target")
    ada.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # Back, and revised; then on to the end.
    ada.press("o")
    expect(page.get_by_role("dialog", name="All sessions")).to_contain_text("2 answered")
    ada.press("Home", "Enter")
    session(page, 1)
    expect(page.locator(".st-state")).to_have_text("Answered")
    ada.press("5")
    ada.save()
    session(page, 3)
    ada.press("1", "1", "1", "1", "1")
    ada.save()
    expect(page.get_by_role("heading", name="That was the last one. Thank you.")).to_be_visible()
    reason = "it says 3 things twice"
    assert answers(server.home, study) == {
        first: session_rated(5, 3, 1, 5, 2, reason=reason), second: session_rated(*5 * (2,)),
        third: session_rated(*5 * (1,))}
    assert [one.answer for one in history(server.home, study) if one.item_id == first] == [
        session_rated(4, 3, 1, 5, 2, reason=reason), session_rated(5, 3, 1, 5, 2, reason=reason)]

    # Nothing on the page said where a session comes from, or which images these are.
    held.append(all_of(page))
    for item in items.values():
        secrets = (item.hidden["subset"], item.hidden["gallery"], item.hidden["target_id"], *item.hidden["references"])
        assert [secret for secret in secrets if any(secret in one for one in held)] == []


@pytest.mark.extended
def test_on_a_phone(meet: Meet, server: Server, gallery: Gallery) -> None:
    study, items = a_session_study(server, gallery, "Small", 3)
    bea = meet("Bea")
    page = bea.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/annotate?study=Small")
    begin(page)
    session(page, 1)
    order = order_of(server.home, study, "Bea")
    place = next(place for place, item in enumerate(order) if len(items[item].shown["turns"]) == 6)
    for number in range(2, place + 2):
        page.get_by_role("button", name="Forward").click()
        session(page, number)
    expect(page.get_by_role("heading", name="A search in 6 turns")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    story, questions = page.locator(".ss-story").bounding_box(), page.locator(".ss-questions").bounding_box()
    assert story and questions and questions["y"] >= story["y"] + story["height"]
    for name in ("Session naturalness", "Coherence / consistency", "Goal-directed progress",
                 "Redundancy (higher = better)", "Overall"):
        button = question(page, name).get_by_role("radio", name=re.compile("^4"))
        box = button.bounding_box()
        assert box and min(box["width"], box["height"]) >= 40, name
        button.click()
    assert chosen(page) == 5 * ["4"]
    with page.expect_response(re.compile("study/save")):
        at_rest(page)
        page.get_by_role("button", name="Save and continue").click()
    expect(page.locator(".st-pace")).to_contain_text("1 of 9")
    assert answers(server.home, study) == {order[place]: session_rated()}


@pytest.mark.extended
def test_what_was_begun_outlives_a_killed_server(meet: Meet, server: Server, gallery: Gallery) -> None:
    study, _ = a_session_study(server, gallery, "Killed")
    cleo = meet("Cleo")
    page = cleo.open(study)
    with draft_kept(page):
        cleo.press("3", "3", "3", "3")
    server.kill()
    cleo.press("5")
    enter(page)
    expect(page.get_by_text("Your answer is kept in this browser")).to_be_visible()
    session(page, 2)   # which was here already
    server.start()
    expect(page.get_by_text("The previous answer is saved.")).to_be_visible()
    assert list(answers(server.home, study).values()) == [session_rated(3, 3, 3, 3, 5)]


@pytest.mark.extended
def test_the_managers_screen(meet: Meet, server: Server, gallery: Gallery) -> None:
    study, _ = a_session_study(server, gallery, "Managed")
    admin = meet("Ada Min")
    page = admin.open(study)
    admin.press("4", "4", "4", "4", "4")
    admin.save()
    page.goto(f"{server.url}/studies")
    expect(page.get_by_role("listitem").filter(has_text="Managed")).to_contain_text("3 sessions")
    page.get_by_role("link", name="Managed").click()
    page.get_by_role("tab", name="Analysis").click()
    expect(page.get_by_text("You rate sessions in this study.")).to_be_visible()
    page.get_by_role("button", name="Show them anyway").click()
    table = page.get_by_role("region", name="Ratings").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(5)   # a head, two sources, the subsets of one
    expect(table).to_contain_text("4.00")
    page.get_by_role("tab", name="Files").click()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as got:
        page.get_by_text("Means by source, and of every session").click()
    assert json.loads(got.value.path().read_text("utf-8"))["study"] == "Managed"
    expect(page.get_by_role("link", name=re.compile("Adjudicate \\d"))).to_have_count(0)


@pytest.mark.extended
def test_a_closed_study_is_shown_and_takes_nothing(meet: Meet, server: Server, gallery: Gallery) -> None:
    study, _ = a_session_study(server, gallery, "Closing")
    dan = meet("Dan")
    page = dan.open(study)
    with stores(server.home) as opened:
        opened.studies.set_accepting(study.study_id, False)
    dan.press("4", "4", "4", "4", "4")
    enter(page)
    expect(page.get_by_role("alert").filter(has_text="takes no more answers")).to_be_visible()
    assert answers(server.home, study) == {}
    expect(begin_button(page)).to_have_count(0)
