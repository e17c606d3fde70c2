"""What the tests with a browser have in common: one patience for everything, and pages that say when they rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.fakes.patience import PATIENCE, wait_for

PATIENCE_MS = 1000 * PATIENCE
expect.set_options(timeout=PATIENCE_MS)


UNFOLDED = """try {
  localStorage.setItem("cirque.folds", localStorage.getItem("cirque.folds")
    || JSON.stringify({ how: innerWidth > 1100, texts: true, knows: true }));
} catch { /* the browser's own page of an error has no storage */ }"""
TOURED = """try {
  localStorage.setItem("cirque.tour", '"over"');
} catch { /* as above */ }"""


def new_context(browser: Browser, *, folded: bool = False, tour: bool = False, **options: Any) -> BrowserContext:
    """A browser of somebody's own, on a desk unless ``options`` say otherwise. The parts of the search screen that are
    closed until somebody wants them are open, but where ``folded``; its tour is over, but where there is a ``tour``."""
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
    if not folded:
        context.add_init_script(UNFOLDED)
    if not tour:
        context.add_init_script(TOURED)
    context.set_default_timeout(PATIENCE_MS)
    return context


def at_rest(page: Page) -> None:
    """Wait until the page says that nothing of what was done is still to come (assets/js/shared/rest.js)."""
    page.wait_for_selector("html[data-rest=yes]", state="attached")


def enter(page: Page) -> None:
    """Enter, once the page takes it for what it shows and not for the second half of a double press."""
    at_rest(page)
    page.keyboard.press("Enter")


def until(page: Page, done: Callable[[], bool]) -> None:
    """For what the browser does not say: calls that were caught on their way (Playwright hands them over meanwhile)."""
    wait_for(lambda: done() or page.wait_for_timeout(20), pause=0)


@contextmanager
def held_up(page: Page, calls: str | re.Pattern[str]) -> Iterator[list[Route]]:
    """The ``calls`` that the page makes in here, and that reach the server only afterwards."""
    held: list[Route] = []
    page.route(calls, lambda route: held.append(route))
    yield held
    until(page, lambda: bool(held))
    for route in held:
        route.continue_()
    page.unroute(calls)
