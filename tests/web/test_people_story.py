"""The first account, an invitation, and what an invited person sees: in a browser, on a home without a gallery."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import new_context
from tests.web.conftest import serving

PASSWORD = "correct horse"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with serving(tmp_path / "home", tmp_path / "app.log") as app:
        yield app.url


def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(password)
    page.keyboard.press("Enter")


def test_from_no_account_to_an_invited_annotator(address: str, browser: Browser) -> None:
    ada = new_context(browser).new_page()
    ada.goto(f"{address}/people")
    adding = ada.get_by_role("region", name="Add a person")
    adding.get_by_label("Name").fill("Ada")
    adding.get_by_role("textbox", name=re.compile("^Password")).fill(PASSWORD)
    adding.get_by_role("button", name="Create the admin account").click()

    ada.wait_for_url("**/sign-in?next=%2Fpeople")
    sign_in(ada, "Ada", "wrong horse")
    expect(ada.get_by_role("alert")).to_contain_text("name or password is wrong")
    expect(ada.get_by_label("Password")).to_be_focused()   # the name stayed
    ada.keyboard.type(PASSWORD)
    ada.keyboard.press("Enter")
    ada.wait_for_url("**/people")

    inviting = ada.get_by_role("region", name="Invite")
    inviting.get_by_role("button", name="Create link").click()
    link = inviting.get_by_label("Invitation link").input_value()
    assert link.startswith(f"{address}/join/")

    inviting.get_by_role("button", name="Create link").click()
    expect(inviting.get_by_role("button", name="Withdraw the invitation")).to_have_count(2)
    inviting.get_by_role("button", name="Withdraw the invitation").first.click()   # the latest
    ada.get_by_role("dialog").get_by_role("button", name="Withdraw it").click()
    expect(inviting.get_by_role("button", name="Withdraw the invitation")).to_have_count(1)
    mallory = new_context(browser).new_page()
    mallory.goto(inviting.get_by_label("Invitation link").input_value())
    expect(mallory.get_by_text("can no longer be used")).to_be_visible()
    mallory.context.close()

    bob = new_context(browser).new_page()
    bob.goto(link)
    bob.get_by_label("Your name").fill("Bob 👩🏽‍🔬")
    bob.get_by_role("textbox", name=re.compile("^Password")).fill(PASSWORD)
    bob.get_by_label("Repeat the password").fill(PASSWORD)
    bob.get_by_role("button", name="Create account").click()
    bob.wait_for_url("**/annotate")
    bob.goto(address)
    bob.wait_for_url("**/annotate")   # where an annotator begins
    bob.goto(f"{address}/people")
    expect(bob.get_by_role("heading", name="Not here")).to_be_visible()

    ada.reload()
    row = ada.get_by_role("row").filter(has_text="Bob")
    row.get_by_role("button", name="Deactivate").click()
    ada.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
    expect(row.get_by_role("button", name="Reactivate Bob")).to_be_visible()
    bob.goto(f"{address}/annotate")
    bob.wait_for_url("**/sign-in?next=/annotate")
    sign_in(bob, "Bob 👩🏽‍🔬")
    expect(bob.get_by_role("alert")).to_contain_text("name or password is wrong")
    for page in (ada, bob):
        page.context.close()
