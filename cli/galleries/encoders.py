"""``cirque encoders``: list, show and download encoders."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.table import Table

from cir_core.encoders import composes
from cir_core.encoders.specs import FORMS
from cli.console import open_encoder, out

app = typer.Typer(help="Encoders: identity, and downloading weights.", no_args_is_help=True)
Spec = Annotated[str, typer.Argument(help="atelier, ViT-B-32/openai, hf-hub:org/name, local-dir:/path, ...; see list")]


@app.command("list")
def list_forms() -> None:
    """List the forms of encoder names and what each loads. BACKBONE is one of the first six."""
    table = Table("Name", "What it loads", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for form, what in FORMS:
        table.add_row(form, what)
    out.print(table)


@app.command()
def show(spec: Spec) -> None:
    """Load an encoder and print what identifies it. Never downloads."""
    _describe(spec, allow_downloads=False)


@app.command()
def fetch(spec: Spec) -> None:
    """Download an encoder's weights to the local cache, for use offline."""
    _describe(spec, allow_downloads=True)


def _describe(spec: str, *, allow_downloads: bool) -> None:
    started = time.perf_counter()
    encoder = open_encoder(spec, allow_downloads=allow_downloads)
    identity = encoder.identity
    composing = "composes image and text, " if composes(encoder) else ""
    out.print(f"{identity.spec}: revision {identity.revision}, {identity.dim} dimensions, {composing}"
              f"loaded in {time.perf_counter() - started:.1f} s")
