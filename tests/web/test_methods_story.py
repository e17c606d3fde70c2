"""A person sees how a method reasons, changes it, says more than one pick, and stops a search."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.databases import database_of
from tests.web import screen
from tests.web.browsing import at_rest, new_context
from tests.web.conftest import App, serving

Open = Callable[..., Page]


def choose(page: Page, method: str, **numbers: str) -> None:
    page.get_by_role("button", name="Settings", exact=True).click()
    drawer = page.get_by_role("dialog", name="Settings")
    drawer.locator(f"[name=method][value={method}]").check()
    for name, value in numbers.items():
        drawer.locator(f"[name={name}]").fill(value)
    drawer.get_by_role("button", name="Apply").click()
    at_rest(page)


def start_from(page: Page, text: str) -> None:
    """The gallery's best match is the reference: the story is the same every time."""
    query = urlencode({"gallery": page.locator(".cq-top").get_attribute("data-gallery"), "text": text})
    best = page.request.get(urljoin(page.url, f"/media/find?{query}")).json()["images"][0]["id"]
    screen.in_page(page, "actions.js", "it.act('reference', { image: given })", best)
    at_rest(page)


def side(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name=name, exact=True)


def unfold_attributes(page: Page) -> None:
    page.locator("[data-attributes]").click()
    expect(side(page, "Add")).to_be_visible()


def texts(page: Page, name: str) -> list[str]:
    return side(page, name).locator(".text").all_inner_texts()


def test_soft_filter_chips_keep(open_page: Open) -> None:
    page = open_page()
    choose(page, "soft")
    start_from(page, "a plain red dress")
    screen.search(page, "in navy, with long sleeves", 1)
    unfold_attributes(page)
    found = screen.shown_ids(page)
    assert texts(page, "Must show") and "navy" in texts(page, "Add")

    # An attribute, with the mouse: both texts are written anew.
    side(page, "Add").get_by_role("button", name="navy", exact=True).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("grün <b>&amp;</b> 日本")
    page.keyboard.press("Enter")
    expect(side(page, "Must show")).to_contain_text("grün <b>&amp;</b> 日本")
    at_rest(page)
    changes = page.locator(".cq-changes")
    expect(changes).to_contain_text("Changed by you")
    assert page.locator("#results b", has_text="&").count() == 0

    # A text, with the keyboard alone: it stays as typed and the attributes stay too.
    side(page, "Must not show").get_by_role("button", name=re.compile("^Add to")).focus()
    page.keyboard.press("Enter")
    page.keyboard.type("a yellow dress")
    page.keyboard.press("Enter")
    expect(side(page, "Must not show").locator(".text").last).to_have_text("a yellow dress")
    at_rest(page)
    expect(side(page, "Must not show").get_by_role("button", name=re.compile("^Add to"))).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(side(page, "Must not show").get_by_role("button", name="a yellow dress", exact=True)).to_be_focused()
    page.keyboard.press("Delete")
    expect(side(page, "Must not show").get_by_text("a yellow dress")).to_have_count(0)
    at_rest(page)

    page.get_by_role("radio", name="Reward only").click()
    expect(page.get_by_role("radio", name="Reward only")).to_have_attribute("aria-checked", "true")
    at_rest(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator(".cq-toast")).to_contain_text("unsaved changes are not included")
    kept = screen.shown_ids(page)
    page.get_by_role("button", name="Keep as a turn").click()
    expect(page.locator(".cq-banner")).to_contain_text("Kept as turn 1 on Branch 2")
    at_rest(page)
    assert screen.shown_ids(page) == kept
    expect(changes).to_have_count(0)

    page.reload()
    expect(page.get_by_role("radio", name="Reward only")).to_have_attribute("aria-checked", "true")
    at_rest(page)
    page.get_by_role("group", name="Branches").get_by_role("button", name="Branch 1", exact=True).click()
    expect(page.get_by_role("radio", name="Both")).to_have_attribute("aria-checked", "true")
    at_rest(page)
    assert screen.shown_ids(page) == found


@pytest.mark.extended
def test_soft_filter_dial_moves_undo(open_page: Open) -> None:
    page = open_page()
    choose(page, "soft")
    start_from(page, "a plain red dress")
    screen.search(page, "in navy, with long sleeves", 1)
    unfold_attributes(page)
    side(page, "Add").get_by_role("button", name="navy", exact=True).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("grün")
    page.keyboard.press("Enter")
    changes = page.locator(".cq-changes")
    expect(changes).to_contain_text("Changed by you")
    at_rest(page)

    # What moved: against the same turn without the filter.
    page.get_by_label("Show rank changes").check()
    expect(page.locator(".meta .move").first).to_be_visible()
    at_rest(page)
    assert {move.inner_text()[0] for move in page.locator(".meta .move").all()} <= set("↑↓=n")
    expect(page.locator(".cq-gone")).to_contain_text(re.compile("left the top 20", re.IGNORECASE))

    # Dragged fast: the last value counts, and all of it is one step to undo.
    slider = page.get_by_role("slider", name="λ, strictness of the filter")
    box = slider.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 20, box["y"] + box["height"] / 2, steps=25)
    page.mouse.up()
    expect(slider).to_have_attribute("data-value", "0.00")
    at_rest(page)
    assert {move.inner_text() for move in page.locator(".meta .move").all()} == {"="}
    expect(changes).to_contain_text("constraints, filter")
    page.keyboard.press("ControlOrMeta+z")
    expect(slider).to_have_attribute("data-value", "1.00")
    at_rest(page)


SLOWED = """hold => {
    const asked = window.fetch;
    window.fetch = async (...call) => {
        if (String(call[0]?.url ?? call[0]).includes("queue/join")) await new Promise(done => setTimeout(done, hold));
        return asked(...call);
    };
}"""


@pytest.mark.extended
@pytest.mark.parametrize("hold", [0, 250, 900])
def test_a_chip_is_typed_while_the_one_before_is_ranked_by(open_page: Open, hold: int) -> None:
    page = open_page()
    choose(page, "soft")
    screen.search(page, "in navy, with long sleeves", 1)
    unfold_attributes(page)
    before = texts(page, "Add")
    page.evaluate(SLOWED, hold)
    for typed in ("one", "going further", "third"):
        side(page, "Add").get_by_role("button", name=re.compile("^Add to")).click()
        page.keyboard.type(typed, delay=70)
        assert page.evaluate("document.activeElement.textContent") == typed
        page.keyboard.press("Enter")
    expect(side(page, "Add").locator(".text")).to_have_text([*before, "one", "going further", "third"])
    at_rest(page)
    expect(side(page, "Add").locator(".text")).to_have_text([*before, "one", "going further", "third"])
    expect(page.locator("dialog[open]")).to_have_count(0)

    # A text that is edited when a drawing arrives keeps what was typed and its caret.
    side(page, "Add").get_by_role("button", name="third", exact=True).click()
    page.keyboard.press("End")
    page.keyboard.type(" 1", delay=70)
    screen.in_page(page, "actions.js", "it.soon('adjust', { weight: 0.5 })")
    page.keyboard.type("234 567 890 gfz", delay=80)
    page.keyboard.press("Escape")
    at_rest(page)
    expect(side(page, "Add").locator(".text")).to_have_text([*before, "one", "going further", "third"])
    expect(page.locator("dialog[open]")).to_have_count(0)

    # Without a text there is nothing to filter by.
    for name in ("Must show", "Must not show"):
        for _ in texts(page, name):
            side(page, name).locator(".text").first.focus()
            page.keyboard.press("Delete")
            at_rest(page)
    expect(page.locator("[data-filter]")).to_contain_text("Nothing to filter by")


@pytest.mark.extended
def test_a_filter_by_hand_on_a_turn_without_one(open_page: Open) -> None:
    page = open_page()
    choose(page, "cirevl")
    screen.search(page, "in red", 1)
    before = screen.shown_ids(page)
    page.get_by_role("button", name="Add a soft filter").click()
    expect(side(page, "Must show").get_by_role("button")).to_be_focused()
    at_rest(page)
    page.keyboard.press("Enter")
    page.keyboard.type("a striped dress with a belt")
    page.keyboard.press("Enter")
    expect(page.locator(".cq-parts")).to_contain_text("Must show")
    at_rest(page)
    assert screen.shown_ids(page) != before
    leaving = "!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert page.evaluate(leaving)  # changes that nobody kept would be lost
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".cq-changes")).to_contain_text("Original turn")
    at_rest(page)
    assert screen.shown_ids(page) == before
    assert not page.evaluate(leaving)


@pytest.mark.extended
def test_rounds_of_reflection(open_page: Open) -> None:
    page = open_page()
    choose(page, "corr")
    start_from(page, "a plain green dress with short sleeves")
    screen.search(page, "in red, with long sleeves", 1)
    rounds = page.get_by_role("group", name="Rounds of reflection")
    found = screen.shown_ids(page)
    expect(rounds.get_by_role("region", name=re.compile("^Round"))).to_have_count(2)
    expect(page.locator(".cq-parts")).to_contain_text("Reflection, round 2")
    first = rounds.get_by_role("region", name="Round 1")
    first.locator("summary").click()
    expect(first.get_by_role("list", name="What the candidates show").first).to_be_visible()
    expect(rounds.get_by_role("region", name="Round 2").locator("details")).to_have_attribute("open", "")
    expect(first.get_by_role("button", name=re.compile("^See image"))).to_have_count(5)

    query = first.get_by_role("textbox", name="Refined query of round 1")
    query.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a blue and white striped dress")
    page.keyboard.press("Enter")
    expect(first).to_contain_text("edited by you")
    expect(rounds.get_by_role("region", name="Round 2")).to_contain_text("not used")
    at_rest(page)
    edited = screen.shown_ids(page)
    assert edited != found

    rounds.get_by_role("button", name="Back to the base query").click()
    expect(rounds.get_by_role("region", name="Base query")).to_contain_text("in use")
    at_rest(page)
    assert screen.shown_ids(page) != edited
    rounds.get_by_role("button", name="Use round 2 again").click()
    expect(page.locator(".cq-changes")).to_contain_text("Original turn")
    at_rest(page)
    assert screen.shown_ids(page) == found

    # A search goes on from what is shown, which becomes a turn first.
    rounds.get_by_role("button", name="Go back to round 1").click()
    expect(page.locator(".cq-changes")).to_contain_text("reflection")
    at_rest(page)
    screen.search(page, "with a collar", 2)
    expect(page.locator(".cq-banner").first).to_contain_text("Your changes became turn 1 on Branch 2 first")


@pytest.mark.extended
def test_marks_go_with_the_next_search(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    tiles = screen.tiles(page)
    wanted, unwanted = (tiles.nth(i).get_attribute("data-image") or "" for i in (1, 3))
    tiles.nth(1).click()
    page.keyboard.press("+")
    expect(tiles.nth(1).locator("[data-mark=more]")).to_have_attribute("aria-pressed", "true")

    # The selected one against: the page says where the next search starts. Ctrl Z takes the mark back.
    page.keyboard.press("-")
    start = page.locator("[data-from]")
    expect(start).to_contain_text("Rank 2 is selected, but marked less like this")
    page.keyboard.press("Control+z")
    expect(tiles.nth(1).locator("[data-mark=more]")).to_have_attribute("aria-pressed", "true")
    expect(start).to_contain_text("Rank 2 of these results")
    # Marked by the keyboard, while another one stays selected.
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("-")
    expect(tiles.nth(2)).to_have_attribute("aria-description", "marked less like this")
    expect(tiles.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Control+z")
    expect(tiles.nth(2)).not_to_have_attribute("aria-description", "marked less like this")
    tiles.nth(3).hover()
    tiles.nth(3).locator("[data-mark=more]").click()
    tiles.nth(3).locator("[data-mark=less]").click()  # one sign at a time
    expect(tiles.nth(3).locator("[data-mark=more]")).to_have_attribute("aria-pressed", "false")
    marked = page.locator("[data-marked]")
    expect(marked.locator("img")).to_have_count(2)

    # Marks live through a new drawing; the reference is no mark.
    tiles.nth(0).click()
    page.keyboard.press("r")
    at_rest(page)
    screen.search(page, "with long sleeves", 2)
    shown = page.locator(".cq-markedrows")
    expect(shown.get_by_role("group", name="More like these").get_by_role("button", name=f"See {wanted} large")
           ).to_be_visible()
    expect(shown.get_by_role("group", name="Less like these").get_by_role("button", name=f"See {unwanted} large")
           ).to_be_visible()
    expect(page.locator(".cq-parts")).to_contain_text("Marked less")
    expect(marked).to_be_hidden()


@pytest.mark.extended
def test_the_reference_is_not_marked_and_marks_are_cleared(open_page: Open) -> None:
    page = open_page()
    screen.search(page, "in red", 1)
    tiles = screen.tiles(page)
    marked = page.locator("[data-marked]")
    for number in (1, 3):
        tiles.nth(number).hover()
        tiles.nth(number).locator("[data-mark=less]").click()
    expect(marked.locator("img")).to_have_count(2)

    tiles.nth(0).click()
    page.keyboard.press("r")
    at_rest(page)
    expect(marked.locator("img")).to_have_count(2)
    page.keyboard.press("Escape")
    page.keyboard.press("-")
    expect(page.locator(".cq-toast")).to_contain_text("This is already the reference")
    screen.search(page, "with long sleeves", 2)
    expect(marked).to_be_hidden()

    page.keyboard.press("z")
    expect(marked.locator("img")).to_have_count(2)
    at_rest(page)
    marked.get_by_role("button", name="Clear").click()
    expect(marked).to_be_hidden()

    choose(page, "latest")
    screen.search(page, "in blue", 1)
    expect(page.get_by_text("marks do not count")).to_be_visible()
    expect(screen.tiles(page).locator("[data-mark]")).to_have_count(0)


@pytest.mark.extended
def test_the_settings_show_what_applies(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Settings", exact=True).click()
    drawer = page.get_by_role("dialog", name="Settings")
    expect(drawer.get_by_role("slider", name=re.compile("^beta"))).to_be_visible()
    expect(drawer.get_by_role("slider", name=re.compile("^rounds"))).to_be_hidden()
    expect(drawer.locator("[value=joint]")).to_be_disabled()
    expect(drawer).to_contain_text("cannot compose image and text")
    drawer.locator("[name=method][value=corr-soft]").check()
    drawer.get_by_role("slider", name=re.compile("^rounds")).fill("1")
    drawer.get_by_role("slider", name=re.compile("^lambda")).fill("0.5")
    drawer.get_by_role("button", name="Apply").click()
    at_rest(page)
    expect(page.locator(".cq-method")).to_contain_text("Custom: CIReVL + CoRR + SoFT")
    expect(page.locator(".cq-method")).to_contain_text("1 round · λ 0.5")
    page.get_by_role("button", name="Settings", exact=True).click()
    expect(drawer.locator("[name=method][value=custom]")).to_be_checked()
    drawer.get_by_role("button", name="Reset to the method's own values").click()
    expect(drawer.get_by_role("slider", name=re.compile("^lambda"))).to_have_value("0.5")


@pytest.mark.extended
def test_what_was_typed_survives_a_reload(open_page: Open) -> None:
    page = open_page()
    screen.text_field(page).fill("half a sent")
    page.reload()
    expect(screen.text_field(page)).to_have_value("half a sent")


@pytest.mark.extended
@pytest.mark.parametrize("dark", [False, True])
def test_chips_and_rounds_fit_a_phone(open_page: Open, dark: bool) -> None:
    page = open_page("/?__theme=dark" if dark else "/", width=390, height=844)
    choose(page, "corr-soft")
    page.locator("#cq-text").fill("in red, with long sleeves")
    page.locator("#cq-text").press("Enter")
    expect(page.get_by_role("heading", name="in red, with long sleeves")).to_be_visible()
    at_rest(page)
    for fold in page.locator(".cq-work > summary").all():
        fold.click()
    expect(page.get_by_role("group", name="Rounds of reflection")).to_be_visible()
    expect(side(page, "Must show")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("window.innerWidth")
    page.locator(".cq-pickbar").get_by_role("button", name="More like this").click()
    expect(page.locator("[data-marked] img")).to_have_count(1)


# --- with a language model on a server -------------------------------------------------

ANSWERS: dict[str, dict[str, Any]] = {
    "caption": {"caption": "a black shirt with short sleeves"},
    "merge": {"query": "a red shirt with short sleeves"},
    "reflect": {
        "intent": "The same shirt, but red.", "satisfied": ["it is a shirt"], "problems": ["two of five are orange"],
        "strategy": "Say the colour first.", "query": "a bright red shirt",
    },
}


class Slow:
    """A chat server's script. ``hold`` keeps the next piece of a reflection back; it declines ``declines``."""

    def __init__(self) -> None:
        self.declines: set[str] = set()
        self.hold = threading.Event()
        self.hold.set()

    def __call__(self, request: dict[str, Any]) -> Reply:
        role = self._role(json.dumps(request))
        if role in self.declines:
            return Reply("", finish="content_filter")
        text = json.dumps(ANSWERS[role])
        if role != "reflect":
            return Reply(text)
        return Reply(text, pieces=20, between=self._between)

    def _role(self, request: str) -> str:
        return "reflect" if "problems" in request else "caption" if "image_url" in request else "merge"

    def _between(self, piece: int) -> None:
        if piece == 12:  # the intent and what is satisfied are out
            self.hold.wait(60)


@pytest.fixture(scope="module")
def slow() -> Slow:
    return Slow()


@pytest.fixture(scope="module")
def connected(home: Path, slow: Slow, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with ChatServer(slow) as server:
        folder = tmp_path_factory.mktemp("connected")
        yield from _app(folder, home, CIRQUE_LLM_BASE_URL=server.url, CIRQUE_LLM_MODEL="slow-one",
                        CIRQUE_LLM_PROMPT_PRICE="10", CIRQUE_LLM_COMPLETION_PRICE="10")


@pytest.fixture(scope="module")
def unreachable(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    yield from _app(tmp_path_factory.mktemp("unreachable"), home, CIRQUE_LLM_BASE_URL="http://127.0.0.1:9/v1",
                    CIRQUE_LLM_MODEL="nobody", CIRQUE_LLM_RETRIES="0", CIRQUE_LLM_CONNECT_TIMEOUT="0.5")


def _app(folder: Path, home: Path, **settings: str) -> Iterator[App]:
    """The app once more, over the same gallery, with a database of its own."""
    with serving(folder, folder / "app.log", CIRQUE_HOME=str(home), CIRQUE_DATABASE_URL=database_of(folder),
                 **settings) as app:
        yield replace(app, home=home)


@pytest.fixture
def page_of(browser: Browser) -> Iterator[Callable[[App], Page]]:
    contexts = []

    def open_one(app: App) -> Page:
        context = new_context(browser)
        contexts.append(context)
        page = context.new_page()
        page.goto(app.url)
        at_rest(page)
        return page

    yield open_one
    for context in contexts:
        context.close()


@pytest.mark.extended
def test_a_search_is_seen_while_it_runs_and_stopped(
    connected: App, slow: Slow, page_of: Callable[[App], Page]
) -> None:
    page = page_of(connected)
    choose(page, "corr")
    slow.hold.clear()
    screen.text_field(page).fill("in red")
    screen.text_field(page).press("Enter")
    running = page.locator(".cq-live")
    expect(running).to_contain_text("Examining the top five…")
    expect(running).to_contain_text("Round 1 of 2")
    writing = page.get_by_role("region", name="Round 1, being written")
    expect(writing).to_contain_text("The same shirt, but red.")
    expect(writing.locator("img")).to_have_count(5)
    expect(page.locator(".cq-sofar img").first).to_be_visible()
    # The address knows the session already: a page loaded again finds it.
    expect(page).to_have_url(re.compile(r"session=\w+"))
    assert page.url.split("session=")[1] in page.evaluate("localStorage.getItem('cirque.sessions')")
    # Meanwhile the next text can be typed, but not be searched for.
    screen.text_field(page).fill("in a brighter red")
    screen.text_field(page).press("Enter")
    expect(page.locator(".cq-toast")).to_contain_text("Still searching")
    # A page that is loaded again finds the running search, and waits for it.
    page.reload()
    expect(writing).to_contain_text("The same shirt, but red.")
    expect(page.get_by_role("button", name=re.compile("^Stop here"))).to_be_enabled()
    slow.hold.set()
    expect(page.get_by_role("listbox", name="Results of turn 1: in red")).to_be_visible()
    at_rest(page)
    expect(screen.text_field(page)).to_have_value("in a brighter red")
    expect(page.get_by_role("region", name=re.compile("^Round"))).to_have_count(2)
    expect(page.locator(".cq-usage")).to_contain_text("slow-one")
    expect(page.locator(".cq-usage")).to_contain_text("Cost")

    # Another one is stopped half-way through its first round: the base query's results are kept.
    slow.hold.clear()
    screen.text_field(page).press("Enter")
    expect(writing).to_contain_text("The same shirt, but red.")
    page.reload()
    expect(page.get_by_role("listbox")).to_have_count(0)      # not the turn before, as if nothing were going on
    expect(writing).to_contain_text("The same shirt, but red.")
    page.get_by_role("button", name=re.compile("^Stop here")).click()
    # At once, while the server still holds its answer back.
    expect(page.get_by_role("listbox", name="Results of turn 2: in a brighter red")).to_be_visible()
    slow.hold.set()
    expect(page.locator(".cq-banner")).to_contain_text("Stopped after 0 of 2 rounds of reflection.")
    at_rest(page)
    assert len(screen.shown_ids(page)) == 60


@pytest.mark.extended
def test_escape_stops_too(connected: App, slow: Slow, page_of: Callable[[App], Page]) -> None:
    page = page_of(connected)
    choose(page, "corr")
    before = screen.reference(page)
    slow.hold.clear()
    screen.text_field(page).fill("in yellow")
    screen.text_field(page).press("Enter")
    expect(page.get_by_role("region", name="Round 1, being written")).to_contain_text("The same shirt")
    page.go_back()      # from a search that is under way, to what it started from
    expect(page.get_by_role("heading", name="Search with an image and a few words")).to_be_visible()
    at_rest(page)
    assert screen.reference(page) == before and "session=" not in page.url
    slow.hold.set()
    choose(page, "corr")
    slow.hold.clear()
    screen.text_field(page).fill("in green")
    screen.text_field(page).press("Enter")
    expect(page.get_by_role("region", name="Round 1, being written")).to_contain_text("The same shirt")
    with page.expect_response("**/runs/*/stop"):  # the server knows before the answer goes on
        page.keyboard.press("Escape")
    expect(page.locator(".cq-banner")).to_contain_text("Stopped after 0 of 2 rounds")
    slow.hold.set()


@pytest.mark.extended
def test_a_server_that_is_away_is_said_where_the_results_are(
    unreachable: App, page_of: Callable[[App], Page]
) -> None:
    page = page_of(unreachable)
    screen.search(page, "in red", 1)
    expect(page.locator(".cq-banner.warn")).to_contain_text("The built-in language model answered instead of nobody")
    assert len(screen.shown_ids(page)) == 60


@pytest.mark.extended
def test_what_the_language_model_declines_is_asked_of_the_built_in_rules(
    connected: App, slow: Slow, page_of: Callable[[App], Page]
) -> None:
    page = page_of(connected)
    choose(page, "corr")
    slow.declines = {"merge"}
    try:
        screen.text_field(page).fill("in red, please")
        screen.text_field(page).press("Enter")
        told = page.locator(".cq-banner", has_text="declined to answer")
        expect(told).to_be_visible()
        expect(screen.text_field(page)).to_have_value("in red, please")
        told.get_by_role("button", name="Repeat with the built-in rules").click()
        expect(page.get_by_role("listbox", name="Results of turn 1: in red, please")).to_be_visible()
        at_rest(page)
        differs = page.locator(".cq-banner", has_text="this turn continues with the language model built-in")
        expect(differs).to_be_visible()
        expect(screen.text_field(page)).to_have_value("")
        expect(page.get_by_role("region", name=re.compile("^Round"))).to_have_count(2)
    finally:
        slow.declines = set()
    # Only that turn: the next one is the language model's again.
    screen.text_field(page).fill("in orange")
    screen.text_field(page).press("Enter")
    expect(page.get_by_role("listbox", name="Results of turn 2: in orange")).to_be_visible()
    at_rest(page)
    expect(page.locator(".cq-usage")).to_contain_text("slow-one")

    # Where a part of the turn was declined, its note has the button; the repeated turn begins a branch of its own.
    slow.declines = {"reflect"}
    try:
        screen.text_field(page).fill("in a darker red")
        screen.text_field(page).press("Enter")
        note = page.locator(".cq-banner", has_text="Round 1 of reflection failed")
        expect(note).to_be_visible()
        note.get_by_role("button", name="Repeat with the built-in rules").click()
        expect(page.get_by_role("region", name=re.compile("^Round"))).to_have_count(2)
        at_rest(page)
        expect(page.locator(".cq-title")).to_have_text("in a darker red")
        expect(note).to_have_count(0)
    finally:
        slow.declines = set()
