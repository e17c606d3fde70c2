"""``cirque study``: create and run studies."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cir_core.errors import StudyError
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import open_stores, out, print_notes, progress_bar
from cli.studies import adjudication, participants, preference, preference_files, sessions, study_files, targets
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
from cli.studies.study_sources import StudySourceArgs, drawn, open_source

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(help="Studies: people judge queries, their candidates, result sets, or sessions.",
                  no_args_is_help=True)
create_app = typer.Typer(help="Create a study.", no_args_is_help=True)
app.add_typer(create_app, name="create")
app.add_typer(study_files.import_app, name="import")
app.command()(study_files.export)
app.command()(study_files.questions)
app.command()(study_files.results)
create_app.command("preference")(preference.create_preference)
create_app.command("targets")(targets.create_targets)
create_app.command("sessions")(sessions.create_sessions)
study_files.import_app.command("hp-fashioniq")(preference_files.import_hp_fashioniq)
app.command()(preference_files.quality)
app.command()(preference_files.gold)
app.command()(adjudication.adjudicate)
app.command()(participants.invite)
app.command()(participants.payment)
app.command()(participants.pay)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
People = Annotated[int, typer.Option(min=1, max=1000, help="Planned number of people; more may join.")]
Overlap = Annotated[int, typer.Option(min=1, max=1000, help="People per item.")]
Block = Annotated[int, typer.Option(min=0, help="Items for everyone, to measure agreement.")]
Seconds = Annotated[float, typer.Option(help="Seconds per item, for the forecast.")]


@create_app.command("validity")
def create_validity(
    name: Name,
    from_audit: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of `cirque audit`.")] = None,
    from_mbeir: Annotated[Path | None, typer.Option(metavar="FILE", help="Queries in M-BEIR's format.")] = None,
    from_circus: Annotated[Path | None, typer.Option(metavar="FILE", help="An aggregate file of CIRCUS.")] = None,
    from_sessions: Annotated[bool, typer.Option("--from-sessions", help="Turns of stored search sessions.")] = False,
    from_table: FromTable = None,
    columns: ColumnsOption = None,
    pool: Annotated[Path | None, typer.Option(help="Candidate pool of the M-BEIR queries.")] = None,
    images: Pictures = None,
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Gallery with the images.")] = None,
    category: Annotated[list[str] | None, typer.Option(
        help="Audit label; repeatable (default: all shortcut-free).")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="Number of queries (default: all).")] = None,
    stratify: Annotated[Literal["hidden_category", "dataset", "none"], typer.Option(
        help="Balance the sample over this field.")] = "hidden_category",
    people: People = 1,
    overlap: Overlap = 1,
    agreement_items: Block = 0,
    order: Order = "random",
    seed: Annotated[int | None, typer.Option(help="Random seed (default: CIRQUE_SEED).")] = None,
    seconds_per_item: Seconds = 60.0,
    panel_size: Annotated[int | None, typer.Option(
        min=0, max=50, help="Retrieved images shown (default: the source's, at most 30).")] = None,
    questions: study_files.QuestionsOption = None,
    skip_missing: Annotated[bool, typer.Option(
        "--skip-missing", help="Skip items with a missing image.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan without creating the study.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a validity study: are the queries well-formed, by CIRCUS's rubric?"""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.table import own_questions
    from annotation.kinds.validity.create import create_validity_study
    from annotation.records import StudyPlan
    from annotation.studies.creation import check_name
    from annotation.studies.planner import plan_study
    from cli.tables.study_tables import print_created, print_plan, print_strata

    asked = StudySourceArgs(from_audit, from_mbeir, from_circus, from_sessions, pool, images, gallery,
                            tuple(category or ()), from_table)
    own = own_questions("validity", questions)
    if asked.source == "--from-table" and from_table is not None:
        asked.refuse_with_table(sample, panel_size)
        return create_from_table("validity", name, TableArgs(
            from_table, images, gallery, columns,
            design_of(people, overlap, agreement_items, seconds_per_item, seed, order), skip_missing, dry_run, as_json,
            questions=own))
    refuse_without_table(columns, order)
    settings = get_settings()
    with open_stores() as stores:
        check_name(stores.studies, name)
        found = open_source(asked, stores, settings)
        plan = StudyPlan(people, overlap, agreement_items, settings.seed if seed is None else seed, order=order)
        queries, source = drawn(found, asked, sample, stratify, plan.seed)
        forecast = plan_study(people, len(queries), overlap, agreement_items, seconds_per_item=seconds_per_item)
        strata = dict(sorted(Counter(query.stratum for query in queries).items()))
        if not as_json:
            print_strata(strata)
            print_plan(forecast)
            print_notes(found.notes)
        created = None
        if not dry_run:
            with progress_bar("Copying images") as bar:
                created = create_validity_study(
                    stores.studies, settings.home, name, queries, found.find_picture, plan, created_by=LOCAL,
                    source=source, max_megapixels=settings.max_image_megapixels, skip_missing=skip_missing,
                    panel_size=panel_size, progress=bar, questions=own)
    told = {"queries": strata, "plan": asdict(forecast), "notes": list(found.notes)}
    if made := print_created(created, told, as_json):
        counts = made.counts
        out.print(f"Created {made.study.name}: {counted(counts['items'], 'item')}, "
                  f"{counted(counts['pictures'], 'image file')}, panels of {counted(counts['panel'], 'image')}. "
                  "To judge them: cirque serve, then the page Annotate.")


@app.command("plan")
def plan(
    items: Annotated[int, typer.Option(min=1, help="Items to judge.")],
    people: People = 1,
    overlap: Overlap = 1,
    agreement_items: Block = 0,
    seconds_per_item: Seconds = 60.0,
    as_json: AsJson = False,
) -> None:
    """Estimate the effort and precision of a study. Creates nothing."""
    from annotation.studies.planner import plan_study
    from cli.tables.study_tables import print_plan

    forecast = plan_study(people, items, overlap, agreement_items, seconds_per_item=seconds_per_item)
    if as_json:
        typer.echo(json.dumps(asdict(forecast), indent=1))
    else:
        print_plan(forecast)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List studies, newest first."""
    from annotation.studies.overview import study_json
    from cli.tables.study_tables import print_studies

    with open_stores() as stores:
        rows = [(study, stores.studies.counts(study.study_id)) for study in stores.studies.studies()]
    if as_json:
        typer.echo(json.dumps([study_json(study, counts) for study, counts in rows], indent=1, ensure_ascii=False))
    else:
        print_studies(rows)


@app.command("show")
def show(name: Name, as_json: AsJson = False) -> None:
    """Show a study and its progress by person."""
    from datetime import UTC, datetime

    from annotation.kinds.preference.survey.position import survey_overview
    from annotation.kinds.table import KINDS
    from annotation.studies.overview import seat_progress, study_json
    from cli.tables.study_tables import print_study

    with open_stores() as stores:
        store = stores.studies
        study = store.study(name)
        counts = store.counts(study.study_id)
        assignments = store.assignments(study.study_id)
        people = seat_progress(study, store.seats(study.study_id), assignments, store.judgements(study.study_id),
                               datetime.now(UTC), store.events(study.study_id, kind="finish"))
    survey = survey_overview(study, assignments) if KINDS[study.kind].has_survey else None
    if as_json:
        rows = [{**asdict(one), "total": one.total, "joined_at": one.joined_at and one.joined_at.isoformat(),
                 "seen_at": one.seen_at and one.seen_at.isoformat(),
                 "finished_at": one.finished_at and one.finished_at.isoformat()} for one in people]
        content = {**study_json(study, counts), **({"survey": asdict(survey)} if survey else {}),
                   "source": dict(study.source), "people": rows}
        typer.echo(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        print_study(study, counts, people, survey)


@app.command("open")
def open_(name: Name) -> None:
    """Open a study for answers again."""
    _accept(name, True)


@app.command("close")
def close(name: Name) -> None:
    """Close a study for answers. Judgements stay, and it can be reopened."""
    _accept(name, False)


@app.command("release")
def release(name: Name, person: Annotated[str, typer.Argument(metavar="PERSON", help="Person who has left.")]) -> None:
    """Release a person's open items to others at once. A person without answers also loses the seat."""
    from annotation.studies import creation

    with open_stores() as stores:
        study = stores.studies.study(name)
        released = creation.release(stores.studies, study, person)
    items = counted(released.items, "open item")
    if released.freed:
        out.print(f"{person} has no answers: the seat in {study.name} is free again, with its {items}.")
    elif released.items:
        out.print(f"{items} of {person} can go to whoever joins {study.name} or asks for more.")
    else:
        out.print(f"{person} has no open item in {study.name} that others could take over.")
    if released.block:
        out.print(f"{counted(released.block, 'open item')} of the agreement block, which everyone judges: no longer "
                  "expected.")


def _accept(name: str, accepting: bool) -> None:
    from annotation.studies.creation import set_accepting

    with open_stores() as stores:
        changed = set_accepting(stores.studies, stores.studies.study(name), accepting)
    out.print(f"{changed.name} {'is open for answers' if changed.accepting else 'is closed for answers'}.")


@app.command()
def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Name of the study.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="New name.")],
) -> None:
    """Rename a study. Links to its pages contain the name: send them out again."""
    from annotation.studies.creation import rename_study

    with open_stores() as stores:
        study = stores.studies.study(old)
        changed = rename_study(stores.studies, study, new)
    out.print(f"{study.name} is now called {changed.name}.", soft_wrap=True)


@app.command()
def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete a study with judgements and images, after a backup."""
    from annotation.studies.creation import remove_with_backup

    settings = get_settings()
    with open_stores() as stores:
        study = stores.studies.study(name)
        counts = stores.studies.counts(study.study_id)
        if not yes:
            out.print(f"This deletes {study.name}: {_all(counts)}, and its images. A backup is kept. To keep a copy of "
                      f"its own: cirque study export csv {study.name!r} --out FOLDER", soft_wrap=True)
            if str(typer.prompt("Type its name to delete it", default="", show_default=False)) != study.name:
                raise StudyError(f"The name does not match: {study.name} was not deleted.")
            counts = stores.studies.counts(study.study_id)   # people may have gone on meanwhile
        kept = remove_with_backup(stores.studies, settings.home, study, study.name,
                                  lambda: stores.back_up(settings.home / "backups", "before-removal-"))
    out.print(f"Removed {study.name}: {_all(counts)}. The database as it was before: {kept}", soft_wrap=True)


@app.command()
def duplicate(
    name: Name, new: Annotated[str, typer.Argument(metavar="NEW", help="Name of the new study.")],
) -> None:
    """Copy a study as a closed one, without people and answers."""
    from annotation.studies.copying import duplicate_study

    with open_stores() as stores:
        made = duplicate_study(stores.studies, get_settings().home, stores.studies.study(name), new)
    out.print(f"Created {made.name}, closed. To take answers: cirque study open {made.name!r}", soft_wrap=True)


@app.command()
def archive(
    name: Name, back: Annotated[bool, typer.Option("--back", help="Bring it back into the lists, closed.")] = False,
) -> None:
    """Close a study and remove it from lists."""
    from annotation.studies.creation import set_archived

    with open_stores() as stores:
        changed = set_archived(stores.studies, stores.studies.study(name), not back)
    out.print(f"{changed.name} is {'back, closed' if back else 'archived'}.", soft_wrap=True)


@app.command()
def guidelines(
    name: Name,
    file: Annotated[Path | None, typer.Argument(
        metavar="FILE", help="Markdown, with images in the same folder; without a file, prints the present ones.")]
    = None,
) -> None:
    """Set a study's guidelines; an empty file removes them."""
    from annotation.studies.guidelines import Guidelines, set_guidelines, text_of

    settings = get_settings()
    with open_stores() as stores:
        study = stores.studies.study(name)
        if file is None:
            typer.echo(text_of(study))
            return
        folder = file.absolute().parent
        try:
            text = file.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"{file} cannot be read as UTF-8: {error}. Check the path.") from error
        set_guidelines(stores.studies, settings.home, study, Guidelines(text, lambda one: (
            folder / one if (folder / one).is_file() else None)), max_megapixels=settings.max_image_megapixels)
    out.print(f"{study.name} has new guidelines.", soft_wrap=True)


def _all(counts: Mapping[str, int]) -> str:
    return (f"{counted(counts['items'], 'item')}, {counted(counts['done'], 'judgement')} by "
            f"{counted(counts['people'], 'person', 'people')}, {counted(counts['decisions'], 'decision')}")
