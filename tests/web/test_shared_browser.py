"""Two people take turns at one browser: what one of them has begun is never kept as the other's, and never lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.fakes.studies import flagged
from tests.integration.crowd import PASSWORD, Server
from tests.web.browsing import at_rest, enter
from tests.web.judging import Meet, Person, a_study, history, item, stores
from tests.web.judging import meet as meet
from tests.web.judging import server as server

PEOPLE = ["Hal", "Ivy"]


def sign_in_as(person: Person, name: str) -> None:
    """In the same browser, as another tab would."""
    person.context.clear_cookies()
    answer = person.context.request.post(
        f"{person.url}/sign-in", data={"name": name, "password": PASSWORD}, headers={"Accept": "application/json"})
    assert answer.ok, answer.text()


@pytest.mark.extended
def test_somebody_else_signs_in_while_a_page_is_open(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Shared", seats=2, items=4)
    hal = meet("Hal")
    page = hal.open(study)
    sign_in_as(hal, "Ivy")
    hal.press("4")
    enter(page)
    expect(page.get_by_role("alert").filter(has_text="This page was opened by Hal, but you are now signed in as Ivy")
           ).to_be_visible()
    item(page, 1)
    at_rest(page)   # the draft is not taken as Ivy's either

    # Nor does it show anything as hers, or get her anything.
    hal.press("ArrowRight")
    expect(page.get_by_role("alert").filter(has_text="This page was opened by Hal")).to_be_visible()
    item(page, 1)
    with stores(server.home) as opened:
        assert "Ivy" not in {seat.annotator for seat in opened.studies.seats(study.study_id)}

    ivy = hal.tab()
    hal.open(study, ivy)
    item(ivy, 1)
    expect(ivy.get_by_text("Draft restored")).to_be_hidden()
    ivy.close()
    assert not history(server.home, study)

    sign_in_as(hal, "Hal")
    page.reload()
    expect(page.get_by_text("An earlier answer was still pending here; it is now saved.")).to_be_visible()
    item(page, 2)
    assert [(one.annotator, one.answer) for one in history(server.home, study)] == [
        ("Hal", flagged("QUERY_TOO_BROAD"))]
