"""``cirque relevance train``."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from cir_core.settings import get_settings
from cli.console import bars, out

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
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="Folder of the data set's files; none for the "
                                                "sample.")] = None,
    to: Annotated[Path | None, typer.Option("--out", "-o", help="Output folder: model, log, curves, states.")] = None,
    preset: Annotated[str | None, typer.Option(help="cirqrs-paper, qure-code, or sample.")] = None,
    backbone: Annotated[str | None, typer.Option(help="blip2:/FOLDER, or an encoder such as atelier or "
                                                 "ViT-B-32/openai.")] = None,
    images: Annotated[Path | None, typer.Option(help="Root folder of the images (default: PATH).")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Instead of the preset's.")] = None,
    negatives: Annotated[str | None, typer.Option(help="Instead of the preset's rule: top, drops or random.")] = None,
    negative_count: Annotated[int | None, typer.Option(
        "--negative-count", metavar="N", min=1, help="Instead of the preset's number of negatives at their first "
        "choice, which is halved at each further one (rule top).")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1)] = 1000,
    precision: Annotated[Precision, typer.Option(help="auto: fp16 on a GPU, fp32 on a CPU.")] = Precision.auto,
) -> None:
    """Train a relevance model; resumes where it stopped. Use `accelerate launch` for several GPUs."""
    from cir_core.relevance.backbones.loading import load_relevance_backbone
    from cir_core.relevance.training.negatives import Rule
    from cir_core.relevance.training.presets import preset_of
    from cir_core.relevance.training.trainer import own_device, train_relevance

    if dataset not in (_SAMPLE, "fashioniq", "cirr"):
        raise typer.BadParameter("Choose sample, fashioniq or cirr.", param_hint="DATASET")
    if to is None:
        raise typer.BadParameter("Say where to write the model.", param_hint="--out")
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
