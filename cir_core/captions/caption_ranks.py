"""Rank candidate captions against a gallery, in blocks that are saved to disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple
from pathlib import Path

import numpy as np

from cir_core.captions.captions import Candidate, CaptionChoice, best_captions
from cir_core.encoders.base import Encoder
from cir_core.gallery.gallery import Gallery
from cir_core.index.flat import FlatIndex
from cir_core.support.json_lines import Lines

_TEXTS = 1024  # encoded and ranked at a time
_Item = tuple[int, Sequence[Candidate]]


def rank_candidates(
    gallery: Gallery, encoder: Encoder, images: Iterable[_Item], path: Path, done: Callable[[int], None]
) -> dict[str, CaptionChoice]:
    """The best caption of each of ``images`` (row, candidates), by image id.

    Choices of an earlier run from the same candidates, among the same images with the same encoder, are read from
    ``path``; other content there is dropped. ``done`` receives the number of finished rows.
    """
    features = np.asarray(gallery.features)
    index = FlatIndex(features, gallery.ids)
    heading = {"gallery_digest": gallery.digest, "encoder_revision": encoder.identity.revision}
    choices: dict[str, CaptionChoice] = {}
    with closing(Lines(path, heading)) as lines:
        known = {line["id"]: (line["candidates"], line["choice"]) for _, line in lines}

        def unknown() -> Iterator[_Item]:
            for row, candidates in images:
                earlier, choice = known.get(gallery.ids[row], ("", ()))
                if earlier == _fingerprint(candidates):
                    choices[gallery.ids[row]] = CaptionChoice(*choice)
                else:
                    yield row, candidates

        for block in _blocks(unknown()):
            for (row, candidates), choice in zip(block, best_captions(index, features, encoder, block), strict=True):
                choices[gallery.ids[row]] = choice
                lines.append({
                    "id": gallery.ids[row], "candidates": _fingerprint(candidates), "choice": astuple(choice),
                })
            done(block[-1][0] + 1)
    return choices


def _blocks(images: Iterable[_Item]) -> Iterator[list[_Item]]:
    block: list[_Item] = []
    texts = 0
    for row, candidates in images:
        block.append((row, candidates))
        texts += len(candidates)
        if texts >= _TEXTS:
            yield block
            block, texts = [], 0
    if block:
        yield block


def _fingerprint(candidates: Sequence[Candidate]) -> str:
    content = json.dumps([astuple(candidate) for candidate in candidates])
    return hashlib.sha256(content.encode()).hexdigest()[:16]
