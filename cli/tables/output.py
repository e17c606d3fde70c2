"""Output of reports: tables on the terminal, and as files with ``--tables``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from cir_core.errors import SettingsError
from cir_core.reports.gathered import given
from cir_core.reports.records import ReportTable, Section
from cli.console import out
from cli.tables.fitted_tables import print_section, print_table, say

Part = str | ReportTable | Section
_LONGEST = 80   # characters of a file's name


def check_folder(folder: Path | None, option: str, *, create: bool = True) -> None:
    """Check the output folder before any work, and create it unless ``create`` is False. Raises ``SettingsError``."""
    if folder is None:
        return
    try:
        if create:
            folder.mkdir(parents=True, exist_ok=True)
        there = _nearest(folder)
        if not there.is_dir():
            raise FileExistsError
    except OSError as error:
        problem = "it is a file" if isinstance(error, FileExistsError) else error.strerror or str(error)
        raise SettingsError(f"{folder} cannot be the folder of {option}: {problem}. Choose another one.") from error
    if not os.access(there, os.W_OK | os.X_OK):
        raise SettingsError(f"{folder} cannot be written to. Change its permissions, or name another {option}.")


def _nearest(folder: Path) -> Path:
    """``folder``, or the nearest above it that exists."""
    try:
        folder.stat()
    except FileNotFoundError:
        return _nearest(folder.parent)
    return folder


def _checked(folder: Path | None) -> Path | None:
    check_folder(folder, "--tables", create=False)   # a command that writes no table leaves no empty folder
    return folder


TablesOption = Annotated[Path | None, typer.Option(
    "--tables", metavar="DIR", callback=_checked,
    help="Also write tables and figures to this folder, replacing files.",
)]


def give(
    parts: Iterable[Part], to: Path | None = None, *, quiet: bool = False, most: int | None = None,
    between: Callable[[], object] = lambda: None,
) -> None:
    """Print a report, unless ``quiet``, of each table at most ``most`` rows, and write its tables to ``to``. Raises
    ``SettingsError`` if they cannot be written. ``between`` is called once the report is printed, before that."""
    parts = tuple(parts)
    given(parts)
    for number, part in enumerate(() if quiet else parts):
        if isinstance(part, str):
            say(part)
            continue
        if number:
            out.print()
        if isinstance(part, Section):
            print_section(part, most)
        else:
            print_table(part, most)
    between()
    if to is not None:
        number = _write(to, [part for part in parts if not isinstance(part, str)])
        if not quiet:
            out.print(f"\nWrote {number} files of tables to {to}", soft_wrap=True)


def _write(folder: Path, parts: Iterable[ReportTable | Section]) -> int:
    """Tables and figures, and what LaTeX needs for them; the number of tables' files."""
    from cir_core.reports.paper import document, figure_files, preamble
    from cir_core.support.files import write_atomically

    sections = kept_apart(part if isinstance(part, Section) else Section("", "", "", tables=(part,))
                          for part in parts)
    files = table_files(sections)
    number = len(files)
    if files:
        files |= figure_files(figure for section in sections for figure in section.figures)
        files |= {"preamble.tex": preamble(), "report.tex": document(sections, "", "", tables="").encode()}
    try:
        if files:
            folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_atomically(folder / name, content)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Choose another folder with "
                            "--tables.") from error
    return number


def kept_apart(sections: Iterable[Section], before: str = "") -> list[Section]:
    """With keys of tables and of figures that are names of files and labels of LaTeX, each once, ``before`` in front
    of them."""
    taken: set[str] = set()
    drawn: set[str] = set()
    return [replace(section, tables=tuple(replace(table, key=_apart(_plain(f"{before}{table.key}"), taken))
                                          for table in section.tables),
                    figures=tuple(replace(figure, key=_apart(_plain(f"{before}{figure.key}"), drawn))
                                  for figure in section.figures))
            for section in sections]


def table_files(sections: Iterable[Section], folder: str = "") -> dict[str, bytes]:
    """Every table in every form, by path."""
    from cir_core.reports.formats import FORMS, table_file

    return {f"{folder}{table.key}.{form}": table_file(_with_keys_apart(table) if form in ("csv", "json") else table,
                                                      form)
            for section in sections for table in section.tables for form in FORMS}


def _plain(key: str) -> str:
    """As a name of a file and a label of LaTeX."""
    return re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-")[:_LONGEST] or "table"


def _with_keys_apart(table: ReportTable) -> ReportTable:
    """With columns of different keys, whatever the systems in them are called."""
    taken: set[str] = set()
    return replace(table, columns=tuple(replace(one, key=_apart(one.key, taken)) for one in table.columns))


def _apart(name: str, taken: set[str]) -> str:
    """``name``, with a number where one of ``taken`` is the same up to case; then it is taken too."""
    found, number = name, 1
    while found.lower() in taken:
        number += 1
        found = f"{name}-{number}"
    taken.add(found.lower())
    return found
