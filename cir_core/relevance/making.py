"""Make candidate features of images: the bulk work of ``cirque relevance index``."""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cir_core.bulk.shards import packed, unpacked
from cir_core.errors import ImageUnreadable, RelevanceMismatch
from cir_core.gallery.gallery import Gallery

if TYPE_CHECKING:   # torch takes seconds to import, and a check of files does not need it
    from cir_core.relevance.model import RelevanceModel, Tokens


@dataclass(frozen=True)
class Images:
    """One batch of a gallery."""

    rows: tuple[int, ...]

    def __str__(self) -> str:
        return f"the relevance features of {len(self.rows)} images from row {self.rows[0]}"


@dataclass(frozen=True)
class Made:
    """``tokens``: ``[rows, tokens, dim]`` float16; ``failed``: rows whose image cannot be read, and why."""

    rows: tuple[int, ...]
    tokens: Tokens
    failed: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class MakeFeatures:
    """Implements :class:`~cir_core.bulk.places.Work`. ``load`` gives the model of ``revision``."""

    load: Callable[[], RelevanceModel]
    revision: str
    gallery: Callable[[], Gallery]

    def prepare(self) -> None:
        if (found := self.load().identity.revision) != self.revision:
            raise RelevanceMismatch(f"The relevance model has revision {found} on {socket.gethostname()} and "
                                    f"{self.revision} here. Give all machines of the cluster the same weights.")

    def __call__(self, parts: Iterable[Images]) -> Generator[Made]:
        gallery = self.gallery()
        for part in parts:
            images, failed = {}, []
            for row in part.rows:
                try:
                    images[row] = gallery.load_for_encoder(gallery.ids[row])
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
