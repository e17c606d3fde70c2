"""Hyperparameters of the bundled encoder's training, and its learning rate schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingRecipe:
    """Everything the result depends on besides the data, the seed and the epochs."""

    batch_size: int = 96
    captioned: int = 48            # images of a batch paired with full captions
    partials: int = 24             # partial captions per batch
    prompted: int = 4              # attribute groups per batch trained on prompts
    image_epochs: int = 16         # first epochs: only the image tower learns, from the heads
    locked_epochs: int = 10        # last epochs: only the image tower learns, from fixed texts
    learning_rate: float = 1.5e-3
    weight_decay: float = 0.05
    warm_up: float = 0.05          # share of all steps
    average_decay: float = 0.99    # of the weights' moving average, which is exported
    partial_weight: float = 0.5
    naming_weight: float = 2.0
    reading_weight: float = 3.0
    takes: int = 2                 # renderings per garment
    bfloat16: bool = True


def learning_rate(recipe: TrainingRecipe, step: int, epochs: int, steps_per_epoch: int) -> float:
    """Linear warm-up and half a cosine; separate for the epochs with locked texts."""
    first = max(0, epochs - recipe.locked_epochs) * steps_per_epoch
    if step >= first:
        done = (step - first) / max(1, recipe.locked_epochs * steps_per_epoch)
    else:
        done = step / first
    rise = min(1.0, (done + 1e-3) / max(recipe.warm_up, 1e-3))
    fall = (1 + math.cos(math.pi * min(1.0, done))) / 2
    return recipe.learning_rate * rise * max(fall, 1e-3)
