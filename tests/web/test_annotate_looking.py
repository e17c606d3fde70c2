"""Looking is part of an answer: how long, and whether into the found images. A reload, or stepping
away, loses none of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.kinds.preference.survey.plan import SurveyLayout
from tests.fakes.studies import valid
from tests.integration.crowd import Server
from tests.web.judging import Meet, a_study, draft_kept, history, item, pressed
from tests.web.judging import meet as meet
from tests.web.judging import server as server
from tests.web.surveying import a_survey, question
from tests.web.surveying import begin as begin_survey

PEOPLE = ["Max", "Nia"]
LOOKED_MS = 300_000   # by the clock of the page, and more than any of these tests takes


@pytest.mark.extended
def test_that_the_panel_was_opened_survives(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Opened")
    max_ = meet("Max")
    page = max_.open(study)
    with draft_kept(page):
        max_.press("p", "p")
    page.reload()
    item(page, 1)
    # Nothing was answered, so nothing is restored that one would see.
    expect(page.get_by_text("Draft restored")).to_be_hidden()
    max_.press("5")
    max_.save()
    item(page, 2)

    with draft_kept(page):
        max_.press("p", "p")
    max_.press("ArrowRight")
    item(page, 3)
    max_.press("ArrowLeft")
    item(page, 2)
    assert pressed(page) == []
    max_.press("5")
    max_.save()
    assert [it.answer for it in history(server.home, study)] == 2 * [valid(panel_opened=True)]


@pytest.mark.extended
def test_time_goes_on_where_it_was_left(meet: Meet, server: Server) -> None:
    study = a_study(server.home, "Time")
    nia = meet("Nia")
    nia.page.clock.install()
    page = nia.open(study)
    page.clock.fast_forward(LOOKED_MS)
    with draft_kept(page):
        nia.press("ArrowRight")
    item(page, 2)
    nia.press("ArrowLeft")
    item(page, 1)
    expect(page.get_by_text("Draft restored")).to_be_hidden()
    nia.press("5")
    nia.save()

    item(page, 2)
    page.clock.fast_forward(LOOKED_MS)
    page.reload()
    item(page, 2)
    nia.press("5")
    nia.save()

    # The next one begins at nothing.
    item(page, 3)
    nia.press("5")
    nia.save()
    first, second, third = (it.seconds for it in history(server.home, study))
    assert first >= LOOKED_MS / 1000 and second >= LOOKED_MS / 1000
    assert third < LOOKED_MS / 1000


@pytest.mark.extended
def test_time_of_a_change_is_added_to_the_time_before(meet: Meet, server: Server) -> None:
    """In both kinds of studies: a quick second look does not make a slow answer a quick one."""
    study = a_study(server.home, "Again")
    nia = meet("Nia")
    nia.page.clock.install()
    page = nia.open(study)
    page.clock.fast_forward(LOOKED_MS)
    nia.press("5")
    nia.save()
    item(page, 2)
    nia.press("ArrowLeft")
    item(page, 1)
    nia.press("1", "a")
    nia.save()
    item(page, 2)
    before, after = history(server.home, study)
    assert LOOKED_MS / 1000 <= before.seconds < after.seconds

    layout = SurveyLayout(per_person=3, forms=1, shared_every=0, reason_every=0, seed=5)
    survey = a_survey(server.home, "Rated again", questions=3, layout=layout, settings={"check": "none"})
    page.goto(f"{server.url}/annotate?study={survey.name}")
    begin_survey(page)
    page.clock.fast_forward(LOOKED_MS)
    nia.press("2", "4", "ArrowRight")
    nia.save()
    question(page, 2)
    nia.press("Backspace")
    question(page, 1)
    nia.press("i")
    nia.save()
    question(page, 2)
    before, after = history(server.home, survey)
    assert LOOKED_MS / 1000 <= before.seconds < after.seconds

    # Two of three are 67 percent.
    nia.press("2", "4", "ArrowRight")
    nia.save()
    question(page, 3)
    owner = meet("Ada Min").page
    owner.goto(f"{server.url}/studies?study={survey.name}")
    expect(owner.get_by_text("67 %").first).to_be_visible()


@pytest.mark.extended
def test_on_a_phone_the_pictures_stay_in_sight(meet: Meet, server: Server) -> None:
    """With a flag set and its reasons open, the rubric takes less than half of the screen; the rest of it scrolls."""
    study = a_study(server.home, "Phone")
    max_ = meet("Max")
    page = max_.page
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.request.post(f"{server.url}/study/join", data={"study": study.name}).ok
    max_.open(study)
    page.get_by_role("button", name="Unclear text").click()
    page.get_by_role("button", name="Something else").click()
    sheet = page.get_by_role("complementary", name="Rubric").bounding_box()
    assert sheet and sheet["height"] <= 0.45 * 844 + 1
    for picture in page.locator(".st-frame").all():
        box = picture.bounding_box()
        assert box and box["y"] + box["height"] <= sheet["y"], "nothing lies over the pictures"
    note = page.get_by_role("textbox", name="Note")
    note.click()          # scrolls to it within the sheet
    expect(note).to_be_in_viewport(ratio=1)
    page.keyboard.type("half a sentence")
    expect(page.get_by_role("button", name="Save and continue")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    max_.save()
    [saved] = history(server.home, study)
    assert saved.answer["reasons"] == ["1c"] and saved.answer["note"] == "half a sentence"
