"""``cirque construct filter`` and ``check``: the sessions that make a benchmark, and whether they do."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.construct.filtering.stages import STAGES, FilterSettings, MissingRank
from cir_core.evaluation.metrics.consistency import EPSILON, TAU
from cli.console import open_encoder, out, print_notes, progress_bar
from cli.construct.tables import conditions_table, count_table
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from cir_core.construct.filtering.conditions import Violation

_LISTED = 10
_SHORT = ("success", "multi", "text", "rank", "redund.", "repeat")   # the stages, in 80 columns


def filter_sessions(
    raw: Annotated[Path, typer.Argument(metavar="RAW", help="Construction's folder, or raw file.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Output folder.")],
    epsilon: Annotated[int, typer.Option(min=0, help="Ranks that a turn may lose.")] = EPSILON,
    tau: Annotated[float, typer.Option(
        min=-1, max=2, help="Cosine with an earlier text that drops a session.")] = TAU,
    missing: Annotated[MissingRank, typer.Option(
        help="Rank of targets outside the gallery: last, or minus-one (released code).")] = "last",
    encoder: Annotated[str | None, typer.Option(
        "--encoder", "-e", help="Compare texts with this encoder, not by stored similarities.")] = None,
    explain: Annotated[bool, typer.Option(
        "--explain", help="Write dropped sessions, with stage and number, to dropped.jsonl.")] = False,
    write_excluded: Annotated[bool, typer.Option(
        "--write-excluded", help=(
            "Write sessions dropped by rank margin or redundancy to excluded/."))] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Filter sessions as CIRCLED does; write the public and the raw format."""
    from cir_core.construct.filtering.files import filter_sessions as filtered
    from cir_core.construct.filtering.files import raw_files
    from cir_core.support.json_lines import whole_lines

    raws = raw_files(raw)
    with progress_bar("Filtering") as progress:
        report = filtered(
            raws, folder, FilterSettings(epsilon, tau, missing), encoder=open_encoder(encoder) if encoder else None,
            explain=explain, write_excluded=write_excluded, progress=lambda done: progress(done, 0))
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in report.subsets], indent=1))
    rows = {one.subset: [one.sessions, *(-one.removed[stage] for stage in STAGES), one.kept] for one in report.subsets}
    give([count_table("filters", "subset", ("sessions", *_SHORT, "kept"), rows, sums=True)], tables, quiet=as_json)
    if as_json:
        return
    for path in report.outputs:
        out.print(f"Wrote {path} and raw/{path.name}", soft_wrap=True)
    for path in report.excluded:
        out.print(f"Wrote {path}", soft_wrap=True)
    if explain:
        for number, (_, _, line) in enumerate(whole_lines(folder / "dropped.jsonl")):
            if number == _LISTED:
                out.print("  ...")
                break
            out.print(f"  {line['subset']} {line['query_id']}, {line['stage']}: {line['why']}", soft_wrap=True)
        out.print(f"Every dropped session: {folder / 'dropped.jsonl'}", soft_wrap=True)


def check(
    path: Annotated[Path, typer.Argument(metavar="SESSIONS", help=(
        "Folder of a construction or filter, or a raw or public file."))],
    epsilon: Annotated[int, typer.Option(min=0, help="Ranks that a turn may lose.")] = EPSILON,
    tau: Annotated[float, typer.Option(min=-1, max=2, help="Cosine with an earlier text that drops a session.")] = TAU,
    missing: Annotated[MissingRank, typer.Option(
        help="Rank of targets outside the gallery: last, or minus-one (released code).")] = "last",
    encoder: Annotated[str | None, typer.Option(
        "--encoder", "-e", help="Compare texts with this encoder, not by stored similarities.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Check that every session is ε-consistent and τ-diverse; exit code 1 if not."""
    from cir_core.construct.filtering.conditions import check_conditions

    with progress_bar("Checking") as progress:
        report = check_conditions(
            path, FilterSettings(epsilon, tau, missing), encoder=open_encoder(encoder) if encoder else None,
            progress=lambda done: progress(done, 0))
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1, ensure_ascii=False))
    give([conditions_table(report.subsets)], tables, quiet=as_json)
    if not as_json:
        print_notes(report.notes)
        if report.ok:
            out.print(f"Every session keeps to τ = {tau:g}." if report.notes else
                      f"Every session keeps to ε = {epsilon} and τ = {tau:g}.")
        else:
            out.print(f"{report.broken:,} {'session breaks' if report.broken == 1 else 'sessions break'} a condition:")
            for violation in report.violations[:_LISTED]:
                out.print(f"  {_sentence(violation)}", soft_wrap=True)
            if report.broken > _LISTED:
                out.print(f"  ... and {report.broken - _LISTED:,} more (--json lists them)")
    if not report.ok:
        raise typer.Exit(1)


def _sentence(of: Violation) -> str:
    parts = [f"turn {one.turn} moves the target from rank {one.before} to {one.after}" for one in of.setbacks]
    parts += [f"the text of turn {one.turn} has cosine {one.similarity:g} with that of turn {one.earlier}"
              for one in of.repeated]
    return f"{of.subset} {of.session}: {'; '.join(parts)}"
