"""Two adjudicators at the same queue."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.fakes.studies import flagged, valid
from tests.integration.crowd import Server
from tests.web.adjudicating import Meet, a_round, adjudicate, press
from tests.web.adjudicating import meet as meet
from tests.web.adjudicating import server as server
from tests.web.browsing import at_rest
from tests.web.judging import stores

BROAD = flagged("QUERY_TOO_BROAD")


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
        press(page, key, "r")
        page.keyboard.type(reason)
        press(page, "Enter")

    first = current[0].get_attribute("data-item")
    assert first == current[1].get_attribute("data-item")
    decide(olga, "4", "hundreds of these")
    expect(olga.get_by_role("navigation", name="Cases")).to_contain_text("2 to decide")
    expect(current[0]).not_to_have_attribute("data-item", first or "")
    second = current[0].get_attribute("data-item")
    assert len(queues) == 1, "the next case comes from the queue the page has"

    # Petra still sees the first case open: she is told, and both decisions are kept.
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
