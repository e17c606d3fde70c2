"""``cirque encoders``: list, show and download encoders."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

import typer
from rich.table import Table

from cir_core.encoders import composes
from cir_core.encoders.base import Encoder
from cir_core.encoders.specs import BUNDLED, FORMS
from cir_core.settings import get_settings
from cli.console import open_encoder, out

app = typer.Typer(help="Encoders: which there are, what identifies them, and fetching weights.")
Spec = Annotated[str, typer.Argument(help="Name of an encoder, such as ViT-B-32/openai.")]


@app.callback(invoke_without_command=True)
def encoders(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        list_all()


@app.command("list")
def list_all() -> None:
    """List the encoders on this machine. BACKBONE is one of the first six."""
    from cir_core.encoders.found import found_encoders
    from cir_core.encoders.remembered import usual_encoder

    home = get_settings().home
    found = found_encoders(home)
    usual = usual_encoder(home)
    rows = [(BUNDLED, "the bundled model"), *((one.spec, one.place) for one in found if one.spec)]
    if usual not in [spec for spec, _ in rows]:
        rows.append((usual, "chosen"))
    out.print("On this machine, to be named with --encoder:")
    for spec, place in rows:
        what = "" if spec.endswith(place) else f"   {place}"
        out.print(f"  {spec}{what}{'   (used if none is named)' if spec == usual else ''}", soft_wrap=True)
    for one in found:
        if one.problem:
            out.print(f"  not usable: {one.place} {one.problem}", soft_wrap=True)
    out.print()
    table = Table("Name", "What it loads", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for form, what in FORMS:
        table.add_row(form, what)
    out.print(table)


@app.command()
def default(spec: Annotated[str | None, typer.Argument(help=(
    "Name of an encoder; without it, prints the current one."))] = None) -> None:
    """Choose the default encoder of new galleries."""
    from cir_core.encoders.remembered import remember, usual_encoder

    home = get_settings().home
    if spec is not None:
        remember(home, spec)
    out.print(f"Galleries are indexed with {usual_encoder(home)} if no encoder is named.", soft_wrap=True)


@app.command()
def show(spec: Spec) -> None:
    """Load an encoder and print its identity. Never downloads."""
    from cir_core.encoders.weights import fetched

    _print_identity(spec, lambda: open_encoder(fetched(spec, get_settings().home) or spec))


@app.command()
def fetch(spec: Spec) -> None:
    """Download an encoder's weights."""
    from cli.galleries.choosing import named_encoder

    _print_identity(spec, lambda: named_encoder(spec, yes=True))


def _print_identity(spec: str, load: Callable[[], Encoder]) -> None:
    started = time.perf_counter()
    encoder = load()
    identity = encoder.identity
    composing = "composes image and text, " if composes(encoder) else ""
    out.print(f"{spec}: revision {identity.revision}, {identity.dim} dimensions, {composing}"
              f"loaded in {time.perf_counter() - started:.1f} s", soft_wrap=True)
