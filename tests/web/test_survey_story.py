"""Two people new to it take part in a preference study: all that was entered is in the exports, and nothing else."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.kinds.preference.hp_fashioniq import import_hp_study
from annotation.kinds.preference.review import preference_files
from annotation.kinds.preference.survey.flow import completion_code
from annotation.kinds.preference.survey.plan import SurveyLayout
from annotation.records import Study
from tests.fakes.studies import rated
from tests.integration.crowd import Server
from tests.unit.annotation.kinds.preference.test_hp_studies import RELEASED
from tests.web.browsing import at_rest, enter
from tests.web.judging import Meet, Person, draft_kept, history, order_of, stores
from tests.web.judging import meet as meet
from tests.web.judging import server as server
from tests.web.surveying import a_survey, begin, chosen, past_the_check, question, the_sum

PEOPLE = ["Ada", "Ben", "Cyd", "Dee", "Eve"]
CONSENT = "You take part in a study of image search.\n\nYou may stop at any time."
# Eight questions, two of them for both: ten answers, five for each of two people. Forms of three and two questions.
LAYOUT = SurveyLayout(per_person=5, forms=2, shared_every=4, shared_by=2, reason_every=2, seed=11)
SETTINGS = {"consent": CONSENT, "check_every": 2, "completion_prefix": "LAB-", "set_names": ["Mall 1", "Mall 2"]}


ANCHORS = ["Does not match at all", "Does not match", "Matches to an average degree", "Matches", "Matches very well"]


def opened(person: Person, study: Study, page: Page | None = None) -> Page:
    page = page or person.page
    page.goto(f"{person.url}/annotate?study={study.name}")
    return page


def test_two_people_from_consent_to_export(meet: Meet, server: Server) -> None:
    study = a_survey(server.home, "Malls", questions=8, layout=LAYOUT, settings=SETTINGS)
    ada = meet("Ada")
    page = ada.page
    page.goto(f"{server.url}/annotate")
    page.get_by_role("button", name="Begin: Malls").click()

    # Guidelines, and a consent that must be given.
    expect(page.get_by_text("Does not match at all")).to_be_visible()
    with stores(server.home) as looking:
        assert looking.studies.counts(study.study_id)["people"] == 0, "looking takes no seat"
    enter(page)
    expect(page.get_by_role("checkbox")).to_be_focused()
    expect(page.get_by_text("You may stop at any time.")).to_be_visible()
    enter(page)
    expect(page.get_by_role("alert").filter(has_text="Tick that you agree")).to_be_visible()
    ada.press("Space")
    enter(page)
    question(page, 1)
    where = page.locator(".st-pace span").first
    expect(where).to_have_text("Question 1 of 3 · form 1 of 2")
    expect(page.locator(".sv-set").nth(0).get_by_role("button")).to_have_count(5)

    # Nothing has a default, and nothing may be left out.
    assert chosen(page) == []
    lacks = page.locator(".cq-inline:visible")
    enter(page)
    expect(lacks).to_have_text("No rating yet: choose 1 to 5.")
    ada.press("4", "2")
    assert chosen(page) == ["4: Matches", "2: Does not match"], "Mall 1 first, then Mall 2"
    enter(page)
    expect(lacks).to_have_text("Which system's results do you prefer? Choose Mall 1 or Mall 2.")
    ada.press("ArrowLeft")
    ada.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Prefer Mall 1")
    ada.press("Escape", "d")
    expect(page.get_by_role("dialog", name="Guidelines")).to_contain_text("evaluate each set as a whole")
    ada.press("d", "z")
    large = page.get_by_role("dialog", name="Picture")
    expect(large.get_by_role("paragraph")).to_have_text("Reference")
    ada.press("ArrowRight")
    expect(large.get_by_role("paragraph")).to_have_text("Mall 1, image 1")
    ada.press("Escape")
    ada.save()
    entered = [rated(4, 2, "A")]

    # The second question asks for a reason. A reload in the middle.
    question(page, 2)
    with draft_kept(page):
        ada.press("2", "5", "r")
        page.keyboard.type("the sle")
    page.reload()
    question(page, 2)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    assert chosen(page) == ["2: Does not match", "5: Matches very well"]
    enter(page)
    expect(lacks).to_have_text("Which system's results do you prefer? Choose Mall 1 or Mall 2.")
    ada.press("r", "End")
    page.keyboard.type("eves, 1 & 2")
    ada.press("Escape", "ArrowLeft")

    # A preference against the ratings: asked once, in a sentence, and kept.
    enter(page)
    doubt = page.locator(".sv-doubt")
    expect(doubt).to_contain_text("Mall 2 has the higher score, and you prefer Mall 1. Is that what you meant?")
    ada.press("Enter")
    expect(doubt).to_be_visible()
    assert len(history(server.home, study)) == 1, "Enter is no answer to it"
    ada.press("y")

    # A check. A wrong answer stays, with another sum; a reload shows the same one.
    expect(page.locator("input.sv-sum")).to_be_focused()
    first = the_sum(page)
    page.keyboard.type(str(first + 1))
    enter(page)
    expect(page.locator(".sv-check .cq-lead")).to_contain_text("That was not correct.")
    task = page.locator(".sv-question").inner_text()
    assert the_sum(page) != first
    page.reload()
    expect(page.locator(".sv-question")).to_have_text(task)
    enter(page)
    expect(page.get_by_role("alert").filter(has_text="Type the sum")).to_be_visible()
    past_the_check(page)
    entered.append(rated(2, 5, "A", reason="the sleeves, 1 & 2", confirmed=True))

    # Back within the form, another rating: still against the ratings, and nobody has said yes to these.
    question(page, 3)
    ada.press("Backspace")
    question(page, 2)
    expect(page.locator(".st-state")).to_have_text("Answered")
    assert chosen(page) == ["2: Does not match", "5: Matches very well", "Mall 1"]
    ada.press("b", "4")
    enter(page)
    expect(doubt).to_be_visible()
    ada.press("y")
    question(page, 3)
    entered[1] = rated(2, 4, "A", reason="the sleeves, 1 & 2", confirmed=True)

    # On with it on another device, where the draft is too.
    with draft_kept(page):
        ada.press("1", "5", "i")
    there = meet("Ada")
    page = opened(there, study)
    question(page, 3)
    assert chosen(page) == ["1: Does not match at all", "5: Matches very well"]
    page.get_by_role("radio", name="Mall 1", exact=True).click()
    enter(page)
    expect(page.locator(".sv-doubt")).to_be_visible()
    page.get_by_role("button", name="No, let me change it").click()
    enter(page)   # it was denied, so it is asked again
    expect(page.locator(".sv-doubt")).to_be_visible()
    there.press("n", "3")   # B, the active set, is rated anew, and is still the better one
    enter(page)
    expect(page.locator(".sv-doubt")).to_be_visible()
    there.press("n", "5")
    there.press("ArrowRight")
    with page.expect_response(lambda answer: "study/save" in answer.url and answer.ok):
        enter(page)
        page.keyboard.press("Enter")   # twice, in haste
    past_the_check(page)
    entered.append(rated(1, 5, "B", irrelevant={"either": True}))

    # The next form. What lies behind is to be looked at, and stays as it is.
    question(page, 4)
    where = page.locator(".st-pace span").first
    expect(where).to_have_text("Question 1 of 2 · form 2 of 2")
    there.press("Backspace")
    question(page, 3)
    expect(page.get_by_text("This form is finished")).to_be_visible()
    there.press("1", "ArrowLeft", "i")
    assert chosen(page) == ["1: Does not match at all", "5: Matches very well", "Mall 2"]
    enter(page)
    question(page, 4)
    there.press("3", "3", "ArrowRight", "r")
    page.keyboard.type("=same")
    there.save()
    question(page, 5)
    there.press("5", "1", "ArrowLeft")
    there.save()
    past_the_check(page)
    entered += [rated(3, 3, "B", reason="=same"), rated(5, 1, "A")]

    # The end: a code that is hers, and answers of the last form to look back at.
    expect(page.get_by_role("heading", name="That was the last one. Thank you.")).to_be_focused()
    expect(page.get_by_text("You can still review, and change answers of the last form.")).to_be_visible()
    code = page.get_by_label("Completion code").inner_text()
    assert code == completion_code(study, "Ada") and code.startswith("LAB-")
    there.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    assert page.evaluate("() => navigator.clipboard.readText()") == code
    page.reload()
    expect(page.get_by_label("Completion code")).to_have_text(code)

    ben = meet("Ben")
    answer_everything(ben, opened(ben, study))
    expect(ben.page.get_by_label("Completion code")).to_have_text(completion_code(study, "Ben"))

    given = {"Ada": entered, "Ben": [rated(3, 4, "B", reason="b" * asks) for asks in (0, 1, 0, 1, 0)]}
    check_exports(server, study, given)
    check_studies_screen(meet, study)


def answer_everything(person: Person, page: Page) -> None:
    """With the mouse: the second set a little better, always."""
    at_rest(page)
    page.get_by_role("button", name="I have read this").click()
    page.get_by_label("I have read this and agree to participate.").check()
    at_rest(page)
    page.get_by_role("button", name="Go on").click()
    for number in range(1, 6):
        question(page, number)
        page.get_by_role("radiogroup", name="Score for Mall 1").get_by_role("radio", name="3:").click()
        page.get_by_role("radiogroup", name="Score for Mall 2").get_by_role("radio", name="4:").click()
        page.get_by_role("radio", name="Mall 2", exact=True).click()
        reason = page.get_by_label("Please explain the reason for your score.").and_(page.get_by_role("textbox"))
        if reason.is_visible():
            reason.fill("b")
        at_rest(page)
        with page.expect_response(lambda answer: "study/save" in answer.url and answer.ok):
            page.get_by_role("button", name="Save and continue").click()
        if number in (2, 3, 5):
            past_the_check(page)


def check_exports(server: Server, study: Study, given: dict[str, list[dict[str, Any]]]) -> None:
    """Every answer is there once, as it was entered: A is the set that stood first for its author."""
    with stores(server.home) as opened:
        store = opened.studies
        table = preference_files(store, study, "csv")[0]["judgements.csv"].decode("utf-8-sig")
        pairs = preference_files(store, study, "preferences")[0]["preferences.jsonl"]
        released = json.loads(preference_files(store, study, "hp-fashioniq")[0]["hpfiq.json"])
        keys = {item.item_id: item.key for item in store.items(study.study_id)}
        failed = [event.annotator for event in store.events(study.study_id, kind="check")
                  if not event.payload["right"]]
    rows = {(row["annotator"], row["item"]): row for row in csv.DictReader(io.StringIO(table))}
    expected: dict[tuple[str, str], dict[str, Any]] = {}
    for name, answers in given.items():
        expected |= {(name, keys[item_id]): answer
                     for item_id, answer in zip(order_of(server.home, study, name), answers, strict=True)}
    assert rows.keys() == expected.keys() and len(rows) == 10
    for place, answer in expected.items():
        row, ratings = rows[place], answer["ratings"]
        one, two = (ratings["A"], ratings["B"]) if row["first"] == "1" else (ratings["B"], ratings["A"])
        better = int(row["first"]) if answer["preferred"] == "A" else 3 - int(row["first"])
        assert (row["rating_1"], row["rating_2"], row["preferred"]) == (str(one), str(two), str(better))
        assert row["preferred_method"] == row[f"method_{better}"]
        assert row["contradicts"] == str(answer["confirmed"]).lower()
        assert row["irrelevant"] == str(answer["irrelevant"]["either"]).lower()
        assert row["irrelevant_to_image"] == row["irrelevant_to_text"] == ""
        assert row["reason"].removeprefix("'") == answer["reason"]
        assert row["revision"] == ("2" if "sleeves" in answer["reason"] else "1")
    assert len(pairs.splitlines()) == 10 and len(json.dumps(released)) > 100
    assert failed == ["Ada"], "one wrong sum, and a missing answer is not a wrong one"


def check_studies_screen(meet: Meet, study: Study) -> None:
    """The owner sees who answered how, what a rule would take out, and the methods by name."""
    owner = meet("Ada Min")
    page = owner.page
    page.goto(f"{owner.url}/studies?study={study.name}&tab=quality")
    people = page.locator(".cq-stquality tbody tr")
    expect(people).to_have_count(2)
    cells = people.nth(0).get_by_role("cell")
    expect(cells.nth(1)).to_have_text("1 of 4")   # three checks, the first asked twice
    expect(cells.nth(4)).to_have_text("1 of 4")   # contradictions: of five answers one has two equal ratings
    rule = page.get_by_role("listitem").filter(has_text="flag the results as irrelevant")
    rule.get_by_role("checkbox").check()
    expect(rule).to_contain_text("1 answer excluded")
    expect(page.get_by_text("Total: 1 answer excluded, 9 of 10 remain.")).to_be_visible()
    page.get_by_role("button", name="Save these rules").click()
    expect(page.get_by_role("button", name="Save these rules")).to_be_hidden()
    expect(page.get_by_role("rowheader", name="text-only", exact=True)).to_be_visible()
    # Sides and methods are of what is left, and each answer is one that one of its two methods led.
    expect(page.get_by_text("Of the 9 answers left by the rules.")).to_be_visible()
    sides = page.get_by_role("table").filter(has=page.get_by_role("columnheader", name="Adjusted"))
    led = sides.locator("tbody tr").evaluate_all(
        "rows => rows.map((row) => [1, 2].map((place) => parseInt(row.cells[place].textContent)))")
    assert sum(map(sum, led)) == 9
    page.get_by_role("tab", name="Files").click()
    page.locator("summary").filter(has_text="Download").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Pairs for training reward models").click()
    assert download.value.suggested_filename.startswith("Malls preferences")
    page.get_by_role("tab", name="Quality").click()
    page.reload()
    expect(rule.get_by_role("checkbox")).to_be_checked()
    expect(rule).to_contain_text("1 answer excluded")


def test_what_a_released_file_lacks_is_not_shown_as_nought(meet: Meet, server: Server) -> None:
    (server.home / "hpfiq.json").write_text(json.dumps(RELEASED), "utf-8")
    with stores(server.home) as opened:
        import_hp_study(opened.studies, "Released", server.home / "hpfiq.json", created_by="Ada Min")
    owner = meet("Ada Min")
    page = owner.page
    page.goto(f"{owner.url}/studies?study=Released&tab=quality")
    cells = page.locator(".cq-stquality tbody tr").nth(0).get_by_role("cell")
    for place in (1, 7):   # wrong checks, flagged
        expect(cells.nth(place)).to_have_text("–")
        expect(cells.nth(place)).to_have_attribute("title", "Not recorded")
    rule = page.get_by_role("listitem").filter(has_text="flag the results as irrelevant")
    rule.get_by_role("checkbox").check()
    expect(rule).to_contain_text("not recorded")


@pytest.mark.extended
def test_ties_and_instructions(meet: Meet, server: Server) -> None:
    layout = SurveyLayout(per_person=2, forms=1, shared_every=0, reason_every=0, seed=5)
    study = a_survey(server.home, "Ties", questions=2, layout=layout,
                     settings={"allow_tie": True, "check": "instruction", "check_every": 1})
    cyd = meet("Cyd")
    page = opened(cyd, study)
    begin(page)
    cyd.press("3", "3", "=")
    assert chosen(page)[-1] == "Both are equally good"
    cyd.save()
    for key in ("right", "wrong"):   # the second answer is wrong, then right
        task = page.locator(".sv-question")
        expect(task).to_contain_text("Please choose")
        wanted = int(task.inner_text()[-2])
        if key == "wrong":
            page.keyboard.press(str(wanted % 5 + 1))
            enter(page)
            expect(page.locator(".sv-check .cq-lead")).to_contain_text("That was not correct.")
            wanted = int(page.locator(".sv-question").inner_text()[-2])
        page.keyboard.press(str(wanted))
        enter(page)
        expect(page.locator(".sv-check")).to_have_count(0)
        if key == "right":
            question(page, 2)
            cyd.press("5", "5", "ArrowRight")
            cyd.save()
    expect(page.get_by_label("Completion code")).to_have_text(completion_code(study, "Cyd"))
    assert [one.answer["preferred"] == 0 for one in history(server.home, study)] == [True, False]


@pytest.mark.extended
def test_the_server_goes_away(meet: Meet, server: Server) -> None:
    layout = SurveyLayout(per_person=3, forms=1, shared_every=0, reason_every=0, seed=5)
    study = a_survey(server.home, "Away", questions=3, layout=layout, settings={"check_every": 2})
    dee = meet("Dee")
    page = opened(dee, study)
    begin(page)
    dee.press("2", "4", "ArrowRight")
    server.kill()
    enter(page)
    expect(page.get_by_text("Your answer is kept in this browser")).to_be_visible()
    question(page, 2)   # which was here already
    server.start()
    expect(page.get_by_text("The previous answer is saved.")).to_be_visible()
    dee.press("1", "3", "ArrowRight")
    dee.save()
    # And at a check.
    expect(page.locator(".sv-question")).to_be_visible()
    server.kill()
    page.keyboard.type(str(the_sum(page)))
    enter(page)
    expect(page.get_by_role("alert").filter(has_text="The server does not answer")).to_be_visible()
    server.start()
    page.keyboard.press("Enter")
    question(page, 3)
    # Signed out in the middle: signed in again, it goes on by itself.
    dee.press("1", "2", "ArrowRight")
    dee.context.clear_cookies()
    enter(page)
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_label("Password").fill("sixteen at once")
    page.keyboard.press("Enter")
    past_the_check(page)
    expect(page.get_by_label("Completion code")).to_be_visible()
    assert len(history(server.home, study)) == 3, "each once"


@pytest.mark.extended
def test_on_a_phone(meet: Meet, server: Server) -> None:
    layout = SurveyLayout(per_person=1, forms=1, shared_every=0, reason_every=1, seed=5)
    study = a_survey(server.home, "Phone", questions=1, layout=layout, settings={"check": "none"})
    eve = meet("Eve")
    page = eve.page
    page.set_viewport_size({"width": 375, "height": 812})
    opened(eve, study)
    drawn = page.locator(".cq-who").evaluate(
        "who => [getComputedStyle(who, '::before').content, getComputedStyle(who.firstElementChild).display]")
    assert drawn == ['"☰"', "none"], "one sign in the bar, not two in one place"
    expect(page.get_by_text("On this screen the two sets are shown one below the other.")).to_be_visible()
    begin(page)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "nothing to scroll sideways"
    for group in page.locator(".sv-scale").all():      # every point says what it means, in full
        assert group.locator("small").all_inner_texts() == ANCHORS
        assert group.locator("small").evaluate_all(
            "all => all.every(one => one.offsetHeight > 0 && one.scrollWidth <= one.parentElement.clientWidth"
            " && parseFloat(getComputedStyle(one).fontSize) >= 12)")
    expect(page.get_by_text("Score for Shopping Mall 1", exact=True)).to_be_visible()
    at_rest(page)
    page.get_by_role("button", name="Save and continue").click()
    expect(page.locator("#sv-lacks-A")).to_be_in_viewport()
    for mall, rating in (("Shopping Mall 1", "2:"), ("Shopping Mall 2", "5:")):
        page.get_by_role("radiogroup", name=f"Score for {mall}").get_by_role("radio", name=rating).click()
    expect(page.locator(".sv-asked")).to_be_in_viewport()   # what is looked for stays in sight
    page.get_by_role("radio", name="Shopping Mall 2", exact=True).click()
    page.get_by_role("textbox", name="Please explain the reason for your score.").fill("brighter")

    # Whether it was meant: a question that takes no more room than the foot had, and nothing lies over the marks.
    page.get_by_role("radio", name="Shopping Mall 1", exact=True).click()
    page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    foot, save = page.locator(".st-foot"), page.get_by_role("button", name="Save and continue")
    before = foot.bounding_box()
    save.click()
    expect(page.locator(".sv-doubt")).to_be_in_viewport(ratio=1)
    expect(save).to_be_hidden()
    asking, marks = foot.bounding_box(), page.locator(".sv-marks").bounding_box()
    assert before and asking and marks and asking["height"] <= before["height"]
    assert marks["y"] + marks["height"] <= asking["y"] + 1
    page.get_by_role("button", name="No, let me change it").click()
    page.get_by_role("radio", name="Shopping Mall 2", exact=True).click()
    save.click()
    expect(page.get_by_label("Completion code")).to_be_visible()
    (kept,) = history(server.home, study)
    assert kept.answer["reason"] == "brighter"
