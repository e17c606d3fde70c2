"""``cirque study import``, ``export`` and ``results``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import typer

from cir_core.errors import SettingsError, StudyError
from cir_core.support.texts import counted, quoted
from cli.console import open_stores, out, print_notes

import_app = typer.Typer(help="Import files of judgements as a study.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]
Rule = Literal["majority", "single_kept"]
QuestionsOption = Annotated[Path | None, typer.Option(
    "--questions", metavar="FILE", help="Questions, as from `cirque study questions` (default: cirque's newest).")]
RuleOption = Annotated[Rule, typer.Option(help="Label of several judgements: majority, or first.")]


@import_app.command("circus")
def import_circus(
    name: Name,
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Annotator files of CIRCUS, one per person.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Import CIRCUS annotator files as a closed study. Any fault in a file stops the import."""
    from annotation.accounts.account_names import LOCAL
    from annotation.kinds.judgements import import_circus as imported
    from cli.tables.study_tables import print_created

    with open_stores() as stores:
        created = imported(stores.studies, name, files, created_by=LOCAL)
    if print_created(created, {}, as_json) is None:
        return
    counts = created.counts
    out.print(f"Created {created.study.name}: {counted(counts['judgements'], 'judgement')} of "
              f"{counted(counts['items'], 'item')} by {counted(counts['people'], 'person', 'people')}. It takes no "
              "answers.", soft_wrap=True)


def export(
    form: Annotated[str, typer.Argument(metavar="FORM", help=(
        "csv or parquet; validity: circus, mbeir, results; preference: hp-fashioniq, preferences; sessions: "
        "results; targets: results, soft."))],
    name: Name,
    to: Annotated[Path, typer.Option("--out", "-o", help="A folder, or a .zip file.")],
    rule: RuleOption = "majority",
    everything: Annotated[bool, typer.Option(
        "--all", help="Preferences: include what rules exclude.")] = False,
) -> None:
    """Write a study's files."""
    from annotation.kinds.table import KINDS, Export
    from annotation.records import LOCAL, AuditEvent

    with open_stores() as stores:
        study = stores.studies.study(name)
        files, notes = KINDS[study.kind].export(stores.studies, study, Export(form, None, rule, everything))
        stores.studies.log_event(AuditEvent("study.exported", LOCAL, study.name, study.study_id, {"form": form}))
    write_files(to, files)
    print_notes(notes)
    out.print(f"Wrote {', '.join(files)} to {to}", soft_wrap=True)


def results(
    name: Name,
    rule: RuleOption = "majority",
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Show results: valid queries (CIRCUS's Table 2), mean ratings, or targets, by kind of study."""
    from annotation.kinds.table import KINDS, Export, results_of
    from cli.tables.study_tables import print_results

    with open_stores() as stores:
        study = stores.studies.study(name)
        found = results_of(stores.studies, study, rule)
        if as_json:
            files, _ = KINDS[study.kind].export(stores.studies, study, Export("results", rule=rule))
            typer.echo(files["results.json"].decode(), nl=False)
        else:
            print_results(found)


def questions(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=(
        "validity, preference, sessions or targets; with --of-study, a study."))],
    of_study: Annotated[bool, typer.Option(
        "--of-study", help="Questions of this study, if it has its own.")] = False,
) -> None:
    """Print the questions of a kind of study as TOML, as a start for your own."""
    from annotation.kinds.table import KINDS
    from annotation.studies.protocols import newest_text, own_text

    if of_study:
        with open_stores() as stores:
            study = stores.studies.study(kind)
        if (text := own_text(study)) is None:
            raise StudyError(f"{study.name} uses {study.protocol}, which comes with cirque. Print the newest file "
                             f"of this kind: cirque study questions {study.kind}")
    elif kind not in KINDS:
        raise StudyError(f"There is no kind of study {quoted(kind)}. There are: {', '.join(KINDS)}.")
    else:
        text = newest_text(*KINDS[kind].asked_in)
    typer.echo(text, nl=False)


def write_files(to: Path, files: Mapping[str, bytes], force: bool = True) -> None:
    """Write into a folder or a .zip file, without ``force`` not over other files. Raises ``SettingsError``, and changes
    nothing, if that fails."""
    from annotation.tables import as_zip
    from cir_core.support.files import write_atomically

    folder = to
    try:
        if to.suffix.lower() == ".zip":
            if to.is_dir():
                raise SettingsError(f"{to} is a folder. Name a .zip file, or a folder of another name, with --out.")
            folder, files = to.parent, {to.name: as_zip(files)}
        there = [] if force else [name for name in files if (folder / name).exists()]
        if there:
            more = f" and {counted(len(there) - 1, 'more file')}" if there[1:] else ""
            raise SettingsError(f"{folder} already has {there[0]}{more}. Choose another folder with --out, or "
                                "overwrite it with --force.")
        for name, content in files.items():
            write_atomically(folder / name, content)
    except OSError as error:
        raise SettingsError(f"{to} cannot be written: {error.strerror or error}. Choose another folder with --out."
                            ) from error
