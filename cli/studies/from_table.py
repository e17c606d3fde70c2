"""``cirque study create KIND NAME --from-table FILE``: a study of any kind from a table and its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cir_core.errors import SettingsError
from cir_core.settings import Settings, get_settings
from cir_core.support.texts import counted
from cli.console import open_stores, out, print_notes, progress_bar
from cli.tables.study_tables import print_created, print_pairs

if TYPE_CHECKING:
    from annotation.kinds.intake import TableItems
    from annotation.kinds.table import Kind
    from annotation.sources.tables.files import Table
    from annotation.sources.tables.pictures import PictureFiles
    from annotation.studies.creation import Created
    from annotation.studies.protocols import OwnFile

FromTable = Annotated[Path | None, typer.Option(
    metavar="FILE", help="Table of items: CSV, spreadsheet, JSON lines, Parquet, or a data set's file.")]
ColumnsOption = Annotated[str | None, typer.Option(
    "--columns", metavar="FIELD=COLUMN,…", help="Meaning of the table's columns (default: by name).")]
ItemOrder = Literal["random", "table", "disputed"]
Order = Annotated[ItemOrder, typer.Option(
    help="Random for each person, as in the table, or first the items on which earlier judges differ.")]
Pictures = Annotated[Path | None, typer.Option(help="Root folder of the images, or a ZIP.")]


@dataclass(frozen=True)
class TableArgs:
    """Options of a command that creates a study of a table. ``design``: without fields that were not given."""

    file: Path
    images: Path | None
    gallery: str | None
    columns: str | None
    design: Mapping[str, int]
    skip_missing: bool = False
    dry_run: bool = False
    as_json: bool = False
    settings: Mapping[str, Any] | None = None    # of the kind
    questions: OwnFile | None = None


def design_of(
    people: int, overlap: int, block: int, seconds: float, seed: int | None, order: ItemOrder,
) -> dict[str, int]:
    from annotation.kinds.intake import ORDERS

    return {"people": people, "overlap": overlap, "agreement_items": block, "seconds": round(seconds),
            "order": ORDERS.index(order), **({} if seed is None else {"seed": seed})}


def refuse_without_table(columns: str | None, order: ItemOrder = "random") -> None:
    """Raises ``SettingsError`` for options of tables with another source."""
    for option, given in (("--columns", columns), ("--order table", order == "table")):
        if given:
            raise SettingsError(f"{option} works only with --from-table.")


def create_from_table(kind: str, name: str, asked: TableArgs) -> None:
    """Create the study and print what it holds, or print only the plan."""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.intake import NewStudy
    from annotation.kinds.table import KINDS
    from annotation.studies.creation import check_name

    settings, row = get_settings(), KINDS[kind]
    assert row.intake is not None, kind
    with open_stores() as stores:
        check_name(stores.studies, name)
        found = _items(row, asked, settings)
        design = row.intake.checked_design({"seed": settings.seed, **asked.design})
        forecast = asdict(row.intake.forecast(len(found.items), design))
        if not asked.as_json:
            print_pairs(row.many, "", [(group, f"{count:,}") for group, count in found.counts.items()])
            print_pairs("plan", "", [(title.replace("_", " "), _shown(value)) for title, value in forecast.items()
                                     if isinstance(value, int | float)])
            print_notes(found.notes)
        created: Created | None = None
        if not asked.dry_run:
            with progress_bar("Copying images") as bar:
                created = found.create(NewStudy(
                    stores.studies, settings.home, name, LOCAL, design, found.pictures,
                    {"seed": design["seed"]}, settings.max_image_megapixels, asked.skip_missing, bar,
                    asked.settings or {}, questions=asked.questions))
    told = {row.many: dict(found.counts), "plan": forecast, "notes": list(found.notes)}
    if made := print_created(created, told, asked.as_json):
        out.print(f"Created {made.study.name}: {counted(made.counts['items'], row.one, row.many)}, "
                  f"{counted(made.counts['pictures'], 'image file')}. To judge them: cirque serve, then the page "
                  "Annotate.", soft_wrap=True)


def _items(kind: Kind, asked: TableArgs, settings: Settings) -> TableItems:
    from annotation.kinds.intake import items_of
    from annotation.sources.tables.columns import said
    from annotation.sources.tables.known import open_table

    assert kind.intake is not None
    table = open_table(asked.file, kind.intake.known)
    columns = said(asked.columns or "", table, kind.intake.fields)
    found = items_of(kind.intake, table, columns, _pictures(asked, settings, table), skip_missing=asked.skip_missing)
    read = ", ".join(f"{name} from {' + '.join(of)}" for name, of in columns.items())
    return replace(found, notes=(*found.notes, f"Columns: {read}."))


def _pictures(asked: TableArgs, settings: Settings, table: Table) -> PictureFiles:
    """Those of ``--images``, of ``--gallery``, or beside the table."""
    from annotation.sources.tables.pictures import of_gallery, open_pictures
    from cir_core.gallery.gallery import open_gallery

    if asked.images and asked.gallery:
        raise SettingsError("--images and --gallery cannot go together with --from-table. Name one.")
    if asked.gallery:
        return of_gallery(open_gallery(asked.gallery, home=settings.home))
    return open_pictures(asked.images or asked.file.absolute().parent)


def _shown(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"
