"""Train the bundled encoder on the sample gallery's train split, on a CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from benchmarks.training.alignment import AlignmentRecipe, align
from benchmarks.training.recipe import TrainingRecipe
from benchmarks.training.sample_model import export
from benchmarks.training.sample_run import TrainingRun
from cir_core.sample.atelier.catalogue import Garment, catalogue
from cir_core.sample.evaluate_encoder import EncoderReport
from cir_core.sample.relevance_data import IMAGE_SIZE, Pixels, rendered

__all__ = ["TrainingRecipe", "train_sample_encoder"]


def train_sample_encoder(
    out: Path,
    *,
    cache: Path,
    epochs: int = 36,
    seed: int = 7,
    threads: int = 2,
    recipe: TrainingRecipe = TrainingRecipe(),
    alignment: AlignmentRecipe = AlignmentRecipe(),
    start: Path | None = None,
    garments: Sequence[Garment] | None = None,
    progress: Callable[[str], None] = print,
) -> Path:
    """Train, save the epoch that is best on the val split to ``out``, and return ``out``.

    ``cache`` holds the rendered images and ``state.pt``, from which an interrupted training
    resumes (delete it to start afresh). Evaluation starts after the epochs of
    the image tower alone; from then on ``out`` loads as ``local-dir:<out>``.
    The last stage (:mod:`.alignment`) follows. With ``start``, the folder of an encoder, training continues from it:
    ``epochs`` of the image tower alone with its texts held fixed, which may be 0, and the last stage.
    """
    torch.set_num_threads(threads)
    garments = catalogue() if garments is None else garments
    train = [garment for garment in garments if garment.split == "train"]
    val = [garment for garment in garments if garment.split == "val"]
    progress(f"drawing {recipe.takes} x {len(train)} + {len(val)} garments into {cache}")
    images = rendered(train, cache, size=IMAGE_SIZE, takes=recipe.takes)
    val_images = rendered(val, cache, size=IMAGE_SIZE)[0]
    images = np.array(images)  # into memory once; batches pick rows at random
    if start is not None:
        recipe = replace(recipe, image_epochs=0, locked_epochs=epochs)
    if epochs:
        run = TrainingRun(cache, train, recipe, epochs, seed, start)
        _epochs(out, run, images, val, val_images, progress)
    first = start if start is not None and not epochs else out
    align(first, out, train, images, val, val_images, recipe=alignment, seed=seed, progress=progress)
    return out


def _epochs(out: Path, run: TrainingRun, images: Pixels, val: Sequence[Garment], val_images: Pixels,
            progress: Callable[[str], None]) -> None:
    run.resume()
    epochs = run.epochs
    while run.epoch < epochs:
        began = time.monotonic()
        images_only = run.images_only
        loss = run.one_epoch(images)
        if images_only:  # nothing to evaluate yet
            run.save()
            progress(f"epoch {run.epoch}/{epochs} loss {loss:.3f} {time.monotonic() - began:.0f} s")
            continue
        report = run.evaluate(val, val_images)
        better = _quality(report) > run.best
        if better:
            run.best = _quality(report)
            export(out, run.average, run.vocabulary)
        run.save()
        progress(
            f"epoch {run.epoch}/{epochs} loss {loss:.3f} "
            f"R@1 {report.recall_at_1:.3f} R@10 {report.recall_at_10:.3f} "
            f"attributes {report.mean_attribute_accuracy:.4f} ("
            + " ".join(f"{k} {v.accuracy:.3f}" for k, v in report.attribute_accuracy.items())
            + f") {time.monotonic() - began:.0f} s" + (" kept" if better else "")
        )


def _quality(report: EncoderReport) -> float:
    return report.recall_at_1 + report.mean_attribute_accuracy
