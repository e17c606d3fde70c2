"""What a person does in a preference study, for tests that read as stories; and a study of drawn pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from annotation.kinds.preference.create import create_preference_study
from annotation.kinds.preference.sources import SurveyQuery
from annotation.kinds.preference.survey.plan import SurveyLayout
from annotation.records import Study
from tests.fakes import drawings
from tests.web.browsing import enter
from tests.web.judging import TITLE, stores

METHODS = ("cirevl", "slerp", "text-only")
PICTURES = 30
TEXTS = ("is darker and has a collar", "ليست حمراء 🙂 — “quoted” <b>not bold</b>", "with longer sleeves", "has stripes")


def a_survey(home: Path, name: str, *, questions: int, layout: SurveyLayout, settings: Mapping[str, Any]) -> Study:
    """A preference study over pictures of the sample gallery. Every method finds other ones."""
    drawn = drawings.sample(home / f"pictures {name}", limit=PICTURES)
    photos = {path.stem: path for path in sorted(drawn.images.rglob("*.*"))}
    ids = list(photos)
    assert len(ids) >= PICTURES

    def found(start: int) -> tuple[str, ...]:
        return tuple(ids[1 + (start + step) % (len(ids) - 1)] for step in range(5))

    queries = [
        SurveyQuery(key=f"sample::{number}", dataset="sample", query_id=f"q{number}", category="dress",
                    text=TEXTS[number % len(TEXTS)], reference_id=ids[0], target_ids=(found(3 * number)[0],),
                    results={method: found(3 * number + 7 * place) for place, method in enumerate(METHODS)})
        for number in range(questions)
    ]
    with stores(home) as opened:
        return create_preference_study(
            opened.studies, home, name, queries, METHODS, photos.get, layout, created_by="Ada Min",
            source={"form": "tests"}, settings=settings).study


def question(page: Page, number: int) -> None:
    """Wait until this question is shown."""
    expect(page.locator(".st-number")).to_have_text(f"Question {number}")
    expect(page.locator(TITLE)).to_be_focused()


def begin(page: Page, *, consent: bool = False) -> None:
    """Past the guidelines, and the consent where it is asked."""
    expect(page.get_by_role("heading", name="Before you begin")).to_be_focused()
    enter(page)
    if consent:
        expect(page.get_by_role("checkbox")).to_be_focused()
        page.keyboard.press("Space")
        enter(page)
    expect(page.locator(TITLE)).to_be_focused()


def the_sum(page: Page) -> int:
    """Of the check that is shown."""
    return sum(map(int, re.findall(r"\d+", page.locator(".sv-question").inner_text())))


def past_the_check(page: Page) -> None:
    expect(page.locator("input.sv-sum")).to_be_focused()
    page.keyboard.type(str(the_sum(page)))
    enter(page)
    expect(page.locator(".sv-check")).to_have_count(0)


def chosen(page: Page) -> list[str]:
    """Labels of what is chosen on the scales and of the two sets."""
    return page.get_by_role("radio", checked=True).evaluate_all(
        "all => all.map((one) => one.getAttribute('aria-label') || one.querySelector('b').textContent)")
