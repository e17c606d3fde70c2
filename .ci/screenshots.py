"""Write the pictures of the search screen in docs/images from the running app, and what they show as JSON.

    python .ci/screenshots.py [--home FOLDER]

Without ``--home``, the sample gallery is drawn in a temporary home first (about two minutes). ``tests/test_docs.py``
compares the menu in ``pictures.json`` with the app's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, expect, sync_playwright

from web.ui.static_files import asset_url

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SIZE = (1440, 900)
START = "a plain red dress"
TURNS = ("in blue", "with long sleeves", "striped")
_MOVING_WIDTH = 900
_SHOWN_MS, _LAST_MS = 1400, 3500      # of each frame, and of the last one
_START_SECONDS = 900                  # the sample may have to be drawn
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@contextmanager
def running_app(home: Path) -> Iterator[str]:
    """The address of ``cirque demo`` over ``home``, which draws the sample if it is not there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CIRQUE_")}
    environment |= {"CIRQUE_HOME": str(home), "CIRQUE_PORT": str(port), "CIRQUE_HOST": "127.0.0.1", "BROWSER": "true"}
    process = subprocess.Popen([sys.executable, "-m", "cli.main", "demo"], cwd=ROOT, env=environment)
    try:
        wait_for(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Until the app answers. Raises SystemExit if it ends or takes too long."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit("The app ended before it answered; see its messages above.")
        try:
            with urllib.request.urlopen(url + "/healthz", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"The app did not answer within {_START_SECONDS} seconds.")


def at_rest(page: Page) -> None:
    page.wait_for_selector("html[data-rest=yes]", state="attached")


def frame(page: Page) -> Image.Image:
    at_rest(page)
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def text_field(page: Page) -> Locator:
    return page.get_by_label(re.compile("What should be different"))


def start_from(page: Page, text: str) -> None:
    """The gallery's best match becomes the reference, so that every run begins with the same one."""
    query = urllib.parse.urlencode({"gallery": "atelier", "text": text})
    found = page.request.get(urllib.parse.urljoin(page.url, f"/media/find?{query}")).json()["images"]
    script = """([url, image]) => import(new URL(url, document.baseURI).href)
        .then((it) => it.act('reference', { image }))"""
    page.evaluate(script, [asset_url("js/search/actions.js"), found[0]["id"]])


def three_turns(page: Page) -> list[Image.Image]:
    """A search over three turns: the start, each text as typed and its results, and how the last ones were found."""
    at_rest(page)
    start_from(page, START)
    frames = [frame(page)]
    for turn, text in enumerate(TURNS, 1):
        if turn > 1:
            page.get_by_role("listbox", name=re.compile("^Results of turn")).get_by_role("option").nth(1).click()
            page.keyboard.press("r")
            at_rest(page)
        text_field(page).fill(text)
        frames.append(frame(page))
        text_field(page).press("Enter")
        expect(page.get_by_role("listbox", name=f"Results of turn {turn}: {text}")).to_be_visible()
        page.mouse.move(0, SIZE[1] - 1)     # no tile shows what a pointer over it would
        frames.append(frame(page))
    page.get_by_role("button", name="How", exact=True).click()
    expect(page.locator("#how")).to_contain_text("Query used")
    return [*frames, frame(page)]


def write_moving(frames: Sequence[Image.Image], path: Path) -> None:
    small = [one.resize((_MOVING_WIDTH, _MOVING_WIDTH * one.height // one.width), Image.Resampling.LANCZOS)
             for one in frames]
    times = [_SHOWN_MS] * (len(small) - 1) + [_LAST_MS]
    small[0].save(path, save_all=True, append_images=small[1:], duration=times, loop=0, quality=72, method=6)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pictures of the search screen from the running app.")
    parser.add_argument("--home", type=Path, help="a home that has the sample gallery (default: a temporary one)")
    given = parser.parse_args().home
    with tempfile.TemporaryDirectory() as temporary:
        home = given or Path(temporary)
        program = next(filter(None, map(shutil.which, _BROWSERS)), None)
        with running_app(home) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
            page.add_init_script("localStorage.setItem('cirque.tour', '\"over\"')")   # no tour
            page.set_default_timeout(120_000)
            expect.set_options(timeout=120_000)
            page.goto(url)
            frames = three_turns(page)
            menu = page.locator(".cq-pages a:visible").all_inner_texts()
            browser.close()
        gallery = json.loads((home / "galleries" / "atelier" / "gallery.json").read_text("utf-8"))
    frames[-1].save(IMAGES / "search-light.webp", quality=80, method=6)
    write_moving(frames, IMAGES / "search-moving.webp")
    shown = {"pictures": ["search-light.webp", "search-moving.webp"], "menu": menu, "start": START, "turns": TURNS,
             "gallery": {name: gallery[name] for name in ("size", "digest")}}
    (IMAGES / "pictures.json").write_text(json.dumps(shown, indent=1) + "\n", "utf-8")
    print(f"{IMAGES}: {', '.join(shown['pictures'])}")


if __name__ == "__main__":
    main()
