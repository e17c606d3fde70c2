"""Somebody is trained, fails once, and begins: what the page says of each answer, by keyboard."""

from __future__ import annotations

from datetime import UTC, datetime

from playwright.sync_api import expect

from annotation.kinds.table import KINDS
from annotation.quality.care import Care
from annotation.records import Decision
from annotation.studies.gold import make_gold
from tests.fakes.studies import valid
from tests.integration.crowd import Server
from tests.web.browsing import enter
from tests.web.judging import Meet, a_study, item, stores
from tests.web.judging import meet as meet
from tests.web.judging import server as server

PEOPLE = ["Ann"]


def test_training_comes_first_and_is_told(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Trained", items=6, seats=2)
    with stores(server.home) as opened:
        place = next(one for one in opened.studies.assignments(study.study_id) if one.seat == 2)
        opened.studies.decide(Decision("d1", study.study_id, place.item_id, "Judith", 0, "decided-1", valid(),
                                       "The skirt is shorter.", datetime.now(UTC)))
        make_gold(opened.studies, study, KINDS[study.kind].answers.dealt_extra, training=1,
                  care=Care(training_mark=1), by="Judith")
    ann = meet("Ann")
    page = ann.open(study)
    number, told = page.locator(".st-number"), page.get_by_role("dialog")
    for key, title, verdict in (("4", "Not quite", "once more"), ("5", "Right", "The study begins now.")):
        expect(number).to_have_text("Training 1 of 1")
        ann.press(key)
        enter(page)
        expect(told.get_by_role("heading", name=title)).to_be_visible()
        expect(told).to_contain_text("The answer is: Valid")
        expect(told).to_contain_text("The skirt is shorter.")
        expect(told).to_contain_text(verdict)
        expect(told.get_by_role("button")).to_be_focused()
        enter(page)
        expect(told).to_have_count(0)
    item(page, 2)
    ann.press("5")
    ann.save()
    item(page, 3)
