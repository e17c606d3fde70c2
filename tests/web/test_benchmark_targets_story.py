"""Researchers look at queries with all their targets, move the threshold, download them, and search on."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cir_core.construct.targets.files import multi_targets, selection_of
from cir_core.construct.targets.provenance import read_provenance
from cir_core.datasets.readers.soft import write_multi_target
from tests.fakes.chat_server import ChatServer
from tests.web.constructing import App, construct_targets, constructing_home, look, person
from tests.web.constructing import page as page
from tests.web.judging import stores

pytestmark = pytest.mark.sqlite   # constructions are files
LIMIT = 10


@pytest.fixture(scope="module")
def app(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    own = constructing_home(home, tmp_path_factory.mktemp("targets") / "home")
    construct_targets(own, "found", "--limit", str(LIMIT))
    with ChatServer(person) as model:
        app = App(own, model.url)
        app.start()
        yield app
        app.stop()


def rows(page: Page) -> Locator:
    return page.locator(".cq-be-query")


def lines(app: App) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted((app.home / "benchmarks/found/provenance").glob("*.jsonl"))
            for line in path.read_text("utf-8").splitlines()]


def targets(line: dict[str, Any], threshold: float) -> list[str]:
    return [one["image"] for one in line["candidates"]
            if one["confidence"] is not None and one["confidence"] >= threshold]


def expect_numbers(page: Page, app: App, threshold: float) -> None:
    """The facts and the histogram are those of a plain count over the files."""
    numbers = [len(targets(line, threshold)) for line in lines(app)]
    kept = sum(number > 0 for number in numbers)
    facts = page.locator(".cq-be-facts dd")
    mean = f"{sum(numbers) / kept:.2f}" if kept else "–"
    expect(facts.nth(1)).to_have_text(re.compile(rf"^{re.escape(mean)} {sum(numbers)} targets? in all$"))
    expect(facts.nth(0)).to_have_text(re.compile(rf"^{kept} of {len(numbers)}, "))
    expect(facts.nth(2)).to_have_text(str(sum(number >= 3 for number in numbers)))
    said = ", ".join(f"{number}: {numbers.count(number)}" for number in sorted(set(numbers)))
    expect(page.get_by_role("img", name="Queries by number of targets")).to_have_attribute(
        "aria-label", f"Queries by number of targets: {said}")


def test_the_threshold_moves_everything(page: Page, app: App) -> None:
    look(page, app)
    expect(page.locator(".cq-stcard[data-name=found]")).to_contain_text(
        f"queries with all their targets · {3 * LIMIT} queries")
    page.get_by_role("link", name="found").click()
    expect(rows(page)).to_have_count(20)
    expect_numbers(page, app, 0.85)
    first, line = rows(page).first, lines(app)[0]
    expect(first.get_by_role("heading")).to_have_text(line["query_id"])
    expect(first.locator(".cq-be-said p")).to_have_text(line["text"])
    scored = sorted((one for one in line["candidates"] if one["confidence"] is not None),
                    key=lambda one: -one["confidence"])
    names = {"caption_query": "first sentence", "joined_query": "both sentences", "tg_img": "target’s image"}
    candidates = first.locator(".cq-be-candidate")
    expect(candidates).to_have_count(len(scored))
    for place, one in enumerate(scored):
        expect(candidates.nth(place).get_by_role("button")).to_have_attribute("aria-label", re.compile(one["image"]))
        expect(candidates.nth(place).locator("small")).to_have_text(
            [f"{names[at['group']]} #{at['rank']}" for at in one["found"]])
        expect(candidates.nth(place).locator(".own")).to_have_text(
            (["original target"] if one["image"] == line["original_target"] else [])
            + (["reference"] if one["image"] == line["reference"] else []))
    slider = page.get_by_role("slider", name="Threshold of confidence")
    for threshold in (0.2, 0.9, 1.0):
        slider.fill(str(threshold))
        expect_numbers(page, app, threshold)
        expect(first.locator(".cq-be-candidate.target")).to_have_count(len(targets(line, threshold)))
        expect(first.locator(".cq-be-verdict")).to_contain_text(f"{len(targets(line, threshold))} target")
    assert "threshold=1" in page.url
    page.reload()   # it is in the address
    expect(page.get_by_label("Threshold of confidence, as a number")).to_have_value("1")
    expect_numbers(page, app, 1.0)
    page.get_by_role("button", name="SoFT’s: 0.85").click()
    expect_numbers(page, app, 0.85)
    for picture in first.locator("img").all()[:3]:
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("complete", True)
        assert picture.evaluate("image => image.naturalWidth") > 0


@pytest.mark.extended
def test_order_search_and_pages(page: Page, app: App) -> None:
    look(page, app, "?name=found&threshold=0.5")
    expect(rows(page)).to_have_count(20)
    page.get_by_label("Sort by").select_option("Number of targets")
    numbers = sorted((len(targets(line, 0.5)) for line in lines(app)), reverse=True)
    for place in (0, 7, 19):
        expect(rows(page).nth(place).locator(".cq-be-candidate.target")).to_have_count(numbers[place])
    page.get_by_role("button", name="Next ›").click()
    expect(rows(page)).to_have_count(3 * LIMIT - 20)
    page.get_by_label("Sort by").select_option("Lowest confidence of a target")
    lowest = min(one["confidence"] for line in lines(app) for one in line["candidates"]
                 if one["confidence"] is not None and one["confidence"] >= 0.5)
    expect(rows(page).first.locator(".cq-be-verdict")).to_contain_text(f"lowest confidence {lowest:g}")
    known = rows(page).nth(3).get_by_role("heading").inner_text()
    page.get_by_label("Search in texts and ids").fill(known)
    expect(rows(page)).to_have_count(sum(known in json.dumps(line) for line in lines(app)))
    page.get_by_label("Search in texts and ids").fill("no such words anywhere")
    expect(page.get_by_role("heading", name="No matching queries")).to_be_visible()
    page.get_by_label("Search in texts and ids").fill("")
    page.get_by_label("Show").select_option("Three or more targets")
    several = sum(number >= 3 for number in numbers)
    expect(page.get_by_role("status").filter(has_text="queries")).to_have_text(f"{several} of {3 * LIMIT} queries")


@pytest.mark.extended
def test_the_download_and_the_search_screen(page: Page, app: App, tmp_path: Path) -> None:
    look(page, app, "?name=found&threshold=0.9")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download targets").click()
    content = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))
    labels = ("dress", "shirt", "toptee")
    for label in labels:
        records = read_provenance(app.home / f"benchmarks/found/provenance/{label}.jsonl")
        write_multi_target(selection_of(tmp_path, label), multi_targets(records, 0.9))
        assert content.read(f"multi_target_selection/{label}_multi_target_selection.json") == selection_of(
            tmp_path, label).read_bytes()
    assert len(content.namelist()) == len(labels)
    rows(page).first.get_by_role("button", name="Open in search").click()
    page.wait_for_url(re.compile(r"[?&]session="))
    line = lines(app)[0]
    expect(page.get_by_role("listbox", name=f"Results of turn 1: {line['text']}")).to_be_visible()
    with stores(app.home) as opened:
        session = opened.sessions.session(page.url.partition("session=")[2].partition("&")[0])
    assert [(turn.reference_id, turn.modification_text) for turn in session.turns] == [
        (line["reference"], line["text"])] and session.target_id is None


@pytest.mark.extended
def test_a_folder_without_queries_names_the_command(page: Page, app: App) -> None:
    heading, _, _ = (app.home / "benchmarks/found/journal.jsonl").read_text("utf-8").partition("\n")
    (app.home / "benchmarks" / "empty").mkdir()
    (app.home / "benchmarks" / "empty" / "journal.jsonl").write_text(heading + "\n", "utf-8")
    look(page, app, "?name=empty")
    expect(page.get_by_role("heading", name="No queries")).to_be_visible()
    expect(page.locator(".cq-none code")).to_contain_text("cirque construct multi-target")
    expect(page.get_by_role("button", name="Download targets")).to_be_hidden()
