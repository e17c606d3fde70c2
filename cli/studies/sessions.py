"""``cirque study create sessions``: people rate multi-turn sessions of a table."""

from __future__ import annotations

from typing import Annotated

import typer

from cir_core.errors import SettingsError
from cli.studies.from_table import ColumnsOption, FromTable, Order, Pictures, TableArgs, create_from_table, design_of
from cli.studies.study_files import QuestionsOption


def create_sessions(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")],
    from_table: FromTable = None,
    images: Pictures = None,
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Gallery with the images.")] = None,
    columns: ColumnsOption = None,
    people: Annotated[int, typer.Option(min=1, max=1000, help="Planned number of people; more may join.")] = 1,
    overlap: Annotated[int, typer.Option(min=1, max=1000, help="People per item.")] = 1,
    agreement_items: Annotated[int, typer.Option(min=0, help="Items for everyone, to measure agreement.")] = 0,
    order: Order = "random",
    seed: Annotated[int | None, typer.Option(help="Random seed (default: CIRQUE_SEED).")] = None,
    seconds_per_item: Annotated[int, typer.Option(min=1, help="Seconds per item, for the forecast.")] = 120,
    questions: QuestionsOption = None,
    skip_missing: Annotated[bool, typer.Option("--skip-missing", help="Skip items with a missing image.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan without creating the study.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Create a session study from a table with a row for each turn. Of CIRCLED's files: cirque construct judge."""
    from annotation.kinds.table import own_questions

    if from_table is None:
        raise SettingsError("Name the table: --from-table FILE. A study of files in CIRCLED's format is made by: "
                            "cirque construct judge FILE --gallery GALLERY --judge people --name NAME")
    create_from_table("sessions", name, TableArgs(
        from_table, images, gallery, columns,
        design_of(people, overlap, agreement_items, seconds_per_item, seed, order), skip_missing, dry_run, as_json,
        questions=own_questions("sessions", questions)))
