"""Several pictures as the reference, and a region cut out of one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from tests.web import screen
from tests.web.browsing import at_rest

RECORD = "() => fetch(`export/${new URL(location.href).searchParams.get('session')}.json`).then((one) => one.text())"


def turns(page: Page) -> list[dict[str, Any]]:
    """Of the first branch, as the export has them: the published fields and cirque's own."""
    [record, *_] = json.loads(page.evaluate(RECORD))
    return [published | own for published, own in zip(record["turns"], record["cirque"]["turns"], strict=True)]


def added(page: Page) -> Locator:
    return page.get_by_role("group", name="Reference pictures").locator(".cq-one:visible")


def add(page: Page, place: int) -> None:
    """The picture at ``place`` in the gallery's random ones, by the keyboard."""
    page.get_by_role("button", name="Add a picture").press("Enter")
    picker = page.get_by_role("dialog", name="Gallery")
    expect(picker.get_by_role("heading", name="Add a picture")).to_be_visible()
    picker.get_by_role("group", name="Gallery images").get_by_role("button").nth(place).press("Enter")
    expect(picker).to_be_hidden()
    at_rest(page)


def test_pictures_are_added_searched_with_removed_and_still_there_after_a_reload(open_page):
    page = open_page()
    first = screen.reference(page)
    add(page, 0)
    expect(added(page)).to_have_count(1)
    add(page, 7)
    expect(added(page)).to_have_count(2)
    ids = [one.get_attribute("data-one") for one in added(page).all()]
    screen.search(page, "in red", 1)
    [turn] = turns(page)
    assert (turn["reference_image_id"], turn["further_references"]) == (first, ids)
    assert set(turn["excluded_ids"]) == {first, *ids}
    assert not {first, *ids} & set(screen.shown_ids(page))
    card = page.get_by_role("region", name="Turns so far").get_by_role("button", name=re.compile("Turn 1"))
    expect(card).to_contain_text("3 reference pictures")
    expect(page.get_by_label("How this was found")).to_contain_text("this turn has several")

    # The selected result is what the next words start from, alone; the earlier ones are one click away.
    expect(added(page)).to_have_count(0)
    expect(page.locator("[data-from]")).to_contain_text("Rank 1 of these results, alone.")
    page.get_by_role("button", name="Use the earlier 3 pictures").click()
    expect(added(page)).to_have_count(2)

    page.reload()
    expect(page.get_by_role("listbox", name="Results of turn 1: in red")).to_be_visible()
    page.get_by_role("button", name="Use the earlier 3 pictures").click()
    page.get_by_role("button", name="Remove reference picture 2").click()
    expect(added(page)).to_have_count(1)
    assert added(page).get_attribute("data-one") == ids[1]


@pytest.mark.extended
def test_pictures_that_are_references_already_are_not_offered_again(open_page):
    page = open_page()
    first = screen.reference(page)
    answer = page.request.get(page.evaluate("new URL(`media/find?gallery=${document.querySelector('.cq-state')"
                                            ".dataset.gallery}`, document.baseURI).href")).json()
    others = [image for image in answer["images"] if image["id"] != first][:3]
    page.route("**/media/find*", lambda route: route.fulfill(json={"images": [others[0] | {"id": first}, *others]}))
    picker = page.get_by_role("dialog", name="Gallery")
    offered = picker.get_by_role("group", name="Gallery images").get_by_role("button")
    page.get_by_role("button", name="Add a picture").press("Enter")
    expect(offered).to_have_count(3)
    page.keyboard.press("Escape")
    for already in (1, 2):
        add(page, 0)
        expect(added(page)).to_have_count(already)
        assert added(page).last.get_attribute("data-one") == others[already - 1]["id"]
    late: list[Route] = []
    page.unroute("**/media/find*")
    page.route("**/media/find*", lambda route: late.append(route))   # it takes no built-in
    page.get_by_role("button", name="Add a picture").press("Enter")
    expect(offered).to_have_count(1)                                 # of the last time, before the answer
    offered.press("Enter")
    expect(added(page)).to_have_count(3)
    late[0].fulfill(json={"images": []})


@pytest.mark.extended
def test_results_are_added_to_the_reference(open_page):
    page = open_page()
    screen.search(page, "in red", 1)
    picked = screen.refine_from(page, 2)
    third = screen.tiles(page).nth(2)
    third.click()
    expect(third).to_have_attribute("aria-selected", "true")
    page.keyboard.press("a")
    expect(added(page)).to_have_count(1)
    expect(page.locator(".cq-refname")).to_have_text(picked)
    at_rest(page)
    fourth = screen.tiles(page).nth(3)
    fourth.dblclick()
    page.get_by_role("dialog", name="Picture").get_by_role("button", name="Add to the reference").click()
    expect(added(page)).to_have_count(2)
    assert [one.get_attribute("data-one") for one in added(page).all()] == [
        tile.get_attribute("data-image") for tile in (third, fourth)]
    screen.search(page, "with long sleeves", 2)
    assert turns(page)[1]["reference_image_id"] == picked and len(turns(page)[1]["further_references"]) == 2


@pytest.mark.extended
def test_methods_are_compared_from_one_picture_and_say_so(open_page):
    page = open_page()
    add(page, 0)
    expect(added(page)).to_have_count(1)
    screen.text_field(page).fill("in red")
    page.get_by_role("button", name=re.compile("^Compare methods")).first.click()
    drawer = page.get_by_role("dialog", name="Compare methods")
    drawer.get_by_role("button", name=re.compile("^Compare")).last.click()
    expect(page.locator(".cq-rail .cq-inline")).to_contain_text("Remove the added ones")
    expect(added(page)).to_have_count(1)


def stage(page: Page) -> Locator:
    return page.get_by_role("application", name="Region to cut out")


@pytest.mark.extended
def test_a_region_is_cut_out_with_the_mouse_and_with_the_keyboard(open_page):
    page = open_page()
    whole = screen.reference(page)
    page.get_by_role("button", name="Cut out a region").press("Enter")
    expect(stage(page)).to_be_focused()
    said = page.get_by_role("dialog", name="Cut out a region").get_by_role("status")
    expect(said).to_have_text("60 × 60 % of the picture, 20 % from the left, 20 % from the top")
    for keys in ("ArrowRight", "ArrowDown", "ArrowDown", "Shift+ArrowLeft", "Shift+ArrowUp", "Shift+ArrowUp"):
        page.keyboard.press(keys)
    expect(said).to_have_text("58 × 56 % of the picture, 22 % from the left, 24 % from the top")
    page.keyboard.press("Escape")
    expect(stage(page)).to_be_hidden()
    expect(page.locator(".cq-refname")).to_have_text(whole)
    expect(page.get_by_role("button", name="Cut out a region")).to_be_focused()

    page.keyboard.press("Enter")
    edge = stage(page).bounding_box()
    assert edge
    page.mouse.move(edge["x"] + 0.05 * edge["width"], edge["y"] + 0.1 * edge["height"])
    page.mouse.down()
    page.mouse.move(edge["x"] + 0.3 * edge["width"], edge["y"] + 0.4 * edge["height"], steps=4)
    page.mouse.move(edge["x"] + 0.55 * edge["width"], edge["y"] + 0.9 * edge["height"], steps=4)
    page.mouse.up()
    expect(said).to_have_text("50 × 80 % of the picture, 5 % from the left, 10 % from the top")
    page.keyboard.press("Enter")
    expect(stage(page)).to_be_hidden()
    expect(page.locator(".cq-refname")).to_have_text(f"cut from {whole}")
    at_rest(page)
    screen.search(page, "in red", 1)
    [turn] = turns(page)
    [cut] = turn["cut_out"]
    assert (cut["image_id"], cut["from"]) == (turn["reference_image_id"], whole)
    assert [round(one, 2) for one in cut["region"]] == [0.05, 0.1, 0.5, 0.8]
    expect(page.get_by_text(f"50 × 80 % of {whole}")).to_be_attached()

    # After a reload the origin is still known.
    page.reload()
    page.get_by_role("button", name="Use the earlier one").click()
    expect(page.locator(".cq-refname")).to_have_text(f"cut from {whole}")


@pytest.mark.extended
def test_one_of_several_is_cut_and_a_finger_draws(open_page, tmp_path):
    page = open_page()
    first = screen.reference(page)
    path = tmp_path / "mine.png"
    Image.new("RGB", (200, 100), "navy").save(path)
    page.get_by_role("button", name="Add a picture").click()
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Upload a picture").click()
    chosen.value.set_files(path)
    expect(added(page)).to_have_count(1)
    before = added(page).get_attribute("data-one")
    at_rest(page)
    page.get_by_role("button", name="Cut out a region").click()
    page.get_by_role("button", name="Reference picture 2: your picture").click()
    expect(stage(page)).to_have_css("aspect-ratio", "2 / 1")
    for kind, at in (("pointerdown", 0.1), ("pointermove", 0.5), ("pointermove", 0.6), ("pointerup", 0.6)):
        stage(page).evaluate("""(stage, [kind, at]) => {
            stage.setPointerCapture = () => {};
            const edge = stage.getBoundingClientRect();
            stage.dispatchEvent(new PointerEvent(kind, { pointerType: 'touch', pointerId: 7, bubbles: true,
                cancelable: true, clientX: edge.left + at * edge.width, clientY: edge.top + at * edge.height }));
        }""", [kind, at])
    page.get_by_role("button", name="Use this region").click()
    expect(stage(page)).to_be_hidden()
    expect(page.get_by_title("cut from your picture")).to_be_visible()
    assert added(page).get_attribute("data-one") != before
    assert screen.reference(page) == first
