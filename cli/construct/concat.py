"""``cirque construct concat``: single-turn queries put one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from cir_core.errors import DatasetError
from cli.console import out, print_notes, write_file
from cli.construct.jobs import DatasetFlags, with_flags
from cli.construct.tables import count_table
from cli.galleries.datasets import dataset_path
from cli.tables.output import TablesOption, check_folder, give


@with_flags
def concat(
    data: DatasetFlags,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Output folder.")],
    sessions: Annotated[int, typer.Option(min=1, help="Maximum sessions per subset.")] = 60,
    turns: Annotated[int, typer.Option(min=2, max=20, help="Maximum turns per session.")] = 4,
    rule: Annotated[Literal["random", "chain"], typer.Option(
        help="random: any queries; chain: each starts from the target of the one before.")] = "random",
    seed: Annotated[int, typer.Option(help="Decides which queries make a session.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Join single-turn queries to sessions (Simple Concat of CIRCLED's Table 5)."""
    from cir_core.construct.concatenation import concatenated
    from cir_core.datasets.readers.circled import write_sessions
    from cir_core.registry.constructing import queries_to_construct

    check_folder(folder, "--out")
    benchmark = queries_to_construct(data.dataset, dataset_path(data.dataset, data.path), split=data.split,
                                     caption_mode=data.caption_mode, pool=data.pool)
    made = concatenated(benchmark, sessions=sessions, turns=turns, rule=rule, seed=seed)
    if unknown := sorted(set(data.subset or ()) - made.keys()):
        raise DatasetError(f"There is no subset {unknown[0]} in this data set. There are: {', '.join(made)}.")
    made = {name: found for name, found in made.items() if not data.subset or name in data.subset}
    if not any(made.values()):
        raise DatasetError("No two of these queries can be put one after the other. Use --rule random, or more "
                           "queries.")
    for name, found in made.items():
        write_sessions(folder / "public" / f"{name}.json", found)
    settings = {"benchmark": benchmark.name, "digest": benchmark.digest, "sessions": sessions, "turns": turns,
                "rule": rule, "seed": seed}
    write_file(folder / "concat.json", json.dumps(settings, indent=1) + "\n")
    if as_json:
        typer.echo(json.dumps({**settings, "subsets": {name: len(found) for name, found in made.items()}}, indent=1))
    rows = {name: (len(found), *(sum(len(one.turns) == length for one in found) for length in range(2, turns + 1)))
            for name, found in made.items()}
    give([count_table("sessions", "subset", ("sessions", *(f"{length} turns" for length in range(2, turns + 1))), rows,
                      sums=True)], tables, quiet=as_json)
    if not as_json:
        print_notes(benchmark.notes)
        for name in made:
            out.print(f"Wrote {folder / 'public' / f'{name}.json'}", soft_wrap=True)
