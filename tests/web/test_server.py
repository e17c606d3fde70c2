"""How the server starts and stops."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.fakes import drawn, forked
from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.databases import environment_of
from tests.fakes.forked import Running
from tests.fakes.patience import PATIENCE, wait_for
from tests.web import screen
from tests.web.browsing import at_rest, new_context
from tests.web.conftest import IMAGES, ROOT, wait_for_address


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Of each test: a server tells what else serves its home."""
    return drawn.home(tmp_path / "home", IMAGES)


@pytest.fixture
def start(home: Path, tmp_path: Path) -> Iterator[Callable[..., tuple[Running, Path]]]:
    started = []

    def run(port: int, **settings: str) -> tuple[Running, Path]:
        log = tmp_path / f"{len(list(tmp_path.iterdir()))}.log"
        environment = environment_of(home, CIRQUE_PORT=str(port), CIRQUE_HOST="127.0.0.1", **settings)
        with log.open("w") as stream:
            process = forked.start("app.py", environment=environment, output=stream)
        started.append(process)
        return process, log

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_importing_the_app_opens_nothing() -> None:
    code = "import sys, app; print(sorted({'gradio', 'torch', 'sqlalchemy'} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_the_server_starts_without_models_and_without_what_draws_and_counts() -> None:
    code = ("import sys, web.server; print(sorted({'torch', 'transformers', 'open_clip', 'cv2', 'sklearn', 'scipy', "
            "'statsmodels', 'faiss', 'openai', 'prometheus_client'} & set(sys.modules)))")
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_taken_port_is_said_with_the_way_out(start: Callable[..., tuple[Running, Path]]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process, log = start(port)
        assert process.wait(PATIENCE) == 1
    said = log.read_text()
    assert f"Port {port} is in use" in said
    assert f"CIRQUE_PORT={port + 1}" in said
    assert "Traceback" not in said


@pytest.mark.extended
def test_it_stops_quietly_and_an_open_page_goes_on_after_a_restart(
    start: Callable[..., tuple[Running, Path]], browser: Browser
) -> None:
    process, log = start(0)
    url = wait_for_address(process, log)
    page = new_context(browser).new_page()
    page.goto(url)
    at_rest(page)
    screen.search(page, "in red", 1)
    chosen = screen.refine_from(page, 4)
    _stop(process, log, signal.SIGINT)

    process, log = start(int(url.rsplit(":", 1)[1]))
    wait_for_address(process, log)
    screen.search(page, "longer", 2)  # the session is in the database, where the page was is on the page
    expect(page.locator(".cq-frame")).to_have_attribute("data-name", chosen)   # of this turn; the ring is elsewhere
    page.reload()
    expect(page.get_by_role("heading", name="longer")).to_be_visible()
    _stop(process, log, signal.SIGTERM)
    page.close()


@pytest.mark.extended
def test_a_search_whose_server_is_killed_is_offered_again(
    home: Path, tmp_path: Path, start: Callable[..., tuple[Running, Path]], browser: Browser
) -> None:
    waiting = threading.Event()
    with ChatServer(lambda request: Reply("{}", hold=waiting, longest_hold=PATIENCE)) as model:
        process, log = start(0, CIRQUE_LLM_BASE_URL=model.url, CIRQUE_LLM_MODEL="m")
        url = wait_for_address(process, log)
        page = new_context(browser).new_page()
        page.goto(url)
        at_rest(page)
        page.get_by_role("button", name="Settings", exact=True).click()
        page.get_by_role("dialog", name="Settings").locator("[name=method][value=cirevl]").check()
        page.get_by_role("button", name="Apply").click()
        at_rest(page)
        page.get_by_role("button", name="Surprise me").click()
        at_rest(page)
        chosen = screen.reference(page)
        screen.text_field(page).fill("in red")
        screen.text_field(page).press("Enter")
        wait_for(lambda: model.in_flight > 0)
        expect(page).to_have_url(re.compile("session="))    # it has begun since the words were typed
        process.kill()
        process.wait(PATIENCE)
        waiting.set()
    process, log = start(int(url.rsplit(":", 1)[1]))
    wait_for_address(process, log)
    expect(page.locator(".cq-banner")).to_contain_text("The connection was lost during this search: in red")
    at_rest(page)
    assert screen.reference(page) == chosen and screen.text_field(page).input_value() == "in red"
    expect(page.locator(".cq-missing")).to_have_count(0)
    page.get_by_role("button", name="Search again").click()
    expect(page.get_by_role("listbox", name="Results of turn 1: in red")).to_be_visible()
    at_rest(page)
    expect(page.locator(".cq-banner.warn", has_text="connection")).to_have_count(0)
    page.close()


def _stop(process: Running, log: Path, number: signal.Signals) -> None:
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    assert len(log.read_text().splitlines()) == 2, log.read_text()  # the address, and that it is open
