"""Last stage of the bundled encoder's training: texts and projections on fixed image features.

The pooled features of the image tower tell small details (a bow, piping) better than its projection does, because texts
and projection were learned while the features still moved. Here the tower up to its pooling is fixed and computed once,
so a step costs little more than its texts, and everything behind it is learned together on the losses of the stages
before: the head of the image tower and the whole text tower.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from open_clip.model import CLIP
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor

from benchmarks.training import losses
from benchmarks.training.sample_data import attribute_codes, jitter
from benchmarks.training.sample_model import (
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    ModelInTraining,
    export,
    load_tokenizer,
    new_model,
    normalised,
    text_features,
)
from benchmarks.training.sample_texts import write_partials, write_prompts
from cir_core.sample.atelier.captions import full_caption
from cir_core.sample.atelier.catalogue import Garment
from cir_core.sample.evaluate_encoder import EncoderReport, evaluate_sample_encoder
from cir_core.sample.relevance_data import Pixels

_CHUNK = 200


@dataclass(frozen=True)
class AlignmentRecipe:
    """Hyperparameters of the stage. One step sees ``batch_size`` images."""

    steps: int = 5000
    batch_size: int = 384
    captioned: int = 96            # images of a batch paired with full captions
    partials: int = 48             # partial captions per batch
    prompted: int = 4              # attribute groups per batch trained on prompts
    learning_rate: float = 6e-4
    weight_decay: float = 0.05
    warm_up: float = 0.03          # share of all steps
    average_decay: float = 0.995
    partial_weight: float = 0.5
    naming_weight: float = 3.0
    reading_weight: float = 0.5
    views: int = 2                 # jittered views per rendering whose features are computed
    evaluate_every: int = 500


def pooled(model: CLIP, pixels: Pixels) -> Tensor:
    """``[n, size, size, 3]`` to the image tower's pooled features, ``[n, channels]``."""
    trunk = model.visual.trunk
    return torch.flatten(trunk.global_pool(trunk.forward_features(normalised(pixels))), 1)


def projected(model: CLIP, features: Tensor) -> Tensor:
    """What the image tower makes of pooled features ``[n, channels]``: ``[n, dim]``, not normalised."""
    trunk = model.visual.trunk
    hidden = trunk.act(trunk.conv_head(features[:, :, None, None]))
    out: Tensor = trunk.classifier(torch.flatten(hidden, 1))
    return out


def align(
    start: Path, out: Path, train: Sequence[Garment], images: Pixels, val: Sequence[Garment], val_images: Pixels, *,
    recipe: AlignmentRecipe = AlignmentRecipe(), seed: int = 7, progress: Callable[[str], None] = print,
) -> EncoderReport:
    """Continue from the encoder in ``start``; export the best weights on ``val`` to ``out`` and return their report.

    ``images`` is ``[takes, n, size, size, 3]``; ``val_images`` ``[n, size, size, 3]``.
    """
    tokenizer = load_tokenizer(start / VOCABULARY_FILE)
    torch.manual_seed(seed)
    rng = random.Random(f"{seed}/alignment")
    model = new_model(tokenizer.vocab_size)
    model.load_state_dict(load_file(str(start / WEIGHTS_FILE)))
    model.eval()   # the tower's batch norms stay as they are
    features = _views(model, images, recipe.views, rng)
    progress(f"features of {features.shape[0]} x {features.shape[1]} images")
    pictures = [Image.fromarray(image) for image in val_images]
    codes = attribute_codes(train)
    helpers = losses.Helpers(model.text_projection.shape[1])
    learned = _learned(model)
    optimiser = torch.optim.AdamW(
        [{"params": [p for p in learned if p.ndim >= 2], "weight_decay": recipe.weight_decay},
         {"params": [*(p for p in learned if p.ndim < 2), *helpers.parameters()], "weight_decay": 0.0}],
        lr=recipe.learning_rate, betas=(0.9, 0.98))
    average = copy.deepcopy(model)
    best, kept = -1.0, None
    for step in range(recipe.steps):
        for group in optimiser.param_groups:
            group["lr"] = recipe.learning_rate * _share(step, recipe)
        rows = np.array(rng.sample(range(len(train)), min(recipe.batch_size, len(train))))
        views = torch.tensor([rng.randrange(len(features)) for _ in rows])
        raw = projected(model, features[views, torch.from_numpy(rows)].float())
        garments = [train[row] for row in rows]
        partials = write_partials(garments, codes[rows], recipe.partials, rng)
        book = write_prompts(rng, recipe.prompted)
        captions = [full_caption(one.attributes, rng) for one in garments[:recipe.captioned]]
        full = text_features(model, tokenizer(captions))
        part = text_features(model, tokenizer(partials.texts))
        names = text_features(model, tokenizer(book.texts))
        image, known = F.normalize(raw, dim=-1), torch.from_numpy(codes[rows])
        loss = (
            losses.contrastive(image[:len(full)], full, model.logit_scale.exp())
            + recipe.partial_weight * losses.multi_positive(
                image, part, torch.from_numpy(partials.fits), helpers.partial.exp())
            + recipe.naming_weight * losses.naming(image, names, book, known, helpers.prompt.exp())
            + recipe.reading_weight * helpers.reading(raw, known))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 2.0)
        optimiser.step()
        with torch.no_grad():
            for scale in (model.logit_scale, helpers.partial, helpers.prompt):
                scale.clamp_(0, math.log(100))
            keep = min(recipe.average_decay, step / (step + 10))
            for mean, now in zip(_learned(average), learned, strict=True):
                mean.lerp_(now, 1 - keep)
        if (step + 1) % recipe.evaluate_every and step + 1 < recipe.steps:
            continue
        report = evaluate_sample_encoder(ModelInTraining(average, tokenizer), val, pictures, seed=seed)
        quality = report.recall_at_1 + report.mean_attribute_accuracy
        if kept is None or quality > best:
            best, kept = quality, report
            export(out, average.state_dict(), start / VOCABULARY_FILE)
        progress(f"step {step + 1}/{recipe.steps} loss {loss.item():.3f} R@1 {report.recall_at_1:.3f} "
                 f"attributes {report.mean_attribute_accuracy:.4f} ("
                 + " ".join(f"{key} {one.accuracy:.3f}" for key, one in report.attribute_accuracy.items()) + ")"
                 + (" kept" if kept is report else ""))
    assert kept is not None, "a recipe has at least one step"
    return kept


def _learned(model: CLIP) -> list[torch.nn.Parameter]:
    """All weights but those of the image tower before its pooling."""
    trunk = model.visual.trunk
    head = {id(p) for part in (trunk.conv_head, trunk.classifier) for p in part.parameters()}
    return [p for name, p in model.named_parameters() if not name.startswith("visual.") or id(p) in head]


@torch.inference_mode()
def _pooled_all(model: CLIP, images: Pixels, change: Callable[[Pixels], Pixels]) -> Tensor:
    return torch.cat([pooled(model, change(np.array(images[i : i + _CHUNK]))).half()
                      for i in range(0, len(images), _CHUNK)])


def _views(model: CLIP, images: Pixels, views: int, rng: random.Random) -> Tensor:
    """Pooled features of each rendering and each of its jittered views, ``[takes * views, n, channels]``."""
    made = [_pooled_all(model, take, lambda pixels: jitter(pixels, rng)) for take in images for _ in range(views)]
    return torch.stack(made).clone()   # out of inference mode


def _share(step: int, recipe: AlignmentRecipe) -> float:
    """Linear warm-up, then half a cosine."""
    done = step / recipe.steps
    return min(1.0, (done + 1e-4) / recipe.warm_up) * max((1 + math.cos(math.pi * done)) / 2, 1e-3)
