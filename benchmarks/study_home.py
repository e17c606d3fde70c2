"""Home folder with a large study, annotators, and stored judgements."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from annotation.records import Item, Judgement, PlannedAssignment, Seat, Study, StudyImage, StudyPlan
from benchmarks.own_settings import settings_of
from benchmarks.survey_home import alone, make_surveys, together

PEOPLE = tuple(f"judge {number:02d}" for number in range(1, 17))
PASSWORD = "sixteen at once"
STUDY = "bench"
PICTURES, DISTINCT = 1200, 24       # image names; distinct files, the others are links
PANEL = 20
_LARGE, _SMALL = (800, 600), (288, 216)
_LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Room:
    """Number of prepared items: ``alone`` for the first person only, ``each`` for everybody; and the
    number of preference studies."""

    alone: int
    each: int
    surveys_alone: int
    surveys: int


def make_home(home: Path, stored: int, room: Room) -> None:
    """Accounts for ``PEOPLE``, ``STUDY`` with ``stored`` judgements in it, two for each item, and surveys.

    Judgements precede the open items in everybody's order: a query for the next item has to
    skip all answered ones.
    """
    from storage.stores import open_stores

    home.mkdir(parents=True)
    stores = open_stores(settings_of(home))
    _add_people(stores.people)
    study = Study(
        study_id="bench0study000000000", name=STUDY, kind="validity", protocol="circus/1",
        plan=StudyPlan(seats=len(PEOPLE), overlap=2, agreement_items=0, seed=1), accepting=True,
        settings={"unsure_after": 120, "broad_at": 10}, source={}, created_by=PEOPLE[0], created_at=_LONG_AGO,
    )
    images = [StudyImage(f"{number:024x}", f"picture {number}", *_LARGE) for number in range(PICTURES)]
    freeze_pictures(home / "studies" / study.study_id, [image.token for image in images])
    judged, shared = stored // 2, room.each * len(PEOPLE) // 2
    items = [an_item(study, number) for number in range(judged + shared + room.alone)]
    places, judgements = _plan(study, items, judged, shared)
    seats = [Seat(study.study_id, number, name, _LONG_AGO, _LONG_AGO) for number, name in enumerate(PEOPLE, 1)]
    stores.studies.create(study, items, images, places, seats=seats, judgements=judgements)
    make_surveys(stores.studies, alone(room.surveys_alone), PEOPLE[:1], _LONG_AGO)
    make_surveys(stores.studies, together(room.surveys), PEOPLE, _LONG_AGO)
    stores.close()


def an_answer(number: int) -> dict[str, Any]:
    """A valid answer to two items of three, roughly as in CIRCUS's own study."""
    answer = {"validated": True, "flags": [], "reasons": [], "note": "", "alternatives": [],
              "unsure": False, "panel_opened": bool(number % 4)}
    if number % 3 == 0:
        answer |= {"validated": False, "flags": ["INVALID_TEXT_QUERY"], "reasons": ["1b"], "note": "which of the two?"}
    return answer


def _add_people(store: Any) -> None:
    from annotation.accounts.service import PeopleService

    service = PeopleService(store)
    service.add("admin of the bench", PASSWORD, "admin")
    for name in PEOPLE:
        service.add(name, PASSWORD, "annotator")


def an_item(study: Study, number: int) -> Item:
    """Item ``number``; its images are among ``PICTURES``."""
    tokens = [f"{(number * 7 + step * 53) % PICTURES:024x}" for step in range(PANEL + 2)]
    return Item(
        item_id=f"bench{number:015d}", study_id=study.study_id, number=number, key=f"bench::{number}",
        stratum="composition_required", in_block=False,
        shown={"text": f"The same in a darker red, with long sleeves and without the belt ({number})",
               "reference": tokens[0], "target": tokens[1], "panel": tokens[2:]},
        hidden={"dataset": "bench", "query_idx": number, "hidden_category": "composition_required",
                "panel": [f"picture {token}" for token in tokens[2:]], "trace": {"ranks": {"multimodal": 3}}},
    )


def _plan(
    study: Study, items: Sequence[Item], judged: int, shared: int,
) -> tuple[list[PlannedAssignment], list[Judgement]]:
    places: list[PlannedAssignment] = []
    judgements: list[Judgement] = []
    next_position: dict[int, int] = defaultdict(int)

    def put(item: Item, seat: int) -> None:
        places.append(PlannedAssignment(item.item_id, seat, next_position[seat]))
        next_position[seat] += 1

    for item in items:
        if item.number >= judged + shared:
            put(item, 1)
            continue
        first = item.number % len(PEOPLE)
        for place in (first, (first + 1 + item.number // len(PEOPLE) % (len(PEOPLE) - 1)) % len(PEOPLE)):
            put(item, place + 1)
            if item.number < judged:
                judgements.append(Judgement(
                    judgement_id=f"b{item.number:012d}s{place:06d}", study_id=study.study_id, item_id=item.item_id,
                    annotator=PEOPLE[place], revision=1, token=f"stored-{item.number}-{place}", protocol=study.protocol,
                    answer=an_answer(item.number), seconds=30.0 + item.number % 40,
                    created_at=_LONG_AGO + timedelta(seconds=60 * item.number),
                ))
    return places, judgements


def freeze_pictures(folder: Path, tokens: Sequence[str]) -> None:
    """Images as large as photographs, in separate files, few of them distinct."""
    import numpy as np
    from PIL import Image

    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number, token in enumerate(tokens):
        for letter, size in (("s", _SMALL), ("l", _LARGE)):
            path = folder / f"{token}-{letter}.webp"
            if number >= DISTINCT:
                os.link(folder / f"{tokens[number % DISTINCT]}-{letter}.webp", path)
                continue
            coarse = rng.integers(0, 255, (24, 32, 3), dtype=np.uint8)
            picture = np.asarray(Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC), dtype=np.int16)
            grain = rng.integers(-14, 15, picture.shape, dtype=np.int16)
            Image.fromarray((picture + grain).clip(0, 255).astype(np.uint8)).save(path, quality=80, method=2)
