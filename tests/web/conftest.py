"""The real app on a free port, over a small sample gallery, and a real browser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.fakes import drawn
from tests.fakes.databases import environment_of
from tests.fakes.forked import Running, start
from tests.fakes.patience import wait_for
from tests.web.browsing import at_rest, new_context

ROOT = Path(__file__).resolve().parents[2]
IMAGES = 90
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-software-rasterizer", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]
# What Gradio's client says when a page goes away while its stream of events is open.
AT_A_RELOAD = ("AbortError", "Connection errored out")
SHELL = "chromium-headless-shell"    # draws the same pages in two thirds of the processor time
FULL = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.web)


@dataclass(frozen=True)
class App:
    url: str
    home: Path
    log: Path


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn.home(tmp_path_factory.mktemp("web") / "home", IMAGES)


@pytest.fixture(scope="session")
def app(home: Path) -> Iterator[App]:
    with serving(home, home.parent / "app.log", CIRQUE_WEBHOOK_HOSTS="127.0.0.1:*") as app:
        yield app


@contextmanager
def serving(home: Path, log: Path, **settings: str) -> Iterator[App]:
    """The app in a process of its own, over ``home``, on a free port."""
    environment = environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1", **settings)
    with log.open("w") as stream:
        process = start("app.py", environment=environment, output=stream)
    try:
        yield App(wait_for_address(process, log), home, log)
    finally:
        process.terminate()
        process.wait(30)


def wait_for_address(process: Running, log: Path) -> str:
    """The address in the app's greeting, once it is there."""
    return wait_for(lambda: re.search(r"http://\S+", log.read_text()), going=lambda: process.poll() is None,
                    told=log.read_text)[0]


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    names = FULL if request.config.getoption("--full-chromium") else (SHELL, *FULL)
    program = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, app: App) -> Iterator[Callable[..., Page]]:
    """Opens the app in a browser context of its own; the page must stay free of errors and
    must not ask anybody but the app for anything."""
    contexts, complaints = [], []

    def open_one(path: str = "/", width: int = 1440, height: int = 900, folded: bool = False,
                 tour: bool = False) -> Page:
        # Without what moves while a search is on its way: a quarter of Chromium's time in a story of searches.
        contexts.append(new_context(browser, viewport={"width": width, "height": height}, folded=folded,
                                    tour=tour, reduced_motion="reduce"))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text)
                if message.type == "error" and not any(it in message.text for it in AT_A_RELOAD) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: complaints.append(f"outside: {request.url}")
                if request.url.startswith("http") and not request.url.startswith(app.url) else None)
        page.goto(app.url + path)
        at_rest(page)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []
