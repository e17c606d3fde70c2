"""axe-core finds no fault of WCAG 2.1 AA, in the light and in the dark: on each screen, and on each in every state."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.accounts.service import Passwords, PeopleService
from annotation.kinds.preference.survey.plan import SurveyLayout
from annotation.records import Study
from tests.fakes.colours import colour_gallery
from tests.fakes.people import LIGHT
from tests.fakes.session_studies import make_session_study
from tests.fakes.target_studies import make_target_study
from tests.web import screen
from tests.web.adjudicating import adjudicate
from tests.web.analysing import compared, judged, look
from tests.web.browsing import at_rest, enter, new_context
from tests.web.conftest import ROOT, serving
from tests.web.constructing import construct, construct_targets, judge
from tests.web.judging import TITLE, a_study, begin_button, stores
from tests.web.surveying import a_survey, the_sum
from web.middleware.auth import SIGN_IN as COOKIE

AXE = ROOT / "tests/js/node_modules/axe-core/axe.min.js"
pytestmark = pytest.mark.sqlite   # screens look the same on any database
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
COLOURS = ["color-contrast", "link-in-text-block"]   # all that the dark can change
PASSWORD = "correct horse"
UNFOLD = "for (const folded of document.querySelectorAll('details:not(.cq-menu)')) folded.open = true"
# A colour half way between two is nobody's choice.
AT_REST = "*, ::before, ::after { transition: none !important; animation: none !important }"


@dataclass(frozen=True)
class Place:
    """A running app. ``cookie``: Olga's, an admin. ``invitation``: the path of a link that still holds."""

    url: str
    home: Path
    cookie: str
    invitation: str


@pytest.fixture(scope="module")
def place(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    assert AXE.exists(), "axe-core is not here: run make check once"
    folder = tmp_path_factory.mktemp("axe")
    own = folder / "home"
    shutil.copytree(home, own)
    with stores(own) as opened:
        people = PeopleService(opened.people, passwords=Passwords(LIGHT))
        people.add("Olga", PASSWORD, "admin")
        people.add("Bea", PASSWORD, "annotator")
        cookie, invitation = people.sign_in("Olga", PASSWORD), f"join/{people.invite('annotator', 7, 1, 'Olga')}"
    with serving(own, folder / "app.log") as app:
        yield Place(app.url, own, cookie, invitation)


class Audit:
    """Looks at a page with axe-core, and keeps what it finds in ``faults``."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self._context, self.url = context, url
        self.faults: list[str] = []

    def open(self, path: str) -> Page:
        page = self._context.new_page()
        page.goto(f"{self.url}/{path}")
        return page

    def look(self, page: Page, where: str) -> None:
        page.add_style_tag(content=AT_REST)
        page.evaluate(AXE.read_text("utf-8"))
        for theme, wanted in (("light", TAGS), ("dark", COLOURS)):
            page.emulate_media(color_scheme=theme)   # of the pages before the app
            page.evaluate("dark => document.body.classList.toggle('dark', dark)", theme == "dark")
            found: list[dict[str, Any]] = page.evaluate(
                "async wanted => (await axe.run({ runOnly: wanted, resultTypes: ['violations'] })).violations", wanted)
            self.faults += [f"{where}, {theme}: {rule['id']}, {len(rule['nodes'])} times, at {node['target']}: "
                            f"{node['html'][:200]} {node['failureSummary']}"
                            for rule in found for node in rule["nodes"][:3]]
        page.emulate_media(color_scheme="light")
        page.evaluate("document.body.classList.remove('dark')")


Visit = Callable[..., Audit]


@pytest.fixture
def visit(browser: Browser, place: Place) -> Iterator[Visit]:
    """``visit()`` is Olga's browser, ``visit(stranger=True)`` one that is not signed in."""
    contexts: list[BrowserContext] = []
    audits: list[Audit] = []

    def come(*, stranger: bool = False) -> Audit:
        context = new_context(browser, reduced_motion="reduce")
        if not stranger:
            context.add_cookies([{"name": COOKIE, "value": place.cookie, "url": place.url}])
        contexts.append(context)
        audits.append(Audit(context, place.url))
        return audits[-1]

    yield come
    for context in contexts:
        context.close()
    faults = [fault for audit in audits for fault in audit.faults]
    assert faults == [], "\n".join(faults)


@pytest.fixture(scope="module")
def studies(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One of each kind to answer in, and one to look at."""
    judged(place, "Each")
    garments = colour_gallery(tmp_path_factory.mktemp("each"), edge=96)
    with stores(place.home) as opened:
        make_session_study(opened.studies, place.home, garments, name="Each session", sample=1, seats=1)
        make_target_study(opened.studies, place.home, garments, name="Each target", count=1, seats=1)
    a_study(place.home, "Each item", items=1)
    a_survey(place.home, "Each set", questions=4, layout=SurveyLayout(2, 1, 0, 1, 1, 7), settings={})


@pytest.mark.usefixtures("studies")
@pytest.mark.parametrize("path", [
    "people", "log", "benchmarks", "jobs", pytest.param("studies", marks=pytest.mark.extended), "studies?study=Each",
    "adjudicate?study=Each", "analysis?study=Each",
])
def test_each_screen(visit: Visit, path: str) -> None:
    olga = visit()
    page = olga.open(path)
    at_rest(page)
    olga.look(page, path)


@pytest.mark.usefixtures("studies")
@pytest.mark.parametrize("kind", [
    *(pytest.param(kind, marks=pytest.mark.extended) for kind in ("session", "target", "item")), "set"])
def test_each_kind_of_study(visit: Visit, kind: str) -> None:
    olga = visit()
    page = olga.open(f"annotate?study=Each {kind}")
    at_rest(page)
    enter(page)
    expect(page.locator(TITLE)).to_be_focused()
    olga.look(page, kind)


def test_each_way_in(visit: Visit) -> None:
    olga, stranger = visit(), visit(stranger=True)
    page = olga.open("")
    at_rest(page)
    screen.search(page, "in navy, with long sleeves", 1)
    olga.look(page, "search, results")
    stranger.look(stranger.open("sign-in"), "sign in")


@pytest.mark.extended
def test_before_the_sign_in(visit: Visit, place: Place) -> None:
    stranger = visit(stranger=True)
    page = stranger.open("sign-in")
    stranger.look(page, "sign in")
    page.get_by_label("Name").fill("Olga")
    page.get_by_role("textbox", name=re.compile("^Password")).fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    stranger.look(page, "sign in, refused")
    page = stranger.open(place.invitation)
    stranger.look(page, "join")
    page.get_by_label("Your name").fill("Cy")
    page.get_by_role("textbox", name=re.compile("^Password")).fill("one password")
    page.get_by_label("Repeat the password").fill("another one")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    stranger.look(page, "join, refused")
    page = stranger.open("join/nothing")
    expect(page.get_by_role("heading")).to_be_visible()
    stranger.look(page, "notice")


@pytest.mark.extended
def test_search(visit: Visit) -> None:
    olga = visit()
    page = olga.open("")
    at_rest(page)
    expect(page.get_by_role("group", name="Gallery images")).to_be_visible()
    olga.look(page, "search, empty")
    for button, where in (("Settings", "settings"), ("My sessions", "sessions")):
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        olga.look(page, f"search, {where}")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Add a picture").click()
    picker = page.get_by_role("dialog", name="Gallery")
    expect(picker.get_by_role("group", name="Gallery images").get_by_role("button").nth(5)).to_be_visible()
    olga.look(page, "search, a picture to add")
    picker.get_by_role("group", name="Gallery images").get_by_role("button").nth(5).click()
    expect(page.locator(".cq-one")).to_have_count(1)
    at_rest(page)
    olga.look(page, "search, two reference pictures")
    page.get_by_role("button", name="Cut out a region").click()
    expect(page.get_by_role("application", name="Region to cut out")).to_be_focused()
    olga.look(page, "search, a region to cut out")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove reference picture 2").click()
    expect(page.locator(".cq-one")).to_have_count(0)
    at_rest(page)
    page.locator("button[data-drawer=columns]:visible").first.click()
    columns = page.locator("#drawer-columns")
    expect(columns).to_be_visible()
    olga.look(page, "search, which methods")
    columns.get_by_label("Request (same for every method)").fill("in red")
    for box in columns.locator("[name=methods]").all():
        box.set_checked(box.get_attribute("value") in ("slerp", "text-only"))
    columns.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator(".cq-column")).to_have_count(2)
    at_rest(page)
    olga.look(page, "search, methods side by side")


@pytest.mark.extended
def test_search_with_results(visit: Visit) -> None:
    olga = visit()
    page = olga.open("")
    at_rest(page)
    page.get_by_role("button", name="Settings", exact=True).click()
    drawer = page.get_by_role("dialog", name="Settings")
    drawer.locator("[name=method][value=soft]").check()
    drawer.get_by_role("button", name="Apply").click()
    at_rest(page)
    screen.search(page, "in navy, with long sleeves", 1)
    tile = screen.tiles(page).nth(1)
    tile.click()
    page.keyboard.press("+")
    page.get_by_label("Show rank changes").check()
    expect(page.locator(".meta .move").first).to_be_visible()
    at_rest(page)
    expect(page.locator("#how .cq-verdict")).to_be_visible()
    olga.look(page, "search, results")
    page.get_by_role("button", name="Fold similar").click()
    slider = page.get_by_label("Fold images that are at least this similar")
    expect(slider).to_be_visible()
    at_rest(page)
    slider.fill("0.7")
    expect(page.locator(".cq-similar").first).to_be_visible()
    at_rest(page)
    olga.look(page, "search, similar results folded")
    page.get_by_role("button", name="Fold similar").click()
    expect(slider).to_be_hidden()
    at_rest(page)
    page.get_by_role("button", name="Map", exact=True).click()
    expect(page.get_by_role("listbox", name="Map of the results of turn 1")).to_be_visible()
    at_rest(page)
    olga.look(page, "search, map")
    page.get_by_role("button", name="List", exact=True).click()
    expect(screen.tiles(page).first).to_be_visible()
    at_rest(page)
    screen.refine_from(page, 3)
    screen.search(page, "striped", 2)
    page.get_by_role("region", name="Turns so far").get_by_role("listitem").nth(0).get_by_role("button").click()
    at_rest(page)
    screen.refine_from(page, 5)
    screen.search(page, "in red", 2)
    olga.look(page, "search, branches")
    page.get_by_role("group", name="Branches").get_by_role("button", name="Compare").click()
    expect(page.get_by_role("button", name="Back to the results")).to_be_visible()
    at_rest(page)
    olga.look(page, "search, two branches")
    page.get_by_role("button", name="Back to the results").click()
    at_rest(page)
    screen.tiles(page).first.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    olga.look(page, "search, a picture large")
    page.keyboard.press("Escape")
    for key, where in (("?", "keys"), ("g", "gallery")):
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        olga.look(page, f"search, {where}")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


@pytest.mark.extended
def test_search_with_a_vague_wish(visit: Visit) -> None:
    olga = visit()
    page = olga.open("")
    at_rest(page)
    screen.search(page, "more formal, in red", 1)
    expect(page.get_by_role("list", name="You may mean").get_by_role("button").first).to_be_visible()
    query = page.get_by_role("textbox", name="Query used")
    query.press("Enter")
    olga.look(page, "search, the query is edited")
    query.press("End")
    query.press_sequentially(" and a bow")
    query.press("Enter")
    expect(page.locator(".cq-changes")).to_contain_text("query")
    at_rest(page)
    olga.look(page, "search, a vague wish")


@pytest.mark.extended
def test_search_for_a_target(visit: Visit) -> None:
    olga = visit()
    page = olga.open("")
    at_rest(page)
    page.get_by_role("button", name=re.compile("^Find a target Get a random")).click()
    olga.look(page, "search, find a target")
    page.get_by_role("button", name="Give me a target").click()
    target = page.get_by_role("region", name="Target")
    expect(target).to_contain_text("Find this image")
    at_rest(page)
    screen.search(page, "in red", 1)
    target.get_by_label("Live rank").check()
    expect(page.get_by_text("target at rank")).to_be_visible()
    at_rest(page)
    olga.look(page, "search, with a target")
    target.get_by_role("button", name="Give up").click()
    expect(target).to_contain_text("finished target session")
    olga.look(page, "search, target given up")


@pytest.mark.extended
def test_annotating(visit: Visit, place: Place) -> None:
    study = a_study(place.home, "Valid", items=2)
    olga = visit()
    page = olga.open("annotate")
    expect(page.get_by_role("heading", name="Your studies")).to_be_visible()
    olga.look(page, "annotate, studies")
    page.goto(f"{place.url}/annotate?study={study.name}")
    expect(begin_button(page)).to_be_visible()
    olga.look(page, "annotate, before the first item")
    expect(begin_button(page)).to_be_focused()
    enter(page)
    expect(page.locator(TITLE)).to_be_focused()
    olga.look(page, "annotate, an item")
    page.keyboard.press("1")
    page.keyboard.press("p")
    expect(page.locator(".st-tile").first).to_be_focused()
    page.keyboard.press("Space")
    enter(page)   # a reason is missing
    expect(page.locator(".cq-inline:visible").first).to_be_visible()
    olga.look(page, "annotate, flagged, images unfolded, incomplete")
    dialog = page.get_by_role("dialog")
    page.locator(TITLE).focus()
    for key, where in (("d", "definitions"), ("o", "all items"), ("?", "keys")):
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        olga.look(page, f"annotate, {where}")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Target: enlarge").click()
    expect(dialog).to_be_visible()
    olga.look(page, "annotate, a picture large")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.locator(TITLE).focus()
    page.keyboard.press("5")
    for _ in range(2):
        enter(page)
        at_rest(page)
        page.keyboard.press("5")
    enter(page)
    expect(page.locator(".st-end")).to_be_visible()
    olga.look(page, "annotate, the end")


def a_session_study(place: Place, name: str, folder: Path) -> Study:
    with stores(place.home) as opened:
        return make_session_study(opened.studies, place.home, colour_gallery(folder, edge=96), name=name, sample=1,
                                  seats=1)


@pytest.mark.extended
def test_rating_sessions(visit: Visit, place: Place, tmp_path: Path) -> None:
    study = a_session_study(place, "Dialogues", tmp_path)
    olga = visit()
    page = olga.open(f"annotate?study={study.name}")
    expect(begin_button(page)).to_be_focused()
    olga.look(page, "sessions, before the first one")
    enter(page)
    expect(page.locator(TITLE)).to_be_focused()
    olga.look(page, "sessions, one")
    page.keyboard.press("4")
    enter(page)   # four answers are missing
    expect(page.locator(".ss-question .cq-inline:visible")).to_be_visible()
    olga.look(page, "sessions, incomplete")
    dialog = page.get_by_role("dialog")
    for key, where in (("d", "guidelines"), ("o", "all sessions"), ("z", "an image large")):
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        olga.look(page, f"sessions, {where}")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 844})
    olga.look(page, "sessions, on a phone")
    page.set_viewport_size({"width": 1440, "height": 900})
    for _ in range(4):
        page.keyboard.press("4")
    with page.expect_response("**/study/save"):   # results are there from the first answer on
        enter(page)
    page.goto(f"{place.url}/studies?study={study.name}")
    page.get_by_role("tab", name="Analysis").click()
    page.get_by_role("button", name="Show them anyway").click()
    expect(page.get_by_role("region", name="Ratings").get_by_role("table")).to_be_visible()
    olga.look(page, "studies, sessions")


@pytest.mark.extended
def test_marking_targets(visit: Visit, place: Place, tmp_path: Path) -> None:
    with stores(place.home) as opened:
        study = make_target_study(opened.studies, place.home, colour_gallery(tmp_path, edge=96), count=1, seats=1)
    olga = visit()
    page = olga.open(f"annotate?study={study.name}")
    expect(begin_button(page)).to_be_focused()
    olga.look(page, "targets, before the first query")
    enter(page)
    expect(page.locator(".tg-tile.active")).to_be_visible()
    olga.look(page, "targets, a query")
    page.keyboard.press("y")
    page.keyboard.press("n")
    page.keyboard.press("u")
    enter(page)   # the others have no mark
    expect(page.locator(".tg-panel .cq-inline:visible")).to_be_visible()
    olga.look(page, "targets, incomplete")
    dialog = page.get_by_role("dialog")
    for key, where in (("d", "guidelines"), ("o", "all queries"), ("z", "an image large"), ("?", "keys")):
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        olga.look(page, f"targets, {where}")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 844})
    olga.look(page, "targets, on a phone")
    page.set_viewport_size({"width": 1440, "height": 900})
    for _ in range(4):
        page.keyboard.press("n")
    with page.expect_response("**/study/save"):   # results are there from the first answer on
        enter(page)
    page.goto(f"{place.url}/studies?study={study.name}")
    page.get_by_role("tab", name="Analysis").click()
    page.get_by_role("button", name="Show them anyway").click()
    expect(page.get_by_role("region", name="Targets").get_by_role("table")).to_be_visible()
    olga.look(page, "studies, targets")


@pytest.mark.extended
def test_answering_a_survey(visit: Visit, place: Place) -> None:
    study = a_survey(place.home, "Sets", questions=6, layout=SurveyLayout(4, 1, 0, 1, 1, 7),
                     settings={"consent": "You agree to this.\n\nAnd to that.", "check_every": 1})
    olga = visit()
    page = olga.open(f"annotate?study={study.name}")
    expect(page.get_by_role("heading", name="Before you begin")).to_be_focused()
    olga.look(page, "survey, guidelines")
    enter(page)
    expect(page.get_by_role("checkbox")).to_be_focused()
    olga.look(page, "survey, consent")
    page.keyboard.press("Space")
    enter(page)
    expect(page.locator(TITLE)).to_be_focused()
    olga.look(page, "survey, a question")
    enter(page)
    expect(page.locator(".cq-inline:visible").first).to_be_visible()
    olga.look(page, "survey, incomplete")
    page.keyboard.press("4")
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("i")
    page.keyboard.press("r")
    page.keyboard.type("Because.")
    page.keyboard.press("Escape")
    enter(page)
    expect(page.locator(".sv-doubt")).to_be_visible()
    olga.look(page, "survey, is it meant")
    dialog = page.get_by_role("dialog")
    for key, where in (("d", "guidelines in a sheet"), ("o", "all questions"), ("z", "a picture large")):
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        olga.look(page, f"survey, {where}")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.keyboard.press("y")
    expect(page.locator("input.sv-sum")).to_be_focused()
    olga.look(page, "survey, a check")
    while True:
        page.keyboard.type(str(the_sum(page)))
        enter(page)
        expect(page.locator(f"{TITLE}:focus, .sv-code")).to_be_visible()
        if page.locator(".sv-code").is_visible():
            break
        at_rest(page)
        for key in ("4", "2", "ArrowLeft", "r"):
            page.keyboard.press(key)
        page.keyboard.type("Because.")
        page.keyboard.press("Enter")
        expect(page.locator("input.sv-sum")).to_be_focused()
    olga.look(page, "survey, the end")


@pytest.mark.extended
def test_adjudicating(visit: Visit, place: Place) -> None:
    study = judged(place, "Disputed")
    olga = visit()
    page = olga.open("adjudicate")
    expect(page.get_by_role("link", name="Disputed")).to_be_visible()
    olga.look(page, "adjudicate, studies")
    adjudicate(page, place, study)
    olga.look(page, "adjudicate, an own answer first")
    page.keyboard.press("5")
    page.keyboard.press("Enter")
    expect(page.locator(".cq-adcard")).to_have_count(2)
    page.keyboard.press("p")
    page.keyboard.press("2")
    olga.look(page, "adjudicate, a case")


@pytest.mark.extended
def test_studies(visit: Visit, place: Place) -> None:
    valid, preferred = judged(place, "Listed"), compared(place, "Compared")
    begun = a_study(place.home, "Begun", seats=3)
    olga = visit()
    page = olga.open("studies")
    expect(page.get_by_role("link", name="Listed")).to_be_visible()
    page.get_by_text("Plan a study").click()
    expect(page.locator(".cq-stforecast dl")).to_be_visible()
    olga.look(page, "studies")

    def tab(name: str) -> None:
        page.get_by_role("tab", name=name).click()

    page.goto(f"{place.url}/studies?study={begun.name}")
    expect(page.get_by_role("link", name="invitation link")).to_be_visible()
    olga.look(page, "studies, free seats")
    page.goto(f"{place.url}/studies?study={valid.name}")
    tab("Settings")
    expect(page.get_by_role("heading", name="Plan")).to_be_visible()
    tab("Files")
    page.get_by_text("Download").click()
    olga.look(page, "studies, validity")
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    olga.look(page, "studies, a question")
    page.goto(f"{place.url}/studies?study={preferred.name}")
    tab("Quality")
    expect(page.get_by_role("heading", name="Methods, adjusted")).to_be_visible()
    olga.look(page, "studies, preference")


@pytest.mark.extended
def test_analysis(visit: Visit, place: Place) -> None:
    valid, preferred = judged(place, "Analysed"), compared(place, "Weighed")
    olga = visit()
    page = olga.open("analysis")
    expect(page.get_by_role("link", name="Analysed")).to_be_visible()
    olga.look(page, "analysis")
    look(page, place, valid)
    page.evaluate(UNFOLD)
    olga.look(page, "analysis, validity")
    page.get_by_role("button", name="Disputed items").first.click()
    expect(page.locator(".cq-an-disputes > li").first).to_be_visible()
    olga.look(page, "analysis, disputed items")
    look(page, place, preferred)
    page.evaluate(UNFOLD)
    olga.look(page, "analysis, preference")
    page.get_by_role("button", name="Add scores").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    olga.look(page, "analysis, adding scores")
    page.goto(f"{place.url}/analysis?study=nosuch&draws=many")
    expect(page.get_by_role("heading", name="This cannot be shown")).to_be_visible()
    olga.look(page, "analysis, no such study")


@pytest.mark.extended
def test_benchmarks(visit: Visit, place: Place) -> None:
    olga = visit()
    page = olga.open("benchmarks")
    expect(page.get_by_role("heading", name="No benchmarks yet")).to_be_visible()
    olga.look(page, "benchmarks, empty")
    shutil.copytree(place.home / "sample", place.home / "samples" / "atelier")
    judge(construct(place.home, "Built", "--k", "1", "--limit", "20"))
    (place.home / "benchmarks" / "damaged").mkdir()
    (place.home / "benchmarks" / "damaged" / "journal.jsonl").write_text("{")
    expect(page.get_by_role("link", name="Built")).to_be_visible()
    olga.look(page, "benchmarks")
    page.get_by_role("button", name="Construct…").click()
    form = page.get_by_role("dialog", name="Construct sessions")
    form.get_by_label("Name").fill("another")
    form.get_by_role("button", name="Estimate").click()
    expect(form.get_by_role("button", name="Start")).to_be_enabled()
    olga.look(page, "benchmarks, a construction to start")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Built").click()
    expect(page.locator(".cq-be-strip")).to_have_count(20)
    olga.look(page, "benchmarks, sessions")
    page.get_by_label("Sort by").select_option("Overall")
    expect(page.locator(".cq-be-scores").first).to_be_visible()
    olga.look(page, "benchmarks, scores")
    page.get_by_label("Search in texts and ids").fill("nothing of the kind")
    expect(page.get_by_role("heading", name="No matching sessions")).to_be_visible()
    olga.look(page, "benchmarks, nothing found")
    construct_targets(place.home, "Targets", "--limit", "3")
    page.goto(f"{place.url}/benchmarks?name=Targets&threshold=0.5")
    expect(page.locator(".cq-be-query")).to_have_count(9)
    olga.look(page, "benchmarks, queries with targets")
    (place.home / "benchmarks" / "Built" / "run.json").write_text('{"total": 90}')
    page.goto(f"{place.url}/benchmarks?name=Built")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    olga.look(page, "benchmarks, stopped")
    shutil.rmtree(place.home / "benchmarks")


@pytest.mark.extended
def test_people_and_log(visit: Visit) -> None:
    olga = visit()
    page = olga.open("people")
    inviting = page.get_by_role("region", name="Invite")
    inviting.get_by_role("button", name="Create link").click()
    expect(inviting.get_by_label("Invitation link")).to_be_visible()
    olga.look(page, "people")
    page.get_by_role("button", name="New password for Bea").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    olga.look(page, "people, a new password")
    page.keyboard.press("Escape")
    page.get_by_text("Olga: other screens").locator("..").click()
    olga.look(page, "menu")
    page = olga.open("log")
    expect(page.get_by_role("columnheader").first).to_be_visible()
    olga.look(page, "log")
    page.goto(page.url + "?person=nobody")
    expect(page.get_by_role("heading", name="No matching events")).to_be_visible()
    olga.look(page, "log, nothing")


@pytest.mark.extended
def test_not_for_an_annotator(visit: Visit, place: Place) -> None:
    stranger = visit(stranger=True)
    page = stranger.open("sign-in")
    answer = page.request.post(f"{place.url}/sign-in", data={"name": "Bea", "password": PASSWORD})
    assert answer.ok, answer.text()
    page.goto(f"{place.url}/people")
    expect(page.get_by_role("heading", name="Not here")).to_be_visible()
    stranger.look(page, "not here")


@pytest.mark.extended
@pytest.mark.parametrize(("path", "call"), [
    ("annotate", "study/mine"), ("adjudicate", "adjudicate/studies"), ("studies", "studies/all"),
    ("analysis", "analysis/studies"),
])
def test_before_there_is_a_study(visit: Visit, path: str, call: str) -> None:
    olga = visit()
    page = olga.open("log")   # whatever is quick
    page.route(f"**/{call}*", lambda route: route.fulfill(json={"studies": []}))
    page.goto(f"{olga.url}/{path}")
    expect(page.get_by_role("heading", name=re.compile("^(No study|Nothing to analyse)"))).to_be_visible()
    olga.look(page, f"{path}, no study")
