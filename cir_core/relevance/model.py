"""A trained relevance model: queries and candidates to vectors, vectors to scores; loaded by its spec."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from cir_core.encoders.torch_encoder import autocast, choose_device, choose_precision, split
from cir_core.errors import RelevanceUnavailable
from cir_core.images.pixels import pad_to_ratio
from cir_core.relevance.backbones.base import RelevanceBackbone
from cir_core.relevance.backbones.loading import load_relevance_backbone
from cir_core.relevance.checkpoint import Checkpoint, RelevanceCard, load_checkpoint
from cir_core.relevance.qformer import RelevanceNetwork
from cir_core.relevance.scores import Reading, as_scored, gallery_scores
from cir_core.relevance.where import BUNDLED, folder_of

_loading = threading.Lock()
Tokens = npt.NDArray[np.float16]     # [n, tokens, dim]
Queries = npt.NDArray[np.float32]    # [n, dim], unit rows
_BATCH = 32


@dataclass(frozen=True)
class RelevanceIdentity:
    """``spec``: as in settings; ``revision``: 16 hex digits, equal if scores are comparable."""

    spec: str
    revision: str


class RelevanceModel:
    """Scores of images for a reference image and a modification text. Thread-safe.

    Higher is more relevant; scores are cosines without temperature (T-21), comparable only within one revision.
    """

    def __init__(
        self, spec: str, checkpoint: Checkpoint, backbone: RelevanceBackbone, *, device: torch.device,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        card = checkpoint.card
        if backbone.identity.revision != card.backbone_revision:
            raise RelevanceUnavailable(
                f"Relevance model {spec} was trained on {card.backbone}, revision {card.backbone_revision}; "
                f"the model of this name here has revision {backbone.identity.revision}. Use the weights it was "
                "trained on, or train again with `cirque relevance train`.")
        self.identity = RelevanceIdentity(spec, checkpoint.revision)
        self.card: RelevanceCard = card
        parts = backbone.new_parts()
        self.tokens, self.dim = parts.tokens, parts.dim
        network = RelevanceNetwork(parts)
        try:
            network.load_state_dict({name: value.float() for name, value in checkpoint.weights.items()})
        except RuntimeError as error:   # the first line says only that something is wrong
            raise RelevanceUnavailable(
                f"The weights of relevance model {spec} do not fit its backbone {card.backbone}: "
                f"{str(error).splitlines()[-1].strip()} Copy both files again, or train the model again.") from error
        if not all(bool(torch.isfinite(value).all()) for value in network.state_dict().values()):
            raise RelevanceUnavailable(f"The weights of relevance model {spec} have numbers that are not finite. Train "
                                       "the model again.")
        self.temperature = float(network.temperature.detach())
        self._network = network.eval().requires_grad_(False).to(device)
        self._backbone, self._device, self._dtype = backbone, device, dtype
        self._lock = threading.Lock()

    @property
    def reading(self) -> Reading:
        return self.card.reading

    def encode_candidates(self, images: Sequence[Image.Image]) -> Tokens:
        """``[n, tokens, dim]`` float16: unit rows for the reading "max", rows whose mean is one for "mean"
        (:func:`~cir_core.relevance.scores.as_scored`). Images are RGB, upright."""
        rows = [np.zeros((0, self.tokens, self.dim), np.float16)]
        for part in split(images, _BATCH):
            patches = self._patches(part)
            with self._lock, torch.inference_mode(), autocast(self._device, self._dtype):
                tokens = as_scored(self._network.candidates(patches).float(), self.reading)
                rows.append(tokens.half().cpu().numpy())
        return np.concatenate(rows)

    def encode_queries(self, images: Sequence[Image.Image], texts: Sequence[str]) -> Queries:
        """``[n, dim]`` float32 unit rows of as many references as modification texts."""
        rows = [np.zeros((0, self.dim), np.float32)]
        for part in split(list(zip(images, texts, strict=True)), _BATCH):
            patches = self._patches([image for image, _ in part])
            words = self._backbone.texts([text for _, text in part]).to(self._device)
            with self._lock, torch.inference_mode(), autocast(self._device, self._dtype):
                rows.append(self._network.query(patches, words).float().cpu().numpy())
        return np.concatenate(rows)

    def scores(self, query: npt.NDArray[np.float32], candidates: Tokens) -> npt.NDArray[np.float32]:
        """``[n]`` scores of one query ``[dim]`` with ``[n, tokens, dim]`` candidates."""
        return gallery_scores(query, candidates, self.reading)

    def _patches(self, images: Sequence[Image.Image]) -> torch.Tensor:
        padded = [pad_to_ratio(image, self.card.pad) for image in images]
        return torch.from_numpy(self._backbone.image_patches(padded)).float().to(self._device)


def load_relevance(
    spec: str = BUNDLED, *, device: str = "auto", precision: str = "auto", allow_downloads: bool = False
) -> RelevanceModel:
    """The model of ``spec``; loaded once a process. Raises ``RelevanceUnavailable``, ``EncoderUnavailable``."""
    with _loading:
        return _load(spec.strip(), device, precision, allow_downloads)


@lru_cache(maxsize=4)
def _load(spec: str, device: str, precision: str, allow_downloads: bool) -> RelevanceModel:
    checkpoint = load_checkpoint(folder_of(spec))
    backbone = load_relevance_backbone(checkpoint.card.backbone, device=device, allow_downloads=allow_downloads,
                                       size=checkpoint.card.size)
    chosen = choose_device(device)
    return RelevanceModel(spec, checkpoint, backbone, device=chosen, dtype=choose_precision(precision, chosen))
