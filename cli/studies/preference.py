"""``cirque study create preference``: create a study that compares two result sets per query."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.errors import SettingsError, StudyError
from cir_core.settings import get_settings
from cir_core.support.texts import counted, quoted
from cli.console import open_stores, out, print_notes, progress_bar
from cli.evaluate.method_options import DomainOption, ModelChoice, ModelOption
from cli.studies.from_table import (
    ColumnsOption,
    FromTable,
    Pictures,
    TableArgs,
    create_from_table,
    refuse_without_table,
)
from cli.studies.preference_sources import PreferenceSourceArgs, open_source
from cli.studies.study_files import QuestionsOption
from cli.tables.study_tables import print_created, print_pairs

if TYPE_CHECKING:
    from annotation.kinds.preference.survey.plan import SurveyForecast


class CheckKind(StrEnum):
    sum = "sum"
    instruction = "instruction"
    none = "none"


def create_preference(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")],
    dataset: Annotated[str | None, typer.Option(help="Name from `cirque datasets list`.")] = None,
    methods: Annotated[str | None, typer.Option(
        "--methods", "-m", help="Methods to compare, comma-separated.")] = None,
    from_runs: Annotated[list[str] | None, typer.Option(
        metavar="A,B", help="Instead: two runs to compare (TREC or JSON).")] = None,
    from_hp: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Instead: questions and sets in HP-FashionIQ's format.")] = None,
    from_table: FromTable = None,
    columns: ColumnsOption = None,
    annotations: Annotated[Path | None, typer.Option(
        "--annotations", "-a", help="Folder or annotation file of the data set.")] = None,
    split: Annotated[str | None, typer.Option(help="Split: train, val, test, test1.")] = None,
    pool: Annotated[Path | None, typer.Option(help="List of the gallery's images, if needed.")] = None,
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Gallery with the images.")] = None,
    images: Pictures = None,
    queries: Annotated[int | None, typer.Option(
        min=1, help="Number of queries, balanced by category (default: all).")] = None,
    per_person: Annotated[int, typer.Option(min=1, help="Maximum questions per person.")] = 50,
    forms: Annotated[int, typer.Option(min=1, help="Forms per person.")] = 2,
    shared_every: Annotated[int, typer.Option(
        min=0, help="One in so many questions goes to several people; 0: none.")] = 10,
    shared_by: Annotated[int, typer.Option(min=2, help="People per shared question.")] = 3,
    seed: Annotated[int | None, typer.Option(help="Random seed (default: CIRQUE_SEED).")] = None,
    set_names: Annotated[str | None, typer.Option(
        metavar="ONE,TWO", help="Names of the sets (default: Shopping Mall 1, Shopping Mall 2).")] = None,
    allow_tie: Annotated[bool, typer.Option("--allow-tie", help="Allow “equally good”.")] = False,
    consent: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Consent text.")] = None,
    guidelines: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Guidelines instead of cirque's own.")] = None,
    check: Annotated[CheckKind, typer.Option(help="Kind of attention check.")] = CheckKind.sum,
    check_every: Annotated[int, typer.Option(min=0, help="Questions between attention checks.")] = 5,
    reason_every: Annotated[int, typer.Option(
        min=0, help="Questions between requests for a reason; 0: never.")] = 10,
    lease_hours: Annotated[float, typer.Option(help="Hours until an abandoned form is reassigned.")] = 3,
    completion_prefix: Annotated[str, typer.Option(help="Prefix of the completion code.")] = "",
    model: ModelOption = ModelChoice.built_in,
    domain: DomainOption = None,
    own_file: QuestionsOption = None,
    seconds_per_question: Annotated[float, typer.Option(help="Seconds per question, for the forecast.")] = 40.0,
    skip_missing: Annotated[bool, typer.Option("--skip-missing", help="Skip items with a missing image.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan without creating the study.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Create a preference study: two methods' result sets for each query."""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.preference.create import create_preference_study, make_questions, pair_notes
    from annotation.kinds.preference.survey.plan import SurveyLayout, plan_survey
    from annotation.kinds.preference.survey.settings import checked_settings
    from annotation.kinds.preference.survey.texts import choose_survey
    from annotation.kinds.table import own_questions
    from annotation.studies.creation import check_name

    own = own_questions("preference", own_file)
    settings = get_settings()
    layout = SurveyLayout(per_person, forms, shared_every, shared_by, reason_every,
                          settings.seed if seed is None else seed)
    asked = PreferenceSourceArgs(dataset, methods, tuple(from_runs or ()), from_hp, annotations, split, pool, gallery,
                                 images, queries, layout.seed, model, domain, skip_missing)
    # Before methods run for hours.
    if from_table is None:
        asked.check()
        refuse_without_table(columns)
    survey = checked_settings({
        "set_names": None if set_names is None else _names(set_names), "allow_tie": allow_tie,
        "consent": _text(consent) or "", "check": check.value,
        "check_every": check_every, "lease_hours": lease_hours, "guidelines": _text(guidelines),
        "completion_prefix": completion_prefix}, choose_survey(own, tuple)[0])
    plan_survey(queries or 1, layout, seconds_per_question=seconds_per_question)
    if from_table is not None:
        asked.refuse_with_table()
        return create_from_table("preference", name, TableArgs(
            from_table, images, gallery, columns,
            {"per_person": per_person, "forms": forms, "shared_every": shared_every, "shared_by": shared_by,
             "reason_every": reason_every, "seconds": round(seconds_per_question), "seed": layout.seed},
            skip_missing, dry_run, as_json, survey, own))
    with open_stores() as stores:
        check_name(stores.studies, name)
        found = open_source(asked, settings)
        questions, drawn = make_questions(found.queries, found.methods, layout.seed)
        forecast = plan_survey(len(questions), layout, seconds_per_question=seconds_per_question)
        notes = [*found.notes, *pair_notes(drawn)]
        if not as_json:
            print_pairs("methods", "questions",
                        ((" and ".join(pair), f"{count:,}") for pair, count in drawn.counts.items()))
            print_survey(forecast)
            print_notes(notes)
        result: dict[str, Any] = {"pairs": {"|".join(pair): count for pair, count in drawn.counts.items()},
                                  "plan": asdict(forecast), "notes": notes}
        created = None
        if not dry_run:
            with progress_bar("Copying images") as bar:
                created = create_preference_study(
                    stores.studies, settings.home, name, found.queries, found.methods, found.find_picture, layout,
                    created_by=LOCAL, source=found.source, settings=survey,
                    max_megapixels=settings.max_image_megapixels, skip_missing=skip_missing, progress=bar,
                    questions=own)
                result["pairs"] = created.study.source["pairs"]
    if made := print_created(created, result, as_json):
        counts = made.counts
        people = counted(counts["people"], "person", "people")
        out.print(f"Created {made.study.name}: {counted(counts['items'], 'question')}, {counts['shared']:,} of them "
                  f"shared, for {people}. To answer them: cirque serve, then the page Annotate.", soft_wrap=True)


def print_survey(plan: SurveyForecast) -> None:
    """Forecast with its assumptions."""
    print_pairs("plan", "", (
        ("people", f"{plan.people:,}"), ("questions", f"{plan.questions:,}"),
        (f"shared by {plan.shared_by} people", f"{plan.shared:,}" if plan.shared else "none"),
        ("answers", f"{plan.answers:,}"), ("questions per person", f"{plan.per_person:,}"),
        ("questions in a form", f"{plan.form_size:,}"), ("hours per person", f"{plan.hours_per_person:.1f}"),
        ("hours in total", f"{plan.hours_total:.1f}"), ("pairs of answers to one question", f"{plan.pairs:,}")))
    out.print(f"Assumed: {plan.seconds_per_question:g} seconds per question.")


def _names(text: str) -> list[str]:
    """The two set names. Raises ``StudyError``."""
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2:
        raise StudyError(f"--set-names is {quoted(text)}. Give two names with a comma between them, such as "
                         "\"Shopping Mall 1,Shopping Mall 2\".")
    return names


def _text(path: Path | None) -> str | None:
    """Content of a text file; None without one. Raises ``SettingsError``."""
    if path is None:
        return None
    try:
        text = path.read_text("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read as text: {error}. Name a text file in UTF-8.") from error
    if not text:
        raise SettingsError(f"{path} is empty. Write the text into it, or leave the option out.")
    return text
