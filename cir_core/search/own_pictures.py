"""Whether an encoder knows what the pictures of a folder show, before they are indexed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cir_core.encoders.base import Encoder
from cir_core.errors import CirqueError
from cir_core.gallery.manifest import read_manifest
from cir_core.gallery.scan import scan_folder
from cir_core.images.load import for_encoder, process_image
from cir_core.language.readers.choosing import knows_little, undescribed

LOOKED_AT = 64   # pictures


@dataclass(frozen=True)
class Look:
    """``unlike`` of ``seen`` pictures show something that the encoder does not know."""

    seen: int = 0
    unlike: int = 0

    @property
    def mostly_unlike(self) -> bool:
        return 2 * self.unlike > self.seen


def look_at(
    source: Path, encoder: Encoder, *, manifest: Path | None = None, max_megapixels: float = 64.0,
    exclude: Sequence[str] = (), include: Sequence[str] = (),
) -> Look:
    """A look at some pictures spread over what :func:`cir_core.gallery.indexing.index_folder` would index. Of encoders
    that know more than garments, or of which nothing is known, nothing is read. Raises ``GalleryError`` as it does."""
    if not knows_little(encoder):
        return Look()
    base = source.absolute()
    scan = read_manifest(manifest, base) if manifest else scan_folder(base, exclude=exclude, include=include)
    entries = scan.entries
    if not entries:
        return Look()
    images = []
    for place in np.unique(np.linspace(0, len(entries) - 1, LOOKED_AT).astype(int)):
        try:
            images.append(process_image(base / entries[place].path, for_encoder, max_megapixels=max_megapixels))
        except (CirqueError, OSError):
            continue   # indexing says so
    if not images:
        return Look()
    unlike = undescribed(encoder.encode_images(images), encoder)
    return Look(len(unlike), int(unlike.sum()))
