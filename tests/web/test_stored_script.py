"""A script in every text that somebody or some data set can bring: each screen shows it as the text it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.accounts.service import PeopleService
from annotation.kinds.preference.answers import Preference
from annotation.kinds.validity.answers import Validity
from annotation.records import Decision, Message, MetricScores
from annotation.studies.service import StudyService
from cir_core.types.records import new_id
from storage.stores import open_stores
from tests.fakes.databases import environment_of, settings_of
from tests.fakes.forked import start
from tests.fakes.people import PASSWORD
from tests.fakes.studies import flagged, make_preference_study, make_study, rated, solved, valid
from tests.web import screen
from tests.web.browsing import at_rest, new_context
from tests.web.browsing import enter as press_enter
from tests.web.conftest import wait_for_address

OPEN_ALL = 'document.querySelectorAll("details").forEach((one) => { one.open = true; })'


def script(where: str) -> str:
    """Runs as soon as it is taken for HTML. Short: names have 64 characters."""
    return f'<img src=x onerror=struck("{where}")>'


ADMIN, JUDGE, OTHER = script("ad"), script("ju"), script("ot")
VALIDITY, SURVEY = script("validity"), script("survey")
# An image that is not there takes a moment to fail: one that is asked for after all others fails after them.
ONE_MORE_FAILS = """() => new Promise((failed) => {
  const image = new Image();
  image.onerror = failed;
  image.src = "x";
})"""
LISTENS = """window.struckBy = []; window.struck = (where) => window.struckBy.push(where);
document.addEventListener("error", (event) => {
  if (event.target.getAttribute?.("src") === "x") window.struckBy.push("an image of nowhere");
}, true);"""


@pytest.fixture(scope="module")
def address(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("stored")
    own, photos = folder / "home", folder / "photos"
    photos.mkdir()
    lines = []
    for number, image in enumerate(sorted((home / "sample").rglob("*.jpg"))[:12]):
        shutil.copy(image, photos / f"{number}.jpg")
        lines.append({"id": script(f"id{number}"), "path": f"{number}.jpg", "caption": script(f"caption{number}")})
    (folder / "manifest.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    environment = environment_of(own, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1", CIRQUE_GALLERY="hostile")
    log = folder / "app.log"
    with log.open("w") as stream:
        indexing = start("-m", "cli.main", "index", str(photos), "--name", "hostile", "--manifest",
                         str(folder / "manifest.jsonl"), environment=environment, output=stream)
        assert indexing.wait(120) == 0, log.read_text()
    hostile_benchmark(own / "benchmarks" / "hostile")
    fill(own)
    with log.open("w") as stream:
        process = start("app.py", environment=environment, output=stream)
    try:
        yield wait_for_address(process, log)
    finally:
        process.terminate()
        process.wait(30)


def fill(home: Path) -> None:
    """People, studies of both kinds, answers that differ, a decision, scores: a script in every text."""
    stores = open_stores(settings_of(home))
    people = PeopleService(stores.people)
    for name, role in ((ADMIN, "admin"), (JUDGE, "annotator"), (OTHER, "annotator")):
        people.add(name, PASSWORD, role)   # type: ignore[arg-type]
    studies = StudyService(stores.studies, {"validity": Validity(), "preference": Preference()})
    study = make_study(
        stores.studies, home, name=VALIDITY, items=4, seats=2, overlap=2, texts=(script("text"),),
        strata=(script("stratum"),), hidden={"dataset": script("dataset"), "hidden_category": script("category"),
                                             "query_id": script("query")})
    items = stores.studies.items(study.study_id)
    for who, answer in ((JUDGE, valid(note=script("note"))), (OTHER, flagged("QUERY_TOO_BROAD", note=script("other")))):
        studies.join(study.study_id, who)
        for item in items[:3]:
            studies.save(study.study_id, who, item.item_id, answer, f"token-{item.item_id}", seconds=9)
    stores.studies.decide(Decision(new_id(), study.study_id, items[0].item_id, ADMIN, 0, "token-decided",
                                   valid(note=script("decided")), script("reason"), datetime.now(UTC)))
    for item in items[1:3]:
        stores.studies.say(Message(new_id(), study.study_id, item.item_id, JUDGE, "judge", "token-said", script("said"),
                                   datetime.now(UTC)))
    survey = make_preference_study(
        stores.studies, home, name=SURVEY, questions=12, per_person=6, texts=(script("question"),), reason_every=1,
        methods=(script("method1"), script("method2"), script("method3")),
        hidden={"dataset": script("dataset2"), "category": script("category2")},
        settings={"set_names": [script("seta"), script("setb")], "consent": script("consent"),
                  "guidelines": script("guide")})
    stores.studies.save_scores(survey.study_id, MetricScores(
        script("metric"), script("description"),
        {(one.item_id, 1): 0.5 for one in stores.studies.items(survey.study_id)}, (script("remark"),)), ADMIN,
        datetime.now(UTC))
    workspace = studies.join(survey.study_id, JUDGE)
    for press in range(40):
        if workspace.survey is not None and workspace.survey.gate is not None:
            gate = dict(workspace.survey.gate)
            if gate["kind"] == "finished":
                break
            _, workspace = studies.pass_gate(survey.study_id, JUDGE, token=f"token-gate-{press}", **solved(gate))
        elif workspace.item is not None:
            _, workspace = studies.save(survey.study_id, JUDGE, workspace.item.item_id, rated(reason=script("why") * 3),
                                   f"token-save-{press}", seconds=9)
    stores.close()


@pytest.fixture
def page(address: str, browser: Browser) -> Iterator[Page]:
    context = new_context(browser)
    context.add_init_script(LISTENS)
    yield context.new_page()
    context.close()


def enter(page: Page, address: str, name: str) -> None:
    answer = page.request.post(f"{address}/sign-in", data={"name": name, "password": PASSWORD})
    assert answer.ok, answer.text()


def shows(page: Page, *where: str) -> None:
    """These scripts stand there to be read, and none has run or is an element."""
    for one in where:
        expect(page.get_by_text(script(one)).first).to_be_attached()
    check(page)


def check(page: Page) -> None:
    page.evaluate(ONE_MORE_FAILS)
    assert page.evaluate("window.struckBy") == []
    assert page.evaluate('document.querySelectorAll("img[src=x], [onerror]").length') == 0


def test_the_search_screen(page: Page, address: str) -> None:
    enter(page, address, ADMIN)
    page.goto(address)
    at_rest(page)
    check(page)
    screen.search(page, script("typed"), 1)
    shows(page, "typed")
    tile = screen.tiles(page).first
    assert (tile.get_attribute("data-image") or "").startswith("<img src=x onerror=struck(")
    tile.hover()
    screen.refine_from(page, 2)
    screen.search(page, script("again"), 2)
    shows(page, "typed", "again")
    page.reload()
    at_rest(page)
    expect(page.get_by_role("heading", name=script("again"))).to_be_visible()
    page.evaluate(OPEN_ALL)
    shows(page, "typed", "again")


@pytest.mark.extended
def test_annotating(page: Page, address: str) -> None:
    enter(page, address, JUDGE)
    page.goto(f"{address}/annotate")
    shows(page, "validity", "survey")
    page.get_by_role("link", name=VALIDITY).or_(page.get_by_role("button", name=VALIDITY)).first.click()
    expect(page.locator("h1.st-text")).to_have_text(script("text"))
    shows(page, "text")
    page.keyboard.press("ArrowLeft")
    check(page)


@pytest.mark.extended
def test_a_survey(page: Page, address: str) -> None:
    enter(page, address, OTHER)
    page.goto(f"{address}/annotate")
    shows(page, "survey")
    page.get_by_role("link", name=SURVEY).or_(page.get_by_role("button", name=SURVEY)).first.click()
    expect(page.get_by_text(script("guide")).first).to_be_visible()
    check(page)
    press_enter(page)
    expect(page.get_by_text(script("consent")).first).to_be_visible()
    check(page)
    page.keyboard.press("Space")
    press_enter(page)
    expect(page.get_by_text(script("question")).first).to_be_visible()
    shows(page, "question", "seta", "setb")


@pytest.mark.extended
def test_adjudicating(page: Page, address: str) -> None:
    enter(page, address, ADMIN)
    page.goto(f"{address}/adjudicate")
    shows(page, "validity")
    page.get_by_role("link", name=VALIDITY).or_(page.get_by_role("button", name=VALIDITY)).first.click()
    at_rest(page)
    shows(page, "text")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article").first).to_be_visible()
    shows(page, "text", "note", "other", "said")


@pytest.mark.extended
def test_studies_and_their_results(page: Page, address: str) -> None:
    enter(page, address, ADMIN)
    page.goto(f"{address}/studies")
    shows(page, "validity", "survey")
    for study, texts in ((VALIDITY, ("ju", "ot", "dataset")), (SURVEY, ("ju", "method1"))):
        page.goto(f"{address}/studies?study={study}".replace('"', "%22").replace("<", "%3C").replace(">", "%3E"))
        shows(page, *texts)


@pytest.mark.extended
def test_analysis(page: Page, address: str) -> None:
    enter(page, address, ADMIN)
    page.goto(f"{address}/analysis")
    shows(page, "validity", "survey")
    for study, texts in ((VALIDITY, ("ju", "ot")), (SURVEY, ("method1", "metric"))):
        page.goto(f"{address}/analysis?study={study}".replace('"', "%22").replace("<", "%3C").replace(">", "%3E"))
        expect(page.locator("[data-section]").first).to_be_visible()
        at_rest(page)
        expect(page.locator(".js-plotly-plot").first).to_be_visible()   # figures are drawn after the tables
        page.evaluate(OPEN_ALL)
        shows(page, *texts)


def hostile_benchmark(folder: Path) -> None:
    """A raw file with a script wherever one may have a text."""
    texts, image = [script("first"), script("later")], script("id0")
    turns = [{"turn": number, "query_text": script("merged"), "selected_image": script("id1") if number else None,
              "selected_image_caption": script("caption1"), "relative_caption": text if number else None,
              "gt_rankings": {}, "best_gt_rank": 20 - 15 * number, "text_similarity": 0.9 if number else None,
              "similar_turn": 0 if number else None} for number, text in enumerate(texts)]
    result = {"query_id": script("query"), "reference_image_id": image, "target_image_id": image,
              "ground_truth_ids": [image, script("gone")], "original_query": texts[0], "success": True,
              "success_turn": 1, "turns": turns}
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "a.json").write_text(json.dumps({
        "dataset_name": script("subset"), "config": {"gallery": "hostile", "language_model": script("model"),
                                                     "dataset": script("dataset")}, "results": [result]}))


@pytest.mark.extended
def test_benchmarks(page: Page, address: str) -> None:
    enter(page, address, ADMIN)
    page.goto(f"{address}/benchmarks")
    shows(page, "dataset", "model")
    page.goto(f"{address}/benchmarks?name=hostile")
    expect(page.locator(".cq-be-strip")).to_have_count(1)
    shows(page, "query", "subset", "first", "later", "gone", "model")
    page.locator(".cq-be-picture button").first.click()
    expect(page.get_by_role("dialog", name="Picture")).to_be_visible()
    shows(page, "id0")


@pytest.mark.extended
def test_people_and_the_log(page: Page, address: str) -> None:
    enter(page, address, ADMIN)
    page.goto(f"{address}/people")
    shows(page, "ad", "ju", "ot")
    page.goto(f"{address}/log")
    shows(page, "ad", "ju", "validity", "survey")
    page.goto(f"{address}/log?person={ADMIN}&kind={ADMIN}".replace('"', "%22").replace("<", "%3C"))
    expect(page.get_by_role("alert")).to_contain_text("The log has no kind")
    check(page)


@pytest.mark.extended
def test_the_pages_before_the_app(page: Page, address: str) -> None:
    page.goto(f"{address}/sign-in")
    page.get_by_label("Name").fill(script("typed"))
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("name or password is wrong")
    check(page)
    enter(page, address, JUDGE)
    page.goto(f"{address}/people")
    expect(page.get_by_text(script("ju")).first).to_be_visible()
    check(page)


def test_a_report_as_a_page_of_its_own(page: Page, address: str, tmp_path: Path) -> None:
    """It is opened from a disk, without the app's policy around it."""
    enter(page, address, ADMIN)
    for study in (VALIDITY, SURVEY):
        answer = page.request.get(f"{address}/analysis/file", params={"study": study, "form": "html", "draws": "20"})
        assert answer.ok and "attachment" in answer.headers["content-disposition"]
        file = tmp_path / "report.html"
        file.write_bytes(answer.body())
        page.goto(file.as_uri())
        expect(page.get_by_text(study).first).to_be_attached()
        expect(page.locator(".js-plotly-plot").first).to_be_attached()
        check(page)
