"""What can go wrong at the analysis screen: bad addresses and files, no network, studies that change or go."""

from __future__ import annotations

import re
from itertools import compress
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from tests.fakes.studies import flagged, valid
from tests.integration.crowd import Server
from tests.web.adjudicating import Meet
from tests.web.adjudicating import meet as meet
from tests.web.adjudicating import server as server
from tests.web.analysing import SAID, answer, card, compared, complete, judged, look, table
from tests.web.browsing import at_rest, until
from tests.web.judging import stores

REPORT = re.compile("/analysis/report")
MANY = [f"annotator.of.the.laboratory.{number:02}.second.shift@university.example.org" for number in range(1, 10)]
BROAD = flagged("QUERY_TOO_BROAD")


def asked_of(page: Page) -> list[str]:
    """Addresses of reports and scores that the page asks for from now on."""
    found: list[str] = []

    def note(request: Request) -> None:
        if re.search("(?<!/js)/analysis/(report|scores)", request.url):
            found.append(request.url)

    page.on("request", note)
    return found


@pytest.mark.extended
def test_a_bad_value_in_the_address_is_left_out_and_said(meet: Meet, server: Server) -> None:
    study = judged(server, "Addresses")
    look(page := meet("Nina"), server, study, "&draws=abc&person=x&k=9&names=Hidden&plan=0.2")
    said = page.locator(".cq-an-ignored")
    expect(said).to_contain_text("draws=abc is not a whole number from 0 to 10,000 and was left out.")
    expect(said).to_contain_text("person=x is not a seat number and was left out.")
    expect(said).to_contain_text("names=Hidden is neither shown nor hidden and names are hidden.")
    assert not re.search("abc|person|k=9", page.url) and "plan=0.2" in page.url and "names=hidden" in page.url
    page.goto(f"{server.url}/analysis?study={study.name}&category=nosuch")
    expect(page.get_by_role("heading", name="No report available")).to_be_visible()
    expect(page.locator(".cq-an-main")).not_to_contain_text(re.compile("[Rr]eload"))
    page.get_by_role("button", name="Clear filters").last.click()
    complete(page)


@pytest.mark.extended
def test_fields_are_checked_where_they_stand(meet: Meet, server: Server) -> None:
    look(page := meet("Nina"), server, compared(server, "Fields"))
    asked = asked_of(page)
    page.get_by_role("search").locator("summary").filter(has_text="How numbers are computed").click()
    for label, wrong in (("Recall at", "9"), ("Seed", "-3"), ("Maximum width of the 95 % interval", "7")):
        field = page.get_by_label(label)
        field.fill(wrong)
        field.press("Enter")
        assert not field.evaluate("field => field.validity.valid")
        expect(field).to_be_focused()
        field.fill("")
    at_rest(page)
    expect(page.locator(".cq-an-section").first).to_be_visible()
    assert [url for url in asked if "since" not in url] == []
    page.get_by_label("Recall at").fill("5, 1")
    page.get_by_label("Recall at").press("Tab")
    expect(page.locator("[data-section=rates]")).to_contain_text("recall@1")


@pytest.mark.extended
def test_no_network_keeps_what_is_there_and_asks_again(meet: Meet, server: Server) -> None:
    study = judged(server, "Network")
    page = meet("Nina")
    page.clock.install()
    look(page, server, study)
    page.route(REPORT, lambda route: route.abort())
    page.get_by_role("group", name="Category").get_by_role("button", name="shortcut image only").click()
    trouble = page.locator(".cq-an-trouble:not(.cq-an-ignored)")
    expect(trouble).to_contain_text("Retrying every 15 seconds. This shows the previous report")
    expect(page.locator(".cq-an-main")).to_have_class(re.compile("stale"))
    expect(card(page, "Judged valid").locator("b")).to_have_text("50.0 %")
    page.unroute(REPORT)
    page.clock.fast_forward(16_000)
    expect(card(page, "Judged valid").locator("b")).to_have_text("33.3 %")
    expect(trouble).to_be_hidden()
    complete(page)

    page.route(REPORT, lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("heading", name="No report available")).to_be_visible()
    page.unroute(REPORT)
    page.clock.fast_forward(16_000)
    complete(page)


@pytest.mark.extended
def test_a_study_is_closed_opened_renamed_and_removed_while_it_is_looked_at(meet: Meet, server: Server) -> None:
    study = judged(server, "Changing", SAID[:3])
    page = meet("Nina")
    page.clock.install()
    look(page, server, study)

    def told(what: str, *given: Any) -> None:
        with stores(server.home) as opened:
            getattr(opened.studies, what)(study.study_id, *given)

    flying: list[Request] = []
    page.on("request", lambda one: flying.append(one) if REPORT.search(one.url) else None)
    page.on("requestfinished", lambda one: flying.remove(one) if one in flying else None)

    def shows(seen: Locator) -> None:
        """The server looks at a study every few seconds: the page looks again and again until it hears of it."""
        def heard() -> bool:
            if not flying:
                page.clock.fast_forward(60_000)
            return seen.is_visible()

        until(page, heard)

    chips = page.locator(".cq-an-top")
    told("set_accepting", False)
    shows(chips.get_by_text("Closed", exact=True))
    told("set_accepting", True)
    shows(chips.get_by_text("Open", exact=True))
    told("rename", "Changed")
    shows(page.get_by_role("heading", level=1, name="Changed"))
    assert "study=Changed" in page.url and page.title().startswith("Changed:")
    told("remove")
    gone = page.locator(".cq-an-trouble:not(.cq-an-ignored)")
    shows(gone.filter(has_text="Changed was removed"))
    asked = asked_of(page)
    page.clock.fast_forward(120_000)
    gone.get_by_role("link", name="All studies").click()
    expect(page.get_by_role("heading", level=1, name="Analysis")).to_be_visible()
    assert asked == []


@pytest.mark.extended
def test_nothing_is_asked_for_once_the_view_is_left(meet: Meet, server: Server) -> None:
    study = compared(server, "Left")
    page = meet("Olga")
    page.clock.install()
    page.goto(f"{server.url}/analysis")
    late: list[Route] = []
    page.route(re.compile(r"/own/[^/]+/plotly\.js"), lambda route: late.append(route))
    page.route(re.compile("scores/choices"), lambda route: route.fulfill(json={
        "galleries": [{"name": "atelier", "size": 24}], "methods": [{"name": "slerp", "title": "Slerp"}],
        "gallery": None, "name_limit": 60, "cirqrs": {"problem": "Needs a relevance model."}}))
    page.route(re.compile("scores/compute"), lambda route: route.fulfill(json={"run": "1"}))
    page.route(re.compile("scores/run"), lambda route: route.fulfill(json={
        "text": "Slerp", "done": 1, "total": 9, "finished": False, "problem": ""}))
    page.get_by_role("link", name=study.name, exact=True).click()
    complete(page)
    page.get_by_role("button", name="Add scores…").click()
    asks = page.get_by_role("dialog", name="Add scores")
    expect(asks.get_by_label("Name of the metric")).to_have_attribute("maxlength", "60")
    expect(asks.get_by_text("CIRQRS is not available. Needs a relevance model.")).to_be_visible()
    expect(asks.get_by_label("Method", exact=True).get_by_role("option")).to_have_text(["Slerp"])
    with page.expect_request(re.compile("scores/run")):
        asks.get_by_role("button", name="Compute").click()
    page.go_back()
    expect(page.get_by_role("heading", level=1, name="Analysis")).to_be_visible()
    expect(asks).to_have_count(0)
    asked = asked_of(page)
    for route in late:
        route.continue_()
    page.wait_for_function("window.Plotly")
    at_rest(page)
    assert late and page.locator(".js-plotly-plot").count() == 0
    page.clock.fast_forward(60_000)   # longer than until the next look at a run, or at a study
    page.reload()
    assert asked == []


@pytest.mark.extended
def test_cirqrs_is_computed_as_a_metric(meet: Meet, server: Server) -> None:
    study = compared(server, "Learned")
    page = meet("Olga")
    page.goto(f"{server.url}/analysis")
    page.route(re.compile("scores/choices"), lambda route: route.fulfill(json={
        "galleries": [{"name": "atelier", "size": 24}], "methods": [{"name": "slerp", "title": "Slerp"}],
        "gallery": None, "name_limit": 60, "cirqrs": {"problem": ""}}))
    page.route(re.compile("scores/compute"), lambda route: route.fulfill(json={"run": "1"}))
    page.route(re.compile("scores/run"), lambda route: route.fulfill(json={
        "text": "CIRQRS", "done": 9, "total": 9, "finished": True, "problem": ""}))
    page.get_by_role("link", name=study.name, exact=True).click()
    complete(page)
    for chosen, sent in (("CIRQRS, learned relevance", {"metric": "cirqrs"}), ("Slerp", {"method": "slerp"})):
        page.get_by_role("button", name="Add scores…").click()
        asks = page.get_by_role("dialog", name="Add scores")
        asks.get_by_label("Method", exact=True).select_option(chosen)
        with page.expect_request(re.compile("scores/compute")) as asked:
            asks.get_by_role("button", name="Compute").click()
        body = asked.value.post_data_json
        assert {name: body[name] for name in ("metric", "method") if name in body} == sent
        expect(asks).to_have_count(0)


@pytest.mark.extended
def test_a_file_is_read_as_it_is_or_refused(meet: Meet, server: Server) -> None:
    study = compared(server, "Encodings")
    look(page := meet("Olga"), server, study)
    with stores(server.home) as opened:
        items = opened.studies.items(study.study_id)
    rows = [f"{item.key},{number},{item.number + number}" for item in items for number in (1, 2)]
    text = "\n".join(["item,set,Güte", *rows])
    page.get_by_role("button", name="Add scores…").click()
    asks = page.get_by_role("dialog", name="Add scores")
    problem = asks.locator("form").first.get_by_role("alert")

    def choose(content: bytes) -> None:
        asks.get_by_label("CSV file").set_input_files({"name": "güte.csv", "mimeType": "text/csv", "buffer": content})
        asks.get_by_role("button", name="Add the file").click()

    choose(text.encode("latin-1"))
    expect(problem).to_have_text("güte.csv is not UTF-8. Save it as “CSV UTF-8”.")
    choose(b"x" * (8 * 2**20 + 1))
    expect(problem).to_contain_text("larger than 8 MB")
    choose("\n".join(["item,set,Güte", *(f"nosuch{number},1,2" for number in range(50))]).encode())
    expect(problem).to_contain_text("50 faults in güte.csv")
    expect(problem).to_contain_text("and 45 more")
    assert problem.evaluate("it => getComputedStyle(it).whiteSpace") == "pre-line"
    choose(text.encode("utf-16"))
    expect(asks).to_have_count(0)
    expect(page.locator("[data-section=rates]")).to_contain_text("Güte")


@pytest.mark.extended
def test_a_column_that_is_gone_is_sorted_by_no_more_and_remarks_stand_in_cards(meet: Meet, server: Server) -> None:
    study = judged(server, "Columns", SAID[:4])
    look(page := meet("Nina"), server, study)
    box = table(page, "Pairwise Cohen’s κ")
    box.get_by_role("button", name="κ", exact=True).click()

    def without_kappa(route: Route) -> None:
        answered = route.fetch()
        report = answered.json()
        for section in report.get("sections", []):
            for headline in section["headlines"]:
                headline["reason"] = "only a few items carry it"
            for made in section["tables"]:
                keep = [not column["key"].startswith("kappa") for column in made["columns"]]
                made["columns"] = list(compress(made["columns"], keep))
                made["rows"] = [list(compress(row, keep)) for row in made["rows"]]
                made["shown"] = [list(compress(row, keep)) for row in made["shown"]]
        route.fulfill(response=answered, json=report)

    page.route(REPORT, without_kappa)
    answer(server, study, "Ada", 5, valid())
    expect(box.get_by_role("button", name="κ", exact=True)).to_have_count(0)
    expect(box.locator("tbody tr")).to_have_count(1)
    expect(box.locator("[aria-sort]")).to_have_count(0)
    remark = card(page, "Judged valid").get_by_text("Only a few items carry it")
    expect(remark).to_be_visible()
    assert remark.evaluate("it => parseFloat(getComputedStyle(it).fontSize)") < 13


@pytest.mark.extended
def test_long_names_stay_apart_and_a_large_heatmap_is_whole(meet: Meet, server: Server) -> None:
    said = [tuple(BROAD if (number + place) % 3 else valid() for place in range(len(MANY))) for number in range(6)]
    study = judged(server, "Crowd", said, MANY)
    look(page := meet("Nina"), server, study)
    chips = page.get_by_role("group", name="People").locator("button")
    shown = chips.locator("span").all_inner_texts()
    assert len(set(shown)) == len(MANY) and max(map(len, shown)) <= 30
    expect(page.get_by_role("button", name=MANY[3])).to_have_attribute("title", MANY[3])
    figure = page.locator("[data-section=binary] .cq-an-figure").first
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".js-plotly-plot")).to_be_visible()
    expect(figure).to_have_class(re.compile("wide"))
    scroll = figure.locator(".cq-stscroll")
    assert scroll.evaluate("it => it.scrollWidth <= it.clientWidth")

    page.set_viewport_size({"width": 390, "height": 844})
    expect(scroll).to_have_class(re.compile("more-after"))
    expect(figure.locator(".cq-an-scale")).to_be_visible()   # the colours stay where they can be seen
    expect(figure.locator(".cbaxis")).to_have_count(0)
    scroll.evaluate("it => { it.scrollLeft = it.scrollWidth; }")
    expect(scroll).not_to_have_class(re.compile("more-after"))
    expect(scroll).to_have_class(re.compile("more-before"))
