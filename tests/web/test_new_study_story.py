"""From a table and a folder of pictures to the first judgement of a stranger on a phone, in the browser alone."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from annotation.studies.creation import remove_study
from cir_core.gallery.gallery import open_gallery
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.picture_tables import pictures
from tests.web.browsing import at_rest

ROWS = 50
NAME = "Our queries"


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A table whose text column nobody could guess, and a folder with the pictures it names."""
    pictures(tmp_path / "photos", [f"{number}.png" for number in range(8)])
    with (tmp_path / "queries.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["nr", "ref", "wanted change", "target image"])
        table.writerows([number, f"{number % 8}.png", f"make it {number}", f"{(number + 1) % 8}.png"]
                        for number in range(ROWS))
    return tmp_path


@pytest.fixture
def store(app):
    engine = engine_of(app.home)
    store = SqlStudyStore(engine)
    yield store
    for study in store.studies():
        if study.name.startswith(NAME):
            remove_study(store, app.home, study)
    engine.dispose()


def test_from_a_table_to_the_first_judgement_of_a_stranger(open_page, browser, app, store, given):
    page = open_page("/studies")
    page.get_by_role("button", name="New study").click()
    page.get_by_label("Table", exact=True).set_input_files(given / "queries.csv")
    page.get_by_label("Pictures: a folder").set_input_files(given / "photos")
    expect(page.get_by_text("Assign these columns above: modification text.")).to_be_visible()
    page.get_by_label("Modification text").select_option("wanted change")
    at_rest(page)
    page.reload()                                                       # nothing that was chosen or sent is lost
    at_rest(page)
    expect(page.get_by_text("50 rows of queries.csv read as 50 items.")).to_be_visible()
    page.get_by_role("button", name="See the first items as a judge").click()
    shown = page.get_by_role("dialog")
    expect(shown.get_by_role("heading", name="make it 0")).to_be_visible()
    shown.get_by_role("button", name="Next").click()
    expect(shown.get_by_role("heading", name="make it 1")).to_be_visible()
    shown.get_by_role("button", name="Close").click()
    page.get_by_label("People per item").fill("2")
    expect(page.get_by_text("100 judgements")).to_be_visible()          # 50 items, two people each
    page.get_by_label("Order of items").select_option("as in the table")
    page.get_by_label("What people are asked").select_option("own")     # begins from cirque's
    expect(page.get_by_text("No faults in my-lab/1.")).to_be_visible()
    written = page.get_by_label("Questions, as TOML")
    asked = written.input_value()
    written.fill(asked.replace('protocol = "my-lab/1"', 'protocol = "mine"'))
    page.get_by_role("button", name="Go to line").click()
    expect(written).to_be_focused()
    written.fill(asked.replace('name = "Valid"', 'name = "Fair"'))
    expect(page.get_by_text("No faults in my-lab/1.")).to_be_visible()
    late = []
    page.route("**/studies/new/guide", lambda route: late.append(route))   # it takes no built-in
    with page.expect_request("**/studies/new/guide"):
        page.get_by_role("textbox", name="Guidelines", exact=True).fill("# Look\n\nTake *both* pictures.")
    page.get_by_label("Name of the study").fill(NAME)
    page.get_by_role("button", name="Open the study").click()
    expect(page.get_by_text("Waiting for uploads")).to_be_visible()   # it needs the uploaded files
    late[0].continue_()
    page.unroute("**/studies/new/guide")
    page.get_by_role("button", name="Make a link").click()
    page.get_by_role("button", name="Let people in").click()
    at_rest(page)
    link = page.locator(".cq-stlink code").inner_text()
    page.get_by_role("tab", name="Analysis").click()
    expect(page.get_by_text("Nothing judged yet.")).to_be_visible()

    context = browser.new_context(viewport={"width": 390, "height": 844})
    try:
        phone = context.new_page()
        phone.goto(f"{link}?PROLIFIC_PID=5f3a9c")
        phone.get_by_role("button", name="Begin").click()
        at_rest(phone)
        expect(phone.get_by_role("heading", name="Look")).to_be_visible()
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        phone.get_by_role("button", name="Begin").click()
        at_rest(phone)
        expect(phone.get_by_role("heading", name="make it 0")).to_be_visible()   # the table's first row
        phone.get_by_role("button", name="Fair").click()
        phone.get_by_role("button", name="Save and continue").click()
        expect(phone.get_by_text("1 of 50").first).to_be_visible()
    finally:
        context.close()
    (judgement,) = store.judgements(store.study(NAME).study_id)
    assert judgement.answer["validated"] is True and judgement.protocol == "my-lab/1"
    assert list((app.home / "new-studies").iterdir()) == []             # what was sent is gone

    page.get_by_role("tab", name="Settings").click()
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(page.get_by_role("tab", name="Settings")).to_be_in_viewport(ratio=1)   # not all tabs fit
    page.get_by_role("button", name="Remove").click()
    page.get_by_label("Type its name to remove it").fill(NAME)
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="New study").wait_for()             # the list
    assert NAME not in [study.name for study in store.studies()]
    assert [path for path in (app.home / "backups").iterdir() if "before-removal" in path.name]


@pytest.mark.extended
def test_from_an_audit_without_a_table(open_page, app, store):
    ids, audit = open_gallery("atelier", home=app.home).ids, app.home / "audits" / "sample-story"
    audit.mkdir(parents=True)
    (audit / "sample-story_queries.jsonl").write_text("".join(json.dumps({
        "dataset": "sample", "query_idx": number, "query_text": f"make it {number}", "hidden_category": "unresolved",
        "query_image_path": ids[number], "target_image_path": ids[number + 1], "target_ids": [ids[number + 1]],
        "panel": [], "panel_paths": []}) + "\n" for number in range(6)))
    try:
        page = open_page("/studies")
        page.get_by_role("button", name="New study").click()
        page.get_by_label("What is judged").select_option("Audit sample-story")
        expect(page.get_by_label("Kind of study")).to_be_disabled()
        expect(page.get_by_role("region", name="Columns")).to_be_hidden()
        expect(page.get_by_label("Gallery with the pictures")).to_have_value("atelier")
        page.get_by_label("Number of items").fill("4")
        expect(page.get_by_text("4 of 6 items of 'Audit sample-story'.")).to_be_visible()
        page.get_by_role("button", name="See the first items as a judge").click()
        expect(page.get_by_role("dialog").get_by_role("heading", name="make it")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Close").click()
        page.get_by_label("What is judged").select_option("A table")
        expect(page.get_by_text("Choose a table first.")).to_be_visible()
        page.get_by_label("What is judged").select_option("Audit sample-story")
        page.get_by_label("Name of the study").fill(f"{NAME} of an audit")
        page.get_by_role("button", name="Create it closed").click()
        page.get_by_role("tab", name="Settings").wait_for()
        assert len(store.items(store.study(f"{NAME} of an audit").study_id)) == 4
    finally:
        shutil.rmtree(audit)


def test_judgements_made_elsewhere_are_imported(open_page, store, tmp_path):
    judged = {"username": "Ann", "assignments": [
        {"assignment_id": f"cirr::{number}", "dataset": "cirr", "query_idx": number, "hidden_category": "unresolved",
         "annotation": {"validated": number > 0, "QUERY_TOO_BROAD": number == 0}} for number in range(3)]}
    (tmp_path / "ann.json").write_text(json.dumps(judged))
    page = open_page("/studies")
    page.get_by_role("button", name="Import judgements").click()
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    page.get_by_label("Files of judgements", exact=True).set_input_files(tmp_path / "ann.json")
    expect(page.get_by_text("3 judgements of 3 items by 1 person.")).to_be_visible()
    page.get_by_label("Name of the study").fill(f"{NAME}, judged")
    page.reload()                                                       # nothing that was sent or typed is lost
    expect(page.get_by_text("3 judgements of 3 items by 1 person.")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name=f"{NAME}, judged")).to_be_visible()
    expect(page.get_by_text("3 of 3 answers").first).to_be_visible()
    assert not store.study(f"{NAME}, judged").accepting
