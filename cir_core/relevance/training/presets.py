"""Hyperparameters of a training: those of the paper, of its published code, and of the sample. Schedule of a
training: its epochs, their steps and batches, and the learning rate of each step.

Epochs of CIRQRS are numbered from 0; those of the start, which an untrained network begins with, are negative.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cir_core.errors import RelevanceUnavailable
from cir_core.relevance.scores import Reading
from cir_core.relevance.training.negatives import Rule, Schedule
from cir_core.support.texts import quoted


@dataclass(frozen=True)
class TrainingPreset:
    """``epochs``, ``stages`` and ``negatives`` make the schedule; the learning rate falls from ``rate`` to ``rate *
    last_rate`` along half a cosine, epoch by epoch. A network of random weights begins with ``start`` epochs before
    these: its candidates learn the encoder's own image vectors, and its queries to find the target's among those of all
    images, and to be close to it. BLIP-2's Q-Former is trained already and needs none.
    """

    name: str
    epochs: int
    stages: int
    negatives: int
    rate: float
    rule: Rule = "top"
    reading: Reading = "mean"
    pad: float = 1.5
    batch: int = 32
    weight_decay: float = 0.05
    last_rate: float = 0.01
    repeated: bool = True          # draw negatives with replacement; else each once before any again
    start: int = 12                # epochs
    first_rate: float = 8e-3       # of the start, by Muon
    first_batch: int = 64
    first_temperature: float = 0.05
    first_cosine: float = 5.0      # weight of the distance of query and target in the start
    start_temperature: float | None = None   # None: what the network begins with
    least_temperature: float = 0.005         # below it, pairs of hardly any difference count as solved
    clip: float | None = None      # largest norm of the gradient
    together: int = 1              # batches that share out their queries by length of text, to save padding
    half: bool = False             # store the weights in half precision
    size: Mapping[str, int] = field(default_factory=dict)

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.epochs, self.stages, self.negatives)


PRESETS = ("cirqrs-paper", "qure-code", "sample")
_CIRR = {"cirr"}
_PAPER = TrainingPreset("cirqrs-paper", epochs=30, stages=5, negatives=50, rate=5e-6)
_CODE = TrainingPreset("qure-code", epochs=30, stages=6, negatives=50, rate=5e-6, rule="drops", reading="max", pad=1.25,
                       repeated=False)
_SAMPLE = TrainingPreset("sample", epochs=2, stages=2, negatives=12, rate=1e-5, pad=0.0, batch=64,
                         start_temperature=0.04, least_temperature=0.03, clip=1.0, together=16, half=True,
                         start=6)   # of six sets of queries


def preset_of(
    name: str, dataset: str, *, epochs: int | None = None, rule: Rule | None = None, negatives: int | None = None
) -> TrainingPreset:
    """The preset ``name`` for a data set: CIRR has 50 epochs, 6 stages, 100 negatives and twice the rate (section 5.1
    and the published configurations); all others are trained like FashionIQ. ``negatives`` instead of its number, which
    section 5.5 and Fig. 4 vary; of the rule "top" it has to stay one or more through all halvings. Raises
    ``RelevanceUnavailable``."""
    found = {one.name: one for one in (_PAPER, _CODE, _SAMPLE)}.get(name)
    if found is None:
        raise RelevanceUnavailable(f"No preset {quoted(name)}. Choose one of {', '.join(PRESETS)}.")
    if dataset in _CIRR and found is not _SAMPLE:
        found = replace(found, epochs=50, stages=6, negatives=100, rate=1e-5)
    if epochs is not None:
        found = replace(found, epochs=epochs, stages=min(found.stages, epochs))
    found = replace(found, rule=rule or found.rule)
    return found if negatives is None else _with_negatives(found, negatives)


def _with_negatives(preset: TrainingPreset, count: int) -> TrainingPreset:
    if preset.rule != "top":
        raise RelevanceUnavailable(f"--negative-count works only with the rule top; {preset.rule} decides the number "
                                   "itself. Leave the number out, or choose top.")
    halvings = max(len(preset.schedule.rebuilds) - 1, 0)
    if count < 1 << halvings:
        raise RelevanceUnavailable(
            f"{count} negatives, halved {halvings} times in {preset.epochs} epochs of {preset.stages} stages, would "
            f"reach 0. Use at least {1 << halvings}.")
    return replace(preset, negatives=count)


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
