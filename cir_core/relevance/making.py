"""Make candidate features of images: the bulk work of ``cirque relevance index``."""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cir_core.bulk.shards import packed, unpacked
from cir_core.errors import GalleryError, ImageUnreadable, RelevanceMismatch
from cir_core.images.load import for_encoder, process_image

if TYPE_CHECKING:   # torch takes seconds, and whoever checks files needs none
    from cir_core.relevance.model import RelevanceModel, Tokens


@dataclass(frozen=True)
class Images:
    """One batch of a gallery: row and file of each."""

    rows: tuple[int, ...]
    paths: tuple[Path, ...]

    def __str__(self) -> str:
        return f"{len(self.paths)} images from {self.paths[0]} to {self.paths[-1]}"


@dataclass(frozen=True)
class Made:
    """``tokens``: ``[rows, tokens, dim]`` float16; ``failed``: rows whose image cannot be read, and why."""

    rows: tuple[int, ...]
    tokens: Tokens
    failed: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class MakeFeatures:
    """Implements :class:`~cir_core.bulk.places.Work`. ``load`` gives the model of ``revision``; ``source`` is the
    gallery's folder of images."""

    load: Callable[[], RelevanceModel]
    revision: str
    source: Path
    max_megapixels: float

    def prepare(self) -> None:
        where = socket.gethostname()
        if not self.source.is_dir():
            raise GalleryError(f"There is no folder {self.source} on {where}. All machines of the cluster must see the "
                               "images under the same path: mount the folder there.")
        if (found := self.load().identity.revision) != self.revision:
            raise RelevanceMismatch(f"The relevance model has revision {found} on {where} and {self.revision} here. "
                                    "Give all machines of the cluster the same weights.")

    def __call__(self, parts: Iterable[Images]) -> Generator[Made]:
        for part in parts:
            images, failed = {}, []
            for row, path in zip(part.rows, part.paths, strict=True):
                try:
                    images[row] = process_image(path, for_encoder, max_megapixels=self.max_megapixels)
                except (ImageUnreadable, OSError) as error:
                    failed.append((row, str(error)))
            yield Made(tuple(images), self.load().encode_candidates(list(images.values())), tuple(failed))

    def pack(self, results: Sequence[Made]) -> bytes:
        return packed([(made.rows, made.failed) for made in results],
                      {f"tokens-{at}": made.tokens for at, made in enumerate(results)})

    def unpack(self, content: bytes) -> list[Made]:
        lines, arrays = unpacked(content)
        return [Made(tuple(rows), arrays[f"tokens-{at}"], tuple((row, reason) for row, reason in failed))
                for at, (rows, failed) in enumerate(lines)]
