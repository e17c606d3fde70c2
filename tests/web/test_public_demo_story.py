"""A public demo as strangers see it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.fakes import drawn
from tests.web.browsing import at_rest, new_context
from tests.web.conftest import AT_A_RELOAD, IMAGES, App, serving

WORDS = "in red, like a zanzibar"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("demo")
    with serving(drawn.home(folder / "home", IMAGES), folder / "app.log", CIRQUE_LOG_LEVEL="info",
                 CIRQUE_PUBLIC_DEMO="true", CIRQUE_DATABASE_URL="", CIRQUE_DEMO_SEARCHES_PER_MINUTE="3") as app:
        yield app


def search(page: Page, words: str) -> None:
    page.fill("#cq-text", words)
    page.press("#cq-text", "Enter")


def test_strangers_search_and_see_nothing_of_each_other(browser: Browser, demo: App) -> None:
    complaints: list[str] = []
    ada, bob = (new_context(browser) for _ in range(2))
    page = ada.new_page()
    page.on("console", lambda message: complaints.append(message.text)
            if message.type == "error" and not any(it in message.text for it in AT_A_RELOAD) else None)
    page.on("response", lambda answer: complaints.append(answer.url) if answer.status >= 400 else None)
    page.goto(demo.url)
    at_rest(page)
    content = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(content, "PNG")
    page.set_input_files("input[type=file]", {"name": "holiday.png", "mimeType": "image/png",
                                              "buffer": content.getvalue()})
    expect(page.locator(".cq-refname")).not_to_have_text("")
    at_rest(page)
    search(page, WORDS)
    expect(page.locator(".cq-grid .cq-tile").first).to_be_visible()
    at_rest(page)
    address = page.url
    assert "session=" in address
    for gone in ("[data-copy=link]", "[data-open=weights]", "[data-audit]", ".cq-menu nav", "a[href*=studies]"):
        expect(page.locator(gone)).to_have_count(0)
    page.reload()
    at_rest(page)
    expect(page.locator("h1.cq-title")).to_have_text(WORDS)
    session = address.split("session=")[1].split("&")[0]
    assert page.request.get(f"{demo.url}/export/{session}.json").status == 200

    other = bob.new_page()
    other.goto(address)
    at_rest(other)
    expect(other.locator("#main")).to_contain_text("There is no session at this address")
    assert "zanzibar" not in other.content()
    assert bob.request.get(f"{demo.url}/export/{session}.json").status == 404

    assert complaints == []
    for words in ("in blue", "in green"):
        search(page, words)
        expect(page.locator("h1.cq-title")).to_have_text(words)
        at_rest(page)
    search(page, "in white")     # which is one more than a visitor may do in a minute
    expect(page.locator("body")).to_contain_text("searches to 3 a minute")
    for context in (ada, bob):
        context.close()
    assert "zanzibar" not in demo.log.read_text() and "holiday" not in demo.log.read_text()
    assert sorted(path.name for path in Path(demo.home).iterdir() if path.suffix == ".db") == ["cirque.db"]
    for path in ("/studies", "/people", "/gradio_api/info"):
        assert httpx.get(demo.url + path).status_code == 404
