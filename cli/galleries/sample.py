"""``cirque sample``: draw the sample gallery, train its encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cir_core.settings import get_settings
from cli.console import out, progress_bar

app = typer.Typer(help="The sample gallery “Atelier” and its encoder.", no_args_is_help=True)


@app.command()
def build(
    folder: Annotated[Path, typer.Argument(help="Output folder.")],
    split: Annotated[list[str] | None, typer.Option(help="train, val, test; repeatable.")] = None,
    seed: Annotated[int, typer.Option()] = 20261121,
) -> None:
    """Draw garments with captions and queries in FashionIQ's file format."""
    from cir_core.sample.atelier.build import build_atelier

    with progress_bar("Drawing garments") as update:
        paths = build_atelier(folder, seed=seed, splits=tuple(split or ["test"]), workers="auto", progress=update)
    out.print(f"Done: {paths.folder}")


@app.command("train-encoder")
def train_encoder(
    folder: Annotated[Path, typer.Option("--out", help="Output folder of the model.")],
    epochs: Annotated[int | None, typer.Option(min=0, help="36; 8 with --from.")] = None,
    seed: Annotated[int, typer.Option()] = 7,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    start: Annotated[Path | None, typer.Option(
        "--from", exists=True, file_okay=False,
        help="Continue from the encoder in this folder: the image tower for --epochs, then the last "
        "stage.")] = None,
) -> None:
    """Retrain the bundled encoder (hours on two cores; resumes where it stopped)."""
    from cir_core.sample.training.recipe import TrainingRecipe
    from cir_core.sample.training.sample_encoder import train_sample_encoder

    if epochs is None:
        epochs = 8 if start else 36
    if not start and epochs <= TrainingRecipe().image_epochs:
        raise typer.BadParameter(f"A new encoder needs more than {TrainingRecipe().image_epochs} epochs.",
                                 param_hint="--epochs")
    train_sample_encoder(
        folder, cache=get_settings().home / "training", epochs=epochs, seed=seed, threads=threads, start=start,
        progress=out.print)


@app.command("measure-encoder")
def measure_encoder(
    folder: Annotated[Path, typer.Argument(help="Where the garments are drawn.")],
    file: Annotated[Path, typer.Option("--out", help="Output file.")],
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="The encoder that was trained.")] = "atelier",
) -> None:
    """Measure how an encoder of the sample sees garments, so that other pictures are recognised (minutes)."""
    from cir_core.sample.training.known_garments import measure_known
    from cli.console import open_encoder

    measure_known(open_encoder(encoder), folder, progress=out.print).save(file)
    out.print(f"Done: {file}. The bundled encoder's is cir_core/garments/known.safetensors.")
