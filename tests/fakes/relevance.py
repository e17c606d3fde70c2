"""Small relevance models of random weights, and galleries of a few images for them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from cir_core.gallery.gallery import Gallery, open_gallery
from cir_core.gallery.indexing import index_folder
from cir_core.relevance.backbones.base import RelevanceBackbone
from cir_core.relevance.backbones.open_clip import OpenClipBackbone, SmallQFormer
from cir_core.relevance.checkpoint import Checkpoint, RelevanceCard, load_checkpoint, save_checkpoint
from cir_core.relevance.model import RelevanceModel
from cir_core.relevance.qformer import RelevanceNetwork
from cir_core.relevance.scores import Reading
from tests.fakes.encoder import FakeEncoder

SIZE = {"hidden": 32, "layers": 2, "heads": 2, "intermediate": 48, "dim": 16, "tokens": 4}


@cache
def small_backbone() -> OpenClipBackbone:
    return OpenClipBackbone("atelier", device="cpu", size=SmallQFormer(**SIZE))


def network_of(backbone: RelevanceBackbone, *, seed: int = 0) -> RelevanceNetwork:
    torch.manual_seed(seed)
    network = RelevanceNetwork(backbone.new_parts())
    with torch.no_grad():   # far enough from 0 that each input changes the output
        for value in network.parameters():
            if value.ndim > 1:
                value.copy_(torch.randn_like(value) * 0.2)
    return network.eval()


def save_random(
    folder: Path, *, backbone: RelevanceBackbone | None = None, reading: Reading = "mean", seed: int = 0,
    pad: float = 0.0, half: bool = False, revision: str = "",
) -> Checkpoint:
    backbone = backbone or small_backbone()
    card = RelevanceCard(
        backbone.identity.spec, revision or backbone.identity.revision, reading, pad, "cirqrs-paper", "sample",
        size=SIZE)
    return save_checkpoint(folder, card, network_of(backbone, seed=seed).state_dict(), half=half)


def random_model(folder: Path, *, backbone: RelevanceBackbone | None = None, **options: object) -> RelevanceModel:
    backbone = backbone or small_backbone()
    save_random(folder, backbone=backbone, **options)  # type: ignore[arg-type]
    return RelevanceModel(str(folder), load_checkpoint(folder), backbone, device=torch.device("cpu"))


def noise(seed: int, size: tuple[int, int] = (40, 50)) -> Image.Image:
    """An image of coarse noise: every pixel of an encoder's input differs from image to image."""
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 255, (5, 4, 3), dtype=np.uint8)).resize(size)


def write_photos(folder: Path, count: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        noise(number).save(folder / f"{number:02}.png")
    return folder


def gallery_of(folder: Path, home: Path, *, name: str = "g") -> Gallery:
    """Indexes ``folder``, and again after changes: a new generation."""
    index_folder(folder, name=name, encoder=FakeEncoder(), home=home)
    return open_gallery(name, home=home)
