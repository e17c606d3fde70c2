"""People who adjudicate, for tests that read as stories: a server, two who disagree, a browser each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from annotation.accounts.service import PeopleService
from annotation.records import Item, Study
from tests.fakes.studies import make_study
from tests.integration.crowd import PASSWORD, Judge, Server
from tests.web.browsing import at_rest
from tests.web.judging import a_server, stores, visitors

Meet = Callable[[str], Page]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Ada and Bea judge; Olga and Petra are researchers, Nina is an analyst. Its log must stay quiet."""
    with a_server(tmp_path_factory.mktemp("adjudicating"), ["Ada", "Bea"]) as server:
        with stores(server.home) as opened:
            people = PeopleService(opened.people)
            for name, role in (("Olga", "researcher"), ("Petra", "researcher"), ("Nina", "analyst")):
                people.add(name, PASSWORD, role)
        yield server


@pytest.fixture
def meet(browser: Browser, server: Server) -> Iterator[Meet]:
    """People who come in with browsers of their own. None of them may see an error."""
    with visitors(browser, server) as meet:
        yield lambda name: meet(name).page


def a_round(server: Server, name: str, *said: tuple[dict[str, Any], dict[str, Any]]) -> tuple[Study, Sequence[Item]]:
    """A study in which Ada and Bea have said this of its items, over the named calls."""
    with stores(server.home) as opened:
        study = make_study(opened.studies, server.home, name=name, items=len(said), seats=2, overlap=2, pictures=14,
                           strata=("composition_required", "unresolved"))
        items = opened.studies.items(study.study_id)
    for place, who in enumerate(("Ada", "Bea")):
        judge = Judge(who, server.url, name)
        judge.sign_in()
        judge.call("next_item", name, "")
        for item, answers in zip(items, said, strict=True):
            judge.save(item.item_id, answers[place], f"{who}-{item.item_id}")
        judge.close()
    return study, items


def adjudicate(page: Page, server: Server, study: Study) -> None:
    page.goto(f"{server.url}/adjudicate?study={study.name}")
    at_rest(page)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
