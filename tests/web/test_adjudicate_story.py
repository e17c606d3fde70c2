"""Two people disagree, a third decides, a fourth reads the results."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.records import Item, Study
from tests.fakes.studies import flagged, make_study, valid
from tests.integration.crowd import Server
from tests.web.adjudicating import Meet, a_round, adjudicate, press
from tests.web.adjudicating import meet as meet
from tests.web.adjudicating import server as server
from tests.web.browsing import at_rest, enter, held_up
from tests.web.judging import stores

BROAD = flagged("QUERY_TOO_BROAD")
VAGUE = flagged("INVALID_TEXT_QUERY", reasons=("1b",))
WRONG = flagged("INVALID_TARGET_IMAGE", reasons=("3c",), note="another dog 🐶")
UNSURE = valid(validated=None, unsure=True, note="كلب أم ذئب؟")


def shows(page: Page, item: Item) -> None:
    """Wait until this item's case is open, and an Enter is meant for it."""
    expect(page.locator(".cq-adtext")).to_have_text(item.shown["text"])
    expect(page.locator(".cq-adlist [aria-current]")).to_have_attribute("data-item", item.item_id)
    at_rest(page)


def compare(page: Page, key: str) -> None:
    """Answer the open case oneself, with a flag or valid."""
    press(page, key, "Enter")
    expect(page.get_by_role("article").first).to_be_visible()
    at_rest(page)


def problem(page: Page) -> Locator:
    return page.locator(".cq-addecide .cq-inline:visible")


def rows_of(page: Page, server: Server, study: Study) -> list[dict[str, Any]]:
    found = page.request.get(f"{server.url}/studies/export?study={study.study_id}&form=parquet&table=items")
    assert found.ok, found.text()
    rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(found.body())).to_pylist()
    return rows


def test_what_two_disagree_on_a_third_decides_with_the_keyboard(meet: Meet, server: Server) -> None:
    marked = flagged("QUERY_TOO_BROAD", panel_opened=True)
    study, items = a_round(server, "Round", (valid(), valid()), (valid(), marked), (VAGUE, WRONG), (UNSURE, valid()))
    agreed, tie, flags, unsure = items
    page = meet("Olga")
    heard: list[str] = []
    page.on("response", lambda answer: heard.append(answer.text()) if "/adjudicate/" in answer.url else None)
    adjudicate(page, server, study)

    # What all agree on is no case. Before an own answer nothing is told of those of others.
    expect(page.get_by_role("navigation", name="Cases")).to_contain_text("3 to decide")
    expect(page.locator(".cq-adlist li")).to_have_count(3)
    expect(page.locator(".cq-chip")).to_have_count(0)
    page.locator(f"[data-item='{unsure.item_id}']").click()
    shows(page, unsure)
    expect(page.get_by_role("article")).to_have_count(0)
    blind = [told for told in heard if told.startswith("{")]   # of the calls, not the scripts
    assert len(blind) >= 2
    words = ("Judge", "🐶", "unsure", '"tie"', "flags", "validated", "كلب")
    assert not [word for word in words for told in blind if word in told], blind

    # An own answer first; then a decision needs a reason, too.
    press(page, "Enter")
    expect(problem(page)).to_have_text("Say what is wrong, or press 5 if nothing is.")
    press(page, "5", "Enter")
    expect(page.get_by_role("article")).to_have_count(2)
    expect(page.get_by_role("article").filter(has_text="Unsure")).to_contain_text(UNSURE["note"])
    at_rest(page)
    press(page, "Enter")
    expect(problem(page)).to_contain_text("Give a short reason")
    expect(page.get_by_label("Reason for the decision")).to_be_focused()
    page.keyboard.type("one can tell: it is a dog")
    with held_up(page, "**/adjudicate/decide"):     # who chooses a case meanwhile gets that one, once it is saved
        press(page, "Enter")
        page.locator(f"[data-item='{tie.item_id}']").click()
    shows(page, tie)

    # A judge's answer is taken with their letter.
    compare(page, "5")
    expect(page.get_by_role("navigation", name="Cases")).to_contain_text("2 to decide")
    broad = page.get_by_role("article").filter(has_text="Too broad")
    letter = (broad.get_attribute("aria-label") or "").removeprefix("Judge ")
    press(page, letter.lower())
    expect(broad).to_have_class(re.compile("taken"))
    expect(page.locator(".st-outcome")).to_contain_text("Too broad")
    press(page, "r")
    page.keyboard.type("any dress would do")
    press(page, "Enter")

    # An answer of one's own: letters are reasons while a flag asks for one.
    shows(page, flags)
    compare(page, "4")
    press(page, "4", "3", "c", "Enter")
    expect(problem(page)).to_contain_text("requires a note")
    expect(page.get_by_label("Note")).to_be_focused()
    page.keyboard.type("a cat")
    press(page, "Escape", "Enter")
    page.keyboard.type("neither of the two")
    press(page, "Enter")
    expect(page.get_by_role("heading", name="All decided")).to_be_visible()

    # A decision may be looked at again, and revised.
    page.get_by_role("button", name="Review decided cases").click()
    page.get_by_role("button", name=re.compile("tie")).click()
    shows(page, tie)
    expect(page.get_by_text("Decided by you.")).to_be_visible()
    expect(page.get_by_label("Reason for the decision")).to_have_value("any dress would do")
    press(page, "5", "Enter")
    expect(page.get_by_role("heading", name="All decided")).to_be_visible()

    # Nobody's name reached the page, nor the hidden category.
    everything = "".join(heard) + page.content()
    assert len(heard) >= 10
    unheard = ("Ada", "Bea", "composition_required", "unresolved", "picture-0")
    assert not [word for word in unheard if word in everything]

    # Exports hold it: final labels by item, and what the judges had said as they said it.
    rows = rows_of(page, server, study)
    assert [(row["validated"], row["by"], row["decision_reason"], row["adjudicator"]) for row in rows] == [
        (True, "majority", None, None), (True, "adjudicated", "any dress would do", "Olga"),
        (False, "adjudicated", "neither of the two", "Olga"),
        (True, "adjudicated", "one can tell: it is a dog", "Olga")]
    mine = rows[2]
    assert (mine["primary"], mine["reasons"], mine["decision_note"]) == ("INVALID_TARGET_IMAGE", ["3c"], "a cat")
    found = page.request.get(f"{server.url}/studies/export?study={study.name}&form=circus")
    with zipfile.ZipFile(io.BytesIO(found.body())) as archive:
        said = {name: {it["assignment_id"]: it["annotation"] for it in json.loads(archive.read(name))["assignments"]}
                for name in archive.namelist()}
    assert sorted(said) == ["Ada.json", "Bea.json"]
    assert said["Ada.json"][tie.key]["validated"] is True and said["Bea.json"][tie.key]["QUERY_TOO_BROAD"] is True
    assert said["Bea.json"][flags.key]["other"] == "another dog 🐶"
    with stores(server.home) as opened:
        assert len(opened.studies.decisions(study.study_id, history=True)) == 4
    assert agreed.item_id not in "".join(heard)


@pytest.mark.extended
def test_an_unfinished_decision_survives_a_reload_and_a_server_that_goes_away(meet: Meet, server: Server) -> None:
    study, _ = a_round(server, "Twice", (valid(), BROAD), (valid(), BROAD))
    page = meet("Olga")
    adjudicate(page, server, study)
    current = page.locator(".cq-adlist [aria-current]")
    first = current.get_attribute("data-item")
    compare(page, "5")
    press(page, "4", "r")
    page.keyboard.type("hundreds of these")
    press(page, "Escape", "j")                       # to the other case and back
    expect(current).not_to_have_attribute("data-item", first or "")
    press(page, "k")
    expect(page.get_by_text("Your unfinished decision was restored.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Your unfinished decision was restored.")).to_be_visible()
    expect(current).to_have_attribute("data-item", first or "")
    expect(page.get_by_label("Reason for the decision")).to_have_value("hundreds of these")

    server.kill()
    enter(page)
    expect(problem(page)).to_contain_text("Your decision is still here")
    server.start()
    press(page, "Enter", "Enter")                    # a double press is one decision
    expect(current).not_to_have_attribute("data-item", first or "")
    with stores(server.home) as opened:
        (decision,) = opened.studies.decisions(study.study_id, history=True)
    assert (decision.item_id, decision.reason, decision.adjudicator) == (first, "hundreds of these", "Olga")


@pytest.mark.extended
def test_a_study_on_the_studies_screen(meet: Meet, server: Server, tmp_path: Path) -> None:
    study, items = a_round(server, "Überblick", (valid(), valid()), (valid(), BROAD), (BROAD, BROAD))
    page = meet("Olga")
    page.goto(f"{server.url}/studies")
    page.get_by_role("link", name=study.name).click()
    expect(page.get_by_role("heading", name=study.name)).to_be_visible()
    expect(page.get_by_role("link", name="Adjudicate 1 case")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Ada"))).to_contain_text("3 of 3")
    page.get_by_role("tab", name="Analysis").click()
    bars = page.get_by_role("img", name=re.compile("^sample: "))
    expect(bars).to_have_accessible_name("sample: Valid 1, Too broad 1, Undecided (tie) 1")
    page.get_by_role("button", name="First answer only").click()
    expect(bars).to_have_accessible_name("sample: Valid 2, Too broad 1")

    # Counts follow what happens.
    page.get_by_role("tab", name="Progress").click()
    tiles = page.locator(".cq-sttiles")
    expect(tiles).to_contain_text("0adjudicated")
    sent = {"study": study.name, "item": items[1].item_id, "answer": BROAD, "reason": "many", "token": "token-0001"}
    assert page.request.post(f"{server.url}/adjudicate/decide", data=sent).ok
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(tiles).to_contain_text("1adjudicated")

    # Closing asks first; closed, people are told so and adjudication continues.
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("button", name="Close it").click()
    expect(page.get_by_text("Closed", exact=True).first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Adjudicate "))).to_have_count(0)   # nothing is left to decide
    with stores(server.home) as opened:
        assert not opened.studies.study(study.study_id).accepting

    # An analyst reads and downloads, and changes nothing.
    reader = meet("Nina")
    reader.goto(f"{server.url}/studies?study={study.name}")
    expect(reader.get_by_role("heading", name=study.name)).to_be_visible()
    expect(reader.get_by_role("button", name=re.compile("^(Open|Close|Hand on)"))).to_have_count(0)
    reader.get_by_role("tab", name="Files").click()
    reader.get_by_text("Download", exact=True).click()
    with reader.expect_download() as download:
        reader.get_by_role("link", name="M-BEIR").click()
    assert download.value.suggested_filename == "Überblick mbeir.zip"
    download.value.save_as(tmp_path / "subset.zip")
    with zipfile.ZipFile(tmp_path / "subset.zip") as archive:
        assert "sample_validated.jsonl" in archive.namelist()


@pytest.mark.extended
def test_planning_a_study_and_running_one_that_one_judges_in(meet: Meet, server: Server) -> None:
    with stores(server.home) as opened:
        make_study(opened.studies, server.home, name="Mine", items=2, pictures=6, panel=2,
                   source={"form": "audit", "dataset": "sample", "retrievers": ["slerp", "cirevl"]})
    page = meet("Olga")
    page.goto(f"{server.url}/studies")
    page.get_by_text("Plan a study").click()
    forecast = page.locator(".cq-stforecast")
    expect(forecast).to_contain_text("1,150 judgements")      # 450 items by 2 people, and 50 by all 5
    page.get_by_label("Agreement items").fill("0")
    expect(forecast).to_contain_text("1,000 judgements")
    expect(page.locator(".cq-stcommand")).to_contain_text("--agreement-items 0")
    page.get_by_label("People per item").fill("9")
    expect(forecast).to_contain_text("An overlap of 9 needs 9 people")

    mine = page.request.post(f"{server.url}/study/join", data={"study": "Mine"}).json()     # Olga takes a seat
    assert page.request.post(f"{server.url}/study/save", data={
        "study": "Mine", "item": mine["item"]["id"], "answer": valid(), "token": "token-0002"}).ok
    page.goto(f"{server.url}/studies?study=Mine&tab=analysis")
    expect(page.get_by_text("You are a judge in this study.")).to_be_visible()
    expect(page.locator(".cq-ststack")).to_have_count(0)
    plan = page.locator(".cq-stfacts")
    expect(plan).to_contain_text("Seed")
    expect(plan).not_to_contain_text(re.compile("audit|sample|slerp|cirevl"))
    page.get_by_role("button", name="Show them anyway").click()
    expect(page.locator(".cq-ststack")).to_have_count(1)
    expect(plan).to_contain_text("slerp, cirevl")


# --- two adjudicators at the same queue ------------------------------------------------------

@pytest.mark.extended
def test_two_adjudicators_at_the_same_cases(meet: Meet, server: Server) -> None:
    study, _ = a_round(server, "Pair", (valid(), BROAD), (valid(), BROAD), (valid(), BROAD))
    olga, petra = meet("Olga"), meet("Petra")
    queues: list[str] = []
    olga.on("request", lambda asked: queues.append(asked.url) if "/adjudicate/queue?" in asked.url else None)
    for page in (olga, petra):
        adjudicate(page, server, study)
    current = [page.locator(".cq-adlist [aria-current]") for page in (olga, petra)]
    heading = petra.get_by_role("heading", name=re.compile("^Case "))

    def decide(page: Page, key: str, reason: str) -> None:
        at_rest(page)
        if not page.get_by_role("article").count():
            compare(page, key)
        press(page, "r")
        page.keyboard.type(reason)
        press(page, "Enter")

    first = current[0].get_attribute("data-item")
    assert first == current[1].get_attribute("data-item")
    compare(petra, "5")
    decide(olga, "4", "hundreds of these")
    expect(olga.get_by_role("navigation", name="Cases")).to_contain_text("2 to decide")
    expect(current[0]).not_to_have_attribute("data-item", first or "")
    second = current[0].get_attribute("data-item")
    assert len(queues) == 1, "the next case comes from the queue the page has"

    # Petra compares, and still sees the first case open: she is told, and both decisions are kept.
    expect(heading).to_have_text("Case 1")
    decide(petra, "5", "just the one")
    expect(petra.get_by_text("Case 1 was decided after you opened it")).to_be_visible()
    expect(petra.get_by_text("the other one is kept as revision 1")).to_be_visible()
    expect(current[1]).to_have_attribute("data-item", second or "")
    with stores(server.home) as opened:
        kept = opened.studies.decisions(study.study_id, history=True)
    assert [(it.adjudicator, it.revision, it.item_id) for it in kept] == [("Olga", 1, first), ("Petra", 2, first)]

    # What somebody else decided since the queue was read is passed over: after the third comes the end.
    decide(olga, "5", "only one")
    expect(current[0]).not_to_have_attribute("data-item", second or "")
    press(petra, "j")
    expect(heading).to_have_text("Case 3")
    decide(petra, "5", "only one as well")
    expect(petra.get_by_role("heading", name="All decided")).to_be_visible()
