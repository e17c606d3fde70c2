"""A participant on a phone: from the link with an id to the completion code, and back again."""

from __future__ import annotations

import httpx
import pytest

from annotation.kinds.table import KINDS
from annotation.recruitment.service import RecruitmentService
from annotation.recruitment.settings import settings_from
from annotation.studies.service import StudyService
from storage.studies.recruitment import SqlRecruitmentStore
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_study
from tests.fakes.webhook_receiver import Receiver
from tests.web.browsing import at_rest
from web.ui.languages import catalogue


@pytest.fixture
def link(app):
    engine = engine_of(app.home)
    store = SqlStudyStore(engine)
    study = make_study(store, app.home, name="Method A against B", items=2, seats=1)
    answers = {name: kind.answers for name, kind in KINDS.items()}
    service = RecruitmentService(SqlRecruitmentStore(engine), store, StudyService(store, answers), answers)
    door = service.save(study, settings_from({
        "open": True, "title": "Is this a good search?", "consent": "My answers may be published.",
        "questions": [{"key": "age", "text": "How old are you?", "answers": ["under 18", "18 or older"],
                       "accepts": ["18 or older"]}],
        "complete": {"code": "C0MPLETE", "url": "https://app.prolific.com/submissions/complete?cc={code}"}}))
    yield f"/take/{door.link.token}"
    store.remove(study.study_id)
    engine.dispose()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


def answer(page):
    page.get_by_role("button", name="Valid").click()
    page.get_by_role("button", name="Save and continue").click()
    at_rest(page)


def test_from_the_link_to_the_code(browser, app, link):
    context = browser.new_context(viewport={"width": 390, "height": 844})
    complaints = []
    try:
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: complaints.append(request.url)
                if not request.url.startswith((f"{app.url}{link}", "data:", "blob:")) else None)
        page.goto(f"{app.url}{link}?PROLIFIC_PID=5f3a9c&STUDY_ID=s&SESSION_ID=x")
        assert page.get_by_role("heading", name="Is this a good search?").is_visible()
        page.get_by_label("I have read this").check()
        page.get_by_label("18 or older").check()
        page.get_by_role("button", name="Continue").click()
        at_rest(page)
        page.get_by_role("button", name="Begin").click()
        at_rest(page)
        assert page.locator("header").get_by_role("link").count() == 1          # the mark: no other screens
        answer(page)
        page.goto(f"{app.url}{link}?PROLIFIC_PID=5f3a9c")                        # left, and back by the same link
        at_rest(page)
        assert page.get_by_text("1 of 2").first.is_visible()
        answer(page)
        page.get_by_role("button", name="Finish").click()
        page.get_by_text("C0MPLETE").wait_for()
        onward = page.get_by_role("link", name="Continue").get_attribute("href")
        assert onward == "https://app.prolific.com/submissions/complete?cc=C0MPLETE"
        page.go_back()
        page.goto(f"{app.url}{link}/work")
        assert page.get_by_text("C0MPLETE").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert complaints == []
    finally:
        context.close()


def test_a_study_in_german(browser, open_page, app, link):
    owner = open_page("/studies?study=Method%20A%20against%20B&tab=settings")
    owner.get_by_label("Language of the screens").select_option("Deutsch")
    owner.get_by_text("Saved. Pages that are open").wait_for()
    english = [text for text in catalogue("de") if len(text) > 12 and "{" not in text]

    def left(page):
        said = page.evaluate("[document.body.innerText, ...[...document.querySelectorAll('[aria-label], [title]')]"
                             ".flatMap(({ ariaLabel, title }) => [ariaLabel, title])].join('\\n')")
        lines = {line.strip() for line in said.split("\n")}
        return [text for text in english if text in lines]

    context = browser.new_context(viewport={"width": 390, "height": 844})
    try:
        page = context.new_page()
        page.goto(f"{app.url}{link}?PROLIFIC_PID=german")
        assert page.locator("html").get_attribute("lang") == "de" and left(page) == []
        page.get_by_label("Ich habe das gelesen").check()
        page.get_by_label("under 18").check()
        page.get_by_role("button", name="Weiter").click()
        page.get_by_text("deshalb endet sie hier").wait_for()                   # of an ending without a text of its own
        assert left(page) == []
        page.goto(f"{app.url}{link}?PROLIFIC_PID=german2")
        page.get_by_label("Ich habe das gelesen").check()
        page.get_by_label("18 or older").check()
        page.get_by_role("button", name="Weiter").click()
        at_rest(page)
        assert page.get_by_text("Etwa 2 Aufgaben für Sie.").is_visible() and left(page) == []
        page.get_by_role("button", name="Beginnen").click()
        at_rest(page)
        page.get_by_role("button", name="Speichern und weiter").click()
        assert page.get_by_text("Geben Sie an, was nicht stimmt").first.is_visible() and left(page) == []
        for key, heading in (("?", "Tasten"), ("d", "Definitionen und Beispiele"), ("o", "Alle Aufgaben")):
            page.locator("h1").focus()
            page.keyboard.press(key)
            page.get_by_role("heading", name=heading).wait_for()
            assert left(page) == []
            page.keyboard.press("Escape")
        for _ in range(2):
            page.get_by_role("button", name="Valid").click()
            page.get_by_role("button", name="Speichern und weiter").click()
            at_rest(page)
        assert page.locator("html").get_attribute("lang") == "de" and left(page) == []
        page.get_by_role("button", name="Abschließen").click()
        page.get_by_text("Ihr Code: C0MPLETE").wait_for()
        assert left(page) == []
    finally:
        context.close()


def test_a_webhook_from_its_address_to_its_messages(open_page, app, link, receiver):
    page = open_page("/studies?study=Method%20A%20against%20B&tab=invite")
    box = page.locator(".cq-sthook")
    box.locator("summary").click()
    title = page.get_by_label("Title that participants see")
    page.get_by_text("Consent, screening, quotas, ends").click()
    title.fill("A title that is not saved yet")
    box.get_by_label("Address").fill(receiver.address)
    box.get_by_role("button", name="Save").click()
    box.get_by_text("No message has been sent yet.").wait_for()
    receiver.status = [500, 204]
    for said in ("Answered with status 500.", "delivered"):
        box.get_by_role("button", name="Send a test").click()
        box.get_by_text(said, exact=said == "delivered").wait_for()
    assert box.get_by_role("row").count() == 3 and page.locator("details.cq-sthook[open]").count() == 1
    assert title.input_value() == "A title that is not saved yet"
    page.get_by_role("button", name="Pause").click()                 # it saves all settings, with the webhook's
    page.get_by_role("button", name="Let people in").click()
    page.get_by_role("button", name="Pause").wait_for()
    assert box.get_by_label("Address").input_value() == receiver.address
    with httpx.Client(base_url=app.url, timeout=PATIENCE) as participant:
        participant.post(f"{link}?PROLIFIC_PID=p1", data={"agree": "yes", "q.age": "under 18"})
    wait_for(lambda: len(receiver.got) == 3)
    assert receiver.got[-1].content["type"] == "participant.screened-out"
    assert receiver.got[-1].is_signed(box.locator("code").inner_text())
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
