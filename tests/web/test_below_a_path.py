"""cirque at https://localhost/tools/cirque/ behind nginx with the file of the docs, and in a frame of another site."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from annotation.accounts.service import PeopleService
from benchmarks.servers import lasting_port
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.databases import settings_of
from tests.fakes.people import PASSWORD
from tests.integration.proxies import ACCESS_LOG, below_a_path
from tests.web.browsing import at_rest, new_context, until
from tests.web.conftest import AT_A_RELOAD, IMAGES, serving
from web.http.pages import SCREENS
from web.http.pages import Page as Screen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nginx")
PATH = "/tools/cirque"
HARMLESS = (*AT_A_RELOAD, "Blocked autofocusing")   # which browsers do not do in frames
# Names of this machine that are sites of their own to a browser. The portal may frame cirque, the other may not.
FRAMES = """
  server {{
    listen 127.0.0.1:{port} ssl; access_log off; server_name portal.localhost other.localhost;
    ssl_certificate {folder}/certificate; ssl_certificate_key {folder}/key;
    default_type text/html;
    location / {{ return 200 '<h1>Portal</h1><iframe width="1200" height="700" src="{at}/"></iframe>'; }}
  }}
"""


@dataclass(frozen=True)
class Site:
    port: int
    log: Path

    @property
    def at(self) -> str:
        return f"https://localhost:{self.port}{PATH}"

    def framed_by(self, name: str) -> str:
        return f"https://{name}.localhost:{self.port}/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("below")
    home, site = drawn.home(folder / "home", IMAGES), Site(lasting_port(), folder / ACCESS_LOG)
    stores = open_stores(settings_of(home))
    PeopleService(stores.people).add("Ada", PASSWORD, "admin")
    stores.close()
    frames = FRAMES.format(port=site.port, folder=folder, at=site.at)
    with (serving(home, folder / "app.log", CIRQUE_TRUSTED_PROXIES="127.0.0.1", CIRQUE_PUBLIC_URL=site.at,
                  CIRQUE_FRAME_ANCESTORS=f"https://portal.localhost:{site.port}") as app,
          below_a_path(folder, app.url.removeprefix("http://"), site.port, frames)):
        yield site


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[[list[str]], Page]]:
    contexts = []

    def open_one(complaints: list[str]) -> Page:
        contexts.append(new_context(browser, ignore_https_errors=True))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text)
                if message.type == "error" and not any(it in message.text for it in HARMLESS) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_one
    for context in contexts:
        context.close()


def sign_in(where: Page | Frame) -> None:
    where.fill("input[name=name]", "Ada")
    where.fill("input[name=password]", PASSWORD)
    where.click("button[type=submit]")


@pytest.mark.parametrize("screens", [
    pytest.param(SCREENS[:2], id="two"), pytest.param(SCREENS, id="all", marks=pytest.mark.extended)])
def test_screens_stay_below_the_path(
    site: Site, open_page: Callable[[list[str]], Page], screens: Sequence[Screen],
) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page = open_page(complaints)
    page.on("request", lambda request: asked.append(request.url) if request.url.startswith("http") else None)
    page.goto(f"{site.at}/people")
    assert page.url == f"{site.at}/sign-in?next=/people"
    sign_in(page)
    page.wait_for_url(f"{site.at}/people")
    [cookie] = page.context.cookies()
    assert (cookie["path"], cookie["secure"], cookie["httpOnly"]) == (f"{PATH}/", True, True)
    at_rest(page)
    for screen in screens[::-1]:     # to the search screen in the end
        if screen.path != "/people":
            page.goto(site.at if screen.path == "/" else site.at + screen.path)
            at_rest(page)
            assert page.url == site.at + screen.path
    redirected = page.request.get(f"{site.at}/annotate/", max_redirects=0)     # by Gradio itself
    assert redirected.headers["location"] == f"{PATH}/annotate"
    page.fill("#cq-text", "in red")
    page.press("#cq-text", "Enter")
    expect(page.locator(".cq-grid .cq-tile").first).to_be_visible()
    at_rest(page)
    assert PATH + "/cirque.sessions" in page.evaluate("Object.keys(localStorage)")   # another cirque has its own
    shown = page.locator(".cq-grid .cq-tile img").first
    until(page, lambda: bool(shown.evaluate("image => image.complete && image.naturalWidth")))
    links = page.locator("nav[aria-label=Screens] a").evaluate_all("links => links.map((link) => link.href)")
    assert set(links) == {site.at + screen.path for screen in SCREENS}
    page.evaluate("document.querySelector('.cq-menu button').click()")   # Sign out
    page.wait_for_url(f"{site.at}/sign-in")
    assert page.context.cookies() == []
    assert [line for line in site.log.read_text().splitlines() if PATH not in line] == []   # also browsers' own wishes
    assert [url for url in asked if url != site.at and not url.startswith(f"{site.at}/")] == []
    assert complaints == []


@pytest.mark.extended
def test_a_site_that_is_named_frames_it_and_another_does_not(
    site: Site, open_page: Callable[[list[str]], Page],
) -> None:
    complaints: list[str] = []
    page = open_page(complaints)
    page.goto(site.framed_by("portal"))
    frame = page.frames[1]
    frame.wait_for_url(f"{site.at}/sign-in?next=/")
    sign_in(frame)
    frame.wait_for_url(f"{site.at}/")
    frame.wait_for_selector("html[data-rest=yes]", state="attached")
    expect(frame.locator(".cq-wall .cq-tile").first).to_be_visible()
    assert complaints == []

    page = open_page(complaints)
    page.goto(site.framed_by("other"))
    until(page, lambda: any("frame-ancestors" in one for one in complaints))
    until(page, lambda: page.frames[1].url.startswith("chrome-error:"))   # after the complaint
