"""Indexing a folder, with thumbnails, hashes and journal, against bare loops."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.models import vit_b_32
from benchmarks.timing import HEADER, in_turn
from cir_core.encoders import load_encoder
from cir_core.encoders.base import Encoder
from cir_core.gallery.indexing import index_folder

_BATCH = 32


def run(folder: Path) -> None:
    print(f"\nIndexing {_BATCH}-image batches of JPEG files, fresh gallery every time.")
    print("bare with decoding: for each batch Image.open().convert('RGB'), then encode_images")
    print("bare decoded: encode_images on images already in memory")
    print(HEADER)
    _compare(folder, vit_b_32(folder), "ViT-B-32 size, 256 px", 96, (256, 256), pairs=3)
    _compare(folder, load_encoder("atelier"), "bundled, 256 px", 320, (256, 256), pairs=3)
    _compare(folder, load_encoder("atelier"), "bundled, 640 x 480", 320, (640, 480), pairs=3)


def _compare(folder: Path, encoder: Encoder, label: str, count: int, size: tuple[int, int], pairs: int) -> None:
    photos = _photos(folder / f"photos-{count}-{size[0]}", count, size)
    paths = sorted(photos.iterdir())
    decoded = [Image.open(path).convert("RGB") for path in paths]

    def ours(i: int) -> None:
        home = folder / "home"
        index_folder(photos, name="bench", encoder=encoder, home=home, batch_size=_BATCH)
        shutil.rmtree(home)

    def with_decoding(i: int) -> None:
        for start in range(0, count, _BATCH):
            encoder.encode_images([Image.open(path).convert("RGB") for path in paths[start:start + _BATCH]])

    def bare(i: int) -> None:
        for start in range(0, count, _BATCH):
            encoder.encode_images(decoded[start:start + _BATCH])

    for name, baseline in (("with decoding", with_decoding), ("decoded", bare)):
        pair = in_turn(ours, baseline, pairs)
        rate = count / (sorted(pair.ours)[len(pair.ours) // 2] / 1000)
        print(f"{pair.line(f'{label}, {name}')}  {rate:.0f} images/s", flush=True)


def _photos(folder: Path, count: int, size: tuple[int, int]) -> Path:
    if not folder.exists():
        folder.mkdir()
        rng = np.random.default_rng(0)
        for number in range(count):
            coarse = rng.integers(0, 255, (12, 16, 3), dtype=np.uint8)
            photo = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
            photo.save(folder / f"{number:05d}.jpg", quality=90)
    return folder
