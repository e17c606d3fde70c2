"""Store uploaded reference images: validated, upright, deduplicated.

A file is named after a hash of its pixels, so the same photo twice is one file and its name
reveals nothing. It is on disk, whole, before any database row refers to it.
"""

from __future__ import annotations

import hashlib
import io
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from cir_core.errors import StorageError, UnknownImage, nothing_saved
from cir_core.images.decode_budget import PATIENCE
from cir_core.images.load import for_encoder, open_image, process_image
from cir_core.images.pixels import to_rgb
from cir_core.support.files import why_not_written, write_durably
from cir_core.support.texts import quoted
from cir_core.types.records import UPLOAD_PREFIX

_ID = re.compile(rf"{UPLOAD_PREFIX}[0-9a-f]{{32}}\Z")


def is_upload(reference_id: str) -> bool:
    return _ID.match(reference_id) is not None


class UploadFolder:
    def __init__(self, folder: Path, *, max_megapixels: float) -> None:
        self.folder = folder
        self.max_megapixels = max_megapixels

    def add(
        self, source: Path | bytes | BinaryIO | Image.Image, *, patience: float = PATIENCE,
    ) -> tuple[str, Image.Image]:
        """Store an image; returns its reference id and the RGB image as stored.

        Images are scaled down to 1024 pixels on the longer edge: encoders use no more, and the
        original is not kept. ``patience``: seconds to wait for memory to decode it in. Raises
        ``ImageUnreadable``, ``DecodingBusy``, ``StorageError``.
        """
        if isinstance(source, Image.Image):
            image = for_encoder(to_rgb(source))
        else:
            image = process_image(source, for_encoder, max_megapixels=self.max_megapixels, patience=patience)
        digest = hashlib.sha256(f"{image.size}".encode() + image.tobytes()).hexdigest()[:32]
        reference_id = UPLOAD_PREFIX + digest
        path = self._path(digest)
        if path.exists():
            with suppress(OSError):   # in a folder that cannot be written nothing is removed either
                path.touch()   # of a public demo, it is removed a day after it came last
        else:
            content = io.BytesIO()
            # PNG is lossless: encoding the stored file again after a restart gives the same vector.
            image.save(content, "PNG")
            try:
                write_durably(path, content.getvalue(), private=True)
            except OSError as error:
                raise StorageError(
                    f"The image cannot be stored in {self.folder}: {error.strerror or error}. Free some space or "
                    "make the folder writable.", nothing_saved(why_not_written(error)),
                ) from error
        return reference_id, image

    def path(self, reference_id: str) -> Path:
        """The stored file. Raises ``UnknownImage``."""
        if not is_upload(reference_id):
            raise UnknownImage(f"{quoted(reference_id)} is not the id of an uploaded image.")
        path = self._path(reference_id.removeprefix(UPLOAD_PREFIX))
        if not path.exists():
            raise UnknownImage("That uploaded image is no longer on the server. Upload it again.")
        return path

    def load(self, reference_id: str) -> Image.Image:
        return open_image(self.path(reference_id), max_megapixels=self.max_megapixels)

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.png"
