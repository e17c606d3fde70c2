"""Analysts at the analysis screen, for tests that read as stories: studies with answers, and what is looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Locator, Page, expect

from annotation.kinds.preference.answers import Preference
from annotation.kinds.validity.answers import Validity
from annotation.records import Study
from annotation.studies.service import StudyService
from tests.fakes.studies import flagged, make_preference_study, make_study, rated, solved, valid
from tests.integration.crowd import Server
from tests.web.judging import stores

VAGUE = flagged("INVALID_TEXT_QUERY", reasons=("1b",))
BROAD = flagged("QUERY_TOO_BROAD")
SAID = [(valid(), valid()), (VAGUE, VAGUE), (valid(), BROAD), (BROAD, BROAD), (VAGUE, valid()), (valid(), valid())]
"""What Ada and Bea say of six items: both valid twice, both not valid twice, and they differ on two. On valid or not
they agree on 4 of 6, and each says valid of 3 and of 3 (p_e = 1/2): kappa = (4/6 - 1/2) / (1 - 1/2) = 1/3."""


def answer(server: Server, study: Study, who: str, number: int, said: dict[str, Any]) -> None:
    """Saved while the server runs, as if from another window."""
    with stores(server.home) as opened:
        service = StudyService(opened.studies, {"validity": Validity(), "preference": Preference()})
        service.join(study.study_id, who)
        item = opened.studies.items(study.study_id)[number]
        token = f"{item.item_id}-{re.sub('[^A-Za-z0-9]', '-', who)[:40]}"
        service.save(study.study_id, who, item.item_id, said, token, seconds=9)


def judged(
    server: Server, name: str, said: Sequence[tuple[dict[str, Any], ...]] = tuple(SAID),
    people: Sequence[str] = ("Ada", "Bea"),
) -> Study:
    """``said``: for each item what ``people`` say of it, one after the other."""
    with stores(server.home) as opened:
        study = make_study(opened.studies, server.home, name=name, items=len(SAID), seats=len(people),
                           overlap=len(people))
    for number, answers in enumerate(said):
        for who, one in zip(people, answers, strict=False):
            answer(server, study, who, number, one)
    return study


def compared(server: Server, name: str) -> Study:
    """Twelve questions: whichever set is better gets 5 and the other one 2."""
    with stores(server.home) as opened:
        study = make_preference_study(opened.studies, server.home, name=name)
        service = StudyService(opened.studies, {"validity": Validity(), "preference": Preference()})
        for who in ("Ada", "Bea"):
            workspace = service.join(name, who)
            for press in range(100):
                assert workspace.survey is not None
                gate, token = workspace.survey.gate, f"{who}-{study.study_id}-{press:04}"
                if gate is not None and gate["kind"] == "finished":
                    break
                if gate is not None:
                    sent = solved(gate)
                    _, workspace = service.pass_gate(name, who, sent.pop("kind"), token, **sent)
                else:
                    assert workspace.item is not None
                    said = rated(5, 2) if press % 3 else rated(2, 5, preferred="B")
                    _, workspace = service.save(name, who, workspace.item.item_id, said, token, seconds=20)
    return study


def look(page: Page, server: Server, study: Study, more: str = "") -> None:
    """The report, intervals and all."""
    page.goto(f"{server.url}/analysis?study={study.name}{more}")
    complete(page)


def complete(page: Page) -> None:
    expect(page.locator(".cq-an-section").first).to_be_visible()
    expect(page.locator(".cq-an-progress")).to_be_empty()
    expect(page.locator(".cq-an-main")).not_to_have_class(re.compile("stale"))


def card(page: Page, label: str) -> Locator:
    return page.locator("[data-section=glance] .cq-an-cards > li").filter(has_text=label)


def table(page: Page, title: str) -> Locator:
    """A table of the report, unfolded."""
    box = page.locator(".cq-an-tablebox").filter(has=page.get_by_role("heading", name=title, exact=True))
    if box.get_attribute("open") is None:
        box.locator("> summary").click()
    return box
