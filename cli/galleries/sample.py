"""``cirque sample``: draw the sample gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.console import out, progress_bar

app = typer.Typer(help="The sample gallery “Atelier”.", no_args_is_help=True)


@app.command()
def build(
    folder: Annotated[Path, typer.Argument(help="Output folder.")],
    split: Annotated[list[str] | None, typer.Option(help="train, val, test; repeatable.")] = None,
    seed: Annotated[int, typer.Option(help="Draws other garments.")] = 20261121,
) -> None:
    """Draw garments with captions and queries in FashionIQ's file format."""
    from cir_core.sample.atelier.build import build_atelier

    with progress_bar("Drawing garments") as update:
        paths = build_atelier(folder, seed=seed, splits=tuple(split or ["test"]), workers="auto", progress=update)
    out.print(f"Done: {paths.folder}")
