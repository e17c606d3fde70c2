"""One training run of the bundled encoder: state, epochs, losses."""

from __future__ import annotations

import json
import math
import random
import zipfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor

from benchmarks.training import losses
from benchmarks.training.bpe import train_vocabulary
from benchmarks.training.recipe import TrainingRecipe, learning_rate
from benchmarks.training.sample_data import attribute_codes, batches
from benchmarks.training.sample_model import (
    VOCABULARY_FILE,
    WEIGHTS_FILE,
    ModelInTraining,
    load_tokenizer,
    new_model,
    normalised,
    text_features,
)
from benchmarks.training.sample_texts import write_partials, write_prompts
from cir_core.errors import SettingsError
from cir_core.sample.atelier.captions import full_caption
from cir_core.sample.atelier.catalogue import Garment
from cir_core.sample.evaluate_encoder import EncoderReport, evaluate_sample_encoder
from cir_core.sample.relevance_data import Pixels

_CAPTIONS_FOR_VOCABULARY = 20_000


class TrainingRun:
    """State of one training run: model, optimiser, moving average of the weights."""

    def __init__(
        self, cache: Path, train: Sequence[Garment], recipe: TrainingRecipe, epochs: int, seed: int,
        start: Path | None = None,
    ) -> None:
        self.cache, self.train, self.recipe = cache, train, recipe
        self.epochs, self.seed = epochs, seed
        self.epoch, self.step, self.best = 0, 0, -1.0
        self.codes = attribute_codes(train)
        self.vocabulary = cache / VOCABULARY_FILE
        if start is not None:
            cache.mkdir(parents=True, exist_ok=True)
            self.vocabulary.write_bytes((start / VOCABULARY_FILE).read_bytes())
        elif not self.vocabulary.is_file():
            rng = random.Random(seed)
            texts = [
                full_caption(rng.choice(train).attributes, rng)
                for _ in range(_CAPTIONS_FOR_VOCABULARY)
            ]
            cache.mkdir(parents=True, exist_ok=True)
            train_vocabulary(texts, self.vocabulary)
        self.tokenizer = load_tokenizer(self.vocabulary)
        torch.manual_seed(seed)
        self.model = new_model(self.tokenizer.vocab_size).to(memory_format=torch.channels_last)
        if start is not None:
            self.model.load_state_dict(load_file(str(start / WEIGHTS_FILE)))
        self.helpers = losses.Helpers(self.model.text_projection.shape[1])
        named = [*self.model.named_parameters(), *self.helpers.named_parameters()]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": [p for _, p in named if p.ndim >= 2], "weight_decay": recipe.weight_decay},
                {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0},
            ],
            lr=recipe.learning_rate, betas=(0.9, 0.98),
        )
        self.average = {k: v.detach().clone() for k, v in self.model.state_dict().items()}

    @property
    def images_only(self) -> bool:
        return self.epoch < self.recipe.image_epochs

    @property
    def texts_locked(self) -> bool:
        return self.epoch >= self.epochs - self.recipe.locked_epochs

    @property
    def steps_per_epoch(self) -> int:
        return len(self.train) // self.recipe.batch_size

    def one_epoch(self, images: Pixels) -> float:
        """Every garment once; the mean loss. ``images`` is ``[takes, n, size, size, 3]``."""
        if self.epoch == self.epochs - self.recipe.locked_epochs:
            self.model.load_state_dict(self.average)  # the locked texts are those of the average
        self.model.train()
        rng = random.Random(f"{self.seed}/{self.epoch}")
        total = 0.0
        for batch in batches(
            self.train, images, batch_size=self.recipe.batch_size, rng=rng,
            siblings=1 if self.images_only else 2,
        ):
            for group in self.optimiser.param_groups:
                group["lr"] = learning_rate(self.recipe, self.step, self.epochs, self.steps_per_epoch)
            loss = self.loss(batch.pixels, batch.rows, rng)
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
            self.optimiser.step()
            self.step += 1
            self._after_step()
            total += loss.item()
        self.epoch += 1
        return total / max(1, self.steps_per_epoch)

    def loss(self, pixels: Pixels, rows: npt.NDArray[np.int64], rng: random.Random) -> Tensor:
        """The weighted sum of the losses of :mod:`benchmarks.training.losses`."""
        codes = self.codes[rows]
        known = torch.from_numpy(codes)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.recipe.bfloat16):
            raw = self.model.encode_image(normalised(pixels))
        raw = raw.float()
        reading = self.recipe.reading_weight * self.helpers.reading(raw, known)
        if self.images_only:
            # Without texts a step takes half as long, and small details need many steps.
            return reading
        garments = [self.train[row] for row in rows]
        captioned = garments[: self.recipe.captioned]  # siblings are adjacent
        captions = [full_caption(garment.attributes, rng) for garment in captioned]
        partials = write_partials(garments, codes, self.recipe.partials, rng)
        book = write_prompts(rng, self.recipe.prompted)
        with (
            torch.autocast("cpu", torch.bfloat16, enabled=self.recipe.bfloat16),
            torch.set_grad_enabled(not self.texts_locked),
        ):
            # A separate batch: short texts would otherwise be padded to the long ones.
            full = text_features(self.model, self.tokenizer(captions))
            part = text_features(self.model, self.tokenizer(partials.texts))
            names = text_features(self.model, self.tokenizer(book.texts))
        image = F.normalize(raw, dim=-1)
        fits = torch.from_numpy(partials.fits)
        return (
            losses.contrastive(image[: len(full)], full, self.model.logit_scale.exp())
            + self.recipe.partial_weight
            * losses.multi_positive(image, part, fits, self.helpers.partial.exp())
            + self.recipe.naming_weight
            * losses.naming(image, names, book, known, self.helpers.prompt.exp())
            + reading
        )

    @torch.no_grad()
    def _after_step(self) -> None:
        self.model.logit_scale.clamp_(0, math.log(100))
        for scale in (self.helpers.partial, self.helpers.prompt):
            scale.clamp_(0, math.log(100))
        # The moving average starts short, so that the noise of the first epochs does not dominate it.
        keep = min(self.recipe.average_decay, self.step / (self.step + 10))
        for name, value in self.model.state_dict().items():
            if value.is_floating_point():
                self.average[name].lerp_(value, 1 - keep)
            else:
                self.average[name].copy_(value)

    def evaluate(self, garments: Sequence[Garment], images: Pixels) -> EncoderReport:
        """Evaluate the moving average on ``garments``, in single precision."""
        judge = new_model(self.tokenizer.vocab_size)
        judge.load_state_dict(self.average)
        encoder = ModelInTraining(judge.eval(), self.tokenizer)
        pictures = [Image.fromarray(image) for image in images]
        return evaluate_sample_encoder(encoder, garments, pictures, seed=self.seed)

    def save(self) -> None:
        partial = self.cache / "state.partial"
        torch.save(
            {
                "model": self.model.state_dict(), "helpers": self.helpers.state_dict(),
                "optimiser": self.optimiser.state_dict(), "average": self.average,
                "epoch": self.epoch, "step": self.step, "best": self.best,
                "recipe": json.dumps(asdict(self.recipe)), "seed": self.seed,
            },
            partial,
        )
        partial.rename(self.cache / "state.pt")

    def resume(self) -> bool:
        """Resume from ``state.pt`` if the cache has one of the same seed. Epochs may differ."""
        path = self.cache / "state.pt"
        if not path.is_file():
            return False
        # PyTorch does not look at the checksums that it wrote.
        try:
            with zipfile.ZipFile(path) as parts:
                damaged = parts.testzip()
        except (zipfile.BadZipFile, OSError) as error:
            damaged = str(error)
        if damaged:
            raise SettingsError(f"The training state {path} is damaged ({damaged}). Remove it to start again.")
        saved = torch.load(path, weights_only=True)
        if saved["seed"] != self.seed or len(saved["average"]) != len(self.average):
            return False
        self.model.load_state_dict(saved["model"])
        self.helpers.load_state_dict(saved["helpers"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.average = saved["average"]
        self.epoch, self.step, self.best = saved["epoch"], saved["step"], saved["best"]
        return True
