"""Relevance models without training: scores by colour, and a real network of random weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from cir_core.gallery.gallery import Gallery
from cir_core.relevance.scores import set_score

CHANNELS = {"red": 0, "green": 1, "blue": 2}
Numbers = npt.NDArray[np.float32]


class ColourRelevance:
    """An image's score is its share of the colour that the text names, minus a tenth of its distance from the
    reference in that colour; numbers that can be written out. A text without a colour scores the reference's likeness
    alone. Counts its queries in ``asked``."""

    def __init__(self, gallery: Gallery, *, complete: bool = True, revision: str = "c" * 16) -> None:
        self.gallery, self.complete, self.revision = gallery, complete, revision
        self.asked: list[tuple[tuple[int, int, int], str]] = []

    @property
    def size(self) -> int:
        return len(self.gallery)

    @property
    def gallery_name(self) -> str:
        return self.gallery.name

    def query(self, reference: Image.Image, text: str) -> Numbers:
        seen = tuple(int(value) for value in np.asarray(reference.convert("RGB")).mean(axis=(0, 1)))
        self.asked.append((seen, text))
        wanted = [float(name in text) for name in CHANNELS]
        return np.array([*(value / 255 for value in seen), *wanted], np.float32)

    def scores_of(self, query: Numbers, rows: Sequence[int]) -> Numbers:
        found = []
        for row in rows:
            name = self.gallery.ids[row]   # r0g3b1
            colour = np.array([int(name[place]) / 3 for place in (1, 3, 5)])
            found.append(float(colour @ query[3:]) - 0.1 * float(np.abs(colour - query[:3]).mean()))
        return np.array(found, np.float32)

    def all_scores(self, query: Numbers) -> Numbers:
        return self.scores_of(query, range(self.size))

    def set_score(self, query: Numbers, image_ids: Sequence[str], k: int) -> float:
        rows = [self.gallery.row_of(image_id) for image_id in image_ids[:k]]
        return set_score(self.scores_of(query, rows).tolist(), k)


def random_relevance(folder: Path, seed: int = 0) -> Path:
    """A model on the bundled encoder as before training: its scores mean nothing, but are the same every time."""
    import torch

    from cir_core.relevance.backbones.open_clip import OpenClipBackbone
    from cir_core.relevance.checkpoint import RelevanceCard, save_checkpoint
    from cir_core.relevance.qformer import RelevanceNetwork

    backbone = OpenClipBackbone("atelier")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = RelevanceNetwork(backbone.new_parts())
    card = RelevanceCard("atelier", backbone.identity.revision, "mean", 0, "sample", "sample", trained={
        "seed": seed, "epochs": 0, "seconds": 0.5, "recall": {"R@10": 0.125}})
    save_checkpoint(folder, card, network.state_dict(), half=True)
    return folder
