"""Hyperparameters of a training: those of the paper, of its published code, and of the sample."""

from __future__ import annotations

from collections.abc import Mapping
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
