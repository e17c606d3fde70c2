"""``cirque report searches``: how satisfied people are with search results, by their thumbs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.errors import SearchError, UnknownStudy
from cir_core.settings import get_settings
from cir_core.support.texts import quoted
from cli.console import open_stores, print_notes
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from cir_core.sessions.judged import JudgedTurn
    from storage.stores import Stores

_LISTED = 40           # rows of a table on the terminal
_SESSIONS = 2**31 - 1  # all of them


def searches(
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Only searches of this gallery.")] = None,
    since: Annotated[str, typer.Option(
        help="From this day or time (UTC), such as 2026-05-01T14:30.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
    draws: Annotated[int, typer.Option(min=0, max=100_000, help="Bootstrap draws; 0: no intervals.")] = 1000,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed (default: CIRQUE_SEED).")] = None,
) -> None:
    """Satisfaction with search results, by people's thumbs. Sessions of the screen and of programs count."""
    from annotation.analysis.searches import search_json, search_report, search_tables

    with open_stores() as stores:
        report = search_report(_turns(stores, gallery, since), draws=draws,
                               seed=get_settings().seed if seed is None else seed)
        if _is_a_study(stores, "searches"):
            report = replace(report, notes=(*report.notes, "There is a study called searches, too. Its report: cirque "
                                                           "report -- searches"))
    if as_json:
        typer.echo(json.dumps({"gallery": gallery, "since": since.strip() or None, **search_json(report)}, indent=1,
                              ensure_ascii=False))
    judged = bool(report.overall.satisfaction.n)
    give(search_tables(report), tables, quiet=as_json or not judged, most=_LISTED)
    if not as_json:
        print_notes(report.notes)


def _turns(stores: Stores, gallery: str | None, since: str) -> Iterator[JudgedTurn]:
    from annotation.accounts.audit_log import read_moment
    from cir_core.methods.declared import all_methods
    from cir_core.sessions.judged import judged_turns

    begin, methods = read_moment(since), all_methods(get_settings().methods)
    found = stores.sessions.sessions(_SESSIONS, gallery)
    if gallery is not None and not found:
        there = sorted({one.gallery for one in stores.sessions.sessions(_SESSIONS)})
        raise SearchError(f"No search session is over a gallery {quoted(gallery)}. " + (
            f"There are sessions over {', '.join(there)}." if there else "There are no search sessions yet."))
    for one in found:
        yield from judged_turns(stores.sessions.session(one.session_id, whole=True), methods, begin)


def _is_a_study(stores: Stores, name: str) -> bool:
    try:
        stores.studies.study(name)
    except UnknownStudy:
        return False
    return True
