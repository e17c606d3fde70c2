"""``cirque relevance``: relevance models (CIRQRS) and their candidate features. ``cirque relevance train``."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from cir_core.settings import get_settings
from cli.console import RayOption, bars, open_relevance, out, place_of, progress_bar

if TYPE_CHECKING:
    from cir_core.relevance.training.data import TrainingData

_SAMPLE = "sample"


class Precision(StrEnum):
    auto = "auto"
    fp32 = "fp32"
    fp16 = "fp16"
    bf16 = "bf16"


def train(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="sample, fashioniq or cirr.")],
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help=(
        "Folder of the data set; none for the sample."))] = None,
    to: Annotated[Path | None, typer.Option("--out", "-o", help="Output folder.")] = None,
    preset: Annotated[str | None, typer.Option(help="cirqrs-paper, qure-code, or sample.")] = None,
    backbone: Annotated[str | None, typer.Option(help="blip2:/FOLDER, or an encoder.")] = None,
    images: Annotated[Path | None, typer.Option(help="Root folder of the images (default: PATH).")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    negatives: Annotated[str | None, typer.Option(help="Rule: top, drops or random, instead of the preset's.")] = None,
    negative_count: Annotated[int | None, typer.Option(
        "--negative-count", metavar="N", min=1, help=(
            "Negatives at first, halved at each further choice (rule top), instead of the preset's."))] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help=(
        "Random seed of weights, order and negatives."))] = 1000,
    precision: Annotated[Precision, typer.Option(help="auto: fp16 on a GPU, fp32 on a CPU.")] = Precision.auto,
) -> None:
    """Train a relevance model; resumes where it stopped. Use `accelerate launch` for several GPUs."""
    from cir_core.relevance.backbones.loading import load_relevance_backbone
    from cir_core.relevance.training.negatives import Rule
    from cir_core.relevance.training.presets import preset_of
    from cir_core.relevance.training.states import curves_section
    from cir_core.relevance.training.trainer import own_device, train_relevance
    from cir_core.reports.paper import FIGURES, write_figures

    if dataset not in (_SAMPLE, "fashioniq", "cirr"):
        raise typer.BadParameter("Choose sample, fashioniq or cirr.", param_hint="DATASET")
    if to is None:
        raise typer.BadParameter("Name the folder for the model.", param_hint="--out")
    settings = get_settings()
    if negatives not in (None, *get_args(Rule)):
        raise typer.BadParameter("Choose top, drops or random.", param_hint="--negatives")
    chosen = preset_of(preset or (_SAMPLE if dataset == _SAMPLE else "cirqrs-paper"), dataset, epochs=epochs,
                       rule=cast(Rule | None, negatives), negatives=negative_count)
    if backbone is None:
        if dataset != _SAMPLE:
            raise typer.BadParameter("Name the model to train on: blip2:/FOLDER, as in the paper, or an encoder such "
                                     "as ViT-B-32/openai.", param_hint="--backbone")
        backbone = "atelier"
    if dataset == _SAMPLE and (path or images):
        raise typer.BadParameter("The sample is drawn, not read. Leave PATH and --images out.", param_hint="PATH")
    data = _data(dataset, path, images, settings.home / "training")
    rebuilds = ", ".join(f"{epoch + 1} ({n})" if chosen.rule == "top" else str(epoch + 1)
                         for epoch, n in chosen.schedule.rebuilds)
    out.print(f"{len(data.queries):,} training and {len(data.validation):,} validation queries over "
              f"{data.images:,} images. " + ("Negatives are random." if chosen.rule == "random" else
                                             f"The model chooses the negatives before epochs {rebuilds or 'none'}."))
    model = load_relevance_backbone(backbone, device=own_device(settings.device),
                                    allow_downloads=settings.allow_downloads, size=chosen.size)
    with bars() as progress:
        shown = progress.add_task("", total=None)
        done = train_relevance(
            data, model, chosen, to, seed=seed, precision=precision.value, device=settings.device,
            work=settings.home / "training" / "relevance",
            progress=lambda what, n, of: progress.update(shown, description=what, completed=n, total=of))
    write_figures(to / FIGURES, [curves_section(to)])
    recall = ", ".join(f"Recall@{k} {share:.3f}" for k, share in done.recall.items())
    resumed = f", resumed after step {done.resumed_at:,}" if done.resumed_at else ""
    out.print(f"{done.steps:,} steps in {timedelta(seconds=round(done.seconds))}{resumed}. Validation: {recall}.")
    out.print(f"Model {done.checkpoint.revision} is in {to}; losses and recall: {done.curves}.", soft_wrap=True)
    out.print(f"Use it: CIRQUE_RELEVANCE={to}", soft_wrap=True)


def _data(dataset: str, path: Path | None, images: Path | None, cache: Path) -> TrainingData:
    if dataset == _SAMPLE:
        from cir_core.sample.relevance_data import sample_relevance_data

        return sample_relevance_data(cache, seed=1)
    from cir_core.registry.kinds import read_benchmark
    from cir_core.relevance.training.data import training_data

    if path is None:
        raise typer.BadParameter(f"Say where the files of {dataset} are.", param_hint="PATH")
    splits = [read_benchmark(dataset, path, split=split) for split in ("train", "val")]
    return training_data(splits[0], splits[1], [images or path])


app = typer.Typer(help="Relevance models (CIRQRS): train them, make candidate features of galleries, show cards.",
                  no_args_is_help=True)
_LISTED = 20
app.command("train")(train)


@app.command()
def index(
    gallery: Annotated[str, typer.Argument(metavar="GALLERY", help="Name of the gallery.")],
    relevance: Annotated[str | None, typer.Option(metavar="SPEC", help=(
        "Relevance model: bundled or a folder (default: CIRQUE_RELEVANCE)."))] = None,
    ray: RayOption = None,
) -> None:
    """Compute a gallery's candidate features, so that CIRQRS can rank it. Resumes."""
    from cir_core.gallery.gallery import open_gallery
    from cir_core.relevance.model import load_relevance
    from cir_core.relevance.store import index_features

    settings = get_settings()
    opened = open_gallery(gallery, home=settings.home)
    model = open_relevance(relevance)
    load = partial(load_relevance, model.identity.spec, device=settings.device, precision=settings.precision,
                   allow_downloads=settings.allow_downloads)
    began = perf_counter()
    with progress_bar(f"Features of {gallery}") as progress:
        done = index_features(opened, model, progress=progress, place=place_of(ray), load=load)
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
    relevance: Annotated[str | None, typer.Argument(metavar="[SPEC]", help=(
        "Relevance model: bundled or a folder (default: CIRQUE_RELEVANCE)."))] = None,
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
