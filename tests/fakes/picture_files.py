"""Picture files byte by byte: forms that Pillow does not write."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

Point = tuple[float, float]
D50 = np.array([0.9642, 1.0, 0.8249])
D65: Point = (0.3127, 0.3290)
DISPLAY_P3 = ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060))
ADOBE_RGB = ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06))
BT_709 = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06))
BT_2020 = ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046))


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def lights(primaries: Sequence[Point], white: Point = D65) -> Any:
    """Columns: the XYZ of red, green and blue at full light; their sum is white."""
    corners = np.array([(x / y, 1, (1 - x - y) / y) for x, y in primaries]).T
    return corners * np.linalg.solve(corners, (white[0] / white[1], 1, (1 - white[0] - white[1]) / white[1]))


def screen(value: Any) -> Any:
    """Light of a value of sRGB (IEC 61966-2-1)."""
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def as_srgb(light: Any) -> Any:
    """Levels of 255 of light in the primaries of sRGB."""
    light = np.clip(light, 0, 1)
    return np.rint(255 * np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055))


def shown(levels: Sequence[float], curve: Callable[[Any], Any], primaries: Sequence[Point] = BT_709) -> list[int]:
    """What levels of 255 of such primaries look like in sRGB; white is the same."""
    light = curve(np.array(levels) / 255)
    return [int(one) for one in as_srgb(np.linalg.inv(lights(BT_709)) @ lights(primaries) @ light)]


def profile(curve: Callable[[Any], Any], primaries: Sequence[Point] | None = None, *, space: bytes = b"RGB ",
            size: int = 0) -> bytes:
    """An ICC profile; of greys, without ``primaries``. ``size``: bytes at least."""
    table = np.rint(curve(np.linspace(0, 1, 1024)) * 65535).astype(">u2").tobytes()
    tone = b"curv\0\0\0\0" + struct.pack(">I", 1024) + table
    tags = {b"desc": b"desc\0\0\0\0\0\0\0\1\0" + bytes(78), b"cprt": b"text\0\0\0\0\0", b"wtpt": _numbers(D50)}
    if primaries is None:
        tags[b"kTRC"] = tone
    else:
        cone = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
        xyz = lights(primaries)
        adapted = np.linalg.inv(cone) @ np.diag((cone @ D50) / (cone @ xyz.sum(1))) @ cone @ xyz
        for name, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), adapted.T, strict=True):
            tags[name] = _numbers(column)
        tags |= {b"rTRC": tone, b"gTRC": tone, b"bTRC": tone}
    return _icc(space, b"XYZ ", tags, size)


def ink_profile(paper: Sequence[float], ink: Sequence[float]) -> bytes:
    """An ICC profile of CMYK: black ink is ``ink``, none is ``paper``, both in Lab; the other inks are not seen."""
    def lab(colour: Sequence[float]) -> bytes:
        return struct.pack(">3H", round(colour[0] * 652.8), *(round((one + 128) * 256) for one in colour[1:]))

    straight = struct.pack(">2H", 0, 65535)
    grid = b"".join(lab(ink if corner & 1 else paper) for corner in range(16))
    table = (b"mft2\0\0\0\0" + bytes((4, 3, 2, 0)) + _fixed(np.eye(3).ravel()) + struct.pack(">2H", 2, 2)
             + straight * 4 + grid + straight * 3)
    return _icc(b"CMYK", b"Lab ", {b"desc": b"desc\0\0\0\0\0\0\0\1\0" + bytes(78), b"cprt": b"text\0\0\0\0\0",
                                   b"wtpt": _numbers(D50), b"A2B0": table, b"A2B1": table}, 0, kind=b"prtr")


def _icc(space: bytes, connection: bytes, tags: Mapping[bytes, bytes], size: int, kind: bytes = b"mntr") -> bytes:
    begin, listed, body = 132 + 12 * len(tags), b"", b""
    for name, content in tags.items():
        listed += name + struct.pack(">II", begin + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    body += bytes(max(0, size - begin - len(body)))
    head = struct.pack(">I4sI4s4s4s", begin + len(body), b"", 0x02400000, kind, space, connection)
    head += bytes(12) + b"acsp" + bytes(28) + _fixed(D50) + bytes(48)
    return head + struct.pack(">I", len(tags)) + listed + body


def _fixed(values: Any) -> bytes:
    return np.rint(np.asarray(values) * 65536).astype(">i4").tobytes()


def _numbers(values: Any) -> bytes:
    return b"XYZ \0\0\0\0" + _fixed(values)


def chunk(kind: bytes, data: bytes, *, damaged: bool = False) -> bytes:
    code = zlib.crc32(kind + data) ^ damaged
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", code)


def png(pixels: Any, *chunks: bytes, after: bytes = b"") -> bytes:
    """``pixels``: [height, width, channels] of uint8 or uint16; ``chunks`` come before, ``after`` behind them."""
    height, width, channels = pixels.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    lines = b"".join(b"\0" + line.astype(pixels.dtype.newbyteorder(">")).tobytes() for line in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8 * pixels.dtype.itemsize, kind, 0, 0, 0)
    return b"".join((b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), *chunks, chunk(b"IDAT", zlib.compress(lines)), after,
                     chunk(b"IEND", b"")))


def gamma_chunk(gamma: float) -> bytes:
    return chunk(b"gAMA", struct.pack(">I", round(gamma * 100_000)))


def primaries_chunk(primaries: Sequence[Point], white: Point = D65) -> bytes:
    numbers = (one for point in (white, *primaries) for one in point)
    return chunk(b"cHRM", b"".join(struct.pack(">I", round(one * 100_000)) for one in numbers))


def tiff(pixels: Any, photometric: int, *, order: str = "<", planes: int = 1, compression: int = 1,
         extra: int | None = None, orientation: int = 1, packed: int = 0, rows: int = 0,
         colours: Sequence[int] = ()) -> bytes:
    """``pixels``: [height, width, samples] of any numbers. ``compression``: 1, none, or 8, deflate. ``packed``: bits of
    each sample, without a gap up to the end of a line; ``rows``: of a strip; ``colours``: of a palette."""
    height, width, samples = pixels.shape
    raw = pixels.astype(pixels.dtype.newbyteorder(order))
    if packed:
        bits_of = (pixels.reshape(height, -1, 1) >> np.arange(packed, dtype=np.uint16)[::-1]) & 1
        raw = np.packbits(bits_of.reshape(height, -1).astype(np.uint8), axis=1)
    rows = rows or height
    strips = ([raw[..., one].tobytes() for one in range(samples)] if planes == 2
              else [raw[begin:begin + rows].tobytes() for begin in range(0, height, rows)])
    strips = [zlib.compress(one) for one in strips] if compression == 8 else strips
    bits, kind = packed or 8 * pixels.dtype.itemsize, {"u": 1, "i": 2, "f": 3, "c": 6}[pixels.dtype.kind]
    tags = {256: [width], 257: [height], 258: [bits] * samples, 259: [compression], 262: [photometric],
            273: [0] * len(strips), 274: [orientation], 277: [samples], 278: [rows],
            279: [len(one) for one in strips], 284: [planes], 339: [kind] * samples}
    if extra is not None:
        tags[338] = [extra]
    if colours:
        tags[320] = list(colours)
    long = {256, 257, 273, 278, 279}
    begin = 8 + 2 + 12 * len(tags) + 4
    apart = sum(len(values) * (4 if tag in long else 2) for tag, values in tags.items()
                if len(values) * (4 if tag in long else 2) > 4)
    offset = begin + apart
    for number, strip in enumerate(strips):
        tags[273][number] = offset
        offset += len(strip)
    listed, values_apart = b"", b""
    for tag, values in sorted(tags.items()):
        packed = struct.pack(f"{order}{len(values)}{'I' if tag in long else 'H'}", *values)
        listed += struct.pack(f"{order}HHI", tag, 4 if tag in long else 3, len(values))
        listed += packed.ljust(4, b"\0") if len(packed) <= 4 else struct.pack(f"{order}I", begin + len(values_apart))
        values_apart += packed if len(packed) > 4 else b""
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}IH", 8, len(tags))
    return head + listed + bytes(4) + values_apart + b"".join(strips)
