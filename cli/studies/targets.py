"""``cirque study create targets``: people check which candidates answer a query."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from cir_core.errors import StudyError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import open_stores, out, print_notes, progress_bar
from cli.studies.from_table import (
    ColumnsOption,
    FromTable,
    Order,
    Pictures,
    TableArgs,
    create_from_table,
    design_of,
    refuse_without_table,
)
from cli.studies.study_files import QuestionsOption
from cli.tables.study_tables import answers_plan, print_answers_plan, print_created, print_strata


def create_targets(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")],
    folder: Annotated[Path | None, typer.Argument(
        metavar="DIR", help="Folder of `cirque construct multi-target`.")] = None,
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Gallery with the images.")] = None,
    from_table: FromTable = None,
    images: Pictures = None,
    columns: ColumnsOption = None,
    subset: Annotated[list[str] | None, typer.Option(
        help="Only this subset; repeatable.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Number of queries (default: all).")] = None,
    people: Annotated[int, typer.Option(min=1, max=1000, help="Planned number of people; more may join.")] = 1,
    overlap: Annotated[int, typer.Option(min=1, max=1000, help="People per item.")] = 1,
    agreement_items: Annotated[int, typer.Option(min=0, help="Items for everyone, to measure agreement.")] = 0,
    order: Order = "random",
    seed: Annotated[int | None, typer.Option(help="Random seed (default: CIRQUE_SEED).")] = None,
    seconds_per_item: Annotated[float, typer.Option(help="Seconds per item, for the forecast.")] = 90.0,
    questions: QuestionsOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan without creating the study.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Create a target study: which candidates answer each query?"""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.marks.create import create_target_study
    from annotation.kinds.table import own_questions
    from annotation.records import StudyPlan
    from annotation.sources.targets import read_target_queries, sample_targets
    from annotation.studies.creation import check_name
    from annotation.studies.planner import plan_study
    from cir_core.gallery.gallery import open_gallery

    own = own_questions("targets", questions)
    if from_table is not None:
        if folder or subset or sample:
            raise StudyError("DIR, --subset and --sample do not go with --from-table: choose the rows in the table.")
        return create_from_table("targets", name, TableArgs(
            from_table, images, gallery, columns,
            design_of(people, overlap, agreement_items, seconds_per_item, seed, order), dry_run=dry_run,
            as_json=as_json, questions=own))
    refuse_without_table(columns, order)
    if folder is None or gallery is None or images is not None:
        raise StudyError("Name the folder with the candidates, and --gallery with their images; or --from-table FILE "
                         "with --images or --gallery.")
    settings = get_settings()
    found = read_target_queries(folder, subset or ())
    plan = StudyPlan(people, overlap, agreement_items, settings.seed if seed is None else seed, order=order)
    queries = sample_targets(found, sample, plan.seed)
    with open_stores() as stores:
        check_name(stores.studies, name)
        source = open_gallery(gallery, home=settings.home)
        forecast = plan_study(people, len(queries), overlap, agreement_items, seconds_per_item=seconds_per_item)
        strata = dict(Counter(one.label for one in queries))
        if not as_json:
            print_strata(strata)
            print_answers_plan(forecast, "query", "queries")
            print_notes(found.notes)
        result = {"queries": strata, "candidates": sum(len(one.shown) for one in queries),
                  "plan": answers_plan(forecast), "notes": list(found.notes)}
        created = None
        if not dry_run:
            with progress_bar("Copying images") as bar:
                created = create_target_study(
                    stores.studies, settings.home, name, queries, source, plan, threshold=found.threshold,
                    created_by=LOCAL, source={**found.source, "sample": sample, "seed": plan.seed},
                    max_megapixels=settings.max_image_megapixels, progress=bar, questions=own)
    if made := print_created(created, result, as_json):
        counts = made.counts
        out.print(f"Created {made.study.name}: {counted(counts['items'], 'query', 'queries')}, "
                  f"{counted(counts['candidates'], 'candidate')}, {counted(counts['pictures'], 'image file')}. To mark "
                  f"them: cirque serve, then the page Annotate (/annotate?study={quote(made.study.name)}).",
                  soft_wrap=True)
