"""A study of any kind from a table: what its kind says of it, and the steps from a file to a created study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from annotation.records import Item, ItemOrder, PlannedAssignment, Study, StudyImage, StudyPlan
from annotation.sources.tables.columns import Columns, Field
from annotation.sources.tables.files import Table
from annotation.sources.tables.pictures import PictureFiles
from annotation.sources.tables.rows import TableRows, check_pictures, read_rows
from annotation.studies.creation import Created, Progress
from annotation.studies.guidelines import Guidelines, with_guidelines
from annotation.studies.planner import plan_study
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.support.texts import counted, quoted

Design = Mapping[str, int]


@dataclass(frozen=True)
class DesignField:
    """A number of a study's design. ``explained``: a sentence for the screen; ``choices``: what the numbers from 0
    mean, if they are no amounts."""

    name: str
    title: str
    value: int
    least: int
    most: int
    explained: str = ""
    choices: tuple[str, ...] = ()


ORDERS: tuple[ItemOrder, ...] = ("random", "table", "disputed")
SECONDS = DesignField("seconds", "Seconds per item", 60, 1, 86_400, "Time per item, for the forecast.")
SEED = DesignField("seed", "Random seed", 0, 0, 2**31 - 1, "The same seed assigns the same items.")
PLAN = (
    DesignField("people", "People", 2, 1, 1000, "More may join."),
    DesignField("overlap", "People per item", 1, 1, 1000, "How many people judge each item independently."),
    DesignField("agreement_items", "Agreement items", 0, 0, 100_000,
                "Items for everyone, to compare all people with each other."),
    DesignField("order", "Order of items", 0, 0, len(ORDERS) - 1,
                "Only the random order tells judges nothing. Disputed items are those on which earlier judges differ.",
                ("random, another for each person", "as in the table", "most disputed first")),
    SECONDS, SEED)


def plan_of(design: Design) -> StudyPlan:
    return StudyPlan(design["people"], design["overlap"], design["agreement_items"], design["seed"],
                     order=ORDERS[design["order"]])


def plan_forecast(items: int, design: Design) -> Any:
    """:class:`annotation.studies.planner.Forecast`. Raises ``StudyError`` for an impossible plan."""
    return plan_study(design["people"], items, design["overlap"], design["agreement_items"],
                      seconds_per_item=design["seconds"])


@dataclass(frozen=True)
class NewStudy:
    """Where and how a study is created. ``source``: origin of the items, in plain JSON."""

    store: StudyStore
    home: Path
    name: str
    created_by: str
    design: Design
    pictures: PictureFiles
    source: Mapping[str, Any]
    max_megapixels: float = 64.0
    skip_missing: bool = False
    progress: Progress | None = field(default=None, repr=False)
    settings: Mapping[str, Any] = field(default_factory=dict)   # of the kind
    guidelines: Guidelines | None = None
    questions: OwnFile | None = None        # instead of cirque's, of kinds that can have a file of their own
    accepting: bool = True


@dataclass(frozen=True)
class Intake:
    """How a kind of study is made of a table. ``about``: what a row is, in a sentence. ``read`` adds faults to its
    rows; ``stratum_of`` names the group of one of its items, for counts. ``tells``: whether columns that have all
    required fields are those of this kind rather than of another."""

    about: str
    fields: tuple[Field, ...]
    read: Callable[[TableRows], Sequence[Any]]
    create: Callable[[NewStudy, Sequence[Any]], Created]
    stratum_of: Callable[[Any], str]
    design: tuple[DesignField, ...] = PLAN
    forecast: Callable[[int, Design], Any] = plan_forecast
    tells: Callable[[Columns], bool] = lambda columns: False

    @property
    def known(self) -> tuple[str, ...]:
        """Usual names of columns."""
        return tuple(dict.fromkeys(name for one in self.fields for name in one.known))

    def checked_design(self, given: Mapping[str, object]) -> dict[str, int]:
        """A whole number for each field; the usual one where none is given. Raises ``StudyError``."""
        if unknown := sorted(set(given) - {one.name for one in self.design}):
            raise StudyError(f"There is no design field {quoted(unknown[0])}. There are: "
                             f"{', '.join(one.name for one in self.design)}.")
        found = {}
        for one in self.design:
            value = given.get(one.name, one.value)
            if isinstance(value, bool) or not isinstance(value, int) or not one.least <= value <= one.most:
                raise StudyError(f"{one.title} must be a whole number from {one.least:,} to {one.most:,}, not "
                                 f"{quoted(value)}.")
            found[one.name] = value
        return found


@dataclass(frozen=True)
class TableItems:
    """Items that a table has. ``counts``: by stratum."""

    intake: Intake = field(repr=False)
    items: Sequence[Any] = field(repr=False)
    counts: Mapping[str, int]
    source: Mapping[str, Any]
    pictures: PictureFiles = field(repr=False)
    notes: tuple[str, ...] = ()

    def create(self, new: NewStudy) -> Created:
        """The study, with its guidelines, and closed unless it is ``accepting``, in one transaction. Raises
        ``StudyError`` for the order of anything but a table: audits and samples are sorted by what judges must not
        know."""
        if new.design.get("order") == ORDERS.index("table") and self.source.get("form") != "table":
            raise StudyError("Only the order of a table can be kept. Choose another order.")
        store = _Completing(new)
        made = self.intake.create(replace(
            new, pictures=self.pictures, source={**self.source, **new.source}, store=cast(StudyStore, store)),
            self.items)
        return replace(made, study=store.stored or made.study)


class _Completing:
    """The store, which completes what is the same for all kinds. Creating a study asks for no more than this of it."""

    def __init__(self, new: NewStudy) -> None:
        self._new = new
        self.stored: Study | None = None

    def study(self, name_or_id: str) -> Study:
        return self._new.store.study(name_or_id)

    def studies(self) -> Sequence[Study]:
        return self._new.store.studies()

    def items(self, study_id: str) -> Sequence[Item]:
        return self._new.store.items(study_id)

    def create(
        self, study: Study, items: Sequence[Item], images: Sequence[StudyImage], places: Sequence[PlannedAssignment],
    ) -> None:
        given = self._new.guidelines
        settings = study.settings if given is None else with_guidelines(
            self._new.home, study, given, max_megapixels=self._new.max_megapixels)
        self.stored = replace(study, accepting=self._new.accepting, settings=settings)
        self._new.store.create(self.stored, items, images, places)


def items_of(
    intake: Intake, table: Table, columns: Columns, pictures: PictureFiles, *, skip_missing: bool = False,
) -> TableItems:
    """Raises ``DatasetError`` with all faults of the table, and with the pictures that it names and that are not
    there."""
    rows = read_rows(table, columns, intake.fields)
    items = intake.read(rows)
    rows.refuse()
    check_pictures(rows, pictures, skip_missing=skip_missing)
    counts = Counter(intake.stratum_of(item) for item in items)
    source = {"form": "table", "file": table.file, "pictures": pictures.name,
              "columns": {name: list(of) for name, of in columns.items()}}
    return TableItems(intake, items, dict(sorted(counts.items())), source, pictures, (
        f"{counted(len(table.rows), 'row')} of {table.file} read as {counted(len(items), 'item')}.", *table.notes))
