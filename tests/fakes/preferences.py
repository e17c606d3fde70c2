"""Records of a tiny preference study, made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.kinds.preference.survey.texts import SETTINGS
from annotation.records import (
    Assignment,
    Item,
    Judgement,
    PlannedAssignment,
    Seat,
    Study,
    StudyEvent,
    StudyImage,
    StudyPlan,
)
from annotation.studies.store import StudyStore

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def a_study(**settings: Any) -> Study:
    return Study("p1", "Shops", "preference", "hs-fashioniq/1", StudyPlan(2, 1, 0, 7, 3.0), True,
                 {**SETTINGS, **settings}, {"form": "tests"}, "local", START)


def an_item(number: int = 0, *, text: str = "is red", size: int = 5, **hidden: Any) -> Item:
    """Set 1 is ``n-a0`` to ``n-a4``, set 2 ``n-b0`` to ``n-b4``; the target is the first of set 2."""
    sets = [[f"{number}-{letter}{place}" for place in range(size)] for letter in "ab"]
    return Item(
        f"i{number}", "p1", number, f"q{number}", "slerp|text", False,
        {"text": text, "reference": f"t-{number}-ref", "sets": [[f"t-{one}" for one in ids] for ids in sets]},
        {"query_id": f"query-{number}", "dataset": "fashioniq", "category": "shirt", "reference_id": f"{number}-ref",
         "target_id": f"{number}-b0", "target_ids": [f"{number}-b0"], "methods": ["slerp", "text"], "set_ids": sets,
         "seed": 7, **hidden},
    )


def an_answer(one: int = 4, two: int = 2, preferred: int = 1, *, first: int | None = 1, **more: Any) -> dict[str, Any]:
    """Canonical: ratings of stored set 1 and 2, the better one."""
    return {"ratings": [one, two], "preferred": preferred, "irrelevant": {"either": False}, "reason": "",
            "first": first, "contradiction_confirmed": False} | more


def a_judgement(number: int, annotator: str, answer: Mapping[str, Any], *, seconds: float = 10.0, **more: Any
                ) -> Judgement:
    """An answer to item ``number``, given ``number`` minutes after START."""
    record: dict[str, Any] = {"revision": 1, "token": f"token-{number}-{annotator}", "protocol": "hs-fashioniq/1",
                              "created_at": START + timedelta(minutes=number)} | more
    return Judgement(judgement_id=f"j-{number}-{annotator}", study_id="p1", item_id=f"i{number}", annotator=annotator,
                     answer=answer, seconds=seconds, **record)


def an_assignment(number: int, seat: int, annotator: str, *, position: int | None = None, **extra: Any) -> Assignment:
    return Assignment(f"i{number}", seat, number if position is None else position, "done", annotator,
                      {"first": 1, "form": 1, "reason": False} | extra)


def a_check(annotator: str, number: int, right: bool) -> StudyEvent:
    return StudyEvent(f"e{number}-{annotator}", "p1", annotator, "check", f"check-{number}-{annotator}",
                      {"number": number, "right": right}, START + timedelta(minutes=number))


def seats_of(*people: str) -> list[Seat]:
    return [Seat("p1", number, name, START, START) for number, name in enumerate(people, 1)]


def keep(
    store: StudyStore, study: Study, items: list[Item], places: list[PlannedAssignment], seats: list[Seat],
    judgements: list[Judgement],
) -> None:
    """Store it all, with pictures that are not at hand."""
    tokens = {token for item in items for ids in ([item.shown["reference"]], *item.shown["sets"]) for token in ids}
    images = [StudyImage(token, token.removeprefix("t-"), 0, 0) for token in sorted(tokens)]
    store.create(study, items, images, places, seats=seats, judgements=judgements)


OWN_SURVEY = """\
protocol = "my-lab/1"
set_names = ["Shelf A", "Shelf B"]
noun = "shelf"
intro = "Two shelves of five."
scale = ["awful", "poor", "fair", "good", "splendid"]

[[guidelines]]
text = "Look at all of them."

[questions]
rating = "How good is {set}?"
preferred = "Which {noun} would you walk to?"
tie = "Neither"
irrelevant = "Both are useless"
reason = "Why?"

[help]
rating = "All five together."
"""
"""Other words for everything, and more on one question."""
