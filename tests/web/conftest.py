"""The real app on a free port, over a small sample gallery, and a real browser."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.fakes.databases import environment_of
from tests.fakes.forked import Running, start

ROOT = Path(__file__).resolve().parents[2]
expect.set_options(timeout=60_000)   # the machine may be busy with other tests
IMAGES = 90
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
]
# What Gradio's client says when a page goes away while its stream of events is open.
AT_A_RELOAD = ("AbortError", "Connection errored out")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


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
    folder = tmp_path_factory.mktemp("web") / "home"
    log = folder.with_name("make_home.log")
    with log.open("w") as stream:
        drawing = start(str(Path(__file__).with_name("make_home.py")), str(folder), str(IMAGES),
                        environment=os.environ, output=stream)
        assert drawing.wait(300) == 0, log.read_text()
    return folder


@pytest.fixture(scope="session")
def app(home: Path) -> Iterator[App]:
    log = home.parent / "app.log"
    environment = environment_of(home, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1")
    with log.open("w") as stream:
        process = start("app.py", environment=environment, output=stream)
    try:
        yield App(wait_for_address(process, log), home, log)
    finally:
        process.terminate()
        process.wait(30)


def wait_for_address(process: Running, log: Path, patience: float = 120) -> str:
    """The address in the app's greeting, once it is there."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if found := re.search(r"http://\S+", log.read_text()):
            return found[0]
        if process.poll() is not None:
            break
        time.sleep(0.2)
    pytest.fail(f"The app did not come up. Its log:\n{log.read_text()}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, app: App) -> Iterator[Callable[..., Page]]:
    """Opens the app in a browser context of its own; the page must stay free of errors and
    must not ask anybody but the app for anything."""
    contexts, complaints = [], []

    def open_one(path: str = "/", width: int = 1440, height: int = 900) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        context.set_default_timeout(90_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text)
                if message.type == "error" and not any(it in message.text for it in AT_A_RELOAD) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: complaints.append(f"outside: {request.url}")
                if request.url.startswith("http") and not request.url.startswith(app.url) else None)
        page.goto(app.url + path)
        page.wait_for_selector(".cq-top[data-loaded=yes]", state="attached", timeout=180_000)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def wait_for() -> Callable[[Callable[[], bool]], None]:
    def wait(condition: Callable[[], bool], patience: float = 120) -> None:
        until = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < until, "it did not happen in time"
            time.sleep(0.02)

    return wait
