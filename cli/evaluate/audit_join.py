"""``cirque audit join``: several finished audits in one table and chart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cir_core.errors import DatasetError, SettingsError
from cli.console import out
from cli.tables.output import TablesOption, give


def join(
    audits: Annotated[list[str], typer.Argument(
        metavar="AUDIT", help="Folders that `cirque audit` wrote, or NAME=FOLDER; two or more.")],
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for joined.json and joined.html.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Set finished audits of several benchmarks side by side: labels, Composition Gaps, Recall."""
    from cir_core.audit.joining.page import joined_page, joined_sections
    from cir_core.audit.joining.reading import join_audits, joined_json
    from cir_core.support.files import write_atomically

    joined = join_audits([_source(text) for text in audits])
    content = json.dumps(joined_json(joined), indent=1, ensure_ascii=False) + "\n"
    if folder:
        try:
            write_atomically(folder / "joined.json", content.encode())
            write_atomically(folder / "joined.html", joined_page(joined).encode())
        except OSError as error:
            raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Name another folder with "
                                "--out.") from error
    if as_json:
        typer.echo(content, nl=False)
    give([*joined_sections(joined), "", *(f"Note: {note}" for note in joined.notes)], tables, quiet=as_json)
    if folder and not as_json:
        out.print(f"\nWrote {folder / 'joined.json'} and joined.html", soft_wrap=True)


def _source(text: str) -> tuple[str, Path]:
    """A folder, or NAME=FOLDER. A path that exists is one, whatever is in its name."""
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        return "", Path(text)
    if not name.strip() or not path:
        raise DatasetError(f"{text} names no audit. Write a folder, or NAME=FOLDER.")
    return name.strip(), Path(path)
