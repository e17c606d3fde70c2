"""A job that was begun on a command line is seen on the page Jobs, stopped there, resumed there, and done."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.databases import environment_of
from tests.fakes.forked import start
from tests.web.browsing import at_rest, new_context
from tests.web.conftest import serving

IMAGES, HELD = 8, 4
CAPTION = Reply('{"caption": "A red shirt."}')


def test_begun_on_the_command_line_stopped_and_resumed_on_the_page(
    home: Path, tmp_path: Path, browser: Browser,
) -> None:
    own, go, asked = tmp_path / "home", threading.Event(), threading.Semaphore(HELD)
    shutil.copytree(home, own)

    def answer(request: dict[str, Any]) -> Reply:
        """At once, and then only when it may."""
        return CAPTION if asked.acquire(blocking=False) else Reply(CAPTION.text, hold=go)

    with ChatServer(answer) as model:
        to_model = {"CIRQUE_LLM_BASE_URL": model.url, "CIRQUE_LLM_MODEL": "m", "CIRQUE_LLM_CONCURRENCY": "1"}
        with serving(own, tmp_path / "app.log", **to_model) as app, (tmp_path / "said.log").open("w") as said:
            page = new_context(browser).new_page()
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(f"{app.url}/jobs")
            expect(page.get_by_text("cirque index FOLDER --name NAME")).to_be_visible()
            command = start("-m", "cli.main", "captions", "build", "atelier", "--samples", "1", "--limit", str(IMAGES),
                            environment=environment_of(own, **to_model), output=said)

            job = page.locator("tbody[data-job]")
            expect(job).to_contain_text(f"{HELD} of {IMAGES} · 50 %")
            expect(job).to_contain_text("cirque captions build atelier")
            expect(job).to_contain_text("on the command line")
            job.get_by_role("button", name="Log").click()
            expect(job.get_by_label("Last lines of the log")).to_contain_text("Captions by m@")
            job.get_by_role("button", name="Stop").click()
            expect(job.get_by_text("Stopping")).to_be_visible()
            expect(job.get_by_label("Last lines of the log")).to_contain_text("Asked to stop")
            go.set()
            expect(job.get_by_text("Stopped", exact=True)).to_be_visible()
            assert command.wait(60) == 130, (tmp_path / "said.log").read_text()

            model.play([CAPTION])
            before = len(model.requests)
            job.get_by_role("button", name="Resume").click()
            expect(job.get_by_text("Done", exact=True)).to_be_visible()
            expect(job).to_contain_text("by local")
            assert 0 < len(model.requests) - before < IMAGES   # those that had one were not asked for again
            expect(job.get_by_label("Last lines of the log")).to_contain_text("Trial run")
            job.get_by_role("button", name="Remove").click()
            page.get_by_role("dialog").get_by_role("button", name="Remove it").click()
            expect(page.get_by_text("No jobs yet")).to_be_visible()
            at_rest(page)
            assert complaints == []
            page.context.close()
