"""Analysts read what came of studies: numbers, figures, what people differ on, and a study that is under way."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Response, Route, expect

from tests.fakes.studies import make_study, valid
from tests.integration.crowd import Server
from tests.web.adjudicating import Meet
from tests.web.adjudicating import meet as meet
from tests.web.adjudicating import server as server
from tests.web.analysing import SAID, answer, card, compared, complete, judged, look, table
from tests.web.browsing import at_rest, until
from tests.web.judging import stores

NAMED = re.compile(r"\b(Ada|Bea)\b")
DRAWN = re.compile("report.*draws=1000")


def test_points_come_first_then_intervals(meet: Meet, server: Server) -> None:
    study = judged(server, "Stages")
    held: list[Route] = []
    page = meet("Nina")
    page.route(DRAWN, lambda route: held.append(route))
    page.goto(f"{server.url}/analysis")
    page.get_by_role("link", name="Stages").click()
    # 6 of 12 answers: two for each of two items, one for each of the two on which they differ
    expect(card(page, "Judged valid").locator("b")).to_have_text("50.0 %")
    expect(card(page, "Mean pairwise Cohen").locator("b")).to_have_text("0.333")
    expect(page.locator(".cq-an-progress")).to_have_text("1,000 draws…")
    expect(card(page, "Mean pairwise Cohen").get_by_role("img")).to_have_count(0)
    held[0].continue_()
    expect(card(page, "Mean pairwise Cohen").get_by_role("img", name="95 % interval")).to_be_visible()
    expect(page.locator(".cq-an-progress")).to_be_empty()
    sections = page.get_by_role("navigation", name="Sections").get_by_role("link")
    expect(sections).to_contain_text(["At a glance", "Valid or not"])
    assert f"study={study.name}" in page.url


@pytest.mark.extended
def test_a_filter_stands_in_the_address_and_a_late_answer_does_not_overwrite_it(meet: Meet, server: Server) -> None:
    look(page := meet("Nina"), server, judged(server, "Filters"))
    late: list[Route] = []
    # The first such request is held back until a later one was answered.
    page.route(re.compile(r"report.*shortcut_free"),
               lambda route: route.continue_() if late else late.append(route))
    chips = page.get_by_role("group", name="Category")
    chips.get_by_role("button", name="shortcut free").click()
    until(page, lambda: bool(late))
    chips.get_by_role("button", name="shortcut free").click()
    chips.get_by_role("button", name="shortcut image only").click()
    # items 2, 4 and 6: both not valid twice, both valid once
    expect(card(page, "Judged valid").locator("b")).to_have_text("33.3 %")
    (route,) = late
    route.fulfill(json={"stamp": "", "sections": []})
    page.unroute_all()
    complete(page)
    expect(card(page, "Judged valid").locator("b")).to_have_text("33.3 %")
    assert "category=shortcut_image_only" in page.url and "shortcut_free" not in page.url
    page.reload()
    complete(page)
    expect(card(page, "Judged valid").locator("b")).to_have_text("33.3 %")
    expect(chips.get_by_role("button", name="shortcut image only")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Clear filters").click()
    expect(card(page, "Judged valid").locator("b")).to_have_text("50.0 %")


@pytest.mark.extended
def test_a_cell_opens_what_two_people_differ_on(meet: Meet, server: Server) -> None:
    look(page := meet("Nina"), server, judged(server, "Disputes"))
    plot = page.locator("[data-section=binary] .cq-an-plot")
    assert "Pairwise Cohen’s κ" in (plot.get_attribute("aria-label") or "")
    expect(page.get_by_text("The report is complete")).to_be_attached()   # intervals draw the figure again
    area = plot.locator(".nsewdrag").first
    area.scroll_into_view_if_needed()
    panel = page.get_by_role("dialog", name="Disputed items of Ada and Bea")
    at_rest(page)   # figures beside it are drawn as they come near
    box = area.bounding_box()
    assert box is not None
    for x in (0.7, 0.75):   # row Bea, column Ada, the only one
        area.hover(position={"x": x * box["width"], "y": 0.25 * box["height"]})
    expect(plot).to_have_class(re.compile("opens"))
    page.mouse.down()
    page.mouse.up()
    expect(panel.get_by_role("heading", name="Disputed items of Ada and Bea")).to_be_visible()
    expect(panel.locator("header")).to_contain_text("all answers to each, these two highlighted")
    expect(panel.locator("[data-item]").first.locator(".marked")).to_have_count(2)
    expect(panel.get_by_role("status")).to_have_text("2 items, 2 shown")
    expect(panel.locator("[data-item]")).to_have_count(2)
    expect(panel.locator("[data-item]").first).to_contain_text("Query too broad")
    for picture in panel.locator("[data-item] img").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("image => image.naturalWidth") > 0
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(plot).to_be_focused()

    button = table(page, "Pairwise Cohen’s κ").get_by_role("button", name="Disputed items of Ada and Bea")
    button.focus()
    page.keyboard.press("Enter")
    expect(panel.locator("[data-item]")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


@pytest.mark.extended
def test_hidden_names_are_nowhere(meet: Meet, server: Server) -> None:
    look(page := meet("Nina"), server, judged(server, "Codes"))
    assert NAMED.search(page.content())
    page.get_by_role("button", name="Hide names").click()
    expect(page.get_by_role("group", name="People").get_by_role("button", name="P01")).to_be_visible()
    complete(page)
    table(page, "Pairwise Cohen’s κ").get_by_role("button", name="Disputed items").click()
    panel = page.get_by_role("dialog", name="Disputed items")
    expect(panel.locator("[data-item]")).to_have_count(2)
    assert not NAMED.search(page.content()) and not NAMED.search(page.url) and "names=hidden" in page.url
    page.keyboard.press("Escape")
    assert not NAMED.search(saved(page, table(page, "Pairwise Cohen’s κ"), "CSV").decode())

    told: list[Response] = []
    page.on("response", lambda one: told.append(one))
    page.reload()
    complete(page)
    page.get_by_role("button", name="Live").click()
    heard = [one for one in told if one.ok and one.request.resource_type in ("document", "fetch", "xhr")
             and "event-stream" not in one.headers.get("content-type", "")]   # Gradio's heartbeat never ends
    assert any("/analysis/report" in one.url for one in heard)
    assert [one.url for one in heard if NAMED.search(one.text())] == []


def saved(page: Page, box: Locator, form: str) -> bytes:
    box.locator("summary").filter(has_text="Download").click()
    with page.expect_download() as download:
        box.get_by_role("link", name=form).click()
    return Path(download.value.path()).read_bytes()


@pytest.mark.extended
def test_tables_and_figures_can_be_taken_away(meet: Meet, server: Server) -> None:
    look(page := meet("Nina"), server, judged(server, "Files"))
    pairs = table(page, "Pairwise Cohen’s κ")
    rows = list(csv.DictReader(io.StringIO(saved(page, pairs, "CSV").decode("utf-8-sig"))))
    assert [(row["a"], row["b"], row["n"]) for row in rows] == [("Ada", "Bea", "6")]
    assert float(rows[0]["kappa"]) == pytest.approx(1 / 3, abs=1e-12)
    assert b"\\toprule" in saved(page, pairs, "LaTeX")

    signatures = table(page, "Signatures by frequency")
    first = signatures.locator("tbody tr").first.locator("th")
    signatures.get_by_role("button", name="Signature").click()
    expect(signatures.get_by_role("columnheader", name="Signature")).to_have_attribute("aria-sort", "ascending")
    expect(first).to_have_text("Too broad")
    signatures.get_by_role("button", name="Signature").click()
    expect(first).to_have_text("Validated")

    figure = page.locator("[data-section=binary] .cq-an-figure")
    assert saved(page, figure, "SVG").startswith(b"<?xml") and saved(page, figure, "PDF").startswith(b"%PDF")
    page.locator("summary").filter(has_text="Report").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Text and tables").click()
    assert "Cohen" in Path(download.value.path()).read_text("utf-8")


@pytest.mark.extended
def test_a_running_study_is_followed_without_moving_anything(meet: Meet, server: Server) -> None:
    study = judged(server, "Running", SAID[:4])
    look(page := meet("Nina"), server, study)
    box = table(page, "Signatures by frequency")
    box.scroll_into_view_if_needed()
    where = page.evaluate("window.scrollY")
    expect(box.locator("tbody tr").filter(has_text="Validated").locator("td").first).to_have_text("3")
    answer(server, study, "Ada", 5, valid())
    answer(server, study, "Bea", 5, valid())
    expect(page.locator(".cq-an-news")).to_have_text(re.compile("[12] new answers?"))
    expect(box.locator("tbody tr").filter(has_text="Validated").locator("td").first).to_have_text("5")
    assert box.get_attribute("open") is not None and abs(page.evaluate("window.scrollY") - where) < 4
    page.get_by_role("button", name="Live").click()
    expect(page.get_by_role("button", name="Live")).to_have_attribute("aria-pressed", "false")


@pytest.mark.extended
def test_metrics_of_a_preference_study_and_scores_from_a_file(meet: Meet, server: Server) -> None:
    study = compared(server, "Shops")
    look(page := meet("Olga"), server, study)
    expect(page.locator("[data-section=rates]")).to_contain_text("recall@5")
    with stores(server.home) as opened:
        items = opened.studies.items(study.study_id)
    lines = [f"{item.key},{number},{(item.number * 7 + number * 3) % 5}" for item in items for number in (1, 2)]
    page.get_by_role("button", name="Add scores…").click()
    asks = page.get_by_role("dialog", name="Add scores")

    def choose(*lines: str) -> None:
        asks.get_by_label("CSV file").set_input_files(
            {"name": "scores.csv", "mimeType": "text/csv", "buffer": "\n".join(lines).encode()})
        asks.get_by_role("button", name="Add the file").click()

    choose("item,set,brightness", "nosuch,1,2")
    expect(asks.locator("form").first.get_by_role("alert")).to_contain_text("nosuch")
    choose("item,set,brightness", *lines)
    expect(asks).to_have_count(0)
    expect(page.locator("[data-section=rates]")).to_contain_text("brightness")
    metrics = page.get_by_role("region", name="Metrics", exact=True).first
    metrics.get_by_role("button", name="Remove the scores brightness").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove them").click()
    expect(page.locator("[data-section=rates]")).not_to_contain_text("brightness")


@pytest.mark.extended
def test_who_sees_what(meet: Meet, server: Server) -> None:
    study, shops = judged(server, "Nobody", ()), compared(server, "Other shops")
    nina = meet("Nina")
    nina.goto(f"{server.url}/analysis?study={study.name}")
    expect(nina.get_by_role("heading", name="No answer yet")).to_be_visible()
    expect(nina.locator(".cq-an-notes")).to_contain_text("0 of 12 planned answers")
    look(nina, server, shops)
    expect(nina.get_by_role("button", name="Add scores…")).to_have_count(0)
    nina.goto(f"{server.url}/analysis?study=Nosuch")
    expect(nina.get_by_role("heading", name="This cannot be shown")).to_be_visible()

    ada = meet("Ada")
    ada.goto(f"{server.url}/analysis?study={study.name}")
    expect(ada.get_by_role("heading", name="Not here")).to_be_visible()
    ada.goto(f"{server.url}/annotate")
    expect(ada.get_by_role("link", name="Analysis")).to_have_count(0)


@pytest.mark.extended
def test_whoever_judges_in_a_study_is_asked_first(meet: Meet, server: Server) -> None:
    study = judged(server, "Own work", SAID[:2])
    with stores(server.home) as opened:
        made = make_study(opened.studies, server.home, name="Olga too", items=2, seats=1)
    answer(server, made, "Olga", 0, valid())
    page = meet("Olga")
    page.goto(f"{server.url}/analysis?study={made.name}")
    expect(page.get_by_text("You are a judge in this study")).to_be_visible()
    expect(page.locator(".cq-an-section")).to_have_count(0)
    page.get_by_role("button", name="Show it anyway").click()
    complete(page)
    look(page, server, study)   # nothing is covered where they do not


@pytest.mark.extended
def test_on_a_phone_nothing_is_wider_than_the_page(meet: Meet, server: Server) -> None:
    page = meet("Nina")
    page.set_viewport_size({"width": 390, "height": 844})
    look(page, server, judged(server, "Phone"), "&__theme=dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    table(page, "Pairwise Cohen’s κ").get_by_role("button", name="Disputed items").click()
    panel = page.get_by_role("dialog", name="Disputed items")
    expect(panel.locator("[data-item]")).to_have_count(2)
    box = panel.bounding_box()
    assert box is not None and box["width"] == 390
