"""Train a relevance model: epochs, rebuilds of negatives, states to resume from, validation.

A run repeats from its seed: what a step sees depends on seed, epoch and place in the epoch alone, so that a run killed
at any moment and resumed makes the same steps as one that was not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from cir_core.errors import GalleryError, RelevanceUnavailable
from cir_core.gallery.paths import locked
from cir_core.relevance.backbones.base import Patches, RelevanceBackbone, Texts
from cir_core.relevance.checkpoint import Checkpoint, RelevanceCard, load_checkpoint, save_checkpoint
from cir_core.relevance.qformer import RelevanceNetwork
from cir_core.relevance.scores import as_scored, pair_scores
from cir_core.relevance.training.data import TrainingData, TrainingQuery, spoken
from cir_core.relevance.training.epoch_negatives import EpochNegatives
from cir_core.relevance.training.optimisation import MuonAdamW, alignment_loss, pair_loss, reproduction_loss
from cir_core.relevance.training.patches import picked, training_patches
from cir_core.relevance.training.presets import Plan, TrainingPreset
from cir_core.relevance.training.scoring import CHUNK, RememberedTexts, Scoring
from cir_core.relevance.training.states import CURVES_FILE, TrainingLog, TrainingStates, draw_curves

if TYPE_CHECKING:
    from accelerate import PartialState

Progress = Callable[[str, int, int], None]   # what is done now, how much of it, of how much
_SAVE_EVERY = 200    # steps
_ONE_CANDIDATE_OF = 8   # queries of a batch, in the start
_LONGEST_WAIT = timedelta(days=1)
_WORK = "work"       # patches, negatives and states inside the output folder


@dataclass(frozen=True)
class TrainingOutcome:
    checkpoint: Checkpoint
    recall: dict[int, float]     # at 1, 10, 50 on the validation queries, after the last epoch
    steps: int
    resumed_at: int              # steps that an interrupted run had finished
    seconds: float
    curves: Path


def train_relevance(
    data: TrainingData, backbone: RelevanceBackbone, preset: TrainingPreset, out: Path, *, seed: int = 1000,
    precision: str = "auto", device: str = "auto", work: Path | None = None, progress: Progress | None = None,
) -> TrainingOutcome:
    """Train and write the model to ``out``. Run it again after an interruption: it resumes.

    ``precision``: auto (fp16 on a GPU), fp16, bf16 or fp32. ``device``: "cpu", or any other for the GPU if there is
    one; CUDA_VISIBLE_DEVICES says which. Under ``accelerate launch`` several processes share each batch. ``work`` keeps
    image features between trainings (default: inside ``out``).

    Raises ``RelevanceUnavailable`` if ``out`` has a training with other settings or another one writes to it, for fp16
    without a GPU, and ``GalleryError`` when the disk is full.
    """
    cpu = _on_cpu(device)
    if cpu and precision == "fp16":
        raise RelevanceUnavailable("Precision fp16 needs a GPU. Use bf16 or fp32.")
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if _processes(cpu).is_main_process:   # holds the lock for all processes
            try:
                stack.enter_context(locked(out))
            except GalleryError as error:
                raise RelevanceUnavailable(f"Another training is writing to {out}. Wait until it is done, or choose "
                                           "another --out.") from error
        return _Training(data, backbone, preset, out, seed, precision, cpu, work or out / _WORK, progress).run()


def own_device(wanted: str) -> str:
    """``wanted``, or under ``accelerate launch`` the GPU of this process: each has the frozen encoder on its own."""
    if _on_cpu(wanted) or _processes(False).num_processes == 1:
        return wanted
    return str(_processes(False).device)


def _on_cpu(device: str) -> bool:
    return device == "cpu" or not torch.cuda.is_available()


def _processes(cpu: bool) -> PartialState:
    """Of this training. The others wait while the first computes features of all images, for hours perhaps."""
    from accelerate import PartialState

    return PartialState(cpu=cpu, timeout=_LONGEST_WAIT)


class _Training:
    def __init__(
        self, data: TrainingData, backbone: RelevanceBackbone, preset: TrainingPreset, out: Path, seed: int,
        precision: str, cpu: bool, work: Path, progress: Progress | None,
    ) -> None:
        from accelerate import Accelerator
        from accelerate.utils import DistributedDataParallelKwargs, set_seed

        self.data, self.backbone, self.preset = data, backbone, preset
        self.out, self.seed, self.progress = out, seed, progress
        mixed = {"fp32": "no", "auto": "no" if cpu else "fp16"}.get(precision, precision)
        self.accelerator = Accelerator(mixed_precision=mixed, cpu=cpu, kwargs_handlers=[
            DistributedDataParallelKwargs(find_unused_parameters=True)])   # a step trains parts of the network
        self.states = TrainingStates(self.accelerator, out)
        self.share = slice(self.accelerator.process_index, None, self.accelerator.num_processes)
        set_seed(seed)
        parts = backbone.new_parts()
        self.size = parts.size
        self.states.check_settings(   # before features of all images, which may take hours
            repr((asdict(preset), dict(self.size), seed, data.digest, backbone.identity.revision,
                  self.accelerator.mixed_precision, self.accelerator.num_processes)), out / _WORK / "settings.txt")
        with self.accelerator.main_process_first():   # the others read what it made
            self.patches: Patches = training_patches(work, data, backbone, preset.pad, progress)
        self.queries = [*data.queries, *(data.further if preset.start else ())]   # those of the start alone come last
        self.texts = RememberedTexts(backbone, [
            text for query in (*self.queries, *data.validation) for text in spoken(query)])
        self.shown = np.unique(np.concatenate([*data.pools.values(), [query.reference for query in self.queries]]))
        self.vectors = self._own_vectors() if preset.start else None
        self.plan = Plan(preset, len(data.queries), self.vectors is not None, self.accelerator.num_processes,
                         len(self.queries) - len(data.queries))
        network = RelevanceNetwork(parts)
        if preset.start_temperature:
            network.temperature.data.fill_(preset.start_temperature)
        self.optimiser = MuonAdamW(_groups(network, preset.weight_decay), preset.rate)
        self.network, self.optimiser = self.accelerator.prepare(network, self.optimiser)
        self.scoring = Scoring(lambda: self.bare, self.texts, self._images, preset.reading, self.accelerator.device,
                               self.accelerator.autocast)
        self.negatives = EpochNegatives(preset, data.queries, data.pools, seed, out / _WORK)
        self.step = 0

    def _own_vectors(self) -> Tensor | None:
        """``[shown, d]`` unit rows: the encoder's vectors of the images ``shown`` less the mean of all images, which
        they have in common, or ``None`` where the network needs no such start."""
        parts = []
        for start in range(0, self.data.images, CHUNK):
            rows = np.arange(start, min(start + CHUNK, self.data.images))
            found = self.backbone.vectors(torch.from_numpy(picked(self.patches, rows)))
            if found is None:   # the first says it for all
                return None
            parts.append(found)
        vectors = torch.cat(parts)
        centred = F.normalize(vectors - vectors.mean(dim=0), dim=-1)
        return centred[torch.from_numpy(self.shown)].to(self.accelerator.device)

    @property
    def bare(self) -> RelevanceNetwork:
        found: RelevanceNetwork = self.accelerator.unwrap_model(self.network)
        return found

    def run(self) -> TrainingOutcome:
        started = time.monotonic()
        resumed = self.step = self.states.resume()
        log = None
        if self.accelerator.is_main_process:
            log = TrainingLog(self.out, self.step, finished=self.step == self.plan.last)
        try:
            recall = self._all_epochs(log)
        finally:
            if log:
                log.close()
        if self.accelerator.is_main_process:
            save_checkpoint(self.out, self._card(recall), self.bare.state_dict(), half=self.preset.half)
            draw_curves(self.out, f"{self.preset.name} on {self.data.dataset}")
        self.accelerator.wait_for_everyone()
        checkpoint, curves = load_checkpoint(self.out), self.out / CURVES_FILE
        return TrainingOutcome(checkpoint, recall, self.step, resumed, time.monotonic() - started, curves)

    def _all_epochs(self, log: TrainingLog | None) -> dict[int, float]:
        """The validation recall after the last one."""
        recall: dict[int, float] = {}
        plan = self.plan
        for epoch in plan.epochs:
            if self.step < plan.before(epoch) + plan.steps(epoch) or epoch == plan.epochs[-1]:
                self._rebuild(epoch, log)
                self._epoch(epoch, log)
                recall = self.scoring.recall(self.data.validation, self.data.validation_pools)
                if log:
                    log.add(self.step, epoch=epoch, temperature=round(self.bare.temperature.item(), 5),
                            **{f"recall_at_{k}": round(share, 5) for k, share in recall.items()})
                self.states.save(self.step)
        return recall

    def _rebuild(self, epoch: int, log: TrainingLog | None) -> None:
        """Negatives of this epoch, from disk if they were chosen for it already."""
        if not self.negatives.load(epoch):
            self.negatives.chosen = self.scoring.negatives(
                self.data.queries, self.data.pools, self.preset.rule, self.negatives.count(epoch),
                self.progress and partial(self.progress, "choosing negatives"))
            self.accelerator.wait_for_everyone()
            if log:
                self.negatives.save(epoch)
        if log and self.negatives.is_new(epoch) and self.step == self.plan.before(epoch):
            log.add(self.step, epoch=epoch, rebuild=self.negatives.count(epoch) if self.preset.rule == "top" else None,
                    mean=self.negatives.mean)

    def _card(self, recall: dict[int, float]) -> RelevanceCard:
        preset, data = self.preset, self.data
        trained: dict[str, Any] = {"seed": self.seed, "epochs": preset.epochs, "negatives": preset.rule,
                                   "queries": len(data.queries), "images": data.images}
        if preset.rule == "top":
            trained["negative_count"] = preset.negatives
        if self.vectors is not None:
            trained |= {"epochs_before": preset.start, "queries_before": len(self.queries)}
        trained["recall"] = {f"R@{k}": round(share, 4) for k, share in recall.items()}
        return RelevanceCard(
            backbone=self.backbone.identity.spec, backbone_revision=self.backbone.identity.revision,
            reading=preset.reading, pad=preset.pad, preset=preset.name, dataset=data.dataset, size=dict(self.size),
            trained=trained,
        )

    def _epoch(self, epoch: int, log: TrainingLog | None) -> None:
        """The steps of ``epoch`` that are not done yet."""
        plan, rng, begin = self.plan, random.Random(f"{self.seed}/{epoch}"), self.plan.before(epoch)
        texts = [rng.choice(spoken(query)) for query in self.queries[: plan.count(epoch)]]   # captions in either order
        batches = plan.batches(epoch, [len(text.split()) for text in texts], rng)
        negatives = None if epoch < 0 else self.negatives.drawn(epoch, rng)
        self.network.train()
        for place, batch in enumerate(batches, begin):
            if place < self.step:
                continue
            for group in self.optimiser.param_groups:
                group["lr"] = plan.rate(epoch, place)
                group["orthogonal"] = epoch < 0 and group["matrices"]
            mine = np.array(batch)[self.share]
            loss = self._loss(mine, texts, negatives)
            self._descend(loss)
            self.step = place + 1
            mean = float(self.accelerator.reduce(loss.detach(), "mean"))   # by every process
            if log:
                log.add(self.step, epoch=epoch, loss=round(mean, 6))
            if self.progress:
                self.progress(plan.called(epoch), self.step, plan.last)
            if self.step % _SAVE_EVERY == 0 and self.step < begin + len(batches):   # the last is saved with its recall
                self.states.save(self.step)

    def _loss(
        self, rows: npt.NDArray[np.int64], texts: Sequence[str], negatives: npt.NDArray[np.int64] | None
    ) -> Tensor:
        queries = [self.queries[row] for row in rows]
        references = self._images(np.array([query.reference for query in queries]))
        words = self.texts([texts[row] for row in rows]).to(self.accelerator.device)
        if negatives is None:
            return self._start_loss(queries, references, words)
        targets = np.array([query.target for query in queries])
        with self.accelerator.autocast():
            images = self._images(np.concatenate([targets, negatives[rows]]))
            vectors, tokens, temperature = self.network(references, words, images)
        scored = as_scored(tokens.float(), self.preset.reading).chunk(2)
        positive, negative = (pair_scores(vectors.float(), part, self.preset.reading) for part in scored)
        return pair_loss(positive, negative, temperature)

    def _start_loss(self, queries: Sequence[TrainingQuery], references: Tensor, words: Texts) -> Tensor:
        """Both parts of the start in each step. One after the other, candidates first, queries learn far more slowly:
        their tokens have settled on the images and hardly attend to the words. A query that finds its target need not
        be close to it, and what else it scores high is then worse: so queries learn the target's vector, too."""
        part = -(-len(queries) // _ONE_CANDIDATE_OF)
        with self.accelerator.autocast():
            vectors, tokens, _ = self.network(references, words, references[:part])
        assert self.vectors is not None
        targets, rows = (torch.from_numpy(np.searchsorted(self.shown, images)).to(vectors.device) for images in (
            [query.target for query in queries], [query.reference for query in queries[:part]]))
        vectors, tokens = vectors.float(), tokens.float()
        if self.preset.reading == "mean":   # their direction is all that is scored: each may hold a part of the vector
            tokens = F.normalize(tokens.mean(dim=1, keepdim=True), dim=-1)
        distance = reproduction_loss(vectors[:, None], self.vectors[targets])
        return (alignment_loss(vectors, self.vectors, targets, self.preset.first_temperature)
                + self.preset.first_cosine * distance + reproduction_loss(tokens, self.vectors[rows]))

    def _descend(self, loss: Tensor) -> None:
        self.optimiser.zero_grad()
        self.accelerator.backward(loss)
        if self.preset.clip:
            self.accelerator.clip_grad_norm_(self.network.parameters(), self.preset.clip)
        self.optimiser.step()
        with torch.no_grad():
            self.bare.temperature.clamp_(min=self.preset.least_temperature)

    def _images(self, rows: npt.NDArray[np.int64]) -> Tensor:
        return torch.from_numpy(picked(self.patches, rows)).to(self.accelerator.device)


def _groups(network: RelevanceNetwork, weight_decay: float) -> list[dict[str, Any]]:
    """Matrices for Muon; weight decay for these and the query tokens, not for biases, norms and the temperature, as in
    the published code."""
    named = list(network.parameters())
    return [{"params": [p for p in named if p.ndim == 2], "weight_decay": weight_decay, "matrices": True},
            {"params": [p for p in named if p.ndim > 2], "weight_decay": weight_decay, "matrices": False},
            {"params": [p for p in named if p.ndim < 2], "weight_decay": 0.0, "matrices": False}]
