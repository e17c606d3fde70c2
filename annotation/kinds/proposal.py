"""Before a study is made of a table: which kind it is of, and its first items as a judge will see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from annotation.kinds.intake import Intake, NewStudy, TableItems
from annotation.records import Item, PlannedAssignment, Study, StudyImage, SurveyPosition, Workspace
from annotation.sources.tables.columns import Columns, checked, guessed
from annotation.sources.tables.files import Table
from annotation.studies.store import StudyParts, StudyStore
from cir_core.errors import StudyError, UnknownStudy

FIRST = 3   # items that are shown


@dataclass(frozen=True)
class Proposal:
    """``kind``: the one that the table seems to be of; None if it lacks something for each. ``columns``: by kind, as
    far as they can be told."""

    kind: str | None
    columns: Mapping[str, Columns]


def propose(table: Table, intakes: Mapping[str, Intake]) -> Proposal:
    columns = {kind: guessed(table.names, intake.fields) for kind, intake in intakes.items()}
    complete = [kind for kind, intake in intakes.items() if _is_complete(columns[kind], table, intake)]
    told = [kind for kind in complete if intakes[kind].tells(columns[kind])]
    return Proposal(next(iter((*told, *complete)), None), columns)


def _is_complete(columns: Columns, table: Table, intake: Intake) -> bool:
    try:
        checked(columns, table, intake.fields)
    except StudyError:
        return False
    return True


@dataclass(frozen=True)
class Preview:
    """A study of the first items that is stored nowhere; its pictures are in ``home``. ``desks``: what a judge
    has at each item."""

    study: Study
    desks: tuple[Workspace, ...]


def preview(found: TableItems, home: Path, megapixels: float) -> Preview:
    """Of the first :data:`FIRST` items. Raises ``StudyError`` if none of them can be shown."""
    found, store = replace(found, items=found.items[:FIRST]), Kept()
    least = {"people": 1, "overlap": 1, "agreement_items": 0}
    design = found.intake.checked_design({
        one.name: least[one.name] for one in found.intake.design if one.name in least})
    found.create(NewStudy(cast(StudyStore, store), home, "Preview", "", design, found.pictures, {}, megapixels,
                          skip_missing=True))
    assert store.parts is not None, "creation stores a study, or raises"
    return Preview(store.parts.study, tuple(_desks(store.parts)))


def _desks(parts: StudyParts) -> Sequence[Workspace]:
    items = {one.item_id: one for one in parts.items}
    images = {one.token: one for one in parts.images}
    place_of = {one.item_id: one for one in sorted(parts.places, key=lambda one: one.seat, reverse=True)}
    places = [place_of[one.item_id] for one in parts.items]
    first = Workspace(parts.study, 1, len(places), 0, 0, None, None, None, None, (), images, ())
    return [replace(first, item=items[one.item_id], position=number, extra=one.extra,
                    survey=SurveyPosition(None, number + 1, len(places), 1, 1, False, 0))
            for number, one in enumerate(places)]


class Kept:
    """A store of one study, as far as creation asks it."""

    def __init__(self) -> None:
        self.parts: StudyParts | None = None

    def study(self, name_or_id: str) -> Study:
        if self.parts is None or name_or_id != self.parts.study.study_id:
            raise UnknownStudy("There is no such study.")
        return self.parts.study

    def studies(self) -> Sequence[Study]:
        return () if self.parts is None else (self.parts.study,)

    def items(self, study_id: str) -> Sequence[Item]:
        return () if self.parts is None else self.parts.items

    def create(
        self, study: Study, items: Sequence[Item], images: Sequence[StudyImage], places: Sequence[PlannedAssignment],
        **more: Any,
    ) -> None:
        self.parts = StudyParts(study, items, images, places, (), ())
