"""People who adjudicate, for tests that read as stories: a server, two who disagree, a browser each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from annotation.accounts.service import PeopleService
from annotation.records import Item, Study
from tests.fakes.studies import make_study
from tests.integration.crowd import PASSWORD, Judge, Server, add_people, stores_of
from tests.web.browsing import at_rest
from tests.web.judging import stores, visitors

Meet = Callable[[str], Page]


@contextmanager
def adjudication_server(home: Path) -> Iterator[Server]:
    """Ada and Bea judge; Olga and Petra are researchers, Nina is an analyst. Its log must stay quiet."""
    opened = stores_of(home)
    add_people(opened, ["Ada", "Bea"])
    people = PeopleService(opened.people)
    for name, role in (("Olga", "researcher"), ("Petra", "researcher"), ("Nina", "analyst")):
        people.add(name, PASSWORD, role)
    opened.close()
    server = Server(home)
    server.start()
    yield server
    server.stop()
    assert "Traceback" not in server.log()


@contextmanager
def comers(browser: Browser, server: Server) -> Iterator[Meet]:
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
