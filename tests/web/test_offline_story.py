"""The connection is lost in the middle of a study, and comes back; of every kind that is answered in any order."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.fakes.studies import flagged, valid
from tests.integration.crowd import Server
from tests.web.browsing import at_rest, enter
from tests.web.judging import Meet, a_study, history, item, order_of, pressed
from tests.web.judging import meet as meet
from tests.web.judging import server as server

PEOPLE = ["Ann"]
ALL_HERE = """wanted => {
  const here = performance.getEntriesByType("resource").filter((one) => one.responseEnd).map((one) => one.name);
  return wanted.every((address) => here.some((name) => name.endsWith(address)));
}"""


def test_ten_answers_without_a_connection_are_stored_in_order(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Train", items=12)
    ann = meet("Ann")
    page = ann.open(study)
    at_rest(page)
    desk = page.request.get(f"{server.url}/study/at?study=Train&ahead=20").json()
    wanted = {address for one in desk["ahead"] for address in one["images"]}
    assert len(desk["ahead"]) == 11 and wanted
    page.wait_for_function(ALL_HERE, arg=sorted(wanted))
    ann.context.set_offline(True)
    for number in range(1, 11):
        item(page, number)
        shown = page.locator(".st-picture img")
        expect(shown).to_have_count(2)
        assert shown.evaluate_all("all => all.every((one) => one.complete && one.naturalWidth > 0)")
        ann.press("4" if number % 2 else "5")
        enter(page)
    item(page, 11)
    expect(page.get_by_text(re.compile(r"10 answers are kept in this browser"))).to_be_visible()
    expect(page.locator(".st-pace")).to_contain_text("10 of 12")
    ann.press("ArrowLeft")                     # what was answered is there, and the next one by an arrow
    item(page, 10)
    assert pressed(page) == ["Valid"]
    ann.press("ArrowRight", "5")
    item(page, 11)
    assert history(server.home, study) == ()
    ann.context.set_offline(False)
    expect(page.get_by_text("10 answers are saved.")).to_be_visible()
    item(page, 11)                             # nobody is led away from what they are at
    assert pressed(page) == ["Valid"]
    stored = sorted(history(server.home, study), key=lambda one: one.created_at)
    assert [one.item_id for one in stored] == order_of(server.home, study, "Ann")[:10]
    assert [one.answer for one in stored] == [flagged("QUERY_TOO_BROAD"), valid()] * 5
    assert {one.revision for one in stored} == {1}
    ann.save()
    item(page, 12)
    assert page.evaluate("localStorage.getItem('cirque.unsent.Ann')") is None
