"""Schedule of a training: its epochs, their steps and batches, and the learning rate of each step.

Epochs of CIRQRS are numbered from 0; those of the start, which an untrained network begins with, are negative.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from cir_core.relevance.training.presets import TrainingPreset

_WARM_UP = 20   # the rate rises over the first 1/20 of the start


@dataclass(frozen=True)
class Plan:
    """``queries``: how many there are, and ``further`` ones in the start; ``untrained``: the network needs the start;
    ``processes``: share each batch."""

    preset: TrainingPreset
    queries: int
    untrained: bool
    processes: int = 1
    further: int = 0

    @property
    def epochs(self) -> range:
        return range(-self.preset.start if self.untrained else 0, self.preset.epochs)

    def called(self, epoch: int) -> str:
        """Label for people: "start, epoch 2 of 8", "epoch 1 of 2"."""
        if epoch < 0:
            return f"start, epoch {epoch - self.epochs.start + 1} of {-self.epochs.start}"
        return f"epoch {epoch + 1} of {self.epochs.stop}"

    def batch(self, epoch: int) -> int:
        return self.preset.first_batch if epoch < 0 else self.preset.batch

    def count(self, epoch: int) -> int:
        """Queries of an epoch."""
        return self.queries + self.further if epoch < 0 else self.queries

    def steps(self, epoch: int) -> int:
        return math.ceil(self.count(epoch) / self.batch(epoch))

    def before(self, epoch: int) -> int:
        """Steps before ``epoch``."""
        return sum(self.steps(one) for one in self.epochs if one < epoch)

    @property
    def last(self) -> int:
        return self.before(self.epochs.stop)

    def rate(self, epoch: int, step: int) -> float:
        """Half a cosine: step by step after a short warm-up in the start, epoch by epoch in CIRQRS."""
        preset = self.preset
        if epoch >= 0:
            return preset.rate * _falling(epoch / preset.epochs, preset.last_rate)
        done = (step + 1) / self.before(0)
        return preset.first_rate * min(1.0, _WARM_UP * done) * _falling(done, preset.last_rate)

    def batches(self, epoch: int, lengths: Sequence[int], rng: random.Random) -> list[list[int]]:
        """Queries of each step, in random order; ``lengths`` of their texts.

        ``preset.together`` batches share out their queries by length, so that short texts are not padded to the length
        of long ones.
        """
        size = self.batch(epoch)
        order = list(range(self.count(epoch)))
        rng.shuffle(order)
        full = len(order) - len(order) % size
        rest = [order[full:]] if full < len(order) else []
        if rest and len(rest[0]) < self.processes:   # each has one at least
            rest[0] += order[: self.processes - len(rest[0])]
        if self.preset.together == 1:
            return [order[start : start + size] for start in range(0, full, size)] + rest
        batches = []
        for start in range(0, full, size * self.preset.together):
            part = sorted(order[start : min(start + size * self.preset.together, full)], key=lengths.__getitem__)
            batches += [part[place : place + size] for place in range(0, len(part), size)]
        rng.shuffle(batches)
        return batches + rest


def _falling(done: float, last: float) -> float:
    """Half a cosine from 1 to ``last``."""
    return last + (1 - last) * (1 + math.cos(math.pi * done)) / 2
