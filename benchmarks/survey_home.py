"""Preference studies of the usual length, many of them: a person who has finished one continues with the next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations
from typing import Any

from annotation.kinds.preference.survey.plan import SurveyLayout, survey_places
from annotation.kinds.preference.survey.texts import newest_survey
from annotation.records import Item, Seat, Study, StudyEvent, StudyImage, StudyPlan

QUESTIONS, FORMS = 50, 2     # per person and study, as in HS-FashionIQ
_METHODS = ("cirevl", "slerp", "soft", "text-only")
_SET = 5
_SHOWN = 1 + 2 * _SET        # images per question
_PICTURES = 12 * _SHOWN      # per study: so that the next question and the preloaded ones have different images


def alone(count: int) -> list[str]:
    """Names of studies for one person."""
    return [f"survey alone {number}" for number in range(1, count + 1)]


def together(count: int) -> list[str]:
    """Names of studies for everybody."""
    return [f"survey {number}" for number in range(1, count + 1)]


def make_surveys(store: Any, names: Sequence[str], people: Sequence[str], at: datetime) -> None:
    """In each study everybody has a seat and has read the guidelines. There are no answers yet."""
    for name in names:
        study_id = "bench" + name.replace(" ", "0")
        study = Study(
            study_id, name, "preference", newest_survey().protocol, StudyPlan(len(people), 1, 0, 1, 3.0), True,
            {"check": "none", **_LAYOUT.settings(QUESTIONS * len(people))}, {}, people[0], at,
        )
        items = [_item(study, number) for number in range(QUESTIONS * len(people))]
        images = [StudyImage(_token(number), f"picture {number}", 800, 600) for number in range(_PICTURES)]
        seats = [Seat(study_id, number, person, at, at) for number, person in enumerate(people, 1)]
        store.create(study, items, images, survey_places(items, _LAYOUT), seats=seats)
        for person in people:
            store.note(StudyEvent(f"{study_id}{person}", study_id, person, "guidelines", "guidelines", {}, at))


def a_rating(number: int) -> dict[str, Any]:
    """A complete answer, with a reason, which some questions require."""
    better = "AB"[number % 2]
    return {"ratings": {"A": 2, "B": 2} | {better: 4}, "preferred": better,
            "irrelevant": {"either": False},
            "reason": "closer to the collar of the first one" if number % 10 == 9 else "", "confirmed": False}


_LAYOUT = SurveyLayout(QUESTIONS, FORMS, shared_every=0, reason_every=10, seed=1)


def _item(study: Study, number: int) -> Item:
    pairs = list(combinations(_METHODS, 2))
    pair = pairs[number % len(pairs)]
    first = number * _SHOWN
    tokens = [_token((first + step) % _PICTURES) for step in range(_SHOWN)]
    return Item(
        item_id=f"{study.study_id}q{number}", study_id=study.study_id, number=number, key=f"bench::{number}",
        stratum="|".join(pair), in_block=False,
        shown={"text": f"The same in a darker red, with long sleeves and without the belt ({number})",
               "reference": tokens[0], "sets": [tokens[1:1 + _SET], tokens[1 + _SET:]]},
        hidden={"query_id": f"q{number}", "dataset": "bench", "methods": list(pair), "seed": 1,
                "set_ids": [[f"picture {token}" for token in tokens[1:1 + _SET]],
                            [f"picture {token}" for token in tokens[1 + _SET:]]]},
    )


def _token(number: int) -> str:
    return f"{number:024x}"
