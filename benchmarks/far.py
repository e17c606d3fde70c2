"""How many pictures without a garment are recognised as unlike the sample gallery, and how many new garments wrongly.

The pictures and the garments' seeds are others than those the criterion was tuned with.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.no_garments import pictures
from cir_core.encoders import load_encoder
from cir_core.encoders.base import Encoder
from cir_core.sample.atelier.catalogue import catalogue
from cir_core.sample.atelier.draw import render
from cir_core.sample.gallery import ensure_sample
from cir_core.search.far_pictures import FarPictures
from cir_core.types.records import Matrix

_SEEDS = (101, 102, 103)


@dataclass(frozen=True)
class Recognised:
    pictures: int    # that show no garment
    far: int         # of them recognised
    garments: int    # of the validation split of another catalogue
    wrong: int       # of them called unlike the gallery
    missed: tuple[str, ...]


def run(home: Path) -> None:
    encoder = load_encoder("atelier")
    features = np.asarray(ensure_sample(home, encoder).features)
    print("| Seed | Pictures without a garment | recognised | New garments | called unlike the gallery | Missed |")
    print("|---|--:|--:|--:|--:|---|")
    for seed in _SEEDS:
        found = recognised(features, encoder, seed)
        print(f"| {seed} | {found.pictures} | {found.far} | {found.garments} | {found.wrong} | "
              f"{', '.join(found.missed)} |")


def recognised(features: Matrix, encoder: Encoder, seed: int, garments: int = 200) -> Recognised:
    """Figures of a gallery with these ``features``."""
    far = FarPictures(features)
    drawn = pictures(seed)
    told = [far.is_far(vector) for vector in encoder.encode_images([image for _, image in drawn])]
    new = encoder.encode_images(new_garments(seed, garments))
    return Recognised(len(told), sum(told), len(new), sum(far.is_far(vector) for vector in new),
                      tuple(name for (name, _), was in zip(drawn, told, strict=True) if not was))


def new_garments(seed: int, count: int) -> list[Image.Image]:
    """Garments of the validation split of another catalogue."""
    others = catalogue(seed, {"train": 30, "val": count, "test": 3})
    return [Image.fromarray(render(one.attributes, one.seed)) for one in others if one.split == "val"]
