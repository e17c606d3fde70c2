"""Store uploaded reference images: validated, upright, deduplicated. A region of an image: checked, and cut out.

A file is named after a hash of its pixels, so the same photo twice is one file and its name
reveals nothing. It is on disk, whole, before any database row refers to it.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from cir_core.errors import ImageUnreadable, SearchError, StorageError, UnknownImage, nothing_saved
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
        reference_id = _id_of(image)
        path = self._path(reference_id.removeprefix(UPLOAD_PREFIX))
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

    def has(self, reference_id: str) -> bool:
        return is_upload(reference_id) and self._path(reference_id.removeprefix(UPLOAD_PREFIX)).exists()

    def content(self, reference_id: str) -> bytes | None:
        """The bytes of the stored file; None where it is gone."""
        try:
            return self.path(reference_id).read_bytes()
        except (UnknownImage, OSError):
            return None

    def is_of(self, reference_id: str, content: bytes) -> bool:
        """Whether the file ``content`` has the pixels that ``reference_id`` names. Raises ``DecodingBusy``."""
        try:
            return _id_of(process_image(content, for_encoder, max_megapixels=self.max_megapixels)) == reference_id
        except ImageUnreadable:
            return False

    def load(self, reference_id: str) -> Image.Image:
        return open_image(self.path(reference_id), max_megapixels=self.max_megapixels)

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.png"


def _id_of(image: Image.Image) -> str:
    return UPLOAD_PREFIX + hashlib.sha256(f"{image.size}".encode() + image.tobytes()).hexdigest()[:32]


LEAST = 16   # pixels of the image as it is stored, on either side
_SLACK = 1e-6   # a browser's sums of fractions

Region = tuple[float, float, float, float]
"""Left, top, width and height, as fractions of the upright image's width and height."""


def checked_region(values: object) -> Region:
    """``values`` as a region. Raises ``SearchError`` for what is not one, or reaches beyond the image."""
    numbers = [_number(one) for one in values] if isinstance(values, list | tuple) else []
    if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
        raise SearchError("A region is four numbers: left, top, width and height, as fractions of the picture.")
    left, top, width, height = numbers
    if min(left, top) < -_SLACK or left + width > 1 + _SLACK or top + height > 1 + _SLACK:
        raise SearchError("The region reaches beyond the picture. Draw it within the picture.")
    if width <= 0 or height <= 0:
        raise SearchError("The region is empty. Draw a larger one.")
    left, top = max(0.0, left), max(0.0, top)
    return left, top, min(width, 1 - left), min(height, 1 - top)


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def crop(image: Image.Image, region: Region) -> Image.Image:
    """A copy of the pixels that ``region`` touches. Raises ``SearchError`` for fewer than 16 on a side."""
    left, top, width, height = region
    box = (math.floor(left * image.width), math.floor(top * image.height),
           min(image.width, math.ceil((left + width) * image.width - _SLACK)),
           min(image.height, math.ceil((top + height) * image.height - _SLACK)))
    across, down = box[2] - box[0], box[3] - box[1]
    if across < LEAST or down < LEAST:
        raise SearchError(f"The region is {max(across, 0)} × {max(down, 0)} pixels of the picture; it needs at least "
                          f"{LEAST} × {LEAST}. Draw a larger one.")
    return image.crop(box)


def cut_out(picture: Path | bytes, region: Region, *, max_megapixels: float, patience: float = PATIENCE) -> Image.Image:
    """``region`` of an image file or its bytes, RGB, upright, at most 1024 pixels on its longer edge.

    Raises ``SearchError`` (too small), ``ImageUnreadable``, ``DecodingBusy``.
    """
    return process_image(picture, lambda image: for_encoder(crop(image, region)), max_megapixels=max_megapixels,
                         name="The picture", patience=patience)
