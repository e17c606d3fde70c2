"""``cirque construct describe``: statistics of sets of sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cir_core.settings import get_settings
from cli.console import out, print_notes, write_file
from cli.evaluate.answer_files import check_folder
from cli.tables.report_tables import print_table


def describe(
    sessions: Annotated[list[Path], typer.Argument(
        metavar="SESSIONS...", help="Files of sessions, public or raw form, or folders that cirque construct wrote.")],
    folder: Annotated[Path | None, typer.Option(
        "--out", "-o", help="Write description.json and description.html with figures to this folder.")] = None,
    tagger: Annotated[str | None, typer.Option(
        help="Counts parts of speech: a folder or hub name of a token classifier of transformers.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Describe sessions as CIRCLED's Tables 1 and 2 do: turns, lengths, words, parts of speech, frequent terms."""
    from cir_core.construct.describe.report import describe_sessions, page, size_table, terms_table, wording_table
    from cir_core.construct.describe.sets import read_sets
    from cir_core.construct.describe.tagging import TransformersTagger

    check_folder(folder, "--out")
    subsets, notes = read_sets(sessions)
    chosen = TransformersTagger(tagger, allow_downloads=get_settings().allow_downloads) if tagger else None
    found = describe_sessions(subsets, notes, chosen)
    if folder is not None:
        write_file(folder / "description.json", json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n")
        write_file(folder / "description.html", page(found, ", ".join(one.stem for one in sessions)))
    if as_json:
        typer.echo(json.dumps(found.as_json(), indent=1, ensure_ascii=False))
        return
    for table in (size_table(found), wording_table(found), terms_table(found)):
        print_table(table)
        out.print()
    print_notes(found.notes)
    if folder is not None:
        out.print(f"Wrote {folder / 'description.json'} and {folder / 'description.html'}", soft_wrap=True)
