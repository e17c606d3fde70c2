"""Researchers read a constructed benchmark, move its filters, open a session in search, and construct another one."""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import STAGES, FilterSettings
from cir_core.construct.sessions.settings import ConstructionSettings
from tests.fakes.chat_server import ChatServer, Reply
from tests.web.browsing import at_rest
from tests.web.constructing import App, construct, constructing_home, judge, look, person
from tests.web.constructing import page as page
from tests.web.judging import stores

pytestmark = pytest.mark.sqlite   # constructions are files
Open = Callable[[str, str], Page]


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with ChatServer(person) as server:
        yield server


@pytest.fixture(scope="module")
def app(home: Path, model: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    own = constructing_home(home, tmp_path_factory.mktemp("benchmarks") / "home")
    judge(construct(own, "first", "--k", "1"))
    app = App(own, model.url)
    app.start()
    yield app
    app.stop()


def strips(page: Page) -> Locator:
    return page.locator(".cq-be-strip")


def expect_stages(page: Page, app: App, folder: Path, epsilon: int, tau: float) -> int:
    """The waterfall has the numbers of the filter's stages.json; answers how many are kept."""
    out = folder / f"{epsilon}-{tau}"
    filter_sessions(raw_files(app.home / "benchmarks" / "first"), out, FilterSettings(epsilon, tau))
    subsets = json.loads((out / "stages.json").read_text("utf-8"))["subsets"]
    rows = page.get_by_role("group", name="Sessions after each filter").get_by_role("button")
    left = sum(one["sessions"] for one in subsets)
    expect(rows.first.locator("b")).to_have_text(f"{left:,}")
    for place, stage in enumerate(STAGES, start=1):
        removed = sum(one["removed"][stage] for one in subsets)
        left -= removed
        expect(rows.nth(place).locator(".minus")).to_have_text(f"−{removed:,}" if removed else "0")
        expect(rows.nth(place).locator("b")).to_have_text(f"{left:,}")
    assert left == sum(one["kept"] for one in subsets)
    expect(rows.last.locator("b")).to_have_text(f"{left:,}")
    return left


def test_filters_move_the_waterfall_and_the_sessions(page: Page, app: App, tmp_path: Path) -> None:
    look(page, app)
    page.get_by_role("link", name="first").click()
    expect(strips(page)).to_have_count(20)
    before = expect_stages(page, app, tmp_path, 30, 0.8)
    page.get_by_role("slider", name="Text similarity τ").fill("0.1")
    after = expect_stages(page, app, tmp_path, 30, 0.1)
    page.get_by_role("slider", name="Rank margin ε").fill("0")
    last = expect_stages(page, app, tmp_path, 0, 0.1)
    assert before > after >= last
    assert "epsilon=0" in page.url and "tau=0.1" in page.url
    page.get_by_role("button", name=re.compile("^Redundancy")).click()
    expect(strips(page).first).to_contain_text("Dropped: redundancy")
    expect(strips(page).first).to_contain_text(re.compile(r"has cosine [\d.]+ with that of turn"))
    page.get_by_label("Text similarity τ, as a number").fill("2")   # off
    expect(page.get_by_role("heading", name="No matching sessions")).to_be_visible()
    expect_stages(page, app, tmp_path, 0, 2)
    page.reload()   # all of it is in the address
    expect(page.get_by_role("heading", name="No matching sessions")).to_be_visible()
    expect(page.get_by_label("Text similarity τ, as a number")).to_have_value("2")
    page.get_by_role("button", name="The paper’s").click()
    expect_stages(page, app, tmp_path, 30, 0.8)


@pytest.mark.extended
def test_search_sort_pages_and_keys(page: Page, app: App) -> None:
    look(page, app, "?name=first")
    expect(strips(page)).to_have_count(20)
    page.get_by_role("button", name="Next ›").click()
    expect(page.get_by_text("Page 2 of")).to_be_visible()
    assert "page=2" in page.url
    page.get_by_label("Sort by").select_option("Turns")
    expect(page.get_by_text("Page 1 of")).to_be_visible()
    most = [int(re.search(r"(\d+) turn", text)[1])   # type: ignore[index]
            for text in strips(page).locator(".cq-be-name small").all_inner_texts()]
    assert most == sorted(most, reverse=True) and most[0] > most[-1] - 1 and most[0] > 1
    plot = strips(page).first.get_by_role("img", name="Rank of the target by turn: ")
    ranks = (plot.get_attribute("aria-label") or "").partition(": ")[2].split(", ")
    assert len(ranks) == most[0]
    expect(strips(page).first.locator(".cq-be-said")).to_have_count(most[0])
    for picture in strips(page).first.locator("img").all()[:3]:
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("image => image.naturalWidth") > 0
    page.get_by_label("Sort by").select_option("Overall")
    expect(strips(page).first.locator(".cq-be-scores")).to_contain_text("Reason 5.")
    expect(page.locator(".cq-be-means")).to_contain_text("Overall")
    page.get_by_label("Sort by").select_option("As constructed")
    at_rest(page)
    expect(strips(page).first).to_have_attribute("data-key", re.compile(r"^0\."))
    page.locator("h1").click()
    page.keyboard.press("j")
    expect(strips(page).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(strips(page).nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(strips(page).first).to_be_focused()
    page.keyboard.press("/")
    search = page.get_by_label("Search in texts and ids")
    expect(search).to_be_focused()
    known = strips(page).nth(3).get_by_role("heading").inner_text()
    search.fill(known)
    expect(strips(page)).to_have_count(1)
    expect(strips(page).first.get_by_role("heading")).to_have_text(known)
    search.fill("no such words anywhere")
    expect(page.get_by_role("heading", name="No matching sessions")).to_be_visible()


@pytest.mark.extended
def test_the_download_is_what_the_filter_writes(page: Page, app: App, tmp_path: Path) -> None:
    look(page, app, "?name=first&epsilon=5&tau=0.5")
    with page.expect_download() as download:
        page.get_by_role("button", name="Filtered download").click()
    content = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))
    filter_sessions(raw_files(app.home / "benchmarks" / "first"), tmp_path, FilterSettings(5, 0.5), explain=True)
    written = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*.json*")}
    assert {name: content.read(name) for name in content.namelist()} == written


@pytest.mark.extended
def test_a_session_goes_on_in_the_search_screen(page: Page, app: App) -> None:
    look(page, app, "?name=first&sort=turns&order=down")
    strip = strips(page).first
    texts = strip.locator(".cq-be-said p").all_inner_texts()
    pictures = [re.sub(r"^.*: (\S+): enlarge$", r"\1", one.get_attribute("aria-label") or "")
                for one in strip.locator(".cq-be-picture button").all()]
    strip.get_by_role("button", name="Open in search").click()
    page.wait_for_url(re.compile(r"[?&]session="))
    results = page.get_by_role("listbox", name=f"Results of turn {len(texts)}: {texts[-1]}")
    expect(results).to_be_visible()
    turns = page.locator(".cq-turns li")   # the earlier ones of a long session are folded
    expect(turns).to_have_count(len(texts))
    with stores(app.home) as opened:
        session = opened.sessions.session(page.url.partition("session=")[2].partition("&")[0])
    assert [turn.reference_id for turn in session.turns] == pictures[:len(texts)]
    assert [turn.modification_text for turn in session.turns] == texts and session.target_id is None
    assert session.method == ConstructionSettings(k=1).method


def fill_form(page: Page, name: str, model: str, limit: int) -> None:
    page.get_by_role("button", name="Construct…").click()
    form = page.get_by_role("dialog", name="Construct sessions")
    form.get_by_label("Name").fill(name)
    form.get_by_label("Queries of each subset").fill(str(limit))
    form.get_by_label("Language model").select_option(model)
    expect(form.get_by_role("button", name="Start")).to_be_disabled()
    form.get_by_role("button", name="Estimate").click()
    expect(form.get_by_text(re.compile(r"sessions, (about )?\d+"))).to_be_visible()
    form.get_by_role("button", name="Start").click()
    expect(form).to_have_count(0)


def card(page: Page, name: str) -> Locator:
    return page.locator(f".cq-stcard[data-name='{name}']")


@pytest.mark.extended
def test_a_construction_from_the_screen_is_that_of_the_command(page: Page, app: App) -> None:
    look(page, app)
    fill_form(page, "small", "built-in", 5)
    expect(card(page, "small").locator(".cq-chip")).to_have_text("Finished")
    expect(card(page, "small")).to_contain_text("15 sessions")
    folder = construct(app.home, "by-command", "--limit", "5")
    for path in sorted((folder / "raw").iterdir()):
        assert (app.home / "benchmarks/small/raw" / path.name).read_bytes() == path.read_bytes()
    page.get_by_role("button", name="Construct…").click()
    form = page.get_by_role("dialog", name="Construct sessions")
    form.get_by_label("Name").fill("small")
    form.get_by_role("button", name="Estimate").click()
    expect(form.get_by_role("alert")).to_contain_text("The benchmark 'small' already exists.")


@pytest.mark.extended
def test_it_survives_a_restart_of_the_server(page: Page, app: App, model: ChatServer) -> None:
    waiting, merges = threading.Event(), []

    def slow(request: dict[str, object]) -> Reply:
        """Answers some, and then lets everyone wait."""
        merges.append(request)
        said = person(request)
        return said if len(merges) < 12 or waiting.is_set() else Reply(said.text, hold=waiting, longest_hold=60)

    model.play(slow)
    look(page, app)
    fill_form(page, "interrupted", "settings", 4)
    expect(card(page, "interrupted").locator(".cq-chip")).to_have_text("Running")
    expect(card(page, "interrupted")).to_contain_text(re.compile(r"[1-9]\d* of 12 sessions"))
    page.get_by_role("button", name="Construct…").click()   # a second one is refused
    form = page.get_by_role("dialog", name="Construct sessions")
    form.get_by_label("Name").fill("second")
    form.get_by_label("Language model").select_option("built-in")
    form.get_by_role("button", name="Estimate").click()
    expect(form.get_by_role("button", name="Start")).to_be_enabled()
    form.get_by_role("button", name="Start").click()
    expect(form.get_by_role("alert")).to_contain_text("constructs one benchmark at a time")
    page.keyboard.press("Escape")
    app.stop()
    waiting.set()
    app.start()
    look(page, app)
    expect(card(page, "interrupted").locator(".cq-chip")).to_have_text("Stopped")
    expect(card(page, "interrupted")).to_contain_text("can be resumed")
    page.get_by_role("link", name="interrupted").click()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".cq-be-top .cq-chip")).to_have_text("Finished")
    expect(page.locator(".cq-be .cq-quiet").first).to_contain_text("12 queries")
    lines = (app.home / "benchmarks/interrupted/journal.jsonl").read_text("utf-8").splitlines()[1:]
    assert len({json.loads(line).get("at") for line in lines} - {None}) == 12
