"""Home folder of a soak: a small gallery, a validity study, preference studies, and signed-in users."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from annotation.records import PlannedAssignment, Seat, Study, StudyImage, StudyPlan
from benchmarks.own_settings import settings_of
from benchmarks.soak_database import refuse_unless_empty
from benchmarks.study_home import PASSWORD, PICTURES, an_item
from benchmarks.survey_home import QUESTIONS, make_surveys

STUDY = "soak"
IMAGES = 120           # of the gallery
_AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Home:
    """Users with their session secrets. ``database``: a URL, or empty for the file in ``folder``."""

    folder: Path
    database: str
    judges: Sequence[str]
    raters: Sequence[str]
    searchers: Sequence[str]
    secrets: dict[str, str]
    surveys: Sequence[str]      # which raters fill in one after the other
    gallery: str
    image_ids: Sequence[str]


def make_home(folder: Path, *, annotators: int, searchers: int, each: int, database: str = "") -> Home:
    """``each``: answers planned per annotator. Half of them judge, the others rate. Raises
    StorageError if ``database`` is not empty."""
    from annotation.accounts.service import PeopleService
    from cir_core.encoders import load_encoder
    from cir_core.gallery.gallery import open_gallery
    from cir_core.gallery.indexing import index_folder
    from cir_core.sample.atelier.build import build_atelier
    from storage.stores import open_stores

    if database:
        refuse_unless_empty(database)
    folder.mkdir(parents=True)
    drawn = build_atelier(folder / "drawn", limit=IMAGES)
    index_folder(drawn.images, name="atelier", encoder=load_encoder("atelier"), home=folder, split="test")
    names = [f"annotator {number:03d}" for number in range(1, annotators + 1)]
    judges, raters = names[::2], names[1::2]
    searching = [f"searcher {number:03d}" for number in range(1, searchers + 1)]
    stores = open_stores(settings_of(folder, database_url=database))
    people = PeopleService(stores.people)
    people.add("admin of the soak", PASSWORD, "admin")
    secrets = {}
    for name in (*names, *searching):
        people.add(name, PASSWORD, "researcher" if name in searching else "annotator")
        secrets[name] = people.sign_in(name, PASSWORD)
    _make_study(stores.studies, judges, each)
    surveys = [f"survey {number}" for number in range(1, each // QUESTIONS + 2)] if raters else []
    make_surveys(stores.studies, surveys, raters, _AT)
    stores.close()
    ids = open_gallery("atelier", home=folder).ids
    return Home(folder, database, judges, raters, searching, secrets, surveys, "atelier", ids)


def _make_study(store: object, judges: Sequence[str], each: int) -> None:
    """Every item is assigned to two annotators, if there are two."""
    overlap = min(2, len(judges))
    study = Study(
        study_id="soak00study000000000", name=STUDY, kind="validity", protocol="circus/1",
        plan=StudyPlan(seats=len(judges), overlap=overlap, agreement_items=0, seed=1), accepting=True,
        settings={"unsure_after": 120, "broad_at": 10}, source={}, created_by=judges[0], created_at=_AT,
    )
    items = [an_item(study, number) for number in range(each * len(judges) // overlap)]
    images = [StudyImage(f"{number:024x}", f"picture {number}", 800, 600) for number in range(PICTURES)]
    positions: dict[int, count[int]] = defaultdict(count)
    places = []
    for item in items:
        first = item.number % len(judges)
        second = (first + 1 + item.number // len(judges) % max(1, len(judges) - 1)) % len(judges)
        for seat in sorted({first, second}):
            places.append(PlannedAssignment(item.item_id, seat + 1, next(positions[seat])))
    seats = [Seat(study.study_id, number, name, _AT, _AT) for number, name in enumerate(judges, 1)]
    store.create(study, items, images, places, seats=seats)  # type: ignore[attr-defined]
