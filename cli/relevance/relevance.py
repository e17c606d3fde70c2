"""``cirque relevance``: relevance models (CIRQRS) and their candidate features."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated

import typer

from cir_core.settings import get_settings
from cli.console import open_relevance, out, progress_bar
from cli.relevance.train import train

app = typer.Typer(help="Relevance models (CIRQRS): train them, make candidate features of galleries, show cards.",
                  no_args_is_help=True)
_LISTED = 20
app.command("train")(train)


@app.command()
def index(
    gallery: Annotated[str, typer.Argument(metavar="GALLERY", help="Name of the gallery.")],
    relevance: Annotated[str | None, typer.Option(metavar="SPEC", help="bundled or a folder (default: "
                                                  "CIRQUE_RELEVANCE).")] = None,
) -> None:
    """Make the candidate features of a gallery, so that CIRQRS can rank all of it. Resumes."""
    from cir_core.gallery.gallery import open_gallery
    from cir_core.relevance.store import index_features

    opened = open_gallery(gallery, home=get_settings().home)
    model = open_relevance(relevance)
    began = perf_counter()
    with progress_bar(f"Features of {gallery}") as progress:
        done = index_features(opened, model, progress=progress)
    size = done.path.stat().st_size / 1e6
    out.print(f"Gallery {gallery}: features of {done.images - len(done.skipped)} images under relevance model "
              f"{model.identity.revision}, {size:.0f} MB. {done.encoded} made, {done.reused} reused, "
              f"{len(done.skipped)} skipped in {perf_counter() - began:.1f} s.", soft_wrap=True)
    for image_id, reason in done.skipped[:_LISTED]:
        out.print(f"  skipped {image_id}: {reason}", soft_wrap=True)
    if len(done.skipped) > _LISTED:
        out.print(f"  ... and {len(done.skipped) - _LISTED} more")


@app.command()
def show(
    relevance: Annotated[str | None, typer.Argument(metavar="[SPEC]", help="bundled or a folder (default: "
                                                    "CIRQUE_RELEVANCE).")] = None,
) -> None:
    """Show the card of a relevance model."""
    from rich.table import Table

    from cir_core.relevance.checkpoint import load_checkpoint
    from cir_core.relevance.where import folder_of

    spec = relevance if relevance is not None else get_settings().relevance
    checkpoint = load_checkpoint(folder_of(spec))
    card = checkpoint.card
    numbers = sum(value.numel() for value in checkpoint.weights.values())
    rows = [
        ("Model", spec), ("Revision", checkpoint.revision),
        ("Backbone", f"{card.backbone}, revision {card.backbone_revision}"),
        ("Reading", _READINGS[card.reading]),
        ("Temperature", f"{float(checkpoint.weights['temperature']):.4g}"),
        ("Padding", f"to a ratio of {card.pad:g}" if card.pad else "none"),
        ("Weights", f"{numbers:,} numbers"),
        *((f"Q-Former, {name}", str(value)) for name, value in card.size.items()),
        ("Preset", card.preset), ("Trained on", card.dataset),
        *((_heading(name), _formatted(value)) for name, value in card.trained.items()),
    ]
    table = Table(box=None, show_header=False)
    for name, text in rows:
        table.add_row(name, text)
    out.print(table)


_READINGS = {"mean": "mean: over the candidate's tokens (CIRQRS, eq. 1)",
             "max": "max: the candidate's best token (published code)"}


def _heading(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _formatted(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_formatted(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_formatted(one) for one in value)
    return str(value)
