"""TIFF files whose samples are numbers that Pillow does not read or takes for others: floats, integers of 10, 12, 14
and 32 bits and signed ones, and deep ones of which zero is white."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from PIL import Image, TiffImagePlugin

from cir_core.images.pixels import eight_bits, strips, white_of

_HEADS = (b"II*\0", b"MM\0*")
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _ORIENTATION = 256, 257, 258, 259, 262, 274
_SAMPLES, _PLANES, _MAP, _EXTRA, _FORMAT, _PROFILE = 277, 284, 320, 338, 339, 34675
_PLACES = ((273, 279), (324, 325))      # where strips and tiles begin, and their lengths
_UNSIGNED, _SIGNED, _FLOAT = 1, 2, 3
_PACKED = (10, 12, 14)      # bits, one sample right behind the other: OpenCV returns them as the upper ones of 16
_ENTRY, _SHORT = 12, 3      # bytes of a tag in a directory, and the type of a number of 16 bits
_KINDS = {_UNSIGNED: "integers", _SIGNED: "signed integers", _FLOAT: "floating-point numbers"}
_COLOURS = {0: "grey", 1: "grey", 2: "RGB", 3: "a palette", 5: "CMYK", 6: "YCbCr", 8: "Lab", 9: "Lab", 10: "Lab",
            32803: "unprocessed pixels of a camera", 34892: "unprocessed pixels of a camera"}


class Numbers(Image.Image):
    """The first picture of a TIFF file, decoded by OpenCV when it is loaded: L, RGB or RGBA."""

    format = "TIFF"

    def __init__(self, stream: BinaryIO, tags: Mapping[int, Any]) -> None:
        super().__init__()
        self._stream, self.tag_v2 = stream, tags
        self._size = (int(tags[_WIDTH]), int(tags[_HEIGHT]))
        samples, bits, _ = _layout(tags)
        self._packed = bits if bits in _PACKED else 0
        self._alpha = tags.get(_EXTRA, (0,))[0] if samples == 4 else 0      # 1: multiplied into the colours, 2: not
        self._mode = "L" if samples == 1 else "RGBA" if self._alpha in (1, 2) else "RGB"
        self.bytes_per_pixel = samples * (2 if self._packed else bits // 8)
        if isinstance(profile := tags.get(_PROFILE), bytes):
            self.info["icc_profile"] = profile
        exif = Image.Exif()
        exif[_ORIENTATION] = tags.get(_ORIENTATION, 1)
        self.info["exif"] = exif.tobytes()

    def load(self) -> Any:
        if self._im is None:
            self._im = self._decoded().im
        return super().load()

    def _decoded(self) -> Image.Image:
        import cv2

        self._stream.seek(0)
        content = np.frombuffer(_unturned(self._stream.read()), np.uint8)
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)   # it tells the terminal about every new tag
        try:
            values: Any = cv2.imdecode(content, cv2.IMREAD_UNCHANGED)
        except cv2.error as error:
            raise OSError(error.err) from error
        if values is None or values.shape[1::-1] != self._size:
            raise OSError("its samples cannot be read")
        colours = values if values.ndim == 2 else values[..., 2::-1]      # blue comes first
        rows = [(top, bottom) for _, top, _, bottom in strips(self._size)]
        packed = 2**16 - 2**(16 - self._packed) if self._packed else 0      # the greatest number of so many upper bits
        top = packed or white_of(colours[begin:end] for begin, end in rows)
        result = Image.new(self._mode, self._size)
        for begin, end in rows:
            part = Image.fromarray(eight_bits(colours[begin:end], top))
            if self.tag_v2.get(_PHOTOMETRIC) == 0:
                part = part.point(lambda value: 255 - value)
            if self._mode == "RGBA":
                whole = packed or (np.iinfo(values.dtype).max if values.dtype.kind != "f" else 1.0)
                alpha = Image.fromarray(eight_bits(values[begin:end, :, 3], whole))
                if self._alpha == 1:
                    part = Image.merge("RGBa", (*part.split(), alpha)).convert("RGBA")
                part.putalpha(alpha)
            result.paste(part, (0, begin))
        return result


def tags_of(stream: BinaryIO, head: bytes) -> Mapping[int, Any]:
    """The tags of a TIFF's first picture; none if ``stream`` is not a TIFF, or damaged."""
    if not head.startswith(_HEADS):
        return {}
    with contextlib.suppress(Exception):     # whatever a broken header makes of it
        tags = TiffImagePlugin.ImageFileDirectory_v2(head[:8])
        stream.seek(tags.next)
        tags.load(stream)
        return tags if {_WIDTH, _HEIGHT} <= set(tags) else {}
    return {}


def opened(stream: BinaryIO, tags: Mapping[int, Any]) -> Numbers | None:
    """The picture, if it is of this kind."""
    with contextlib.suppress(Exception):     # tags of other types than they should be
        samples, bits, kind = _layout(tags)
        grey = tags.get(_PHOTOMETRIC) in (0, 1)
        readable = (grey and samples == 1) or (
            tags.get(_PHOTOMETRIC) == 2 and samples in (3, 4) and tags.get(_PLANES, 1) == 1)
        numbers = bits in (32, 64) or (bits in (8, 16) and kind == _SIGNED) or (kind == _UNSIGNED and (
            bits in _PACKED or (bits == 16 and tags[_PHOTOMETRIC] == 0)))
        if readable and numbers and kind in _KINDS:
            return Numbers(stream, tags)
    return None


def kind_of(tags: Mapping[int, Any]) -> str:
    """Description of a TIFF's content, for messages; "" if it is unknown."""
    with contextlib.suppress(Exception):
        samples, bits, kind = _layout(tags)
        colours = _COLOURS.get(tags[_PHOTOMETRIC], f"colours of kind {tags[_PHOTOMETRIC]}")
        planes = ", each colour by itself" if samples > 1 and tags.get(_PLANES, 1) == 2 else ""
        return (f"{colours} in {samples} × {bits}-bit {_KINDS.get(kind, f'samples of format {kind}')}{planes}, "
                f"compression {tags.get(_COMPRESSION, 1)}")
    return ""


def lacks_samples(stream: BinaryIO, tags: Mapping[int, Any]) -> bool:
    """Whether the file ends before the samples of a TIFF's first picture do."""
    with contextlib.suppress(Exception):     # tags of other types than they should be
        ends = [begin + length for starts, lengths in _PLACES for begin, length in
                zip(tags.get(starts, ()), tags.get(lengths, ()), strict=False)]
        return max(ends, default=0) > stream.seek(0, 2)
    return False


def eight_bit_map(tags: Mapping[int, Any]) -> bytes | None:
    """The reds, greens and blues of a palette whose numbers are of 8 bits, as early programs wrote them instead of 16.
    None for others; libtiff tells them by the same sign."""
    with contextlib.suppress(Exception):     # tags of other types than they should be
        colours = tags.get(_MAP, ())
        return bytes(colours) if colours and max(colours) < 256 else None
    return None


def _unturned(content: bytes) -> bytearray:
    """A TIFF without its orientation, by which OpenCV turns some kinds and not others, whatever its flags say."""
    result, order = bytearray(content), "<" if content.startswith(b"II") else ">"
    begin, = struct.unpack_from(f"{order}I", content, 4)
    for entry in range(struct.unpack_from(f"{order}H", content, begin)[0]):
        at = begin + 2 + entry * _ENTRY
        if struct.unpack_from(f"{order}H", content, at)[0] == _ORIENTATION:
            struct.pack_into(f"{order}HHIHH", result, at, _ORIENTATION, _SHORT, 1, 1, 0)
    return result


def _layout(tags: Mapping[int, Any]) -> tuple[int, int, int]:
    """Samples a pixel, and bits and format of each. Raises ``ValueError`` if they differ."""
    samples = int(tags.get(_SAMPLES, 1))
    bits, kinds = set(tags.get(_BITS, (1,))), set(tags.get(_FORMAT, (_UNSIGNED,)))
    if len(bits) != 1 or len(kinds) != 1:
        raise ValueError("samples of several kinds")
    return samples, bits.pop(), kinds.pop()
