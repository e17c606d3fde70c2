"""What a person does on the search screen, for tests that read as stories."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.web.browsing import at_rest
from web.ui.static_files import asset_url


def in_page(page: Page, module: str, call: str, argument: object = None) -> object:
    """``call`` on the page's own copy of a module below ``assets/js/search``, as ``it``, with ``given``."""
    url = asset_url(f"js/search/{module}")
    script = f"given => import(new URL('{url}', document.baseURI).href).then((it) => {call})"
    return page.evaluate(script, argument)


def text_field(page: Page) -> Locator:
    return page.get_by_label(re.compile("What should be different"))


def tiles(page: Page) -> Locator:
    return page.get_by_role("listbox", name=re.compile("^Results of turn")).get_by_role("option")


def search(page: Page, text: str, turn: int) -> None:
    text_field(page).fill(text)
    text_field(page).press("Enter")
    expect(page.get_by_role("listbox", name=f"Results of turn {turn}: {text}")).to_be_visible()
    at_rest(page)


def refine_from(page: Page, rank: int) -> str:
    """Select the tile at ``rank``, make it the reference; returns its id."""
    tile = tiles(page).nth(rank - 1)
    tile.click()
    expect(tile).to_have_attribute("aria-selected", "true")
    image_id = tile.get_attribute("data-image") or ""
    page.keyboard.press("r")
    expect(page.locator(".cq-refname")).to_have_text(image_id)
    at_rest(page)
    return image_id


def shown_ids(page: Page) -> list[str]:
    return [tile.get_attribute("data-image") or "" for tile in tiles(page).all()]


def reference(page: Page) -> str:
    return page.locator(".cq-refname").inner_text()
