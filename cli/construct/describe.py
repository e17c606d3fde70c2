"""``cirque construct describe``: statistics of sets of sessions, or of queries with several targets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.errors import SettingsError
from cir_core.settings import get_settings
from cli.console import out, write_file
from cli.tables.output import TablesOption, check_folder, give

if TYPE_CHECKING:
    from cir_core.reports.records import ReportTable, Section


def describe(
    sessions: Annotated[list[Path], typer.Argument(
        metavar="FILES...", help=(
            "Files of sessions or of SoFT's targets, or folders of constructions."))],
    folder: Annotated[Path | None, typer.Option(
        "--out", "-o", help="Write JSON, HTML and figures to this folder.")] = None,
    tagger: Annotated[str | None, typer.Option(
        help="Token classifier of transformers for parts of speech: folder or hub name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Describe sessions as in CIRCLED's Tables 1 and 2. Of
    queries with several targets: their number, as SoFT does, and the confidences of the original targets."""
    from cir_core.construct.describe.report import (
        describe_sessions,
        page,
        page_sections,
        size_table,
        terms_table,
        wording_table,
    )
    from cir_core.construct.describe.sets import read_sets
    from cir_core.construct.describe.targets import holds_targets
    from cir_core.construct.describe.words import TransformersTagger

    check_folder(folder, "--out")
    if several := [path for path in sessions if holds_targets(path)]:
        if len(several) < len(sessions) or tagger:
            raise SettingsError("Sessions and queries with several targets are described one kind at a time, and "
                                "--tagger is for sessions.")
        _describe_targets(sessions, folder, as_json, tables)
        return
    subsets, notes = read_sets(sessions)
    chosen = TransformersTagger(tagger, allow_downloads=get_settings().allow_downloads) if tagger else None
    found = describe_sessions(subsets, notes, chosen)
    _write(found.as_json(), (size_table(found), wording_table(found), terms_table(found)),
           lambda: page(found, _names(sessions)), folder, as_json, page_sections(found), found.notes, to=tables)


def _describe_targets(paths: Sequence[Path], folder: Path | None, as_json: bool, to: Path | None) -> None:
    from cir_core.construct.describe.targets import (
        describe_targets,
        histogram_table,
        target_page,
        target_sections,
        target_table,
    )

    found = describe_targets(paths)
    _write(found.as_json(), (target_table(found), histogram_table(found)),
           lambda: target_page(found, _names(paths)), folder, as_json, target_sections(found), to=to)


def _write(
    content: dict[str, Any], tables: Sequence[ReportTable], page: Callable[[], str], folder: Path | None, as_json: bool,
    sections: Sequence[Section], notes: Sequence[str] = (), to: Path | None = None,
) -> None:
    from cir_core.reports.paper import FIGURES, write_figures

    text = json.dumps(content, indent=1, ensure_ascii=False)
    if folder is not None:
        write_file(folder / "description.json", text + "\n")
        write_file(folder / "description.html", page())
        try:
            write_figures(folder / FIGURES, sections)
        except OSError as error:
            raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Choose another --out."
                                ) from error
    if as_json:
        typer.echo(text)

    def tell_files() -> None:
        if folder is not None and not as_json:
            out.print(f"Wrote {folder / 'description.json'} and {folder / 'description.html'}", soft_wrap=True)

    give([*tables, "", *(f"Note: {note}" for note in notes)], to, quiet=as_json, between=tell_files)


def _names(paths: Sequence[Path]) -> str:
    return ", ".join(path.stem for path in paths)
